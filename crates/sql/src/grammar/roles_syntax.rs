//! CREATE, ALTER and DROP ROLE, SET ROLE and what belongs to it, read.

use sqlparser::ast::Ident;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::grant;
use super::roles::{Kind, RoleName, RoleOption, RoleStatement};
use crate::names::fold;

pub(super) type Read<T> = Result<T, ParserError>;

/// Reads one of the statements, if the next one is one.
///
/// # Errors
/// Syntax errors of the statement.
pub(super) fn parse(parser: &mut Parser<'_>) -> Read<Option<RoleStatement>> {
    let known = [
        "CREATE", "ALTER", "DROP", "REASSIGN", "GRANT", "REVOKE", "SET", "RESET",
    ];
    if !word(parser, 0).is_some_and(|first| known.contains(&first.as_str())) {
        return Ok(None);
    }
    let words = [0, 1, 2].map(|distance| word(parser, distance).unwrap_or_default());
    let [first, second, third] = words.each_ref().map(String::as_str);
    let is_role = ["ROLE", "USER", "GROUP"].contains(&second);
    // USER MAPPING is of foreign servers.
    let is_role = is_role && third != "MAPPING";
    let statement = match (first, second, third) {
        ("CREATE", ..) if is_role => {
            skip(parser, 2);
            create(parser, second == "USER")?
        }
        ("ALTER", ..) if is_role => {
            skip(parser, 2);
            alter(parser, second == "GROUP")?
        }
        ("DROP", ..) if is_role => {
            skip(parser, 2);
            let if_exists = takes(parser, &["IF", "EXISTS"]);
            let names = role_names(parser)?;
            RoleStatement::Drop { names, if_exists }
        }
        ("DROP", "OWNED", "BY") => {
            skip(parser, 3);
            let by = role_names(parser)?;
            let _ = takes(parser, &["CASCADE"]) || takes(parser, &["RESTRICT"]);
            RoleStatement::DropOwned { by }
        }
        ("REASSIGN", "OWNED", "BY") => {
            skip(parser, 3);
            let from = role_names(parser)?;
            expect(parser, "TO")?;
            let to = role_name(parser)?;
            RoleStatement::Reassign { from, to }
        }
        ("GRANT" | "REVOKE", ..) => {
            skip(parser, 1);
            grant::parse(parser, first == "GRANT")?
        }
        ("SET", "ROLE", _) | ("SET", "SESSION", "ROLE") => {
            skip(parser, if second == "ROLE" { 2 } else { 3 });
            RoleStatement::SetRole(chosen(parser, "NONE")?)
        }
        ("SET", "LOCAL", "ROLE") => unsupported(parser, "SET LOCAL ROLE"),
        ("RESET", "ROLE", _) => {
            skip(parser, 2);
            RoleStatement::ResetRole
        }
        ("SET", "SESSION", "AUTHORIZATION") => {
            skip(parser, 3);
            RoleStatement::SetSession(chosen(parser, "DEFAULT")?)
        }
        ("RESET", "SESSION", "AUTHORIZATION") => {
            skip(parser, 3);
            RoleStatement::ResetSession
        }
        ("ALTER", "TABLE" | "VIEW" | "SEQUENCE" | "SCHEMA" | "TYPE" | "DOMAIN", _) => {
            match parser.maybe_parse(owner)? {
                Some(statement) => statement,
                None => return Ok(None),
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(statement))
}

fn create(parser: &mut Parser<'_>, user: bool) -> Read<RoleStatement> {
    let name = role_name(parser)?;
    let mut options = vec![RoleOption::Login(user)];
    match read_options(parser, &mut options)? {
        Some(refused) => Ok(refused),
        None => Ok(RoleStatement::Create { name, options }),
    }
}

fn alter(parser: &mut Parser<'_>, group: bool) -> Read<RoleStatement> {
    if word(parser, 0).as_deref() == Some("ALL") {
        return Ok(unsupported(parser, "ALTER ROLE ALL"));
    }
    let name = role_name(parser)?;
    if takes(parser, &["RENAME", "TO"]) {
        let to = fold(&parser.parse_identifier()?);
        return Ok(RoleStatement::Rename { name, to });
    }
    for grant in [true, false] {
        if group && takes(parser, &[if grant { "ADD" } else { "DROP" }, "USER"]) {
            return Ok(RoleStatement::Membership {
                grant,
                roles: vec![name],
                members: role_names(parser)?,
                admin: false,
                only_option: false,
                of_group: true,
            });
        }
    }
    for set in [true, false] {
        if takes(parser, &[if set { "SET" } else { "RESET" }]) {
            let setting = parser.parse_object_name(false)?.to_string().to_lowercase();
            if setting != "memory_limit" && setting != "freestone.memory_limit" {
                let what = format!("ALTER ROLE … SET {setting}");
                return Ok(unsupported(parser, &what));
            }
            let limit = if set { memory(parser)? } else { None };
            return Ok(RoleStatement::Memory { name, limit });
        }
    }
    let mut options = Vec::new();
    match read_options(parser, &mut options)? {
        Some(refused) => Ok(refused),
        None => Ok(RoleStatement::Alter { name, options }),
    }
}

/// `= '1GB'`, `TO '1GB'` or `TO DEFAULT`.
fn memory(parser: &mut Parser<'_>) -> Read<Option<String>> {
    if !parser.consume_token(&Token::Eq) {
        expect(parser, "TO")?;
    }
    match takes(parser, &["DEFAULT"]) {
        true => Ok(None),
        false => parser.parse_literal_string().map(Some),
    }
}

/// The rest of CREATE or ALTER ROLE; what it comes to if one of it is refused.
fn read_options(
    parser: &mut Parser<'_>,
    options: &mut Vec<RoleOption>,
) -> Read<Option<RoleStatement>> {
    takes(parser, &["WITH"]);
    let mut said: Vec<String> = Vec::new();
    while let Some(next) = word(parser, 0) {
        skip(parser, 1);
        // An attribute and its negation are one option.
        let about = match next.as_str() {
            "ENCRYPTED" => continue,
            "USER" => "ROLE",
            other => other.strip_prefix("NO").unwrap_or(other),
        };
        if said.iter().any(|known| known == about) {
            let message = "conflicting or redundant options";
            return Err(ParserError::ParserError(message.to_owned()));
        }
        said.push(about.to_owned());
        options.push(match next.as_str() {
            "LOGIN" => RoleOption::Login(true),
            "NOLOGIN" => RoleOption::Login(false),
            "SUPERUSER" => RoleOption::Superuser(true),
            "NOSUPERUSER" => RoleOption::Superuser(false),
            "INHERIT" => RoleOption::Inherit(true),
            "NOINHERIT" => RoleOption::Inherit(false),
            "NOCREATEDB" | "NOCREATEROLE" | "NOREPLICATION" | "NOBYPASSRLS" => RoleOption::Nothing,
            "PASSWORD" if takes(parser, &["NULL"]) => RoleOption::Password(None),
            "PASSWORD" => RoleOption::Password(Some(parser.parse_literal_string()?)),
            "CONNECTION" => {
                expect(parser, "LIMIT")?;
                let negative = parser.consume_token(&Token::Minus);
                let number = i64::try_from(parser.parse_literal_uint()?).unwrap_or(i64::MAX);
                RoleOption::ConnectionLimit(if negative { -number } else { number })
            }
            "VALID" => {
                expect(parser, "UNTIL")?;
                RoleOption::ValidUntil(parser.parse_literal_string()?)
            }
            "IN" => {
                if !takes(parser, &["ROLE"]) {
                    expect(parser, "GROUP")?;
                }
                RoleOption::InRole(role_names(parser)?)
            }
            "ROLE" | "USER" => RoleOption::Members(role_names(parser)?, false),
            "ADMIN" => RoleOption::Members(role_names(parser)?, true),
            "CREATEDB" | "CREATEROLE" | "REPLICATION" | "BYPASSRLS" | "SYSID" => {
                return Ok(Some(unsupported(parser, &format!("a role with {next}"))));
            }
            _ => {
                parser.prev_token();
                return parser.expected("an option of a role", parser.peek_token());
            }
        });
    }
    Ok(None)
}

/// `ALTER TABLE t OWNER TO r`.
fn owner(parser: &mut Parser<'_>) -> Read<RoleStatement> {
    skip(parser, 1);
    let kind = match word(parser, 0).as_deref() {
        Some("TABLE") => Kind::Table,
        Some("VIEW") => Kind::View,
        Some("SEQUENCE") => Kind::Sequence,
        Some("TYPE" | "DOMAIN") => Kind::Type,
        _ => Kind::Schema,
    };
    skip(parser, 1);
    let if_exists = takes(parser, &["IF", "EXISTS"]);
    takes(parser, &["ONLY"]);
    let name = parser.parse_object_name(false)?.to_string();
    expect(parser, "OWNER")?;
    expect(parser, "TO")?;
    let to = role_name(parser)?;
    Ok(RoleStatement::Owner {
        kind,
        name,
        if_exists,
        to,
    })
}

/// A role's name, as an identifier or a text; `None` for the word that means none.
fn chosen(parser: &mut Parser<'_>, none: &str) -> Read<Option<String>> {
    if takes(parser, &[none]) {
        return Ok(None);
    }
    if let Token::SingleQuotedString(text) = parser.peek_token().token {
        parser.next_token();
        return Ok(Some(text));
    }
    Ok(Some(fold(&parser.parse_identifier()?)))
}

/// A role as a statement names it.
pub(super) fn role_name(parser: &mut Parser<'_>) -> Read<RoleName> {
    let ident = parser.parse_identifier()?;
    Ok(named(&ident))
}

pub(super) fn named(ident: &Ident) -> RoleName {
    let word = match ident.quote_style {
        None => ident.value.to_uppercase(),
        Some(_) => String::new(),
    };
    match word.as_str() {
        "CURRENT_USER" | "CURRENT_ROLE" => RoleName::Current,
        "SESSION_USER" => RoleName::Session,
        "PUBLIC" => RoleName::Public,
        _ => RoleName::Named(fold(ident)),
    }
}

pub(super) fn role_names(parser: &mut Parser<'_>) -> Read<Vec<RoleName>> {
    parser.parse_comma_separated(|parser| {
        takes(parser, &["GROUP"]);
        role_name(parser)
    })
}

/// A statement that is understood and refused, to its end.
pub(super) fn unsupported(parser: &mut Parser<'_>, what: &str) -> RoleStatement {
    while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
        parser.next_token();
    }
    RoleStatement::Unsupported(what.to_owned())
}

/// The word at a distance, in upper case.
pub(super) fn word(parser: &Parser<'_>, distance: usize) -> Option<String> {
    match parser.peek_nth_token(distance).token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_uppercase()),
        _ => None,
    }
}

pub(super) fn skip(parser: &mut Parser<'_>, count: usize) {
    (0..count).for_each(|_| drop(parser.next_token()));
}

/// Takes words if all of them come next.
pub(super) fn takes(parser: &mut Parser<'_>, words: &[&str]) -> bool {
    let mut next = words.iter().enumerate();
    let all = next.all(|(distance, known)| word(parser, distance).as_deref() == Some(*known));
    if all {
        skip(parser, words.len());
    }
    all
}

pub(super) fn expect(parser: &mut Parser<'_>, wanted: &str) -> Read<()> {
    match takes(parser, &[wanted]) {
        true => Ok(()),
        false => parser.expected(wanted, parser.peek_token()),
    }
}
