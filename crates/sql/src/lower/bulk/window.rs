//! Functions over windows.

use freestone_frontend::plan::{Column, Plan, WindowCall};

use super::super::bulk_windows::{BulkCall, Windowed, of_one_order};
use super::super::{Typed, place};
use super::{Added, Bulk, Part, chosen, field};
use crate::engine::{Scope, windowed};
use crate::error::Result;
use crate::expression::Expr;

impl Bulk<'_> {
    pub(super) fn window(
        &self,
        plan: &Plan,
        input: &Plan,
        calls: &[(Column, WindowCall)],
    ) -> Result<Part> {
        let mut part = self.part(input)?;
        let used = calls.iter();
        let used = used.filter(|(column, _)| self.lowering.is_used(column.id));
        let (mut calls, mut general) = (Vec::new(), Vec::new());
        for call in used {
            match self.lowering.bulk_call(call)? {
                Some(call) => calls.push(call),
                None => general.push(call),
            }
        }
        while !calls.is_empty() {
            let (here, later) = of_one_order(calls);
            part = self.of_one_order(part, here)?;
            calls = self.lowering.anew(later)?;
        }
        while let Some(first) = general.first().copied() {
            let same = |(_, call): &&(Column, WindowCall)| {
                call.partition == first.1.partition && call.order == first.1.order
            };
            let (here, later): (Vec<_>, Vec<_>) = general.into_iter().partition(same);
            part = self.general_window(part, &here)?;
            general = later;
        }
        self.spend(plan);
        Ok(part)
    }

    /// Calls that one order serves.
    fn of_one_order(&self, part: Part, calls: Vec<BulkCall<'_>>) -> Result<Part> {
        let kept = part.found.iter().filter(|(name, _)| self.is_read(name));
        let mut kept: Vec<_> = kept
            .map(|(name, (at, field))| (*at, name.clone(), field.data_type().clone()))
            .collect();
        kept.sort_unstable_by_key(|(at, ..)| *at);
        let names = kept.iter().map(|(_, name, _)| place(name)).collect();
        let Windowed {
            given,
            windowing,
            results,
            values,
            means,
        } = self.lowering.windowed(names, calls);
        let scope = Scope::over(&part.found);
        let given = given.iter();
        let given = given.map(|value| Ok((scope.expr(value)?, scope.typed(value)?)));
        let given = given.collect::<Result<Vec<_>>>()?;
        let (expressions, kinds) = given.into_iter().unzip();
        let input = chosen(part.rows, expressions, kinds);
        let named = kept.into_iter().map(|(_, name, kind)| (name, kind));
        let columns: Vec<_> = named.chain(results).collect();
        let types = columns.iter().map(|(_, kind)| kind.clone()).collect();
        let rows = windowed(input, windowing, types);
        let columns = columns.into_iter().enumerate();
        let columns = columns.map(|(at, (name, kind))| {
            let field = field(&name, kind);
            (name, (at, field))
        });
        let part = Part {
            rows,
            found: columns.collect(),
        };
        let mut computed: Vec<(&Column, Typed)> = Vec::new();
        for (column, value) in values {
            match &value.expr {
                Expr::Column(place) => {
                    self.name(place, column.id);
                    self.lowering.found(column.id, value.expr, value.kind);
                }
                _ => computed.push((column, value)),
            }
        }
        for mean in means {
            computed.push((mean.column, self.lowering.mean(&mean)?));
        }
        if computed.is_empty() {
            return Ok(part);
        }
        let scope = Scope::over(&part.found);
        let mut add = Added::over(self, &part);
        for (column, Typed { expr, kind }) in computed {
            let expression = scope.expr(&expr)?;
            add.push(self.find(column, &kind), expression, kind);
        }
        Ok(add.part(part.rows))
    }
}
