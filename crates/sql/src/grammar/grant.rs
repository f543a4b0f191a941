//! GRANT and REVOKE, read.

use sqlparser::ast::Ident;
use sqlparser::parser::{IsOptional, Parser};
use sqlparser::tokenizer::Token;

use super::roles::{GrantedPrivilege, Kind, On, RoleName, RoleStatement};
use super::roles_syntax::{Read, expect, named, role_names, takes, unsupported, word};
use crate::names::fold;

/// Reads what comes after GRANT or REVOKE.
pub(super) fn parse(parser: &mut Parser<'_>, grant: bool) -> Read<RoleStatement> {
    if !grant && takes(parser, &["GRANT", "OPTION", "FOR"]) {
        return Ok(unsupported(parser, "REVOKE GRANT OPTION FOR"));
    }
    let only_option = !grant && takes(parser, &["ADMIN", "OPTION", "FOR"]);
    let mut items: Vec<(Ident, Vec<String>)> = Vec::new();
    loop {
        let item = parser.parse_identifier()?;
        takes(parser, &["PRIVILEGES"]);
        let columns = match parser.peek_token().token == Token::LParen {
            true => parser.parse_parenthesized_column_list(IsOptional::Mandatory, false)?,
            false => Vec::new(),
        };
        items.push((item, columns.iter().map(fold).collect()));
        if !parser.consume_token(&Token::Comma) {
            break;
        }
    }
    let of_columns = items.iter().any(|(_, columns)| !columns.is_empty());
    match takes(parser, &["ON"]) {
        true => privileges(parser, grant, items),
        false if of_columns => parser.expected("ON", parser.peek_token()),
        false => {
            let roles: Vec<Ident> = items.into_iter().map(|(item, _)| item).collect();
            membership(parser, (grant, only_option), &roles)
        }
    }
}

fn privileges(
    parser: &mut Parser<'_>,
    grant: bool,
    items: Vec<(Ident, Vec<String>)>,
) -> Read<RoleStatement> {
    let privileges = items.into_iter().map(|(item, columns)| {
        let name = item.value.to_uppercase();
        GrantedPrivilege {
            name: (name != "ALL").then_some(name),
            columns,
        }
    });
    let privileges = privileges.collect();
    let Some(on) = objects(parser)? else {
        return Ok(unsupported(
            parser,
            "GRANT and REVOKE on anything but tables, sequences and schemas",
        ));
    };
    expect(parser, if grant { "TO" } else { "FROM" })?;
    let roles = role_names(parser)?;
    if takes(parser, &["WITH", "GRANT", "OPTION"]) {
        return Ok(unsupported(parser, "WITH GRANT OPTION"));
    }
    let _ = takes(parser, &["CASCADE"]) || takes(parser, &["RESTRICT"]);
    Ok(RoleStatement::Privileges {
        grant,
        privileges,
        on,
        roles,
    })
}

/// What is granted on; `None` for kinds that there are not.
fn objects(parser: &mut Parser<'_>) -> Read<Option<On>> {
    let whole = [
        (["ALL", "TABLES", "IN", "SCHEMA"], Kind::Table),
        (["ALL", "SEQUENCES", "IN", "SCHEMA"], Kind::Sequence),
    ];
    for (words, kind) in whole {
        if takes(parser, &words) {
            return Ok(Some(On::AllIn(kind, object_names(parser)?)));
        }
    }
    let other = [
        "ALL",
        "DATABASE",
        "DOMAIN",
        "FOREIGN",
        "FUNCTION",
        "LANGUAGE",
        "LARGE",
        "PARAMETER",
        "PROCEDURE",
        "ROUTINE",
        "TABLESPACE",
        "TYPE",
    ];
    let kind = match word(parser, 0).as_deref() {
        Some("TABLE") => Some(Kind::Table),
        Some("SEQUENCE") => Some(Kind::Sequence),
        Some("SCHEMA") => Some(Kind::Schema),
        // A table may be called so.
        Some(word) if other.contains(&word) && !ends_name(parser) => return Ok(None),
        _ => None,
    };
    if kind.is_some() {
        parser.next_token();
    }
    let names = object_names(parser)?;
    Ok(Some(On::Named(kind.unwrap_or(Kind::Table), names)))
}

/// Whether the next word is all of a name.
fn ends_name(parser: &Parser<'_>) -> bool {
    let next = parser.peek_nth_token(1).token;
    let word = word(parser, 1);
    matches!(next, Token::Comma | Token::Period) || matches!(word.as_deref(), Some("TO" | "FROM"))
}

fn object_names(parser: &mut Parser<'_>) -> Read<Vec<String>> {
    parser.parse_comma_separated(|parser| Ok(parser.parse_object_name(false)?.to_string()))
}

fn membership(
    parser: &mut Parser<'_>,
    (grant, only_option): (bool, bool),
    items: &[Ident],
) -> Read<RoleStatement> {
    expect(parser, if grant { "TO" } else { "FROM" })?;
    let members = role_names(parser)?;
    let mut admin = false;
    if takes(parser, &["WITH", "ADMIN"]) {
        admin = takes(parser, &["OPTION"]) || takes(parser, &["TRUE"]);
        if !admin {
            expect(parser, "FALSE")?;
        }
    } else if takes(parser, &["WITH"]) {
        return Ok(unsupported(parser, "GRANT of a role WITH INHERIT or SET"));
    }
    let _ = takes(parser, &["CASCADE"]) || takes(parser, &["RESTRICT"]);
    let roles: Vec<RoleName> = items.iter().map(named).collect();
    Ok(RoleStatement::Membership {
        grant,
        roles,
        members,
        admin,
        only_option,
        of_group: false,
    })
}
