//! Text in plots and pages: escaped, measured, broken into lines.

/// Text as XML and HTML want it, in content and in attributes alike.
///
/// Control characters, which XML does not know, become spaces.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Width of a character in parts of the size of the font.
///
/// Which font will be used is not known here: these are a little more than the widths
/// of wide ones, so that text keeps its place in all of them.
fn width_of(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '|' | '\'' | ' ' => 0.35,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 0.43,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '—' | '…' => 0.98,
        '×' | '+' | '=' | '<' | '>' | '±' => 0.84,
        c if superscript(c) => 0.42,
        c if c.is_uppercase() => 0.75,
        c if c.is_ascii() => 0.64,
        // Chinese and its neighbours fill a square.
        c if c >= '\u{1100}' => 1.05,
        _ => 0.7,
    }
}

fn superscript(c: char) -> bool {
    matches!(c, '²' | '³' | '¹' | '⁰' | '⁴'..='⁹' | '⁻')
}

/// Width of a line of text in a font of that size.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(width_of).sum::<f64>() * size
}

/// Lines of at most that width, broken at spaces, or inside a word that is wider.
pub fn wrap(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = match line.is_empty() {
            true => word.to_string(),
            false => format!("{line} {word}"),
        };
        if width(&longer, size) <= room {
            line = longer;
            continue;
        }
        if !line.is_empty() {
            lines.push(std::mem::take(&mut line));
        }
        for c in word.chars() {
            if !line.is_empty() && width(&line, size) + width_of(c) * size > room {
                lines.push(std::mem::take(&mut line));
            }
            line.push(c);
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// As many characters as fit, with an ellipsis if some do not.
pub fn shorten(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_string();
    }
    let mut used = width_of('…') * size;
    let kept = text.chars().take_while(|&c| {
        used += width_of(c) * size;
        used <= room
    });
    let kept: String = kept.collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_means_something_to_xml_is_escaped() {
        let text = escape("a<b & \"c\" > 'd'\u{0}\u{1b}");
        assert_eq!(text, "a&lt;b &amp; &quot;c&quot; &gt; &#39;d&#39;  ");
    }

    #[test]
    fn lines_keep_to_their_room_and_lose_no_word() {
        let text = "elapsed time of the scan in seconds per million rows";
        let lines = wrap(text, 12.0, 120.0);
        assert!(lines.len() > 1);
        assert!(lines.iter().all(|line| width(line, 12.0) <= 120.0));
        assert_eq!(lines.join(" "), text);
        let broken = wrap("incomprehensibilities", 12.0, 40.0);
        assert!(broken.len() > 2 && broken.concat() == "incomprehensibilities");
        assert!(wrap("", 12.0, 40.0).is_empty());
    }

    #[test]
    fn what_is_too_long_ends_in_an_ellipsis() {
        assert_eq!(shorten("short", 12.0, 100.0), "short");
        let long = shorten("a name that is too long", 12.0, 60.0);
        assert!(long.ends_with('…') && width(&long, 12.0) <= 60.0, "{long}");
    }
}
