//! Arguments that the grammar lacks become calls around them, of functions that nobody can
//! write.
//!
//! ```text
//! f(a, VARIADIC b)                  f(a, `variadic `(b))
//! list_transform(l, x -> x + 1)     list_transform(l, `lambda `(x, x + 1))
//! ```
//!
//! The tokens are gone through once; brackets that are open say what closes a call.

use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan, Word};

use super::adapt::{QUOTE, is_blank, keyword, visible};

/// The function that stands for VARIADIC.
pub(crate) const VARIADIC: &str = "variadic ";

/// The function that stands for a lambda. Its last argument is the body.
pub(crate) const LAMBDA: &str = "lambda ";

/// Functions that take lambdas.
pub(crate) const WITH_LAMBDAS: [&str; 11] = [
    "list_transform",
    "array_transform",
    "list_apply",
    "array_apply",
    "apply",
    "list_filter",
    "array_filter",
    "filter",
    "list_reduce",
    "array_reduce",
    "reduce",
];

/// A bracket that is open.
#[derive(Clone, Copy, Default)]
struct Open {
    /// Whether lambdas may stand in it.
    lambdas: bool,
    /// The call that is open in it.
    call: Option<&'static str>,
}

/// Puts calls around arguments.
pub(super) fn wrap(tokens: &mut Vec<TokenWithSpan>) {
    let is_wrapped = |token: &TokenWithSpan| {
        keyword(token).is_some_and(|word| word == "VARIADIC" || takes_lambdas(&word))
    };
    if !tokens.iter().any(is_wrapped) {
        return;
    }
    let mut made: Vec<TokenWithSpan> = Vec::with_capacity(tokens.len() + 8);
    // The last token that is no blank; none where a call has begun.
    let mut last: Option<Token> = None;
    let mut open: Vec<Open> = Vec::new();
    // Parameters of functions that are made are no arguments.
    let mut defines = false;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let span = token.span;
        let put = |made: &mut Vec<TokenWithSpan>, new: Token| {
            made.push(TokenWithSpan::new(new, span));
        };
        let begins = matches!(last, Some(Token::LParen | Token::Comma));
        match &token.token {
            Token::LParen | Token::LBracket | Token::LBrace => {
                if begins
                    && open.last().is_some_and(|open| open.lambdas)
                    && let Some((names, next)) = several(tokens, at)
                {
                    begin(&mut made, &mut open, token, names, LAMBDA);
                    last = None;
                    at = next;
                    continue;
                }
                let lambdas = token.token == Token::LParen
                    && matches!(&last, Some(Token::Word(word))
                        if word.quote_style.is_none() && takes_lambdas(&word.value));
                open.push(Open {
                    lambdas,
                    call: None,
                });
            }
            Token::RParen | Token::RBracket | Token::RBrace => {
                if open.pop().is_some_and(|open| open.call.is_some()) {
                    put(&mut made, Token::RParen);
                }
            }
            Token::Comma => {
                if let Some(open) = open.last_mut()
                    && open.call == Some(LAMBDA)
                {
                    open.call = None;
                    put(&mut made, Token::RParen);
                }
            }
            Token::SemiColon => {
                open.clear();
                defines = false;
            }
            Token::Word(_) => match keyword(token).as_deref() {
                Some("FUNCTION" | "PROCEDURE" | "AGGREGATE" | "ROUTINE") if open.is_empty() => {
                    defines = true;
                }
                Some("VARIADIC") if begins && !defines && !open.is_empty() => {
                    begin(&mut made, &mut open, token, Vec::new(), VARIADIC);
                    last = None;
                    at += 1;
                    continue;
                }
                _ if begins && open.last().is_some_and(|open| open.lambdas) => {
                    let arrow = visible(tokens, at + 1);
                    if let Some(arrow) = arrow.filter(|at| tokens[*at].token == Token::Arrow) {
                        begin(&mut made, &mut open, token, vec![token.clone()], LAMBDA);
                        last = None;
                        at = arrow + 1;
                        continue;
                    }
                }
                _ => {}
            },
            _ => {}
        }
        if !is_blank(token) {
            last = Some(token.token.clone());
        }
        made.push(token.clone());
        at += 1;
    }
    *tokens = made;
}

fn takes_lambdas(word: &str) -> bool {
    WITH_LAMBDAS
        .iter()
        .any(|name| name.eq_ignore_ascii_case(word))
}

/// Begins a call in the innermost bracket.
fn begin(
    made: &mut Vec<TokenWithSpan>,
    open: &mut [Open],
    at: &TokenWithSpan,
    names: Vec<TokenWithSpan>,
    call: &'static str,
) {
    let name = Token::Word(Word {
        value: call.to_owned(),
        quote_style: Some(QUOTE),
        keyword: Keyword::NoKeyword,
    });
    for new in [name, Token::LParen] {
        made.push(TokenWithSpan::new(new, at.span));
    }
    for name in names {
        made.push(name);
        made.push(TokenWithSpan::new(Token::Comma, at.span));
    }
    if let Some(open) = open.last_mut() {
        open.call = Some(call);
    }
}

/// The names of `(a, b) ->`, which begins at a place, and the place behind it.
fn several(tokens: &[TokenWithSpan], from: usize) -> Option<(Vec<TokenWithSpan>, usize)> {
    let mut names = Vec::new();
    let mut at = from;
    loop {
        at = visible(tokens, at + 1)?;
        // No lambda has more parameters.
        if names.len() > 3 || !matches!(tokens[at].token, Token::Word(_)) {
            return None;
        }
        names.push(tokens[at].clone());
        at = visible(tokens, at + 1)?;
        match tokens[at].token {
            Token::Comma => {}
            Token::RParen => break,
            _ => return None,
        }
    }
    let arrow = visible(tokens, at + 1)?;
    (tokens[arrow].token == Token::Arrow).then_some((names, arrow + 1))
}
