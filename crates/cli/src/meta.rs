//! Meta commands: what starts with a backslash.

use crate::client::Client;
use crate::describe;
use crate::failure::{Failure, Result};
use std::path::{Path, PathBuf};

/// The work that is to follow a meta command.
#[derive(Debug)]
pub enum Next {
    /// The next statement, please.
    Statement,
    /// `\i`: the statements of a file.
    File(PathBuf),
    /// `\q`: none.
    Quit,
}

/// Name with argument, and what it does; the order is that of `\?`.
const COMMANDS: [(&str, &str); 11] = [
    ("\\d", "list tables and views"),
    ("\\d NAME", "describe a table or view"),
    ("\\dt", "list tables"),
    ("\\dv", "list views"),
    ("\\dn", "list schemas"),
    ("\\timing [on|off]", "show how long each statement takes"),
    ("\\x [on|off]", "show each row as lines of name and value"),
    (
        "\\o [FILE]",
        "send results to a file, or back to the screen",
    ),
    ("\\i FILE", "run the statements of a file"),
    ("\\? or help", "show this"),
    ("\\q or Ctrl-D", "leave"),
];

/// The commands themselves, for completion.
pub fn names() -> impl Iterator<Item = &'static str> {
    let words = COMMANDS
        .iter()
        .filter_map(|(usage, _)| usage.split_whitespace().next());
    words.filter(|word| word.starts_with('\\'))
}

/// Runs one meta command.
///
/// # Errors
/// [`Failure::Message`] for an unknown command or a bad argument; else whatever
/// the command met.
pub fn run(client: &mut Client, text: &str) -> Result<Next> {
    let text = text.trim().trim_end_matches(';');
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let argument = Some(rest.trim()).filter(|rest| !rest.is_empty());
    match (name, argument) {
        ("\\q" | "\\quit" | "\\exit", _) => return Ok(Next::Quit),
        ("\\?" | "\\h" | "\\help", _) => client.output.line(&help())?,
        ("\\d", None) => describe::relations(client, true, true)?,
        ("\\d", Some(name)) => describe::relation(client, name)?,
        ("\\dt", None) => describe::relations(client, true, false)?,
        ("\\dv", None) => describe::relations(client, false, true)?,
        ("\\dn", None) => describe::schemas(client)?,
        ("\\timing", state) => {
            client.timing = switch(name, state, client.timing)?;
            say(client, "Timing", client.timing)?;
        }
        ("\\x", state) => {
            client.expanded = switch(name, state, client.expanded)?;
            say(client, "Expanded display", client.expanded)?;
        }
        ("\\o", file) => client.output.redirect(file.map(Path::new))?,
        ("\\i", Some(file)) => return Ok(Next::File(file.into())),
        ("\\i", None) => return Err(Failure::Message("\\i needs a file".into())),
        _ => {
            let message = format!("unknown command {text}; \\? lists the commands");
            return Err(Failure::Message(message));
        }
    }
    client.output.flush()?;
    Ok(Next::Statement)
}

/// The text of `\?`.
pub fn help() -> String {
    let mut text = String::from("SQL ends with a semicolon and may span lines. Besides:\n");
    for (usage, meaning) in COMMANDS {
        text.push_str(&format!("  {usage:<18} {meaning}\n"));
    }
    text.push_str("Tab completes; Ctrl-C cancels a running statement; arrows recall earlier ones.");
    text
}

fn switch(name: &str, argument: Option<&str>, current: bool) -> Result<bool> {
    match argument {
        None => Ok(!current),
        Some("on") => Ok(true),
        Some("off") => Ok(false),
        Some(other) => Err(Failure::Message(format!(
            "{name} takes on or off, not {other}"
        ))),
    }
}

/// Chatter belongs on the screen, not into a file of results.
fn say(client: &Client, what: &str, on: bool) -> Result<()> {
    if client.format.shows_tags() {
        eprintln!("{what} is {}.", if on { "on" } else { "off" });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_toggle_or_obey() {
        assert!(switch("\\x", None, false).expect("valid"));
        assert!(!switch("\\x", Some("off"), false).expect("valid"));
        assert!(switch("\\x", Some("maybe"), false).is_err());
    }

    #[test]
    fn help_and_completion_know_every_command() {
        let names: Vec<&str> = names().collect();
        assert!(names.contains(&"\\timing") && names.contains(&"\\q"));
        assert!(names.iter().all(|name| help().contains(name)));
    }
}
