//! What PostgreSQL's grammar has and the parser does not: brought into what it knows.
//!
//! The parser takes the options of a sequence in one order only, and knows no
//! OVERRIDING. The tokens are put in order, or taken out and noted, before it runs; those
//! of VACUUM, ANALYZE and COPY in `maintenance`, AUTOINCREMENT in `increment`, comments on
//! constraints in `comment`, targets of ON CONFLICT in `conflict`, LIKE in `like`, PRAGMA in
//! `inspect`, partitions in `partition`. Forms of queries are brought into the grammar by the
//! language front.

mod comment;
mod conflict;
mod create;
mod edits;
mod increment;
mod inspect;
mod into;
mod like;
mod maintenance;
mod named_query;
mod partition;
mod sequence_name;
mod target;
mod view;

use std::ops::ControlFlow;

use freestone_frontend::syntax::walk::walk_mut;
use sqlparser::ast::{
    Expr, Ident, Insert, MergeAction, MergeInsertExpr, Statement as Ast, VisitorMut,
};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan, Whitespace};

use crate::error::{Error, Position, Result};

pub(crate) use self::create::{executed, is_without_data, without_data};
use self::edits::Edits;
pub(crate) use self::into::create as into_table;
pub(crate) use self::like::{like, like_mut};
pub(crate) use self::partition::is_untyped;
pub(crate) use self::sequence_name::name as sequence_name;
pub(crate) use self::target::shorten;
pub(crate) use self::view::{keep_text, with_schema, written as written_query};

/// What [`overriding`] says of OVERRIDING SYSTEM VALUE.
pub(crate) const SYSTEM: &str = "overriding system value";
const USER: &str = "overriding user value";

/// Clauses that the grammar lacks: where each stood, in order.
pub(crate) type Clauses = Vec<(Location, Clause)>;

/// A clause that is taken out of a text, and put into its tree by [`mark`].
#[derive(Clone)]
pub(crate) enum Clause {
    /// OVERRIDING, and which of the two.
    Overriding(&'static str),
    /// SEQUENCE NAME of an identity column.
    SequenceName(String),
}

/// Changes the tokens of a text to what the parser understands.
pub(crate) fn adapt(tokens: &mut Vec<TokenWithSpan>) -> Clauses {
    let mut clauses = Clauses::new();
    let present = Present::of(tokens);
    if present.inspects {
        inspect::adapt(tokens);
    }
    if present.identities {
        sequence_name::take(tokens, &mut clauses);
    }
    if present.defines {
        order_sequence_options(tokens);
        maintenance::adapt(tokens);
        increment::adapt(tokens);
        like::adapt(tokens);
        comment::adapt(tokens);
        conflict::adapt(tokens);
        view::adapt(tokens);
        view::adapt_options(tokens);
        crate::routine::adapt(tokens);
        create::adapt(tokens);
        partition::adapt(tokens);
        named_query::adapt(tokens);
    }
    if present.overrides {
        take_overriding(tokens, &mut clauses);
    }
    clauses.sort_by_key(|(at, _)| *at);
    clauses
}

/// Words of a text that its forms begin with. Most texts have none, and stay as they are.
#[derive(Default)]
struct Present {
    inspects: bool,
    defines: bool,
    identities: bool,
    overrides: bool,
}

impl Present {
    fn of(tokens: &[TokenWithSpan]) -> Self {
        let mut present = Self::default();
        for token in tokens {
            let Token::Word(word) = &token.token else {
                continue;
            };
            match word.keyword {
                Keyword::SHOW | Keyword::PRAGMA => present.inspects = true,
                Keyword::CREATE
                | Keyword::ALTER
                | Keyword::COMMENT
                | Keyword::CONFLICT
                | Keyword::SEQUENCE
                | Keyword::VACUUM
                | Keyword::ANALYZE
                | Keyword::COPY
                | Keyword::EXPLAIN
                | Keyword::ATOMIC => present.defines = true,
                Keyword::IDENTITY => (present.defines, present.identities) = (true, true),
                Keyword::NoKeyword if word.value.eq_ignore_ascii_case("ANALYSE") => {
                    present.defines = true;
                }
                Keyword::NoKeyword if word.value.eq_ignore_ascii_case("OVERRIDING") => {
                    present.overrides = true;
                }
                _ => {}
            }
        }
        present
    }
}

/// Puts each clause that was taken out between two places into the tree. The INSERT of an
/// OVERRIDING may stand in WITH or in MERGE.
///
/// # Errors
/// `42601` for an OVERRIDING without an INSERT, and for a SEQUENCE NAME of no column.
pub(crate) fn mark(
    ast: &mut Ast,
    found: &Clauses,
    from: Location,
    to: Option<Location>,
) -> Result<()> {
    let inside = |at: &Location| to.is_none_or(|to| *at < to);
    let first = found.partition_point(|(at, _)| *at < from);
    for (at, clause) in found[first..].iter().take_while(|(at, _)| inside(at)) {
        let (placed, word) = match clause {
            Clause::Overriding(which) => (mark_overriding(ast, *at, which), "OVERRIDING"),
            Clause::SequenceName(name) => (sequence_name::mark(ast, *at, name), "SEQUENCE"),
        };
        if !placed {
            let position = Position {
                line: at.line,
                column: at.column,
            };
            let error = Error::new("42601", format!("syntax error at or near \"{word}\""));
            return Err(error.at(Some(position)));
        }
    }
    Ok(())
}

/// Marks the INSERT of an OVERRIDING; whether there is one.
fn mark_overriding(ast: &mut Ast, at: Location, which: &'static str) -> bool {
    let mut nearest = Nearest {
        before: at,
        start: None,
        mark: None,
    };
    let _ = walk_mut(ast, &mut nearest);
    nearest.mark = nearest.start.is_some().then_some(which);
    walk_mut(ast, &mut nearest).is_break()
}

/// The INSERT that begins nearest before a place: first its beginning is looked for, then it is
/// marked.
struct Nearest {
    before: Location,
    start: Option<Location>,
    mark: Option<&'static str>,
}

impl Nearest {
    fn meets(&mut self, start: Location) -> Option<Expr> {
        match self.mark {
            Some(mark) => (self.start == Some(start)).then(|| Expr::Identifier(Ident::new(mark))),
            None => {
                if start < self.before {
                    self.start = self.start.max(Some(start));
                }
                None
            }
        }
    }
}

impl VisitorMut for Nearest {
    type Break = ();

    fn pre_visit_statement(&mut self, statement: &mut Ast) -> ControlFlow<()> {
        let mut marked = false;
        match statement {
            Ast::Insert(insert) => {
                if let Some(mark) = self.meets(insert.insert_token.0.span.start) {
                    insert.partitioned = Some(vec![mark]);
                    marked = true;
                }
            }
            Ast::Merge(merge) => {
                for clause in &mut merge.clauses {
                    if let MergeAction::Insert(insert) = &mut clause.action
                        && let Some(mark) = self.meets(insert.insert_token.0.span.start)
                    {
                        insert.insert_predicate = Some(mark);
                        marked = true;
                    }
                }
            }
            _ => {}
        }
        match marked {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}

/// The OVERRIDING clause of an INSERT, where [`mark`] has put it: in the tree it takes the place
/// of a clause which PostgreSQL does not have, and which holds no name with spaces.
pub(crate) fn overriding(insert: &Insert) -> Option<&'static str> {
    match insert.partitioned.as_deref() {
        Some([marked]) => marked_as(marked),
        _ => None,
    }
}

/// The OVERRIDING clause of an INSERT in MERGE, where [`mark`] has put it.
pub(crate) fn overriding_in_merge(insert: &MergeInsertExpr) -> Option<&'static str> {
    insert.insert_predicate.as_ref().and_then(marked_as)
}

fn marked_as(marked: &Expr) -> Option<&'static str> {
    let Expr::Identifier(ident) = marked else {
        return None;
    };
    let known = ident.quote_style.is_none().then_some([SYSTEM, USER]);
    known?.into_iter().find(|which| *which == ident.value)
}

fn take_overriding(tokens: &mut Vec<TokenWithSpan>, found: &mut Clauses) {
    let mut edits = Edits::default();
    let mut at = 0;
    while at < tokens.len() {
        let places = words(tokens, at, 3);
        let which = match places.as_slice() {
            [(_, first), (_, second), (_, third)] if first == "OVERRIDING" && third == "VALUE" => {
                match second.as_str() {
                    "SYSTEM" => Some(SYSTEM),
                    "USER" => Some(USER),
                    _ => None,
                }
            }
            _ => None,
        };
        if let (Some(which), Some((last, _))) = (which, places.last()) {
            found.push((tokens[at].span.start, Clause::Overriding(which)));
            edits.take(at..last + 1);
            at = *last;
        }
        at += 1;
    }
    edits.make(tokens);
}

/// The next words from a token on, in upper case, with their places; fewer if something
/// else comes between.
fn words(tokens: &[TokenWithSpan], from: usize, count: usize) -> Vec<(usize, String)> {
    let mut found = Vec::with_capacity(count);
    for (at, token) in tokens.iter().enumerate().skip(from) {
        match &token.token {
            Token::Whitespace(_) if !found.is_empty() => {}
            Token::Word(word) if word.quote_style.is_none() => {
                found.push((at, word.value.to_uppercase()));
            }
            _ => break,
        }
        if found.len() == count {
            break;
        }
    }
    found
}

/// Options of a sequence in the order in which the parser takes them.
const ORDER: [&str; 6] = [
    "INCREMENT",
    "MINVALUE",
    "MAXVALUE",
    "START",
    "CACHE",
    "CYCLE",
];

fn order_sequence_options(tokens: &mut [TokenWithSpan]) {
    let mut at = 0;
    while at < tokens.len() {
        let heads = words(tokens, at, 2);
        let identity = matches!(heads.as_slice(), [(_, first), (at, second)]
            if first == "AS" && second == "IDENTITY" && opens_brackets(tokens, at + 1));
        let created = matches!(heads.as_slice(), [(_, first), (_, second)]
            if (first == "CREATE" || first == "TEMPORARY" || first == "TEMP")
                && second == "SEQUENCE");
        if identity || created {
            let end = end_of_clause(tokens, at, identity);
            order_options(&mut tokens[at..end]);
            at = end;
        }
        at += 1;
    }
}

fn opens_brackets(tokens: &[TokenWithSpan], from: usize) -> bool {
    let mut visible = tokens.iter().skip(from);
    let next = visible.find(|token| !is_blank(token));
    next.is_some_and(|token| token.token == Token::LParen)
}

fn is_blank(token: &TokenWithSpan) -> bool {
    matches!(token.token, Token::Whitespace(_))
}

/// The end of a statement, or of the brackets after IDENTITY.
fn end_of_clause(tokens: &[TokenWithSpan], from: usize, brackets: bool) -> usize {
    let ends = |token: &TokenWithSpan| match token.token {
        Token::SemiColon => true,
        Token::RParen | Token::Comma => brackets,
        _ => false,
    };
    let end = tokens.iter().skip(from).position(ends);
    end.map_or(tokens.len(), |end| from + end)
}

/// Puts the options among these tokens in order; each reaches as far as the next.
fn order_options(tokens: &mut [TokenWithSpan]) {
    let mut starts: Vec<(usize, usize)> = Vec::new();
    let mut after_no = None;
    let mut end = tokens.len();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word(word) = &token.token else {
            continue;
        };
        if word.quote_style.is_some() {
            continue;
        }
        let word = word.value.to_uppercase();
        let rank = ORDER.iter().position(|option| *option == word);
        match (rank, word.as_str()) {
            (Some(rank), _) => starts.push((after_no.take().unwrap_or(at), rank)),
            (None, "NO") => after_no = Some(at),
            (None, "OWNED") if !starts.is_empty() => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    let Some(first) = starts.first().map(|(at, _)| *at) else {
        return;
    };
    let next = |number: usize| starts.get(number + 1).map_or(end, |(at, _)| *at);
    let parts = starts.iter().enumerate();
    let mut parts: Vec<(usize, Vec<TokenWithSpan>)> = parts
        .map(|(number, (at, rank))| (*rank, tokens[*at..next(number)].to_vec()))
        .collect();
    parts.sort_by_key(|(rank, _)| *rank);
    let ordered = parts.into_iter().flat_map(|(_, part)| part);
    for (place, token) in tokens[first..end].iter_mut().zip(ordered) {
        *place = token;
    }
}

/// Tokens as text that is read again to the same.
pub(crate) fn written(tokens: &[TokenWithSpan]) -> String {
    let text = tokens.iter().map(|token| match &token.token {
        Token::SingleQuotedString(text) => format!("'{}'", text.replace('\'', "''")),
        token => token.to_string(),
    });
    text.collect::<String>().trim().to_owned()
}

/// Tokens with a blank behind each: texts are made of them for statements of ours.
pub(crate) fn spaced(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let mut all = Vec::with_capacity(2 * tokens.len());
    // The end needs no token.
    let is_some = |token: &TokenWithSpan| token.token != Token::EOF;
    for token in tokens.into_iter().filter(is_some) {
        let blank = TokenWithSpan {
            token: Token::Whitespace(Whitespace::Space),
            span: token.span,
        };
        all.push(token);
        all.push(blank);
    }
    all
}
