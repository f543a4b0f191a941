//! PostgreSQL's dialect, with the friendly forms that people bring from DuckDB.

use std::any::TypeId;
use std::cell::Cell;

use sqlparser::ast::{Expr, Statement};
use sqlparser::dialect::{Dialect as Grammar, PostgreSqlDialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use crate::interrupt;

/// The dialect.
#[derive(Debug)]
pub struct Dialect;

const POSTGRES: PostgreSqlDialect = PostgreSqlDialect {};

/// Values that the grammar may read without a step forward; more for a long text.
const RETRIES: usize = 20_000;

thread_local! {
    /// The furthest token, and the values that were read since it was reached.
    static PROGRESS: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Another text begins.
pub(super) fn begin() {
    PROGRESS.set((0, 0));
}

/// Whether a value at a token may be read. The grammar tries some words first as one form and
/// then as another, so that an error inside of many of them would be found in exponential time.
fn progress(at: usize) -> bool {
    let (furthest, retries) = PROGRESS.get();
    let (furthest, retries) = match at > furthest {
        true => (at, 0),
        false => (furthest, retries + 1),
    };
    PROGRESS.set((furthest, retries));
    retries <= RETRIES + 4 * furthest
}

/// Asks PostgreSQL's dialect.
macro_rules! as_postgres {
    ($($name:ident)*) => {$(
        fn $name(&self) -> bool {
            POSTGRES.$name()
        }
    )*};
}

/// Forms beyond PostgreSQL's.
macro_rules! allowed {
    ($($name:ident)*) => {$(
        fn $name(&self) -> bool {
            true
        }
    )*};
}

impl Grammar for Dialect {
    /// The grammar asks in places whether the dialect is PostgreSQL's.
    fn dialect(&self) -> TypeId {
        TypeId::of::<PostgreSqlDialect>()
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        POSTGRES.identifier_quote_style(identifier)
    }

    /// FOR UPDATE may follow a list without FROM.
    fn is_column_alias(&self, word: &Keyword, parser: &mut Parser) -> bool {
        *word != Keyword::FOR && POSTGRES.is_column_alias(word, parser)
    }

    fn is_delimited_identifier_start(&self, ch: char) -> bool {
        POSTGRES.is_delimited_identifier_start(ch)
    }

    fn is_identifier_start(&self, ch: char) -> bool {
        POSTGRES.is_identifier_start(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        POSTGRES.is_identifier_part(ch)
    }

    fn is_custom_operator_part(&self, ch: char) -> bool {
        POSTGRES.is_custom_operator_part(ch)
    }

    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        POSTGRES.is_reserved_for_identifier(keyword)
    }

    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        // It is asked behind every value.
        if interrupt::check().is_err() {
            let text = super::INTERRUPTED.to_owned();
            return Some(Err(ParserError::ParserError(text)));
        }
        // DuckDB's integer division binds as a division does.
        if matches!(&parser.peek_token_ref().token, Token::CustomBinaryOperator(op) if op == "//") {
            return Some(Ok(POSTGRES.prec_value(Precedence::MulDivModOp)));
        }
        POSTGRES.get_next_precedence(parser)
    }

    fn parse_statement(&self, _: &mut Parser<'_>) -> Option<Result<Statement, ParserError>> {
        begin();
        None
    }

    fn parse_prefix(&self, parser: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        match progress(parser.index()) {
            true => None,
            false => Some(Err(ParserError::RecursionLimitExceeded)),
        }
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        POSTGRES.prec_value(precedence)
    }

    /// COLLATE behind any operand, and IS DISTINCT FROM: the grammar takes all that stands
    /// behind it for its operand, with AND and OR.
    fn parse_infix(
        &self,
        parser: &mut Parser<'_>,
        expr: &Expr,
        _precedence: u8,
    ) -> Option<Result<Expr, ParserError>> {
        if parser.parse_keyword(Keyword::COLLATE) {
            let collation = parser.parse_object_name(false);
            return Some(collation.map(|collation| Expr::Collate {
                expr: Box::new(expr.clone()),
                collation,
            }));
        }
        let distinct = parser.parse_keywords(&[Keyword::IS, Keyword::DISTINCT, Keyword::FROM]);
        if !distinct
            && !parser.parse_keywords(&[
                Keyword::IS,
                Keyword::NOT,
                Keyword::DISTINCT,
                Keyword::FROM,
            ])
        {
            return None;
        }
        let left = Box::new(expr.clone());
        let right = parser.parse_subexpr(self.prec_value(Precedence::Is));
        Some(right.map(|right| match distinct {
            true => Expr::IsDistinctFrom(left, Box::new(right)),
            false => Expr::IsNotDistinctFrom(left, Box::new(right)),
        }))
    }

    // Names of arguments that are expressions are refused: the grammar would read each argument
    // twice to find that it has none, and so calls inside of calls in exponential time.
    as_postgres! {
        supports_unicode_string_literal
        supports_filter_during_aggregation
        supports_group_by_expr
        allow_extract_custom
        allow_extract_single_quotes
        supports_create_index_with_clause
        supports_explain_with_utility_options
        supports_listen_notify
        supports_factorial_operator
        supports_bitwise_shift_operators
        supports_comment_on
        supports_load_extension
        supports_named_fn_args_with_colon_operator
        supports_empty_projections
        supports_nested_comments
        supports_string_escape_constant
        supports_numeric_literal_underscores
        supports_array_typedef_with_brackets
        supports_geometric_types
        supports_set_names
        supports_alter_column_type_using
        supports_notnull_operator
        supports_interval_options
        supports_insert_table_alias
        supports_create_table_like_parenthesized
        supports_select_wildcard_with_alias
        supports_comma_separated_trim
        supports_xml_expressions
        supports_comment_optimizer_hint
    }

    allowed! {
        supports_from_first_select
        supports_group_by_with_modifier
        supports_limit_comma
        supports_named_fn_args_with_assignment_operator
        supports_named_fn_args_with_rarrow_operator
        supports_order_by_all
        supports_projection_trailing_commas
        supports_select_expr_star
        supports_select_wildcard_exclude
        supports_select_wildcard_rename
        supports_select_wildcard_replace
        supports_select_wildcard_ilike
        supports_window_clause_named_window_reference
        supports_window_function_null_treatment_arg
    }
}
