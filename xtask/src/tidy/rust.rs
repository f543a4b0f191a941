//! Just enough reading of Rust: blank out what is not code, cut off tests.

/// The source with every comment and the inside of every string and character
/// literal replaced by spaces; lines and columns stay where they were.
pub fn code_only(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = vec![b' '; bytes.len()];
    let mut at = 0;
    while at < bytes.len() {
        let end = skip_literal(bytes, at);
        if end == at {
            out[at] = bytes[at];
            at += 1;
        } else {
            for (from, to) in bytes[at..end].iter().zip(&mut out[at..end]) {
                if *from == b'\n' {
                    *to = b'\n';
                }
            }
            at = end;
        }
    }
    // Only whole literals and comments were blanked, so the rest is still UTF-8.
    String::from_utf8_lossy(&out).into_owned()
}

/// The end of the comment or literal that starts at `at`, or `at` itself.
fn skip_literal(bytes: &[u8], at: usize) -> usize {
    let rest = &bytes[at..];
    let after_name = at > 0 && is_name(bytes[at - 1]);
    match rest {
        [b'/', b'/', ..] => at + find(rest, b"\n").unwrap_or(rest.len()),
        [b'/', b'*', ..] => at + block_comment(rest),
        [b'"', ..] => at + quoted(rest, 1),
        [b'b', b'"', ..] if !after_name => at + quoted(rest, 2),
        [b'r', b'"' | b'#', ..] if !after_name => at + raw(rest, 1),
        [b'b', b'r', b'"' | b'#', ..] if !after_name => at + raw(rest, 2),
        [b'\'', b'\\', ..] => at + find(&rest[3.min(rest.len())..], b"'").map_or(1, |n| n + 4),
        [b'\'', ..] => at + character(rest),
        _ => at,
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        match rest[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn quoted(rest: &[u8], start: usize) -> usize {
    let mut at = start;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

fn raw(rest: &[u8], start: usize) -> usize {
    let hashes = rest[start..].iter().take_while(|b| **b == b'#').count();
    if rest.get(start + hashes) != Some(&b'"') {
        return 0; // a raw identifier such as r#type
    }
    let mut close = vec![b'"'];
    close.resize(hashes + 1, b'#');
    let body = start + hashes + 1;
    find(&rest[body..], &close).map_or(rest.len(), |n| body + n + close.len())
}

/// A character literal, but not a lifetime: `'x'` against `'x`.
fn character(rest: &[u8]) -> usize {
    let width = match rest.get(1) {
        Some(0..0x80) => 1,
        Some(0x80..0xE0) => 2,
        Some(0xE0..0xF0) => 3,
        _ => 4,
    };
    match rest.get(1 + width) {
        Some(b'\'') => width + 2,
        _ => 0,
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|w| w == needle)
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The number of lines before the in-file test module (`#[cfg(test)] mod x {`),
/// which by custom comes last; all lines when there is none.
pub fn lines_before_tests(source: &str) -> usize {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    (0..lines.len())
        .find(|&at| {
            lines[at] == "#[cfg(test)]"
                && lines[at + 1..]
                    .iter()
                    .find(|line| !line.starts_with("#["))
                    .is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
        })
        .unwrap_or(lines.len())
}

/// Where the whole word `word` stands in `line`.
pub fn has_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].bytes().next_back();
        let after = line[at + word.len()..].bytes().next();
        !before.is_some_and(is_name) && !after.is_some_and(is_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_comments_and_literals_only() {
        let source = "let a = \"x // \\\" y\"; // gone\nlet b = 'c'; fn f<'a>(x: &'a u8) {}\n\
                      let r = r#\"say \"unsafe\"\"#; /* a /* b */ c */ end\nlet e = '\\n'; let é = b\"x\";";
        let code = code_only(source);
        assert_eq!(code.lines().count(), source.lines().count());
        for gone in ["x //", "gone", "'c'", "unsafe", "/*", "\\n"] {
            assert!(!code.contains(gone), "{gone:?} in {code}");
        }
        for kept in ["let a =", "fn f<'a>(x: &'a u8) {}", " end", "let e =", "é"] {
            assert!(code.contains(kept), "{kept:?} not in {code}");
        }
    }

    #[test]
    fn cuts_the_test_module() {
        let source = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(lines_before_tests(source), 2);
        assert_eq!(
            lines_before_tests("#[cfg(test)]\nmod tests;\nfn a() {}\n"),
            3
        );
        assert_eq!(lines_before_tests("#[cfg(test)]\nfn helper() {}\n"), 2);
    }

    #[test]
    fn words_are_whole() {
        assert!(has_word("unsafe { x }", "unsafe"));
        assert!(!has_word("#![forbid(unsafe_code)]", "unsafe"));
    }
}
