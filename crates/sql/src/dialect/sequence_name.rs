//! SEQUENCE NAME, an option of identity columns that pg_dump writes and the grammar lacks.
//!
//! ```text
//! ALTER TABLE t ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME s.ids START WITH 5)
//! ```
//!
//! It is taken out of the tokens, and becomes a further START in the tree, of a name.

use sqlparser::ast::{
    AlterColumnOperation, AlterTableOperation, ColumnDef, ColumnOption, Expr, Ident,
    SequenceOptions, Statement as Ast,
};
use sqlparser::tokenizer::{Location, Token, TokenWithSpan};

use super::edits::Edits;
use super::{Clause, Clauses, words};

/// The beginning of the name that stands for the option.
const NAMED: &str = "\u{1}sequence name ";

/// Takes the option out of a text.
pub(super) fn take(tokens: &mut Vec<TokenWithSpan>, found: &mut Clauses) {
    let mut edits = Edits::default();
    for at in 0..tokens.len() {
        let heads = words(tokens, at, 2);
        let [(first, sequence), (name, what)] = heads.as_slice() else {
            continue;
        };
        if *first != at || sequence != "SEQUENCE" || what != "NAME" {
            continue;
        }
        let visible =
            |token: &&(usize, &TokenWithSpan)| !matches!(token.1.token, Token::Whitespace(_));
        let rest = tokens.iter().enumerate().skip(name + 1);
        let rest: Vec<(usize, &TokenWithSpan)> =
            rest.filter(|token| visible(&token)).take(3).collect();
        let parts = match rest.as_slice() {
            [(_, first), (_, dot), (last, second)] if dot.token == Token::Period => {
                Some((format!("{}.{}", first.token, second.token), *last))
            }
            [(last, only), ..] => Some((only.token.to_string(), *last)),
            [] => None,
        };
        if let Some((full, last)) = parts {
            found.push((tokens[at].span.start, Clause::SequenceName(full)));
            edits.take(at..last + 1);
        }
    }
    edits.make(tokens);
}

/// Puts the option into the column before a place; whether there is one with an identity.
pub(super) fn mark(ast: &mut Ast, at: Location, name: &str) -> bool {
    let options = match ast {
        Ast::CreateTable(create) => last_before(create.columns.iter_mut(), at),
        Ast::AlterTable(alter) => {
            let mut nearest = None;
            for operation in &mut alter.operations {
                nearest = match operation {
                    AlterTableOperation::AlterColumn {
                        column_name,
                        op:
                            AlterColumnOperation::AddGenerated {
                                sequence_options, ..
                            },
                    } if column_name.span.start < at => sequence_options.as_mut(),
                    AlterTableOperation::AddColumn { column_def, .. }
                        if column_def.name.span.start < at =>
                    {
                        last_before(std::iter::once(column_def), at)
                    }
                    _ => continue,
                };
            }
            nearest
        }
        _ => None,
    };
    let Some(options) = options else { return false };
    let ident = Ident::new(format!("{NAMED}{name}"));
    options.push(SequenceOptions::StartWith(Expr::Identifier(ident), false));
    true
}

/// The options of the sequence of the last column that begins before a place.
fn last_before<'a>(
    columns: impl Iterator<Item = &'a mut ColumnDef>,
    at: Location,
) -> Option<&'a mut Vec<SequenceOptions>> {
    let column = columns
        .filter(|column| column.name.span.start < at)
        .last()?;
    column
        .options
        .iter_mut()
        .find_map(|option| match &mut option.option {
            ColumnOption::Generated {
                sequence_options, ..
            } => sequence_options.as_mut(),
            _ => None,
        })
}

/// The name that an option says, if it is this one.
pub(crate) fn name(option: &SequenceOptions) -> Option<&str> {
    match option {
        SequenceOptions::StartWith(Expr::Identifier(ident), _) => ident.value.strip_prefix(NAMED),
        _ => None,
    }
}
