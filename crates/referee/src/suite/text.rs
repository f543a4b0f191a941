//! Texts of statements: their ends, and their words.

/// The end of a literal, a quoted name or a comment that begins at a place, if one does.
pub fn quoted(text: &[u8], at: usize) -> Option<usize> {
    let rest = &text[at..];
    let before = |n: usize| at.checked_sub(n).map(|at| text[at]);
    let in_word = |byte: Option<u8>| byte.is_some_and(is_word);
    match rest {
        [b'\'', ..] => {
            let escapes = matches!(before(1), Some(b'e' | b'E')) && !in_word(before(2));
            Some(closed(text, at, b'\'', escapes))
        }
        [b'"', ..] => Some(closed(text, at, b'"', false)),
        [b'-', b'-', ..] => {
            let end = rest.iter().position(|byte| *byte == b'\n');
            Some(end.map_or(text.len(), |end| at + end))
        }
        [b'/', b'*', ..] => Some(comment(text, at)),
        [b'$', ..] if !in_word(before(1)) => {
            let tag = rest[1..].iter().position(|byte| !is_word(*byte))? + 1;
            if rest[tag] != b'$' || rest[1].is_ascii_digit() {
                return None;
            }
            let tag = &rest[..=tag];
            let inner = &rest[tag.len()..];
            let end = inner.windows(tag.len()).position(|window| window == tag);
            Some(end.map_or(text.len(), |end| at + end + 2 * tag.len()))
        }
        _ => None,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The place behind the closing quote; a doubled quote closes nothing.
fn closed(text: &[u8], at: usize, quote: u8, escapes: bool) -> usize {
    let mut at = at + 1;
    while at < text.len() {
        match text[at] {
            b'\\' if escapes => at += 1,
            byte if byte == quote && text.get(at + 1) == Some(&quote) => at += 1,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

fn comment(text: &[u8], at: usize) -> usize {
    let (mut at, mut depth) = (at, 0);
    while at < text.len() {
        match &text[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The end of the statement that begins at a place: its semicolon, a backslash outside of
/// quotes where `commands` has it, or the end of the text. Semicolons within brackets and within
/// the body of a routine end nothing.
pub fn end(text: &[u8], from: usize, commands: bool) -> usize {
    let (mut at, mut depth, mut blocks) = (from, 0, 0);
    let mut words: Vec<String> = Vec::new();
    while at < text.len() {
        if let Some(end) = quoted(text, at) {
            at = end;
            continue;
        }
        match text[at] {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b';' if depth <= 0 && blocks == 0 => return at,
            b'\\' if commands => return at,
            byte if is_word(byte) => {
                let word = word(text, at).to_ascii_lowercase();
                at += word.len();
                let first = words.first().map(String::as_str);
                let routine = ["function", "procedure"];
                if first == Some("create") && words.iter().any(|word| routine.contains(&&**word)) {
                    match word.as_str() {
                        "begin" => blocks += 1,
                        "case" if blocks > 0 => blocks += 1,
                        "end" if blocks > 0 => blocks -= 1,
                        _ => {}
                    }
                }
                if words.len() < 4 {
                    words.push(word);
                }
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    text.len()
}

fn word(text: &[u8], at: usize) -> String {
    let rest = &text[at..];
    let end = rest.iter().position(|byte| !is_word(*byte));
    String::from_utf8_lossy(&rest[..end.unwrap_or(rest.len())]).into_owned()
}

/// A statement without the comments and blanks before it.
pub fn bare(statement: &str) -> &str {
    let mut rest = statement.trim();
    while rest.starts_with("--") || rest.starts_with("/*") {
        let end = quoted(rest.as_bytes(), 0).unwrap_or(rest.len());
        rest = rest[end..].trim_start();
    }
    rest
}

/// The statement between two places of a text, and the line where it begins, counted from 0.
pub fn placed(text: &str, from: usize, end: usize) -> (usize, &str) {
    let statement = bare(&text[from..end]);
    let begin = from + text[from..end].trim_end().len() - statement.len();
    (text[..begin].matches('\n').count(), statement)
}

/// Names, words and signs of a statement, in lower case; literals and comments are left out.
pub fn tokens(statement: &str) -> Vec<String> {
    let text = statement.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if let Some(end) = quoted(text, at) {
            if text[at] == b'"' {
                tokens.push(statement[at..end].trim_matches('"').to_lowercase());
            }
            at = end;
        } else if is_word(text[at]) {
            let word = word(text, at);
            at += word.len();
            tokens.push(word.to_lowercase());
        } else {
            if !text[at].is_ascii_whitespace() {
                tokens.push(char::from(text[at]).to_string());
            }
            at += 1;
        }
    }
    tokens
}

/// The statements of a text, each with the line where it begins, counted from 0.
pub fn statements(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = end(text.as_bytes(), at, false);
        let (line, statement) = placed(text, at, end);
        if !statement.is_empty() {
            found.push((line, statement.to_owned()));
        }
        at = end + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_semicolon_within_quotes_brackets_or_bodies_ends_nothing() {
        let text = "SELECT ';', E'\\';' -- ;\n, \";\" /* ; /* ; */ ; */;\n\
                    CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2);\n\
                    CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN true THEN 1 END; \
                    SELECT 2; END;\n DO $x$ BEGIN; END $x$; SELECT $1;";
        let found = statements(text);
        let lines: Vec<usize> = found.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [0, 2, 3, 4, 4]);
        assert_eq!(found[3].1, "DO $x$ BEGIN; END $x$");
        assert_eq!(found[4].1, "SELECT $1");
    }

    #[test]
    fn tokens_have_no_literals() {
        assert_eq!(
            tokens("SELECT 'a b', \"Two Words\", x.y FROM T -- t"),
            ["select", ",", "two words", ",", "x", ".", "y", "from", "t"]
        );
    }
}
