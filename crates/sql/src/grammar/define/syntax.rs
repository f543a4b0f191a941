//! Reads the statements.

use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::{
    AttributeChange, CompositeChange, ConstraintKind, Definition, DomainChange, DomainConstraint,
    FunctionChange, FunctionOption, SequenceChange, SequenceOption, TableChange,
};
use crate::grammar::printed::printed;
use crate::names::fold;

type Read<T> = Result<T, ParserError>;

/// Reads one of the statements, if the next one is one.
///
/// # Errors
/// Syntax errors of the statement.
pub(crate) fn parse(parser: &mut Parser<'_>) -> Read<Option<Definition>> {
    let words = [0, 1].map(|distance| word(parser, distance).unwrap_or_default());
    let [first, second] = words.each_ref().map(String::as_str);
    let statement = match (first, second) {
        ("CREATE", "DOMAIN") => {
            skip(parser, 2);
            create_domain(parser)?
        }
        ("CREATE", "SCHEMA") => match parser.maybe_parse(schema_with_elements)? {
            Some(statement) => statement,
            None => return Ok(None),
        },
        ("ALTER", "DOMAIN") => {
            skip(parser, 2);
            let name = parser.parse_object_name(false)?.to_string();
            match takes(parser, &["SET", "SCHEMA"]) {
                true => moved(parser, true, name)?,
                false => Definition::AlterDomain {
                    name,
                    change: change(parser)?,
                },
            }
        }
        ("REFRESH", "MATERIALIZED") => {
            skip(parser, 2);
            refresh(parser)?
        }
        ("ALTER", "MATERIALIZED") => {
            skip(parser, 2);
            expect(parser, "VIEW")?;
            let if_exists = takes(parser, &["IF", "EXISTS"]);
            let name = parser.parse_object_name(false)?.to_string();
            let mut change = Vec::new();
            while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
                change.push(parser.next_token());
            }
            Definition::AlterMaterialized {
                name,
                if_exists,
                change: crate::dialect::written(&crate::dialect::spaced(change)),
            }
        }
        ("ALTER", "FUNCTION" | "ROUTINE") => {
            skip(parser, 2);
            alter_function(parser, false)?
        }
        ("ALTER", "AGGREGATE") => {
            skip(parser, 2);
            alter_function(parser, true)?
        }
        ("ALTER", "SEQUENCE") => {
            skip(parser, 2);
            let if_exists = takes(parser, &["IF", "EXISTS"]);
            let name = parser.parse_object_name(false)?.to_string();
            Definition::AlterSequence {
                name,
                if_exists,
                change: sequence_change(parser)?,
            }
        }
        ("ALTER", "INDEX") => match parser.maybe_parse(rename_index)? {
            Some(statement) => statement,
            None => return Ok(None),
        },
        ("SET", "CONSTRAINTS") => {
            skip(parser, 2);
            let names = match takes(parser, &["ALL"]) {
                true => None,
                false => {
                    let names =
                        parser.parse_comma_separated(|parser| parser.parse_object_name(false))?;
                    Some(names.iter().map(ToString::to_string).collect())
                }
            };
            let deferred = takes(parser, &["DEFERRED"]);
            if !deferred {
                expect(parser, "IMMEDIATE")?;
            }
            Definition::SetConstraints { names, deferred }
        }
        ("ALTER", "TYPE") => match parser.maybe_parse(alter_type)? {
            Some(statement) => statement,
            None => return Ok(None),
        },
        ("ALTER", "VIEW") => match parser.maybe_parse(|parser| alter_table(parser, true))? {
            Some(statement) => statement,
            None => return Ok(None),
        },
        ("ALTER", "TABLE") => {
            let other = |parser: &mut Parser<'_>| alter_table(parser, false);
            let read = match parser.maybe_parse(partition)? {
                None => parser.maybe_parse(other)?,
                of_partitions => of_partitions,
            };
            match read {
                Some(statement) => statement,
                None => return Ok(None),
            }
        }
        ("DROP", "TYPE" | "DOMAIN") => {
            let domains = second == "DOMAIN";
            skip(parser, 2);
            let if_exists = takes(parser, &["IF", "EXISTS"]);
            let names = parser.parse_comma_separated(|parser| parser.parse_object_name(false))?;
            Definition::Drop {
                domains,
                names: names.iter().map(ToString::to_string).collect(),
                if_exists,
                cascade: behaviour(parser),
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(statement))
}

/// CREATE SCHEMA with a statement behind it at least.
fn schema_with_elements(parser: &mut Parser<'_>) -> Read<Definition> {
    let head = parser.parse_statement()?.to_string();
    let mut elements = Vec::new();
    while begins_element(parser) {
        let mut element = vec![parser.next_token()];
        while !begins_element(parser)
            && !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon)
        {
            element.push(parser.next_token());
        }
        elements.push(crate::dialect::written(&crate::dialect::spaced(element)));
    }
    match elements.is_empty() {
        true => parser.expected("an element of the schema", parser.peek_token()),
        false => Ok(Definition::CreateSchema { head, elements }),
    }
}

/// Whether the next word begins a statement within CREATE SCHEMA; CREATE may also be a right.
fn begins_element(parser: &Parser<'_>) -> bool {
    let words = [0, 1].map(|distance| word(parser, distance).unwrap_or_default());
    match words.each_ref().map(String::as_str) {
        ["GRANT", next] => next != "OPTION",
        ["CREATE", next] => matches!(
            next,
            "TABLE"
                | "TEMP"
                | "TEMPORARY"
                | "UNLOGGED"
                | "OR"
                | "VIEW"
                | "RECURSIVE"
                | "MATERIALIZED"
                | "INDEX"
                | "UNIQUE"
                | "SEQUENCE"
                | "TRIGGER"
                | "CONSTRAINT"
        ),
        _ => false,
    }
}

/// ATTACH PARTITION and DETACH PARTITION.
fn partition(parser: &mut Parser<'_>) -> Read<Definition> {
    skip(parser, 2);
    let if_exists = takes(parser, &["IF", "EXISTS"]);
    // Partitions of partitions are no part of it anyhow.
    takes(parser, &["ONLY"]);
    let parent = parser.parse_object_name(false)?.to_string();
    let attach = takes(parser, &["ATTACH", "PARTITION"]);
    if !attach && !takes(parser, &["DETACH", "PARTITION"]) {
        return parser.expected("ATTACH or DETACH", parser.peek_token());
    }
    let partition = parser.parse_object_name(false)?.to_string();
    let bound = match attach {
        false => {
            // CONCURRENTLY and FINALIZE change nothing: readers of snapshots never block a DETACH.
            if !takes(parser, &["CONCURRENTLY"]) {
                takes(parser, &["FINALIZE"]);
            }
            None
        }
        true => {
            let mut text = String::new();
            while !matches!(parser.peek_token().token, Token::EOF | Token::SemiColon) {
                text.push_str(&parser.next_token().token.to_string());
                text.push(' ');
            }
            Some(text)
        }
    };
    Ok(Definition::Partition {
        parent,
        partition,
        bound,
        if_exists,
    })
}

/// REFRESH MATERIALIZED VIEW, behind its second word.
fn refresh(parser: &mut Parser<'_>) -> Read<Definition> {
    expect(parser, "VIEW")?;
    let concurrently = takes(parser, &["CONCURRENTLY"]);
    let name = parser.parse_object_name(false)?.to_string();
    let empty = takes(parser, &["WITH", "NO", "DATA"]);
    if !empty {
        takes(parser, &["WITH", "DATA"]);
    }
    match parser.peek_token().token {
        Token::EOF | Token::SemiColon => Ok(Definition::Refresh {
            name,
            concurrently,
            empty,
        }),
        _ => parser.expected("the end of the statement", parser.peek_token()),
    }
}

fn alter_table(parser: &mut Parser<'_>, view: bool) -> Read<Definition> {
    skip(parser, 2);
    let if_exists = takes(parser, &["IF", "EXISTS"]);
    takes(parser, &["ONLY"]);
    let name = parser.parse_object_name(false)?.to_string();
    let change = if takes(parser, &["SET", "SCHEMA"]) {
        TableChange::Move(fold(&parser.parse_identifier()?))
    } else if view && takes(parser, &["SET"]) {
        parser.expect_token(&Token::LParen)?;
        let options = parser.parse_comma_separated(view_option)?;
        parser.expect_token(&Token::RParen)?;
        TableChange::ViewOptions(options)
    } else if view && takes(parser, &["ALTER"]) {
        takes(parser, &["COLUMN"]);
        let column = fold(&parser.parse_identifier()?);
        let default = match takes(parser, &["DROP", "DEFAULT"]) {
            true => None,
            false => {
                expect(parser, "SET")?;
                expect(parser, "DEFAULT")?;
                Some(printed(&parser.parse_expr()?))
            }
        };
        TableChange::ViewDefault { column, default }
    } else if takes(parser, &["RESET"]) {
        parser.expect_token(&Token::LParen)?;
        let names = parser.parse_comma_separated(|parser| parser.parse_object_name(false))?;
        parser.expect_token(&Token::RParen)?;
        TableChange::Reset(names.iter().map(ToString::to_string).collect())
    } else if !view && takes(parser, &["ALTER", "CONSTRAINT"]) {
        alter_constraint(parser)?
    } else if !view && takes(parser, &["SET", "LOGGED"]) {
        TableChange::Logged
    } else if !view && takes(parser, &["SET", "UNLOGGED"]) {
        TableChange::Refused("SET UNLOGGED".to_owned())
    } else if !view && takes(parser, &["SET", "WITHOUT", "CLUSTER"]) {
        TableChange::Refused("SET WITHOUT CLUSTER".to_owned())
    } else if !view && takes(parser, &["CLUSTER", "ON"]) {
        parser.parse_identifier()?;
        TableChange::Refused("CLUSTER ON".to_owned())
    } else if !view && takes(parser, &["ALTER"]) {
        takes(parser, &["COLUMN"]);
        identity(parser)?
    } else {
        return parser.expected("SET SCHEMA", parser.peek_token());
    };
    match parser.peek_token().token {
        Token::EOF | Token::SemiColon => Ok(Definition::AlterTable {
            view,
            name,
            if_exists,
            change,
        }),
        _ => parser.expected("the end of the statement", parser.peek_token()),
    }
}

/// An option of a view, which is true without a value.
fn view_option(parser: &mut Parser<'_>) -> Read<(String, String)> {
    let name = fold(&parser.parse_identifier()?);
    if !parser.consume_token(&Token::Eq) {
        return Ok((name, "true".to_owned()));
    }
    let value = match parser.next_token().token {
        Token::SingleQuotedString(text) => text,
        Token::Word(word) => word.value.to_lowercase(),
        other => other.to_string(),
    };
    Ok((name, value))
}

fn rename_index(parser: &mut Parser<'_>) -> Read<Definition> {
    skip(parser, 2);
    let if_exists = takes(parser, &["IF", "EXISTS"]);
    let name = parser.parse_object_name(false)?.to_string();
    expect(parser, "RENAME")?;
    expect(parser, "TO")?;
    let to = fold(&parser.parse_identifier()?);
    Ok(Definition::RenameIndex {
        name,
        if_exists,
        to,
    })
}

/// A foreign key, and when it is checked.
fn alter_constraint(parser: &mut Parser<'_>) -> Read<TableChange> {
    let name = fold(&parser.parse_identifier()?);
    let (mut deferrable, mut deferred) = (None, None);
    loop {
        if takes(parser, &["NOT", "DEFERRABLE"]) {
            deferrable = Some(false);
        } else if takes(parser, &["DEFERRABLE"]) {
            deferrable = Some(true);
        } else if takes(parser, &["INITIALLY", "DEFERRED"]) {
            deferred = Some(true);
        } else if takes(parser, &["INITIALLY", "IMMEDIATE"]) {
            deferred = Some(false);
        } else {
            break;
        }
    }
    let deferred = deferred.unwrap_or(false);
    if deferred && deferrable == Some(false) {
        return Err(ParserError::ParserError(
            "constraint declared INITIALLY DEFERRED must be DEFERRABLE".to_owned(),
        ));
    }
    Ok(TableChange::Constraint {
        name,
        deferrable: deferrable.unwrap_or(deferred),
        deferred,
    })
}

/// Changes of a column that are understood and refused.
const OF_COLUMNS: [&[&str]; 3] = [
    &["SET", "STATISTICS"],
    &["SET", "STORAGE"],
    &["SET", "COMPRESSION"],
];

/// A column, and what becomes of its identity.
fn identity(parser: &mut Parser<'_>) -> Read<TableChange> {
    let column = fold(&parser.parse_identifier()?);
    if let Some(words) = OF_COLUMNS.iter().find(|words| takes(parser, words)) {
        parser.next_token();
        return Ok(TableChange::Refused(format!(
            "ALTER COLUMN … {}",
            words.join(" ")
        )));
    }
    if takes(parser, &["DROP", "IDENTITY"]) {
        let if_exists = takes(parser, &["IF", "EXISTS"]);
        return Ok(TableChange::DropIdentity { column, if_exists });
    }
    let (mut always, mut options) = (None, Vec::new());
    loop {
        if takes(parser, &["SET", "GENERATED", "ALWAYS"]) {
            always = Some(true);
        } else if takes(parser, &["SET", "GENERATED", "BY", "DEFAULT"]) {
            always = Some(false);
        } else if word(parser, 0).as_deref() == Some("RESTART") {
            options.extend(sequence_option(parser)?);
        } else if takes(parser, &["SET"]) {
            match sequence_option(parser)? {
                Some(SequenceOption::OwnedBy(_) | SequenceOption::As(_)) | None => {
                    return parser.expected("an option of an identity", parser.peek_token());
                }
                Some(option) => options.push(option),
            }
        } else {
            break;
        }
    }
    match always.is_none() && options.is_empty() {
        true => parser.expected("SET GENERATED", parser.peek_token()),
        false => Ok(TableChange::Identity {
            column,
            always,
            options,
        }),
    }
}

fn alter_type(parser: &mut Parser<'_>) -> Read<Definition> {
    skip(parser, 2);
    let name = parser.parse_object_name(false)?.to_string();
    if takes(parser, &["SET", "SCHEMA"]) {
        return moved(parser, false, name);
    }
    let change = match takes(parser, &["RENAME", "ATTRIBUTE"]) {
        true => {
            let from = fold(&parser.parse_identifier()?);
            expect(parser, "TO")?;
            let to = fold(&parser.parse_identifier()?);
            behaviour(parser);
            CompositeChange::Rename { from, to }
        }
        false => CompositeChange::Fields(parser.parse_comma_separated(attribute_change)?),
    };
    Ok(Definition::AlterComposite { name, change })
}

/// CASCADE is about tables of a type, which there are none of.
fn attribute_change(parser: &mut Parser<'_>) -> Read<AttributeChange> {
    let change = if takes(parser, &["ADD", "ATTRIBUTE"]) {
        AttributeChange::Add {
            name: fold(&parser.parse_identifier()?),
            ty: parser.parse_data_type()?.to_string(),
        }
    } else if takes(parser, &["DROP", "ATTRIBUTE"]) {
        let if_exists = takes(parser, &["IF", "EXISTS"]);
        AttributeChange::Drop {
            name: fold(&parser.parse_identifier()?),
            if_exists,
        }
    } else if takes(parser, &["ALTER", "ATTRIBUTE"]) {
        let name = fold(&parser.parse_identifier()?);
        takes(parser, &["SET", "DATA"]);
        expect(parser, "TYPE")?;
        AttributeChange::Type {
            name,
            ty: parser.parse_data_type()?.to_string(),
        }
    } else {
        return parser.expected("SET SCHEMA or an ATTRIBUTE", parser.peek_token());
    };
    behaviour(parser);
    Ok(change)
}

fn moved(parser: &mut Parser<'_>, domain: bool, name: String) -> Read<Definition> {
    let schema = fold(&parser.parse_identifier()?);
    Ok(Definition::Move {
        domain,
        name,
        schema,
    })
}

/// CASCADE; RESTRICT is what goes without saying.
fn behaviour(parser: &mut Parser<'_>) -> bool {
    let cascade = takes(parser, &["CASCADE"]);
    if !cascade {
        takes(parser, &["RESTRICT"]);
    }
    cascade
}

fn create_domain(parser: &mut Parser<'_>) -> Read<Definition> {
    let name = parser.parse_object_name(false)?.to_string();
    takes(parser, &["AS"]);
    let ty = parser.parse_data_type()?.to_string();
    let mut default = None;
    let mut constraints = Vec::new();
    loop {
        if takes(parser, &["DEFAULT"]) {
            if default.is_some() {
                return Err(ParserError::ParserError(
                    "multiple default expressions".to_owned(),
                ));
            }
            default = Some(default_text(parser)?);
        } else if takes(parser, &["COLLATE"]) {
            let collation = parser.parse_object_name(false)?;
            let known = [
                "\"C\"",
                "\"POSIX\"",
                "\"default\"",
                "pg_catalog.\"default\"",
            ];
            let written = collation.to_string();
            if !known.contains(&written.as_str()) {
                let message = format!("collation {written} is not there");
                return Err(ParserError::ParserError(message));
            }
        } else {
            match constraint(parser)? {
                Some(constraint) => constraints.push(constraint),
                None => break,
            }
        }
    }
    Ok(Definition::CreateDomain {
        name,
        ty,
        default,
        constraints,
    })
}

/// The tokens of a default: up to what begins a constraint.
fn default_text(parser: &mut Parser<'_>) -> Read<String> {
    let (mut text, mut depth) = (String::new(), 0usize);
    loop {
        let next = parser.peek_token();
        let ends = match &next.token {
            Token::EOF | Token::SemiColon => true,
            Token::Word(word) if depth == 0 && word.quote_style.is_none() && !text.is_empty() => {
                let word = word.value.to_uppercase();
                ["CONSTRAINT", "NOT", "NULL", "CHECK", "COLLATE", "DEFAULT"]
                    .contains(&word.as_str())
            }
            _ => false,
        };
        if ends {
            break;
        }
        match &next.token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        text.push_str(&next.token.to_string());
        text.push(' ');
        parser.next_token();
    }
    match text.trim() {
        "" => parser.expected("an expression", parser.peek_token()),
        text => Ok(text.to_owned()),
    }
}

fn constraint(parser: &mut Parser<'_>) -> Read<Option<DomainConstraint>> {
    let name = match takes(parser, &["CONSTRAINT"]) {
        true => Some(fold(&parser.parse_identifier()?)),
        false => None,
    };
    let kind = if takes(parser, &["NOT", "NULL"]) {
        ConstraintKind::NotNull
    } else if takes(parser, &["NULL"]) {
        ConstraintKind::Null
    } else if takes(parser, &["CHECK"]) {
        parser.expect_token(&Token::LParen)?;
        let condition = parser.parse_expr()?;
        parser.expect_token(&Token::RParen)?;
        ConstraintKind::Check(printed(&condition))
    } else if name.is_some() {
        return parser.expected("NOT NULL, NULL or CHECK", parser.peek_token());
    } else {
        return Ok(None);
    };
    let valid = !takes(parser, &["NOT", "VALID"]);
    Ok(Some(DomainConstraint { name, kind, valid }))
}

fn change(parser: &mut Parser<'_>) -> Read<DomainChange> {
    Ok(if takes(parser, &["SET", "DEFAULT"]) {
        DomainChange::Default(Some(default_text(parser)?))
    } else if takes(parser, &["DROP", "DEFAULT"]) {
        DomainChange::Default(None)
    } else if takes(parser, &["SET", "NOT", "NULL"]) {
        DomainChange::NotNull(true)
    } else if takes(parser, &["DROP", "NOT", "NULL"]) {
        DomainChange::NotNull(false)
    } else if takes(parser, &["DROP", "CONSTRAINT"]) {
        let if_exists = takes(parser, &["IF", "EXISTS"]);
        let name = fold(&parser.parse_identifier()?);
        behaviour(parser);
        DomainChange::DropConstraint { name, if_exists }
    } else if takes(parser, &["RENAME", "CONSTRAINT"]) {
        let name = fold(&parser.parse_identifier()?);
        expect(parser, "TO")?;
        let to = fold(&parser.parse_identifier()?);
        DomainChange::RenameConstraint { name, to }
    } else if takes(parser, &["VALIDATE", "CONSTRAINT"]) {
        DomainChange::Validate(fold(&parser.parse_identifier()?))
    } else if takes(parser, &["RENAME", "TO"]) {
        DomainChange::Rename(fold(&parser.parse_identifier()?))
    } else if takes(parser, &["ADD"]) {
        match constraint(parser)? {
            Some(constraint) => DomainChange::Add(constraint),
            None => return parser.expected("a constraint", parser.peek_token()),
        }
    } else {
        return parser.expected("SET, DROP, ADD, RENAME or VALIDATE", parser.peek_token());
    })
}

fn alter_function(parser: &mut Parser<'_>, is_aggregate: bool) -> Read<Definition> {
    let name = parser.parse_object_name(false)?.to_string();
    let parameters = match parser.consume_token(&Token::LParen) {
        false => None,
        true if parser.consume_token(&Token::Mul) => {
            parser.expect_token(&Token::RParen)?;
            Some(Vec::new())
        }
        true => {
            let all = parser.parse_comma_separated0(parameter, Token::RParen)?;
            parser.expect_token(&Token::RParen)?;
            Some(all.into_iter().flatten().collect())
        }
    };
    let change = if takes(parser, &["RENAME", "TO"]) {
        FunctionChange::Rename(fold(&parser.parse_identifier()?))
    } else if takes(parser, &["OWNER", "TO"]) {
        parser.parse_identifier()?;
        FunctionChange::Refused("OWNER TO".to_owned())
    } else if takes(parser, &["SET", "SCHEMA"]) {
        FunctionChange::Move(fold(&parser.parse_identifier()?))
    } else {
        let (mut options, mut refused) = (Vec::new(), None);
        loop {
            takes(parser, &["EXTERNAL"]);
            if takes(parser, &["SECURITY", "DEFINER"]) {
                refused = Some("SECURITY DEFINER");
            } else if let Some(option) = function_option(parser)? {
                options.push(option);
            } else {
                break;
            }
        }
        takes(parser, &["RESTRICT"]);
        match (refused, options.is_empty()) {
            (Some(clause), _) => FunctionChange::Refused(clause.to_owned()),
            (None, true) => {
                let known = "RENAME TO, SET SCHEMA, IMMUTABLE, STABLE, VOLATILE or STRICT";
                return parser.expected(known, parser.peek_token());
            }
            (None, false) => FunctionChange::Options(options),
        }
    };
    Ok(Definition::AlterFunction {
        name,
        parameters,
        is_aggregate,
        change,
    })
}

/// The type of a parameter, which may have a mode and a name before it; none of OUT.
fn parameter(parser: &mut Parser<'_>) -> Read<Option<String>> {
    let is_out = takes(parser, &["OUT"]);
    for mode in ["IN", "INOUT", "VARIADIC"] {
        takes(parser, &[mode]);
    }
    let named = parser.maybe_parse(|parser| {
        parser.parse_identifier()?;
        parser.parse_data_type()
    })?;
    let ty = match named {
        Some(ty) => ty,
        None => parser.parse_data_type()?,
    };
    Ok((!is_out).then(|| ty.to_string()))
}

fn function_option(parser: &mut Parser<'_>) -> Read<Option<FunctionOption>> {
    let parallel = |letter: &str| FunctionOption::Parallel(letter.to_owned());
    for (words, option) in [
        (
            ["IMMUTABLE"].as_slice(),
            FunctionOption::Volatility("i".to_owned()),
        ),
        (&["STABLE"], FunctionOption::Volatility("s".to_owned())),
        (&["VOLATILE"], FunctionOption::Volatility("v".to_owned())),
        (&["STRICT"], FunctionOption::Strict(true)),
        (
            &["RETURNS", "NULL", "ON", "NULL", "INPUT"],
            FunctionOption::Strict(true),
        ),
        (
            &["CALLED", "ON", "NULL", "INPUT"],
            FunctionOption::Strict(false),
        ),
        (&["LEAKPROOF"], FunctionOption::Leakproof(true)),
        (&["NOT", "LEAKPROOF"], FunctionOption::Leakproof(false)),
        (&["SECURITY", "INVOKER"], FunctionOption::Invoker),
        (&["PARALLEL", "SAFE"], parallel("s")),
        (&["PARALLEL", "RESTRICTED"], parallel("r")),
        (&["PARALLEL", "UNSAFE"], parallel("u")),
    ] {
        if takes(parser, words) {
            return Ok(Some(option));
        }
    }
    for (word, option) in [
        ("COST", FunctionOption::Cost as fn(String) -> FunctionOption),
        ("ROWS", FunctionOption::Rows),
    ] {
        if takes(parser, &[word]) {
            let sign = if parser.consume_token(&Token::Minus) {
                "-"
            } else {
                ""
            };
            let number = parser.parse_number_value()?;
            return Ok(Some(option(format!("{sign}{number}"))));
        }
    }
    Ok(None)
}

fn sequence_change(parser: &mut Parser<'_>) -> Read<SequenceChange> {
    if takes(parser, &["RENAME", "TO"]) {
        return Ok(SequenceChange::Rename(fold(&parser.parse_identifier()?)));
    }
    if takes(parser, &["SET", "SCHEMA"]) {
        return Ok(SequenceChange::Move(fold(&parser.parse_identifier()?)));
    }
    let mut options = Vec::new();
    while let Some(option) = sequence_option(parser)? {
        options.push(option);
    }
    match options.is_empty() {
        true => parser.expected("an option of a sequence", parser.peek_token()),
        false => Ok(SequenceChange::Options(options)),
    }
}

fn sequence_option(parser: &mut Parser<'_>) -> Read<Option<SequenceOption>> {
    Ok(Some(if takes(parser, &["AS"]) {
        SequenceOption::As(parser.parse_data_type()?.to_string())
    } else if takes(parser, &["INCREMENT"]) {
        takes(parser, &["BY"]);
        SequenceOption::Increment(number(parser)?)
    } else if takes(parser, &["NO", "MINVALUE"]) {
        SequenceOption::Min(None)
    } else if takes(parser, &["MINVALUE"]) {
        SequenceOption::Min(Some(number(parser)?))
    } else if takes(parser, &["NO", "MAXVALUE"]) {
        SequenceOption::Max(None)
    } else if takes(parser, &["MAXVALUE"]) {
        SequenceOption::Max(Some(number(parser)?))
    } else if takes(parser, &["START"]) {
        takes(parser, &["WITH"]);
        SequenceOption::Start(number(parser)?)
    } else if takes(parser, &["RESTART"]) {
        let with = takes(parser, &["WITH"]);
        let is_number = matches!(
            parser.peek_token().token,
            Token::Number(..) | Token::Minus | Token::Plus
        );
        SequenceOption::Restart(match with || is_number {
            true => Some(number(parser)?),
            false => None,
        })
    } else if takes(parser, &["CACHE"]) {
        SequenceOption::Cache(number(parser)?)
    } else if takes(parser, &["NO", "CYCLE"]) {
        SequenceOption::Cycle(false)
    } else if takes(parser, &["CYCLE"]) {
        SequenceOption::Cycle(true)
    } else if takes(parser, &["OWNED", "BY", "NONE"]) {
        SequenceOption::OwnedBy(None)
    } else if takes(parser, &["OWNED", "BY"]) {
        SequenceOption::OwnedBy(Some(parser.parse_object_name(false)?.to_string()))
    } else {
        return Ok(None);
    }))
}

/// A number with its sign.
fn number(parser: &mut Parser<'_>) -> Read<String> {
    let negative = parser.consume_token(&Token::Minus);
    if !negative {
        let _ = parser.consume_token(&Token::Plus);
    }
    match parser.next_token().token {
        Token::Number(digits, _) => Ok(format!("{}{digits}", if negative { "-" } else { "" })),
        _ => {
            parser.prev_token();
            parser.expected("a number", parser.peek_token())
        }
    }
}

/// The word at a distance, in upper case.
fn word(parser: &Parser<'_>, distance: usize) -> Option<String> {
    match parser.peek_nth_token(distance).token {
        Token::Word(word) if word.quote_style.is_none() => Some(word.value.to_uppercase()),
        _ => None,
    }
}

fn skip(parser: &mut Parser<'_>, count: usize) {
    (0..count).for_each(|_| drop(parser.next_token()));
}

/// Takes words if all of them come next.
fn takes(parser: &mut Parser<'_>, words: &[&str]) -> bool {
    let mut next = words.iter().enumerate();
    let all = next.all(|(distance, known)| word(parser, distance).as_deref() == Some(*known));
    if all {
        skip(parser, words.len());
    }
    all
}

fn expect(parser: &mut Parser<'_>, wanted: &str) -> Read<()> {
    match takes(parser, &[wanted]) {
        true => Ok(()),
        false => parser.expected(wanted, parser.peek_token()),
    }
}
