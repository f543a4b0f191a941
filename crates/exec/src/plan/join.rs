//! Joins.

use super::Plan;
use crate::expression::Expression;
use crate::{Error, Result};
use arrow_schema::DataType;

/// Which rows a join gives. Rows of the probe side come as they are asked for, those
/// of the build side at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// Pairs.
    Inner,
    /// Pairs, and rows of the probe side that have none.
    ProbeOuter,
    /// Rows of the probe side, each with its only partner or with NULLs; several partners of one
    /// row are an error, as those of a scalar sub-query.
    ProbeSingle,
    /// Pairs, and rows of the build side that have none.
    BuildOuter,
    /// Pairs, and rows of either side that have none.
    Full,
    /// Rows of the probe side that have a partner.
    ProbeSemi,
    /// Rows of the probe side that have none.
    ProbeAnti,
    /// Rows of the probe side, and whether they have one.
    ProbeMark,
    /// Rows of the probe side whose key is not among those of the build side, as SQL's
    /// `NOT IN` has it: every row if the build side is empty; no row if one of its keys
    /// is NULL; no row whose own key is NULL. There is one key and no filter, and NULL
    /// is not equal to NULL.
    ///
    /// A sub-query that depends on the row (`x NOT IN (SELECT y FROM t WHERE c)`, `c`
    /// over both sides) is [`JoinKind::ProbeAnti`] instead, with the equalities of `c`
    /// as keys and the rest of it and `x = y OR x IS NULL OR y IS NULL` as filter.
    ProbeNotIn,
    /// Rows of the probe side, and whether their key is among those of the build side,
    /// as SQL's `IN` has it: TRUE with a partner; else NULL if the build side has a NULL,
    /// or has rows and the own key is NULL; else FALSE. Of the same form.
    ProbeMarkIn,
    /// Rows of the build side that have a partner.
    BuildSemi,
    /// Rows of the build side that have none.
    BuildAnti,
}

impl JoinKind {
    /// Whether columns of both sides come out.
    pub fn gives_pairs(self) -> bool {
        use JoinKind::*;
        matches!(self, Inner | ProbeOuter | ProbeSingle | BuildOuter | Full)
    }

    /// Whether rows of the probe side matter only if they have a partner.
    pub fn may_skip_probe(self) -> bool {
        use JoinKind::*;
        matches!(self, Inner | BuildOuter | ProbeSemi | BuildSemi | BuildAnti)
    }

    /// Whether rows of the build side matter only if they have a partner.
    pub(crate) fn may_skip_build(self) -> bool {
        use JoinKind::*;
        !matches!(self, BuildOuter | Full | BuildAnti) && !self.is_null_aware()
    }

    /// Whether a NULL among the keys of the build side says something of every row.
    pub(crate) fn is_null_aware(self) -> bool {
        matches!(self, JoinKind::ProbeNotIn | JoinKind::ProbeMarkIn)
    }

    /// Whether rows of the build side come out at the end.
    pub(crate) fn gives_build_rows(self) -> bool {
        use JoinKind::*;
        matches!(self, BuildOuter | Full | BuildSemi | BuildAnti)
    }
}

/// A join. Its columns are those of the probe side and then those of the build side, as
/// far as its kind gives them; a mark comes last.
#[derive(Clone, Debug)]
pub struct Join {
    /// Which rows it gives.
    pub kind: JoinKind,
    /// The side that is kept.
    pub build: Plan,
    /// The side that asks.
    pub probe: Plan,
    /// Keys that must be equal: of the build side, of the probe side, and their type,
    /// which is any but those of [`Kind::Other`](crate::vector::Kind::Other). Zeros of
    /// either sign are equal, and NaNs of the same bits.
    pub keys: Vec<(Expression, Expression, DataType)>,
    /// What else must be TRUE of a pair; over columns of both sides, probe first.
    pub filter: Option<Expression>,
    /// Whether NULL is equal to NULL.
    pub null_equal: bool,
}

impl Join {
    /// # Errors
    /// `internal` if it is not of the form that its kind asks for.
    pub(crate) fn check(&self) -> Result<()> {
        let plain = self.keys.len() == 1 && self.filter.is_none() && !self.null_equal;
        match plain || !self.kind.is_null_aware() {
            true => Ok(()),
            false => Err(Error::internal("IN as a join of more than one key")),
        }
    }
}
