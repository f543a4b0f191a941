//! Statements: SQL text, split and parsed.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use freestone_frontend::syntax::walk::{visit_relations, walk};
use freestone_frontend::{stack, syntax};
use parking_lot::Mutex;
use sqlparser::ast::{DiscardObject, Query, SetExpr, Statement as Ast, Visit, Visitor};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};

use crate::dialect;
use crate::error::{Error, Result, parser as syntax_error};
use crate::grammar::{self, OwnStatement, Tree};
use crate::names::{file_name, fold, fold_part};
use crate::outline::Outline;

/// Brackets inside brackets, at most; deeper text is refused, not overflowed on.
pub(crate) const NESTING: usize = 400;

/// One parsed SQL statement. It can be run by any session, any number of times.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// Read when it is asked for, if the outline of its text was known.
    tree: Arc<OnceLock<Tree>>,
    text: Arc<str>,
    /// Whether walks over it need more room than some threads have: see [`Statement::walked`].
    deep: bool,
    /// Its outline, if its text was not read for it.
    outline: Option<Arc<Outline>>,
}

/// Statements that were prepared, and are forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forgets {
    /// All of a session's.
    All,
    /// The one of that name.
    Named(String),
}

impl Statement {
    /// The statement's own text, without the semicolon.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A query or a change whose text has an outline that is known.
    pub(crate) fn unread(text: &str, outline: Outline) -> Self {
        Self {
            tree: Arc::default(),
            text: text.into(),
            deep: false,
            outline: Some(Arc::new(outline)),
        }
    }

    /// The outline of its text if that was not read: it is a query or a change of rows.
    pub(crate) fn outline(&self) -> Option<&Arc<Outline>> {
        self.outline.as_ref()
    }

    /// Its tree.
    pub(crate) fn tree(&self) -> &Tree {
        self.tree.get_or_init(|| match parse_only(&self.text) {
            Ok(tree) => tree,
            Err(error) => unreachable!("a text with a known outline: {error}"),
        })
    }

    /// Its tree of sqlparser's grammar; `None` for a statement of our own.
    pub(crate) fn sql(&self) -> Option<&Ast> {
        match self.tree() {
            Tree::Sql(ast) => Some(ast),
            Tree::Own(_) => None,
        }
    }

    /// A statement that was part of another.
    pub(crate) fn of(ast: Ast) -> Self {
        let deep = syntax::is_deeper(&ast, SHALLOW);
        let print = || ast.to_string();
        let text = match deep {
            true => stack::on_great_stack(print),
            false => print(),
        };
        Self {
            tree: Arc::new(OnceLock::from(Tree::Sql(ast))),
            text: text.into(),
            deep,
            outline: None,
        }
    }

    /// The same statement with values in the places of its parameters.
    pub(crate) fn with(&self, ast: Ast) -> Self {
        Self {
            deep: self.deep || syntax::is_deeper(&ast, SHALLOW),
            tree: Arc::new(OnceLock::from(Tree::Sql(ast))),
            text: Arc::clone(&self.text),
            outline: None,
        }
    }

    /// Whether walks over it need more room than some threads have.
    pub(crate) fn is_deep(&self) -> bool {
        self.deep
    }

    /// Walks over its tree of sqlparser's grammar where there is room; `None` for a statement of
    /// our own, which has no expressions.
    pub(crate) fn walked<T: Send>(&self, walk: impl FnOnce(&Ast) -> T + Send) -> Option<T> {
        let ast = self.sql()?;
        Some(match self.deep {
            true => stack::on_great_stack(|| walk(ast)),
            false => walk(ast),
        })
    }

    /// What it forgets of statements that were prepared: DEALLOCATE and DISCARD ALL.
    pub fn forgets(&self) -> Option<Forgets> {
        if self.outline.is_some() {
            return None;
        }
        match self.sql()? {
            Ast::Deallocate { name, .. } => Some(match fold(name) {
                all if all == "all" => Forgets::All,
                name => Forgets::Named(name),
            }),
            Ast::Discard { object_type } => {
                (*object_type == DiscardObject::ALL).then_some(Forgets::All)
            }
            _ => None,
        }
    }

    /// Whether it may work for long without waiting, as definitions do.
    pub(crate) fn works_for_long(&self) -> bool {
        match self.tree() {
            Tree::Own(_) => true,
            Tree::Sql(ast) => matches!(
                ast,
                Ast::CreateTable(_)
                    | Ast::CreateIndex(_)
                    | Ast::AlterTable(_)
                    | Ast::Analyze { .. }
                    | Ast::Vacuum { .. }
            ),
        }
    }

    /// What clients are told that its rows are of, as in `SELECT 5`.
    pub(crate) fn verb(&self) -> &'static str {
        if self.outline.is_some() {
            let begins = |verb: &&&'static str| {
                let first = self.text.get(..verb.len());
                first.is_some_and(|first| first.eq_ignore_ascii_case(verb))
            };
            let verb = ["INSERT", "UPDATE", "DELETE"].iter().find(begins);
            return verb.copied().unwrap_or("SELECT");
        }
        let Some(main) = self.main() else {
            return "SELECT";
        };
        match main {
            Ast::Insert(_) => "INSERT",
            Ast::Update(_) => "UPDATE",
            Ast::Delete(_) => "DELETE",
            Ast::Merge(_) => "MERGE",
            Ast::Fetch { .. } => "FETCH",
            Ast::Explain { .. } | Ast::ExplainTable { .. } => "EXPLAIN",
            Ast::ShowTables { .. }
            | Ast::ShowVariable { .. }
            | Ast::ShowVariables { .. }
            | Ast::ShowColumns { .. }
            | Ast::ShowSchemas { .. }
            | Ast::ShowViews { .. } => "SHOW",
            _ => "SELECT",
        }
    }

    /// The statement itself, or the one that stands behind its WITH.
    fn main(&self) -> Option<&Ast> {
        match self.sql()? {
            ast @ Ast::Query(query) => Some(changing(query).unwrap_or(ast)),
            other => Some(other),
        }
    }

    /// Whether it is a query (SELECT, VALUES, EXPLAIN, SHOW, DESCRIBE, TABLE), or
    /// changes rows and returns them.
    pub fn returns_rows(&self) -> bool {
        let Some(main) = self.main() else {
            return matches!(self.tree(), Tree::Own(OwnStatement::Advice(asked)) if asked.returns_rows());
        };
        match main {
            Ast::Fetch { into, .. } => grammar::gives_rows(into.as_ref()),
            Ast::Insert(insert) => insert.returning.is_some(),
            Ast::Update(update) => update.returning.is_some(),
            Ast::Delete(delete) => delete.returning.is_some(),
            Ast::Query(_)
            | Ast::Explain { .. }
            | Ast::ExplainTable { .. }
            | Ast::ShowTables { .. }
            | Ast::ShowVariable { .. }
            | Ast::ShowVariables { .. }
            | Ast::ShowColumns { .. }
            | Ast::ShowSchemas { .. }
            | Ast::ShowViews { .. } => true,
            _ => false,
        }
    }
}

impl std::fmt::Display for Statement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// The statement that a query's body is, if it is no query.
pub(crate) fn changing(query: &Query) -> Option<&Ast> {
    match query.body.as_ref() {
        SetExpr::Insert(ast)
        | SetExpr::Update(ast)
        | SetExpr::Delete(ast)
        | SetExpr::Merge(ast) => Some(ast),
        _ => None,
    }
}

/// The query, if it is or has a statement in WITH that changes rows.
pub(crate) fn changing_query(ast: &Ast) -> Option<&Query> {
    let Ast::Query(query) = ast else {
        return None;
    };
    let with = query.with.iter().flat_map(|with| &with.cte_tables);
    let mut all = with.map(|cte| cte.query.as_ref()).chain([query.as_ref()]);
    all.any(|query| changing(query).is_some())
        .then_some(query.as_ref())
}

/// The statements that a query carries out, for who asks what they may do; the last is the
/// main one if it is no query.
pub(crate) fn parts(query: &Query) -> impl Iterator<Item = &Ast> {
    let with = query.with.iter().flat_map(|with| &with.cte_tables);
    let all = with.map(|cte| cte.query.as_ref()).chain([query]);
    all.filter_map(changing)
}

/// Levels of a syntax tree that any thread has room to walk, copy and compare: a copy takes about
/// 5 KiB for each.
const SHALLOW: usize = 100;
/// Tokens of a text whose chains of operators any thread has room for,
const FEW: usize = 1_000;
/// and levels of nesting that it may have.
const FLAT: usize = 100;

/// Splits a text at its semicolons and parses each statement.
///
/// # Errors
/// `42601` with the position in `sql`; nothing is returned then.
pub(crate) fn parse(sql: &str) -> Result<Vec<Statement>> {
    parse_tokens(sql, syntax::tokens(sql)?)
}

fn parse_tokens(sql: &str, tokens: Vec<TokenWithSpan>) -> Result<Vec<Statement>> {
    let mut tokens = dialect::spaced(tokens);
    let clauses = dialect::adapt(&mut tokens);
    let with = |levels: usize, tokens| {
        Parser::new(&syntax::Dialect)
            .with_recursion_limit(levels)
            .with_tokens_with_locations(tokens)
    };
    // Most texts are short and flat. All others are read where there is room, and what is wrong
    // with a text is told from there: the grammar may hide that it came to its limit.
    if tokens.len() <= FEW {
        let mut parser = with(FLAT, tokens);
        match parsed(&mut parser, sql, &clauses) {
            Ok(statements) => return Ok(statements),
            Err(_) => tokens = parser.into_tokens(),
        }
    }
    stack::on_great_stack(move || {
        let mut parser = with(NESTING, tokens);
        let mut statements = parsed(&mut parser, sql, &clauses)
            .map_err(|error| grammar::told(error, &parser.into_tokens()))?;
        for statement in &mut statements {
            if let Some(Tree::Sql(ast)) =
                Arc::get_mut(&mut statement.tree).and_then(OnceLock::get_mut)
            {
                syntax::balance(ast)?;
                statement.deep = syntax::is_deeper(ast, SHALLOW);
            }
        }
        Ok(statements)
    })
}

/// The statements that a parser gives.
fn parsed(
    parser: &mut Parser<'_>,
    sql: &str,
    clauses: &dialect::Clauses,
) -> Result<Vec<Statement>> {
    let mut places = Places::of(sql);
    let mut statements = Vec::new();
    loop {
        while parser.consume_token(&Token::SemiColon) {}
        let first = parser.peek_token();
        if first.token == Token::EOF {
            return Ok(statements);
        }
        let start = places.offset(first.span.start);
        let read = grammar::parse(parser).transpose();
        let mut tree = read
            .unwrap_or_else(|| parser.parse_statement().map(Tree::Sql))
            .map_err(|error| syntax_error(&error))?;
        let next = parser.peek_token();
        let end = match &next.token {
            Token::EOF => sql.len(),
            Token::SemiColon => places.offset(next.span.start),
            other => {
                return Err(
                    Error::new("42601", format!("syntax error at or near \"{other}\"")).at(Some(
                        crate::Position {
                            line: next.span.start.line,
                            column: next.span.start.column,
                        },
                    )),
                );
            }
        };
        let behind = (next.token != Token::EOF).then_some(next.span.start);
        let text = sql.get(start..end).unwrap_or(sql).trim();
        let mut deep = false;
        if let Tree::Sql(ast) = &mut tree {
            dialect::mark(ast, clauses, first.span.start, behind)?;
            dialect::shorten(ast);
            dialect::into_table(ast);
            dialect::keep_text(ast, text);
            deep = syntax::is_deeper(ast, SHALLOW);
        }
        statements.push(Statement {
            text: text.into(),
            deep,
            tree: Arc::new(OnceLock::from(tree)),
            outline: None,
        });
    }
}

/// Most bytes of texts that are kept; what is made of them takes some fifty times as many.
const TEXT_BYTES: usize = 256 << 10;
/// Longer texts are not kept.
const LONG: usize = 16 << 10;

/// Statements that were parsed before, of the kinds that come again with the same text.
#[derive(Debug, Default)]
pub(crate) struct KnownTexts(Mutex<Texts>);

#[derive(Debug, Default)]
struct Texts {
    bytes: usize,
    statements: HashMap<Box<str>, Vec<Statement>>,
}

impl KnownTexts {
    /// As [`parse`], which is asked only for what was not seen before.
    ///
    /// # Errors
    /// Those of [`parse`].
    pub(crate) fn parse(&self, sql: &str) -> Result<Vec<Statement>> {
        if let Some(known) = self.0.lock().statements.get(sql) {
            return Ok(known.clone());
        }
        let statements = parse(sql)?;
        if sql.len() <= LONG && statements.iter().all(|one| comes_again(one, sql)) {
            let mut texts = self.0.lock();
            if texts.bytes + sql.len() > TEXT_BYTES {
                *texts = Texts::default();
            }
            texts.bytes += sql.len();
            texts.statements.insert(sql.into(), statements.clone());
        }
        Ok(statements)
    }
}

/// Whether a statement may well come again with the same text: changes do if their values are
/// parameters.
fn comes_again(statement: &Statement, text: &str) -> bool {
    match statement.sql() {
        Some(
            Ast::Query(_)
            | Ast::StartTransaction { .. }
            | Ast::Commit { .. }
            | Ast::Rollback { .. },
        ) => true,
        Some(Ast::Insert(_) | Ast::Update(_) | Ast::Delete(_)) => text.contains("$1"),
        _ => false,
    }
}

/// Parses a statement of sqlparser's grammar that was made here, such as the query inside a view.
///
/// # Errors
/// `42601`.
pub(crate) fn parse_one(sql: &str) -> Result<Ast> {
    match parse_only(sql)? {
        Tree::Sql(ast) => Ok(ast),
        Tree::Own(_) => Err(not_one()),
    }
}

fn not_one() -> Error {
    Error::new("42601", "expected exactly one statement")
}

/// The tree of the one statement of a text.
fn parse_only(sql: &str) -> Result<Tree> {
    let mut all = parse(sql)?;
    match (all.pop().map(|one| one.tree), all.is_empty()) {
        (Some(tree), true) => Arc::unwrap_or_clone(tree).into_inner().ok_or_else(not_one),
        _ => Err(not_one()),
    }
}

/// The offsets in bytes of places in a text, which ascend.
pub(crate) fn offsets(text: &str, places: impl Iterator<Item = Location>) -> Vec<usize> {
    let mut all = Places::of(text);
    places.map(|place| all.offset(place)).collect()
}

/// The names that the WITH clauses of a tree give, folded.
pub(crate) fn names_of_with(tree: &impl Visit) -> HashSet<String> {
    struct Given(HashSet<String>);
    impl Visitor for Given {
        type Break = ();

        fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
            let tables = query.with.iter().flat_map(|with| &with.cte_tables);
            self.0.extend(tables.map(|table| fold(&table.alias.name)));
            ControlFlow::Continue(())
        }
    }
    let mut given = Given(HashSet::new());
    let _ = walk(tree, &mut given);
    given.0
}

/// Places in a text, which are asked for from its beginning to its end: searched for from
/// a line's beginning each, the many statements of one line would take as long as their
/// number squared.
struct Places<'a> {
    text: &'a str,
    offset: usize,
    at: Location,
}

impl<'a> Places<'a> {
    fn of(text: &'a str) -> Self {
        Self {
            text,
            offset: 0,
            at: Location::new(1, 1),
        }
    }

    /// The offset of a place in bytes; the last that was asked for, if it is before that.
    fn offset(&mut self, place: Location) -> usize {
        for char in self.text[self.offset..].chars() {
            if self.at >= place {
                break;
            }
            self.offset += char.len_utf8();
            match char {
                '\n' => self.at = Location::new(self.at.line + 1, 1),
                _ => self.at.column += 1,
            }
        }
        self.offset
    }
}

impl Statement {
    /// The tables and views that it names without their schema, each once, and names that
    /// it gives to queries of its own.
    pub fn tables(&self) -> Vec<String> {
        let mut names = Vec::new();
        let _ = self.walked(|ast| {
            visit_relations(ast, |relation| {
                if let [part] = relation.0.as_slice()
                    && file_name(relation).is_none()
                {
                    names.extend(fold_part(part));
                }
                ControlFlow::<()>::Continue(())
            })
        });
        names.sort();
        names.dedup();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn texts_are_cut_at_their_semicolons() {
        let statements = parse("SELECT 'ä;' ; \n SELECT\n2;;SELECT 3 -- ü\n").unwrap();
        let texts: Vec<&str> = statements.iter().map(super::Statement::text).collect();
        assert_eq!(texts, ["SELECT 'ä;'", "SELECT\n2", "SELECT 3 -- ü"]);
    }

    /// Each took time by the square of their number when the work for a statement grew with
    /// what stands around it.
    #[test]
    fn very_many_statements_of_one_line() {
        let many = |text: &str, count: usize| parse(&text.repeat(count)).map(|all| all.len());
        assert_eq!(many("SELECT 1;", 100_000).unwrap(), 100_000);
        for (text, count) in [
            ("INSERT INTO t OVERRIDING USER VALUE VALUES (1);", 10_000),
            ("TABLE t;", 20_000),
            ("VACUUM (ANALYZE) t;", 20_000),
            ("SELECT 1 FETCH FIRST (1) ROWS ONLY;", 10_000),
            ("ALTER VIEW v RENAME TO w;", 10_000),
        ] {
            assert_eq!(many(text, count).unwrap(), count, "{text}");
        }
        for text in [
            "VACUUM (;",
            "ALTER VIEW ",
            "FETCH FIRST (",
            "SELECT 1 FETCH FIRST (",
        ] {
            assert!(many(text, 100_000).is_err(), "{text}");
        }
    }
}
