//! Statements of PostgreSQL that the grammar does not read: those about transactions with
//! DEFERRABLE, those that ask for nothing here, and those that are refused by their name.
//!
//! ```text
//! BEGIN READ ONLY, DEFERRABLE    modes of a transaction
//! SET SCHEMA 's'                 SET search_path = 's'
//! REINDEX TABLE t                indexes are always as their tables are
//! CLUSTER t USING i              blocks are sorted as their table says
//! CHECKPOINT                     the manifest is written, so that the log is short
//! DROP CAST IF EXISTS (a AS b)   there are none
//! DO $$ BEGIN … END $$           a block of statements
//! CREATE RULE r AS …             refused
//! ```

use sqlparser::ast::{
    BeginTransactionKind, Ident, ObjectName, ObjectType, Reset, ResetStatement, Statement as Ast,
    TransactionAccessMode, TransactionIsolationLevel, TransactionMode, TransactionModifier,
};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Token, TokenWithSpan};

use super::{OwnStatement, Tree};
use crate::names::fold;

type Read<T> = Result<T, ParserError>;

/// A statement that the grammar has no tree for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Utility {
    /// REINDEX of a kind of thing, and its name.
    Reindex {
        kind: String,
        name: Option<String>,
        concurrently: bool,
    },
    /// CLUSTER of a table, or of all.
    Cluster {
        table: Option<String>,
        index: Option<String>,
    },
    /// SET TRANSACTION and SET SESSION CHARACTERISTICS with DEFERRABLE.
    Modes {
        session: bool,
        level: Option<String>,
        read_only: Option<bool>,
        deferrable: Option<bool>,
    },
    /// DROP of a kind of thing that there is none of.
    Drop {
        kind: String,
        if_exists: bool,
        what: String,
    },
    /// DO: a block, and the language that it is written in.
    Do {
        language: Option<String>,
        body: String,
    },
    /// CHECKPOINT.
    Checkpoint,
    /// What is understood and refused.
    Unsupported(String),
}

/// Kinds of things that there are none of, by their words.
const NONE: [&[&str]; 28] = [
    &["ACCESS", "METHOD"],
    &["CAST"],
    &["COLLATION"],
    &["CONVERSION"],
    &["EVENT", "TRIGGER"],
    &["EXTENSION"],
    &["FOREIGN", "DATA", "WRAPPER"],
    &["FOREIGN", "TABLE"],
    &["LANGUAGE"],
    &["OPERATOR", "CLASS"],
    &["OPERATOR", "FAMILY"],
    &["OPERATOR"],
    &["POLICY"],
    &["PROCEDURAL", "LANGUAGE"],
    &["PUBLICATION"],
    &["ROUTINE"],
    &["RULE"],
    &["SERVER"],
    &["STATISTICS"],
    &["SUBSCRIPTION"],
    &["TABLESPACE"],
    &["TEXT", "SEARCH", "CONFIGURATION"],
    &["TEXT", "SEARCH", "DICTIONARY"],
    &["TEXT", "SEARCH", "PARSER"],
    &["TEXT", "SEARCH", "TEMPLATE"],
    &["TRANSFORM"],
    &["TRIGGER"],
    &["USER", "MAPPING"],
];

/// Statements that are refused, by the words that they begin with.
const REFUSED: [&[&str]; 20] = [
    &["ATTACH"],
    &["DETACH"],
    &["ALTER", "DATABASE"],
    &["ALTER", "DEFAULT", "PRIVILEGES"],
    &["ALTER", "EXTENSION"],
    &["ALTER", "LARGE", "OBJECT"],
    &["ALTER", "PROCEDURE"],
    &["ALTER", "SYSTEM"],
    &["COMMIT", "PREPARED"],
    &["CREATE", "CONSTRAINT", "TRIGGER"],
    &["CREATE", "PROCEDURE"],
    &["CREATE", "TRUSTED", "LANGUAGE"],
    &["IMPORT", "FOREIGN", "SCHEMA"],
    &["LISTEN"],
    &["LOAD"],
    &["NOTIFY"],
    &["PREPARE", "TRANSACTION"],
    &["ROLLBACK", "PREPARED"],
    &["SECURITY", "LABEL"],
    &["CREATE", "DATABASE"],
];

/// Other kinds of things whose comments are not kept.
const COMMENTED: &[&[&str]] = &[
    &["AGGREGATE"],
    &["DATABASE"],
    &["FUNCTION"],
    &["LARGE", "OBJECT"],
    &["PROCEDURE"],
];

/// Kinds whose statements the grammar reads, so that they are refused elsewhere.
const READ: [&str; 2] = ["ROUTINE", "EXTENSION"];

/// The word at a distance, in upper case.
fn word(parser: &Parser<'_>, distance: usize) -> Option<String> {
    match &parser.peek_nth_token_ref(distance).token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_uppercase()),
        _ => None,
    }
}

fn are(parser: &Parser<'_>, from: usize, words: &[&str]) -> bool {
    let mut places = words.iter().enumerate();
    places.all(|(at, wanted)| word(parser, from + at).as_deref() == Some(*wanted))
}

fn skip(parser: &mut Parser<'_>, count: usize) {
    for _ in 0..count {
        parser.next_token();
    }
}

fn takes(parser: &mut Parser<'_>, words: &[&str]) -> bool {
    let is = are(parser, 0, words);
    if is {
        skip(parser, words.len());
    }
    is
}

/// The rest of the statement as text.
fn rest(parser: &mut Parser<'_>) -> String {
    let mut parts = Vec::new();
    let mut open = 0_usize;
    loop {
        match &parser.peek_token_ref().token {
            Token::EOF => break,
            Token::SemiColon if open == 0 => break,
            Token::LParen => open += 1,
            Token::RParen => open = open.saturating_sub(1),
            _ => {}
        }
        parts.push(parser.next_token().token.to_string());
    }
    parts.join(" ")
}

/// LANGUAGE and a name.
fn language_of(parser: &mut Parser<'_>) -> Read<Option<String>> {
    match takes(parser, &["LANGUAGE"]) {
        true => Ok(Some(fold(&parser.parse_identifier()?))),
        false => Ok(None),
    }
}

/// A statement that the grammar does not read; `None` for any other.
///
/// # Errors
/// Those of the grammar.
pub(super) fn parse(parser: &mut Parser<'_>) -> Read<Option<Tree>> {
    let Some(first) = word(parser, 0) else {
        return Ok(None);
    };
    let sql = |ast| Ok(Some(Tree::Sql(ast)));
    let utility = match first.as_str() {
        "ABORT" => {
            skip(parser, 1);
            let _ = takes(parser, &["WORK"]) || takes(parser, &["TRANSACTION"]);
            let chain = takes(parser, &["AND", "CHAIN"]);
            if !chain {
                takes(parser, &["AND", "NO", "CHAIN"]);
            }
            return sql(Ast::Rollback {
                chain,
                savepoint: None,
            });
        }
        "DROP" if are(parser, 1, &["INDEX", "CONCURRENTLY"]) => {
            skip(parser, 3);
            let if_exists = takes(parser, &["IF", "EXISTS"]);
            let names = parser.parse_comma_separated(|parser| parser.parse_object_name(false))?;
            let cascade = takes(parser, &["CASCADE"]);
            let restrict = !cascade && takes(parser, &["RESTRICT"]);
            return sql(Ast::Drop {
                object_type: ObjectType::Index,
                if_exists,
                names,
                cascade,
                restrict,
                purge: false,
                temporary: false,
                table: None,
            });
        }
        "DO" => {
            skip(parser, 1);
            let mut language = language_of(parser)?;
            let body = match parser.next_token() {
                TokenWithSpan {
                    token: Token::DollarQuotedString(text),
                    ..
                } => text.value,
                TokenWithSpan {
                    token: Token::SingleQuotedString(text) | Token::EscapedStringLiteral(text),
                    ..
                } => text,
                other => return parser.expected("a text with a block", other),
            };
            if language.is_none() {
                language = language_of(parser)?;
            }
            Utility::Do { language, body }
        }
        "BEGIN" | "START" if !are(parser, 1, &["ATOMIC"]) => {
            let begin = first == "BEGIN";
            if !begin && !are(parser, 1, &["TRANSACTION"]) {
                return Ok(None);
            }
            skip(parser, 1);
            let transaction = match takes(parser, &["TRANSACTION"]) {
                true => Some(BeginTransactionKind::Transaction),
                false => takes(parser, &["WORK"]).then_some(BeginTransactionKind::Work),
            };
            let (modes, deferrable) = modes(parser)?;
            return sql(Ast::StartTransaction {
                modes,
                begin,
                transaction,
                modifier: deferrable.map(|on| match on {
                    true => TransactionModifier::Deferred,
                    false => TransactionModifier::Immediate,
                }),
                statements: Vec::new(),
                exception: None,
                has_end_keyword: false,
            });
        }
        "SET" if let Some(words) = schema_words(parser) => {
            let scope = if are(parser, 1, &["LOCAL"]) {
                "LOCAL "
            } else {
                ""
            };
            skip(parser, words);
            let schema = parser.next_token().token;
            let text = format!("SET {scope}search_path = {schema}");
            let set = Parser::parse_sql(&PostgreSqlDialect {}, &text)?.pop();
            return Ok(set.map(Tree::Sql));
        }
        "SET" => {
            let session = are(
                parser,
                1,
                &["SESSION", "CHARACTERISTICS", "AS", "TRANSACTION"],
            );
            let plain = are(parser, 1, &["TRANSACTION"]) && !are(parser, 2, &["SNAPSHOT"]);
            let local = are(parser, 1, &["LOCAL", "TRANSACTION"]);
            let words = match (session, plain, local) {
                (true, ..) => 5,
                (_, true, _) => 2,
                (.., true) => 3,
                _ => return Ok(None),
            };
            skip(parser, words);
            let at = parser.peek_token_ref().clone();
            let (modes, deferrable) = modes(parser)?;
            if modes.is_empty() && deferrable.is_none() {
                return parser.expected("transaction mode", at);
            }
            let (mut level, mut read_only) = (None, None);
            for mode in modes {
                match mode {
                    TransactionMode::IsolationLevel(one) => {
                        level = Some(one.to_string().to_lowercase());
                    }
                    TransactionMode::AccessMode(access) => {
                        read_only = Some(access == TransactionAccessMode::ReadOnly);
                    }
                }
            }
            Utility::Modes {
                session,
                level,
                read_only,
                deferrable,
            }
        }
        "RESET" if are(parser, 1, &["TIME", "ZONE"]) => {
            skip(parser, 3);
            return sql(reset("timezone"));
        }
        "RESET" if are(parser, 1, &["TRANSACTION", "ISOLATION", "LEVEL"]) => {
            skip(parser, 4);
            return sql(reset("transaction_isolation"));
        }
        "CHECKPOINT" => {
            skip(parser, 1);
            Utility::Checkpoint
        }
        "REINDEX" => {
            skip(parser, 1);
            if parser.peek_token_ref().token == Token::LParen {
                parser.parse_utility_options()?;
            }
            let kinds = ["INDEX", "TABLE", "SCHEMA", "DATABASE", "SYSTEM"];
            let kind = kinds.into_iter().find(|kind| takes(parser, &[*kind]));
            let Some(kind) = kind else {
                return parser.expected_ref("INDEX or TABLE", parser.peek_token_ref());
            };
            let concurrently = takes(parser, &["CONCURRENTLY"]);
            let none = matches!(parser.peek_token_ref().token, Token::EOF | Token::SemiColon)
                && matches!(kind, "DATABASE" | "SYSTEM");
            let name = match none {
                true => None,
                false => Some(parser.parse_object_name(false)?.to_string()),
            };
            Utility::Reindex {
                kind: kind.to_owned(),
                name,
                concurrently,
            }
        }
        "CLUSTER" => {
            skip(parser, 1);
            if parser.peek_token_ref().token == Token::LParen {
                parser.parse_utility_options()?;
            } else {
                takes(parser, &["VERBOSE"]);
            }
            let ends = matches!(parser.peek_token_ref().token, Token::EOF | Token::SemiColon);
            let (mut table, mut index) = (None, None);
            if !ends {
                table = Some(parser.parse_object_name(false)?.to_string());
                if takes(parser, &["ON"]) {
                    let on = parser.parse_object_name(false)?.to_string();
                    index = table.replace(on);
                } else if takes(parser, &["USING"]) {
                    index = Some(parser.parse_identifier()?.to_string());
                }
            }
            Utility::Cluster { table, index }
        }
        "DROP" => {
            let kind = NONE.iter().find(|words| are(parser, 1, words));
            let Some(kind) = kind else {
                return Ok(None);
            };
            if kind[0] == "ROUTINE" {
                rest(parser);
                let what = Utility::Unsupported("DROP ROUTINE".to_owned());
                return Ok(Some(Tree::Own(OwnStatement::Utility(what))));
            }
            skip(parser, kind.len() + 1);
            let if_exists = takes(parser, &["IF", "EXISTS"]);
            let what = rest(parser);
            Utility::Drop {
                kind: kind.join(" ").to_lowercase(),
                if_exists,
                what,
            }
        }
        _ => {
            let replaces = are(parser, 1, &["OR", "REPLACE"]);
            let from = if replaces { 3 } else { 1 };
            let refused = REFUSED
                .iter()
                .find(|words| words[0] == first && are(parser, from, &words[1..]));
            let made = || {
                let verb = first.as_str();
                if verb == "COMMENT" && are(parser, 1, &["ON"]) {
                    let kind = NONE
                        .iter()
                        .chain(COMMENTED)
                        .find(|kind| are(parser, 2, kind))?;
                    return Some(format!("COMMENT ON {}", kind.join(" ")));
                }
                if !matches!(verb, "CREATE" | "ALTER") {
                    return None;
                }
                let kind = NONE.iter().find(|words| are(parser, from, words))?;
                let read = READ.contains(&kind[0]);
                (!read).then(|| format!("{verb} {}", kind.join(" ")))
            };
            let what = refused.map(|words| words.join(" ")).or_else(made);
            let Some(what) = what else {
                return Ok(None);
            };
            rest(parser);
            Utility::Unsupported(what)
        }
    };
    Ok(Some(Tree::Own(OwnStatement::Utility(utility))))
}

/// How many words stand before the name of SET SCHEMA 's'; `None` for another statement.
fn schema_words(parser: &Parser<'_>) -> Option<usize> {
    let words = match are(parser, 1, &["LOCAL"]) || are(parser, 1, &["SESSION"]) {
        true => 3,
        false => 2,
    };
    let name = &parser.peek_nth_token_ref(words).token;
    let is = are(parser, words - 1, &["SCHEMA"]) && matches!(name, Token::SingleQuotedString(_));
    is.then_some(words)
}

fn reset(setting: &str) -> Ast {
    let name = ObjectName::from(vec![Ident::new(setting)]);
    Ast::Reset(ResetStatement {
        reset: Reset::ConfigurationParameter(name),
    })
}

/// Modes of a transaction with commas between them or without, and whether it is DEFERRABLE.
fn modes(parser: &mut Parser<'_>) -> Read<(Vec<TransactionMode>, Option<bool>)> {
    use TransactionIsolationLevel as Level;
    let (mut modes, mut deferrable) = (Vec::new(), None);
    let mut wanted = false;
    loop {
        if takes(parser, &["ISOLATION", "LEVEL"]) {
            let levels = [
                (["READ", "UNCOMMITTED"].as_slice(), Level::ReadUncommitted),
                (&["READ", "COMMITTED"], Level::ReadCommitted),
                (&["REPEATABLE", "READ"], Level::RepeatableRead),
                (&["SERIALIZABLE"], Level::Serializable),
            ];
            let mut levels = levels.into_iter();
            let Some((_, level)) = levels.find(|(words, _)| takes(parser, words)) else {
                return parser.expected_ref("isolation level", parser.peek_token_ref());
            };
            modes.push(TransactionMode::IsolationLevel(level));
        } else if takes(parser, &["READ", "ONLY"]) {
            modes.push(TransactionMode::AccessMode(TransactionAccessMode::ReadOnly));
        } else if takes(parser, &["READ", "WRITE"]) {
            let access = TransactionAccessMode::ReadWrite;
            modes.push(TransactionMode::AccessMode(access));
        } else if takes(parser, &["DEFERRABLE"]) {
            deferrable = Some(true);
        } else if takes(parser, &["NOT", "DEFERRABLE"]) {
            deferrable = Some(false);
        } else if wanted {
            return parser.expected_ref("transaction mode", parser.peek_token_ref());
        } else {
            return Ok((modes, deferrable));
        }
        wanted = parser.consume_token(&Token::Comma);
    }
}

#[cfg(test)]
mod tests {
    use super::Utility;
    use crate::grammar::{OwnStatement, Tree};
    use crate::statement::parse;

    fn read(text: &str) -> Utility {
        match parse(text).unwrap()[0].tree() {
            Tree::Own(OwnStatement::Utility(utility)) => utility.clone(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn statements_are_read() {
        let modes = |session, level: Option<&str>, read_only, deferrable| Utility::Modes {
            session,
            level: level.map(str::to_owned),
            read_only,
            deferrable,
        };
        let dropped = |kind: &str, if_exists, what: &str| Utility::Drop {
            kind: kind.to_owned(),
            if_exists,
            what: what.to_owned(),
        };
        for (text, utility) in [
            (
                "set transaction isolation level read committed read only, not deferrable",
                modes(false, Some("read committed"), Some(true), Some(false)),
            ),
            (
                "SET SESSION CHARACTERISTICS AS TRANSACTION DEFERRABLE",
                modes(true, None, None, Some(true)),
            ),
            (
                "DROP CAST IF EXISTS (a AS b)",
                dropped("cast", true, "( a AS b )"),
            ),
            (
                "drop text search parser p",
                dropped("text search parser", false, "p"),
            ),
            (
                "CREATE OR REPLACE RULE r AS ON DELETE TO t DO (SELECT 1; SELECT 2)",
                Utility::Unsupported("CREATE RULE".to_owned()),
            ),
            (
                "DO LANGUAGE plpgsql $$ BEGIN END $$",
                Utility::Do {
                    language: Some("plpgsql".to_owned()),
                    body: " BEGIN END ".to_owned(),
                },
            ),
            (
                "CLUSTER VERBOSE s.t USING i",
                Utility::Cluster {
                    table: Some("s.t".to_owned()),
                    index: Some("i".to_owned()),
                },
            ),
            (
                "REINDEX (VERBOSE) TABLE CONCURRENTLY t",
                Utility::Reindex {
                    kind: "TABLE".to_owned(),
                    name: Some("t".to_owned()),
                    concurrently: true,
                },
            ),
        ] {
            assert_eq!(read(text), utility, "{text}");
        }
        for text in [
            "BEGIN ISOLATION LEVEL",
            "START TRANSACTION READ ONLY,",
            "SET TRANSACTION",
            "REINDEX t",
        ] {
            assert_eq!(parse(text).unwrap_err().sqlstate, "42601", "{text}");
        }
    }
}
