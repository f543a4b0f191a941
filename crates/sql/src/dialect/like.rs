//! `CREATE TABLE t (a INT, LIKE s INCLUDING DEFAULTS)`: the parser knows no LIKE among columns.
//! It is given a column that nobody else can name, whose type is the other table with the
//! options in brackets.

use sqlparser::ast::{ColumnDef, DataType, ObjectName};
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::edits::Edits;

/// The column's name: no identifier of a user has it without quotes.
const LIKE: &str = "like it";

/// Options of LIKE, of which each is a word.
const OPTIONS: [&str; 10] = [
    "ALL",
    "COMMENTS",
    "COMPRESSION",
    "CONSTRAINTS",
    "DEFAULTS",
    "GENERATED",
    "IDENTITY",
    "INDEXES",
    "STATISTICS",
    "STORAGE",
];

/// The table that a column of [`adapt`] stands for, and its options, in upper case: `+ALL`
/// or `-ALL`.
pub(crate) fn like(column: &ColumnDef) -> Option<(&ObjectName, &[String])> {
    let name = &column.name;
    match &column.data_type {
        DataType::Custom(of, options) if name.value == LIKE && name.quote_style.is_none() => {
            Some((of, options))
        }
        _ => None,
    }
}

/// The name of that table, to be another one.
pub(crate) fn like_mut(column: &mut ColumnDef) -> Option<&mut ObjectName> {
    let name = &column.name;
    match &mut column.data_type {
        DataType::Custom(of, _) if name.value == LIKE && name.quote_style.is_none() => Some(of),
        _ => None,
    }
}

/// Changes the tokens of a text.
pub(super) fn adapt(tokens: &mut Vec<TokenWithSpan>) {
    let mut edits = Edits::default();
    // Words of the statement so far, at most three; levels of brackets; whether an element of
    // the list begins here.
    let (mut head, mut depth, mut begins): (Vec<String>, usize, bool) = (Vec::new(), 0, false);
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match &token.token {
            Token::Whitespace(_) => {}
            Token::SemiColon => (head, depth, begins) = (Vec::new(), 0, false),
            Token::LParen => {
                depth += 1;
                begins = depth == 1;
            }
            Token::RParen => {
                depth = depth.saturating_sub(1);
                begins = false;
            }
            Token::Comma => begins = depth == 1,
            Token::Word(word) => {
                let plain = word.quote_style.is_none();
                let name = word.value.to_uppercase();
                if plain && begins && name == "LIKE" && is_create_table(&head) {
                    at = clause(tokens, at, &mut edits);
                    begins = false;
                    continue;
                }
                if depth == 0 && head.len() < 4 {
                    head.push(if plain { name } else { String::new() });
                }
                begins = false;
            }
            _ => begins = false,
        }
        at += 1;
    }
    edits.make(tokens);
}

fn is_create_table(head: &[String]) -> bool {
    let mut words = head.iter().map(String::as_str);
    words.next() == Some("CREATE")
        && words.find(|word| !["TEMP", "TEMPORARY", "UNLOGGED", "LOCAL", "GLOBAL"].contains(word))
            == Some("TABLE")
}

/// Changes a clause that begins with LIKE; returns where it ends.
fn clause(tokens: &[TokenWithSpan], from: usize, edits: &mut Edits) -> usize {
    let span = tokens[from].span;
    let mut at = from + 1;
    let mut name_end = at;
    let mut options: Vec<String> = Vec::new();
    let mut sign = None;
    while let Some(token) = tokens.get(at) {
        match &token.token {
            Token::Whitespace(_) => {}
            Token::Period if sign.is_none() && options.is_empty() => name_end = at + 1,
            Token::Word(word) => {
                let text = match word.quote_style {
                    None => word.value.to_uppercase(),
                    Some(_) => String::new(),
                };
                match (sign, text.as_str()) {
                    (None, "INCLUDING") => sign = Some('+'),
                    (None, "EXCLUDING") => sign = Some('-'),
                    (Some(which), option) if OPTIONS.contains(&option) => {
                        options.push(format!("{which}{option}"));
                        sign = None;
                    }
                    (None, _) if options.is_empty() => name_end = at + 1,
                    // The parser says that this is wrong.
                    _ => break,
                }
            }
            _ => break,
        }
        at += 1;
    }
    let word = Token::Word(Word {
        value: LIKE.to_owned(),
        quote_style: None,
        keyword: sqlparser::keywords::Keyword::NoKeyword,
    });
    edits.put(from..from + 1, [TokenWithSpan { token: word, span }]);
    if sign.is_some() {
        return at;
    }
    let mut list = Vec::new();
    for option in &options {
        list.push(if list.is_empty() {
            Token::LParen
        } else {
            Token::Comma
        });
        list.push(Token::SingleQuotedString(option.clone()));
    }
    if !list.is_empty() {
        list.push(Token::RParen);
    }
    let list = list.into_iter().map(|token| TokenWithSpan { token, span });
    edits.put_all(name_end..at, list.collect());
    at
}

#[cfg(test)]
mod tests {
    use super::like;
    use crate::statement::parse_one;
    use sqlparser::ast::Statement as Ast;

    #[test]
    fn other_tables_stand_among_columns() {
        for (written, wanted) in [
            ("CREATE TABLE t (LIKE s)", "s []"),
            (
                "CREATE TABLE t (a INT, LIKE x.\"S t\" INCLUDING ALL EXCLUDING INDEXES, b INT)",
                "x.\"S t\" [\"+ALL\", \"-INDEXES\"]",
            ),
            (
                "create temp table t (like s including defaults)",
                "s [\"+DEFAULTS\"]",
            ),
        ] {
            let Ast::CreateTable(create) = parse_one(written).unwrap() else {
                panic!("{written}");
            };
            let found = create.columns.iter().find_map(like);
            let found = found.map(|(name, options)| format!("{name} {options:?}"));
            assert_eq!(found.as_deref(), Some(wanted), "{written}");
        }
        for written in [
            "CREATE TABLE t (LIKE s INCLUDING)",
            "CREATE TABLE t (LIKE s INCLUDING NOTHING)",
        ] {
            assert!(parse_one(written).is_err(), "{written}");
        }
        // Elsewhere it is an operator.
        assert!(parse_one("CREATE TABLE t (a TEXT CHECK (a LIKE 'b%'))").is_ok());
    }
}
