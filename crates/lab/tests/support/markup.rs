//! Whether text is well-formed XML, as far as this project's pages use it: elements,
//! attributes, text, entities, one document type. Comments and the like are not known.

/// The names of all elements in order of their beginning.
///
/// Says in words where the text stops being well-formed.
pub fn elements(text: &str) -> Result<Vec<String>, String> {
    let mut rest = text.trim_start();
    if let Some(after) = rest.strip_prefix("<!DOCTYPE html>") {
        rest = after.trim_start();
    }
    let mut open: Vec<String> = Vec::new();
    let mut seen = Vec::new();
    while let Some(at) = rest.find('<') {
        entities(&rest[..at])?;
        if open.is_empty() && !rest[..at].trim().is_empty() {
            return Err(format!("text outside of the root: {:?}", &rest[..at]));
        }
        let (tag, after) = tag(&rest[at + 1..])?;
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            match open.pop() {
                Some(opened) if opened == name.trim_end() => continue,
                opened => return Err(format!("</{name}> closes {opened:?}")),
            }
        }
        if open.is_empty() && !seen.is_empty() {
            return Err(format!("a second root: <{tag}>"));
        }
        let (tag, is_empty) = match tag.strip_suffix('/') {
            Some(tag) => (tag, true),
            None => (tag, false),
        };
        let name = tag.split_whitespace().next().unwrap_or("");
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Err(format!("no name of an element: <{tag}>"));
        }
        attributes(&tag[name.len()..]).map_err(|error| format!("<{tag}>: {error}"))?;
        seen.push(name.to_string());
        if !is_empty {
            open.push(name.to_string());
        }
    }
    match open.is_empty() && rest.trim().is_empty() && !seen.is_empty() {
        true => Ok(seen),
        false => Err(format!("left open: {open:?}; left over: {rest:?}")),
    }
}

/// What stands before the `>` that is in no attribute, and what follows it.
fn tag(text: &str) -> Result<(&str, &str), String> {
    let mut quoted = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '>' if !quoted => return Ok((&text[..at], &text[at + 1..])),
            '<' => return Err(format!("< inside a tag: {:?}", &text[..at])),
            _ => {}
        }
    }
    Err(format!("a tag without end: {text:?}"))
}

/// Each has a name, once, and a value in double quotes.
fn attributes(text: &str) -> Result<(), String> {
    let mut names = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, after) = rest
            .split_once("=\"")
            .ok_or(format!("no value: {rest:?}"))?;
        let (value, after) = after.split_once('"').ok_or(format!("no end: {rest:?}"))?;
        entities(value)?;
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | ':');
        if name.is_empty() || !name.chars().all(legal) || names.contains(&name) {
            return Err(format!("attribute {name:?}"));
        }
        if !after.is_empty() && !after.starts_with(char::is_whitespace) {
            return Err(format!("no space after {name}"));
        }
        names.push(name);
        rest = after.trim_start();
    }
    Ok(())
}

/// Each ampersand begins an entity of XML, and no character is illegal there.
fn entities(text: &str) -> Result<(), String> {
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
    if let Some(c) = text.chars().find(|&c| control(c)) {
        return Err(format!("control character {c:?}"));
    }
    for part in text.split('&').skip(1) {
        let name = part.split(';').next().unwrap_or("");
        let known = ["amp", "lt", "gt", "quot", "#39"].contains(&name);
        if !known || !part.contains(';') {
            return Err(format!("no entity: &{name}"));
        }
    }
    Ok(())
}

/// Every SVG inside a page, each from its first to its last tag.
pub fn drawings(page: &str) -> Vec<&str> {
    let parts = page.split("<svg ").skip(1);
    let end = |part: &str| part.find("</svg>").map(|end| end + "</svg>".len());
    let mut drawings = Vec::new();
    for part in parts {
        let begin = part.as_ptr() as usize - page.as_ptr() as usize - "<svg ".len();
        let end = end(part).expect("a drawing has an end") + "<svg ".len();
        drawings.push(&page[begin..begin + end]);
    }
    drawings
}

#[test]
fn malformed_text_is_found() {
    assert_eq!(elements("<a b=\"x > y\"><c/>&lt;</a>").unwrap(), ["a", "c"]);
    for bad in [
        "<a><b></a></b>",
        "<a>",
        "<a/><b/>",
        "<a>x & y</a>",
        "<a>&nbsp;</a>",
        "<a b=c></a>",
        "<a b=\"1\" b=\"2\"></a>",
        "<a b=\"1\"c=\"2\"></a>",
        "<a b=\"<\"></a>",
        "text",
        "",
        "<a>\u{1}</a>",
    ] {
        assert!(elements(bad).is_err(), "{bad}");
    }
}
