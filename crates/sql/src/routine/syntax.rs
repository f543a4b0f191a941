//! CREATE MACRO and DROP MACRO, and bodies between BEGIN ATOMIC and END.
//!
//! A macro becomes a function of the language `macro`; a body of statements becomes a text:
//!
//! ```text
//! CREATE MACRO f(a, b := 1) AS a + b
//! CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END   →   … AS $$SELECT 1$$
//! ```

use std::ops::Range;

use sqlparser::ast::{
    CreateFunction, CreateFunctionBody, DataType, DropFunction, FunctionDesc, FunctionReturnType,
    Ident, OperateFunctionArg, Statement as Ast,
};
use sqlparser::ast::{DollarQuotedString, Expr, Value};
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::{Span, Token, TokenWithSpan, Whitespace};

/// The language of macros.
pub(crate) const MACRO: &str = "macro";

/// The setting that LEAKPROOF becomes.
pub(crate) const LEAKPROOF: &str = "\u{1}leakproof";
/// The setting that WINDOW becomes.
pub(crate) const WINDOW: &str = "\u{1}window";
/// The setting that COST becomes.
pub(crate) const COST: &str = "\u{1}cost";
/// The setting that ROWS becomes.
pub(crate) const ROWS: &str = "\u{1}rows";

/// The tag of the text of a body of statements.
pub(crate) const ATOMIC: &str = "atomic";

/// Whether the next words are these.
pub(super) fn next_are(parser: &Parser<'_>, words: &[&str]) -> bool {
    words
        .iter()
        .enumerate()
        .all(|(at, wanted)| match &parser.peek_nth_token_ref(at).token {
            Token::Word(word) => {
                word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted)
            }
            _ => false,
        })
}

pub(super) fn skip(parser: &mut Parser<'_>, count: usize) {
    for _ in 0..count {
        parser.next_token();
    }
}

/// A statement about a macro or an aggregate; `None` for any other.
///
/// # Errors
/// Those of the grammar.
pub(crate) fn parse(parser: &mut Parser<'_>) -> Result<Option<Ast>, ParserError> {
    for (words, or_replace, temporary) in [
        (["create", "macro"].as_slice(), false, false),
        (&["create", "temp", "macro"], false, true),
        (&["create", "temporary", "macro"], false, true),
        (&["create", "or", "replace", "macro"], true, false),
        (&["create", "or", "replace", "temp", "macro"], true, true),
        (
            &["create", "or", "replace", "temporary", "macro"],
            true,
            true,
        ),
    ] {
        if next_are(parser, words) {
            skip(parser, words.len());
            return create(parser, or_replace, temporary).map(Some);
        }
    }
    if next_are(parser, &["drop", "macro"]) {
        skip(parser, 2);
        return dropped(parser).map(Some);
    }
    super::aggregate::parse(parser)
}

fn create(parser: &mut Parser<'_>, or_replace: bool, temporary: bool) -> Result<Ast, ParserError> {
    let if_not_exists = next_are(parser, &["if", "not", "exists"]);
    if if_not_exists {
        skip(parser, 3);
    }
    let name = parser.parse_object_name(false)?;
    parser.expect_token(&Token::LParen)?;
    let mut args = Vec::new();
    while parser.peek_token_ref().token != Token::RParen {
        if !args.is_empty() {
            parser.expect_token(&Token::Comma)?;
        }
        let name = parser.parse_identifier()?;
        let has_default =
            parser.consume_token(&Token::Assignment) || parser.consume_token(&Token::RArrow);
        let default_expr = match has_default {
            true => Some(parser.parse_expr()?),
            false => None,
        };
        args.push(OperateFunctionArg {
            mode: None,
            name: Some(name),
            data_type: DataType::Unspecified,
            default_expr,
        });
    }
    parser.expect_token(&Token::RParen)?;
    if !next_are(parser, &["as"]) {
        return parser.expected_ref("AS", parser.peek_token_ref());
    }
    skip(parser, 1);
    let is_table = next_are(parser, &["table"]);
    let (body, return_type) = match is_table {
        true => {
            skip(parser, 1);
            let query = parser.parse_query()?;
            let body = CreateFunctionBody::AsBeforeOptions {
                body: quoted(query.to_string()),
                link_symbol: None,
            };
            (body, Some(FunctionReturnType::SetOf(DataType::Unspecified)))
        }
        false => (CreateFunctionBody::Return(parser.parse_expr()?), None),
    };
    Ok(Ast::CreateFunction(CreateFunction {
        or_alter: false,
        or_replace,
        temporary,
        if_not_exists,
        name,
        args: Some(args),
        return_type,
        function_body: Some(body),
        behavior: None,
        called_on_null: None,
        parallel: None,
        security: None,
        set_params: Vec::new(),
        using: None,
        language: Some(Ident::new(MACRO)),
        determinism_specifier: None,
        options: None,
        remote_connection: None,
    }))
}

pub(super) fn quoted(text: String) -> Expr {
    let text = DollarQuotedString {
        value: text,
        tag: None,
    };
    Expr::Value(Value::DollarQuotedString(text).with_empty_span())
}

fn dropped(parser: &mut Parser<'_>) -> Result<Ast, ParserError> {
    if next_are(parser, &["table"]) {
        skip(parser, 1);
    }
    let if_exists = next_are(parser, &["if", "exists"]);
    if if_exists {
        skip(parser, 2);
    }
    let name = parser.parse_object_name(false)?;
    Ok(Ast::DropFunction(DropFunction {
        if_exists,
        func_desc: vec![FunctionDesc { name, args: None }],
        drop_behavior: None,
    }))
}

/// Puts a text in the place of BEGIN ATOMIC … END, and takes out what only planners are told.
pub(crate) fn adapt(tokens: &mut Vec<TokenWithSpan>) {
    take_hints(tokens);
    let mut at = 0;
    while at < tokens.len() {
        match atomic(tokens, at) {
            Some((first, end)) => {
                if let Some(value) = only_return(&tokens[first..end]) {
                    // RETURN alone is the other form of a body that is no text.
                    let put = tokens[first + value.start..first + value.end].to_vec();
                    let next = at + put.len();
                    tokens.splice(at..=end, put);
                    at = next;
                    continue;
                }
                let body: String = tokens[first..end]
                    .iter()
                    .map(|token| token.token.to_string())
                    .collect();
                let body = body.trim_matches(|c: char| c == ';' || c.is_whitespace());
                let body = body.to_owned();
                let span = tokens[at].span;
                let text = DollarQuotedString {
                    value: body,
                    tag: Some(ATOMIC.to_owned()),
                };
                let put = [
                    spanned(Token::make_keyword("AS"), span),
                    spanned(Token::DollarQuotedString(text), span),
                ];
                tokens.splice(at..=end, put);
                at += 2;
            }
            None => at += 1,
        }
    }
}

/// Words of CREATE FUNCTION that say how much a function takes, how many rows it gives or that it
/// tells nothing of its arguments become settings; OUT comes before a name.
fn take_hints(tokens: &mut Vec<TokenWithSpan>) {
    let is_blank = |token: &TokenWithSpan| matches!(token.token, Token::Whitespace(_));
    let mut at = 0;
    while at < tokens.len() {
        let ends = |token: &TokenWithSpan| matches!(token.token, Token::SemiColon | Token::EOF);
        let end = tokens[at..].iter().position(ends);
        let end = end.map_or(tokens.len(), |end| at + end);
        let mut heads = (at..end).filter(|place| !is_blank(&tokens[*place]));
        let first = heads.next();
        let creates = first.is_some_and(|first| is_word(&tokens[first], "create"));
        let known = creates
            && heads.take(3).any(|place| {
                ["function", "procedure"]
                    .iter()
                    .any(|word| is_word(&tokens[place], word))
            });
        let mut end = end;
        if known {
            for (range, name, value) in hints_of(&mut tokens[at..end]).into_iter().rev() {
                let place = at + range.start..at + range.end;
                let span = tokens[place.start].span;
                let put = setting(name, value);
                end = end + put.len() - place.len();
                tokens.splice(place, put.map(|token| spanned(token, span)));
            }
        }
        at = end + 1;
    }
}

/// `SET name = value`.
fn setting(name: &str, value: Token) -> [Token; 8] {
    let blank = || Token::Whitespace(Whitespace::Space);
    [
        blank(),
        Token::make_keyword("SET"),
        blank(),
        Token::make_word(name, Some('"')),
        Token::Eq,
        blank(),
        value,
        blank(),
    ]
}

/// A hint: where it stands, the setting that it becomes, and its value.
type Hint = (Range<usize>, &'static str, Token);

fn hints_of(tokens: &mut [TokenWithSpan]) -> Vec<Hint> {
    let mut hints = Vec::new();
    let visible: Vec<usize> = (0..tokens.len())
        .filter(|at| !matches!(tokens[*at].token, Token::Whitespace(_)))
        .collect();
    let (mut depth, mut ended) = (0_usize, false);
    for (number, at) in visible.iter().enumerate() {
        match tokens[*at].token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ => {}
        }
        let before = number.checked_sub(1).map(|before| visible[before]);
        let next = visible.get(number + 1).copied();
        let is = |word: &str| is_word(&tokens[*at], word);
        if depth == 1 && !ended {
            // `name OUT type`, and `name INOUT type`.
            let opens = before
                .and_then(|_| number.checked_sub(2))
                .is_some_and(|at| {
                    matches!(tokens[visible[at]].token, Token::LParen | Token::Comma)
                });
            let named = before.is_some_and(|before| {
                matches!(tokens[before].token, Token::Word(_))
                    && !["in", "out", "inout", "variadic"]
                        .iter()
                        .any(|mode| is_word(&tokens[before], mode))
            });
            if opens
                && named
                && (is("out") || is("inout") || is("in"))
                && next.is_some_and(|next| matches!(tokens[next].token, Token::Word(_)))
                && let Some(before) = before
            {
                tokens.swap(before, *at);
            }
            continue;
        }
        if depth > 0 {
            continue;
        }
        if is("begin") || is("return") {
            return hints;
        }
        ended |= is("returns") || is("as") || is("language");
        let number_behind = next.filter(|next| matches!(tokens[*next].token, Token::Number(..)));
        if (is("cost") || is("rows"))
            && let Some(next) = number_behind
        {
            let name = if is("cost") { COST } else { ROWS };
            hints.push((*at..next + 1, name, tokens[next].token.clone()));
        } else if is("window") {
            hints.push((*at..at + 1, WINDOW, Token::make_keyword("true")));
        } else if is("leakproof") {
            let not = before.filter(|before| is_word(&tokens[*before], "not"));
            let value = if not.is_some() { "false" } else { "true" };
            let first = not.unwrap_or(*at);
            hints.push((first..at + 1, LEAKPROOF, Token::make_keyword(value)));
        }
    }
    hints
}

/// RETURN with its value, if there is no other statement than empty ones.
fn only_return(body: &[TokenWithSpan]) -> Option<Range<usize>> {
    let says =
        |token: &TokenWithSpan| !matches!(token.token, Token::Whitespace(_) | Token::SemiColon);
    let first = body.iter().position(says)?;
    let end = body.iter().rposition(says)? + 1;
    let all = &body[first..end];
    let several = all.iter().any(|token| token.token == Token::SemiColon);
    (is_word(&body[first], "return") && !several).then_some(first..end)
}

fn spanned(token: Token, span: Span) -> TokenWithSpan {
    TokenWithSpan { token, span }
}

/// The first token behind BEGIN ATOMIC, and the END.
fn atomic(tokens: &[TokenWithSpan], at: usize) -> Option<(usize, usize)> {
    if !is_word(tokens.get(at)?, "begin") {
        return None;
    }
    let mut rest = tokens.iter().enumerate().skip(at + 1);
    let visible =
        |(_, token): &(usize, &TokenWithSpan)| !matches!(token.token, Token::Whitespace(_));
    let (second, token) = rest.find(visible)?;
    if !is_word(token, "atomic") {
        return None;
    }
    let mut depth = 1_usize;
    for (place, token) in rest {
        if is_word(token, "case") {
            depth += 1;
        } else if is_word(token, "end") {
            depth -= 1;
            if depth == 0 {
                return Some((second + 1, place));
            }
        }
    }
    None
}

fn is_word(token: &TokenWithSpan, wanted: &str) -> bool {
    matches!(&token.token, Token::Word(word)
        if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(wanted))
}
