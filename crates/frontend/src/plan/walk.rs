//! Walks over expressions and plans, and the columns that they read.

use std::collections::HashSet;

use super::*;

impl Expr {
    /// The expressions right below it; a sub-query's plan is not among them, its comparison is.
    pub fn children(&self) -> Vec<&Expr> {
        match &self.kind {
            ExprKind::Literal(_) | ExprKind::Column(_) | ExprKind::Parameter(_) => Vec::new(),
            ExprKind::Call { arguments, .. } => arguments.iter().collect(),
            ExprKind::And(all)
            | ExprKind::Or(all)
            | ExprKind::Coalesce(all)
            | ExprKind::Array(all)
            | ExprKind::Row(all) => all.iter().collect(),
            ExprKind::Not(inner) | ExprKind::IsNull(inner) | ExprKind::Field(inner, _) => {
                vec![inner]
            }
            ExprKind::Case {
                branches,
                otherwise,
            } => {
                let branches = branches.iter().flat_map(|(when, then)| [when, then]);
                branches.chain(otherwise.as_deref()).collect()
            }
            ExprKind::InList { value, list, .. } => {
                std::iter::once(value.as_ref()).chain(list).collect()
            }
            ExprKind::Any { value, array, .. } => vec![value, array],
            ExprKind::Subquery(subquery) => match &subquery.kind {
                SubqueryKind::Compare { comparison, .. } => vec![comparison],
                _ => Vec::new(),
            },
        }
    }

    /// The same, to be changed.
    pub fn children_mut(&mut self) -> Vec<&mut Expr> {
        match &mut self.kind {
            ExprKind::Literal(_) | ExprKind::Column(_) | ExprKind::Parameter(_) => Vec::new(),
            ExprKind::Call { arguments, .. } => arguments.iter_mut().collect(),
            ExprKind::And(all)
            | ExprKind::Or(all)
            | ExprKind::Coalesce(all)
            | ExprKind::Array(all)
            | ExprKind::Row(all) => all.iter_mut().collect(),
            ExprKind::Not(inner) | ExprKind::IsNull(inner) | ExprKind::Field(inner, _) => {
                vec![inner]
            }
            ExprKind::Case {
                branches,
                otherwise,
            } => {
                let branches = branches.iter_mut().flat_map(|(when, then)| [when, then]);
                branches.chain(otherwise.as_deref_mut()).collect()
            }
            ExprKind::InList { value, list, .. } => {
                std::iter::once(value.as_mut()).chain(list).collect()
            }
            ExprKind::Any { value, array, .. } => vec![value, array],
            ExprKind::Subquery(subquery) => match &mut subquery.kind {
                SubqueryKind::Compare { comparison, .. } => vec![comparison],
                _ => Vec::new(),
            },
        }
    }

    /// Whether it has no expressions below it.
    fn is_leaf(&self) -> bool {
        matches!(
            self.kind,
            ExprKind::Literal(_) | ExprKind::Column(_) | ExprKind::Parameter(_)
        )
    }

    /// How many expressions it has with those below it; counting ends at `most`.
    pub fn size(&self, most: usize) -> usize {
        let mut open = vec![self];
        let mut size = 0;
        while let Some(expr) = open.pop() {
            size += 1;
            if size >= most {
                return most;
            }
            if !expr.is_leaf() {
                open.extend(expr.children());
            }
        }
        size
    }

    /// How deep it is: 1 for a column, counted without recursion.
    pub fn levels(&self) -> usize {
        levels(vec![Part::Expr(self)])
    }

    /// Whether `wanted` holds for it or an expression below it.
    pub fn any(&self, wanted: &mut dyn FnMut(&Expr) -> bool) -> bool {
        wanted(self) || self.children().into_iter().any(|child| child.any(wanted))
    }

    /// Changes it and all expressions below it, those first.
    pub fn change(&mut self, change: &mut dyn FnMut(&mut Expr)) {
        for child in self.children_mut() {
            child.change(change);
        }
        change(self);
    }

    /// Lets a part be NULL wherever it stands, such as a key that a grouping set has not.
    pub fn forget(&mut self, part: &Expr) {
        self.change(&mut |expr| {
            if expr == part {
                *expr = Expr::null(expr.ty.clone());
            }
        });
    }

    /// Whether it has a sub-query.
    pub fn has_subquery(&self) -> bool {
        self.any(&mut |expr| matches!(expr.kind, ExprKind::Subquery(_)))
    }

    /// Adds the columns that it reads and its sub-queries read of others.
    pub fn read(&self, columns: &mut HashSet<ColumnId>) {
        self.any(&mut |expr| {
            match &expr.kind {
                ExprKind::Column(id) => {
                    columns.insert(*id);
                }
                ExprKind::Subquery(subquery) => columns.extend(subquery.free()),
                _ => {}
            }
            false
        });
        // The comparison of a sub-query reads the sub-query's own columns.
        self.any(&mut |expr| {
            if let ExprKind::Subquery(subquery) = &expr.kind {
                for column in subquery.plan.columns() {
                    columns.remove(&column.id);
                }
            }
            false
        });
    }

    /// The columns that it reads.
    pub fn reads(&self) -> HashSet<ColumnId> {
        let mut columns = HashSet::new();
        self.read(&mut columns);
        columns
    }

    /// Puts expressions in the place of columns, in sub-queries, too.
    pub fn replace(&mut self, with: &dyn Fn(ColumnId) -> Option<Expr>) {
        self.change(&mut |expr| match &mut expr.kind {
            ExprKind::Column(id) => {
                if let Some(other) = with(*id) {
                    // A column that is read as another type is that where it is replaced, too.
                    *expr = other.read_as(&expr.ty);
                }
            }
            ExprKind::Subquery(subquery) => subquery.plan.replace(with),
            _ => {}
        });
    }
}

/// A part of a plan that is on a walk's way.
enum Part<'a> {
    Plan(&'a Plan),
    Expr(&'a Expr),
}

/// The levels of some parts, and of all that is in them.
fn levels(parts: Vec<Part<'_>>) -> usize {
    let mut open: Vec<(Part<'_>, usize)> = parts.into_iter().map(|part| (part, 1)).collect();
    let mut deepest = 0;
    while let Some((part, level)) = open.pop() {
        deepest = deepest.max(level);
        let below = level + 1;
        match part {
            Part::Plan(plan) => {
                let inputs = plan.inputs().into_iter().map(Part::Plan);
                let exprs = plan.expressions().into_iter();
                let exprs = exprs.filter(|expr| !expr.is_leaf()).map(Part::Expr);
                open.extend(inputs.chain(exprs).map(|part| (part, below)));
            }
            Part::Expr(expr) => {
                if let ExprKind::Subquery(subquery) = &expr.kind {
                    open.push((Part::Plan(&subquery.plan), below));
                }
                let exprs = expr.children().into_iter();
                let exprs = exprs.filter(|expr| !expr.is_leaf());
                open.extend(exprs.map(|expr| (Part::Expr(expr), below)));
            }
        }
    }
    deepest
}

impl Subquery {
    /// The columns of outer queries that it reads.
    pub fn free(&self) -> HashSet<ColumnId> {
        let mut free = self.plan.free();
        if let SubqueryKind::Compare { comparison, .. } = &self.kind {
            let own: HashSet<ColumnId> = self.plan.columns().iter().map(|c| c.id).collect();
            free.extend(comparison.reads().difference(&own));
        }
        free
    }
}

impl Plan {
    /// The plans right below it, those of its common table expressions too.
    pub fn inputs(&self) -> Vec<&Plan> {
        match self {
            Plan::Values { .. }
            | Plan::Scan { .. }
            | Plan::Functions { .. }
            | Plan::CteScan { .. }
            | Plan::Recursion { .. } => Vec::new(),
            Plan::Filter { input, .. }
            | Plan::Project { input, .. }
            | Plan::ProjectSet { input, .. }
            | Plan::Aggregate { input, .. }
            | Plan::Window { input, .. }
            | Plan::Sort { input, .. }
            | Plan::Limit { input, .. }
            | Plan::Distinct { input, .. }
            | Plan::Barrier { input } => vec![input],
            Plan::Join { left, right, .. } => vec![left, right],
            Plan::Set { inputs, .. } => inputs.iter().collect(),
            Plan::With { ctes, body } => {
                let bodies = ctes.iter().flat_map(|cte| match &cte.body {
                    CteBody::Plan(plan) => vec![plan],
                    CteBody::Recursive { base, step, .. } => vec![base, step],
                });
                bodies.chain([body.as_ref()]).collect()
            }
        }
    }

    /// The same, to be changed.
    pub fn inputs_mut(&mut self) -> Vec<&mut Plan> {
        match self {
            Plan::Values { .. }
            | Plan::Scan { .. }
            | Plan::Functions { .. }
            | Plan::CteScan { .. }
            | Plan::Recursion { .. } => Vec::new(),
            Plan::Filter { input, .. }
            | Plan::Project { input, .. }
            | Plan::ProjectSet { input, .. }
            | Plan::Aggregate { input, .. }
            | Plan::Window { input, .. }
            | Plan::Sort { input, .. }
            | Plan::Limit { input, .. }
            | Plan::Distinct { input, .. }
            | Plan::Barrier { input } => vec![input],
            Plan::Join { left, right, .. } => vec![left, right],
            Plan::Set { inputs, .. } => inputs.iter_mut().collect(),
            Plan::With { ctes, body } => {
                let bodies = ctes.iter_mut().flat_map(|cte| match &mut cte.body {
                    CteBody::Plan(plan) => vec![plan],
                    CteBody::Recursive { base, step, .. } => vec![base, step],
                });
                bodies.chain([body.as_mut()]).collect()
            }
        }
    }

    /// How deep it is, with its expressions and their sub-queries, counted without recursion.
    pub fn levels(&self) -> usize {
        levels(vec![Part::Plan(self)])
    }

    /// Frees it without recursion over its inputs.
    pub fn free_flat(mut self) {
        let mut open: Vec<Plan> = Vec::new();
        loop {
            for input in self.inputs_mut() {
                open.push(std::mem::replace(input, Plan::one_row()));
            }
            match open.pop() {
                Some(next) => self = next,
                None => return,
            }
        }
    }

    /// The expressions of this node.
    pub fn expressions(&self) -> Vec<&Expr> {
        let mut all: Vec<&Expr> = Vec::new();
        match self {
            Plan::Values { rows, .. } => all.extend(rows.iter().flatten()),
            Plan::Scan { sample, .. } => {
                if let Some(sample) = sample {
                    all.push(&sample.percent);
                    all.extend(&sample.seed);
                }
            }
            Plan::Functions { calls, .. } => {
                all.extend(calls.iter().flat_map(|call| &call.arguments));
            }
            Plan::Filter { condition, .. } => all.push(condition),
            Plan::Project { items, .. } => all.extend(items.iter().map(|(_, expr)| expr)),
            Plan::ProjectSet { items, .. } => {
                for item in items {
                    match item {
                        SetItem::Value(_, expr) => all.push(expr),
                        SetItem::Rows(call) => all.extend(&call.arguments),
                    }
                }
            }
            Plan::Join { condition, .. } => all.extend(condition),
            Plan::Aggregate { keys, calls, .. } => {
                all.extend(keys.iter().map(|(_, expr)| expr));
                for (_, call) in calls {
                    all.extend(
                        call.direct
                            .iter()
                            .chain(&call.arguments)
                            .chain(&call.filter),
                    );
                    all.extend(call.order.iter().map(|key| &key.expr));
                }
            }
            Plan::Window { calls, .. } => {
                for (_, call) in calls {
                    all.extend(
                        call.arguments
                            .iter()
                            .chain(&call.filter)
                            .chain(&call.partition),
                    );
                    all.extend(call.order.iter().map(|key| &key.expr));
                    all.extend(call.frame.start_value.iter().chain(&call.frame.end_value));
                    for bound in [&call.frame.start, &call.frame.end] {
                        if let Bound::Preceding(expr) | Bound::Following(expr) = bound {
                            all.push(expr);
                        }
                    }
                }
            }
            Plan::Sort { keys, .. } => all.extend(keys.iter().map(|key| &key.expr)),
            Plan::Limit {
                limit,
                offset,
                ties,
                ..
            } => {
                all.extend(limit.iter().chain(offset));
                all.extend(ties.iter().flatten().map(|key| &key.expr));
            }
            Plan::Distinct { on, .. } => all.extend(on.iter().flatten()),
            Plan::CteScan { .. }
            | Plan::Recursion { .. }
            | Plan::Set { .. }
            | Plan::With { .. }
            | Plan::Barrier { .. } => {}
        }
        all
    }

    /// The same, to be changed.
    pub fn expressions_mut(&mut self) -> Vec<&mut Expr> {
        let mut all: Vec<&mut Expr> = Vec::new();
        match self {
            Plan::Values { rows, .. } => all.extend(rows.iter_mut().flatten()),
            Plan::Scan { sample, .. } => {
                if let Some(sample) = sample {
                    all.push(&mut sample.percent);
                    all.extend(&mut sample.seed);
                }
            }
            Plan::Functions { calls, .. } => {
                all.extend(calls.iter_mut().flat_map(|call| &mut call.arguments));
            }
            Plan::Filter { condition, .. } => all.push(condition),
            Plan::Project { items, .. } => all.extend(items.iter_mut().map(|(_, expr)| expr)),
            Plan::ProjectSet { items, .. } => {
                for item in items {
                    match item {
                        SetItem::Value(_, expr) => all.push(expr),
                        SetItem::Rows(call) => all.extend(&mut call.arguments),
                    }
                }
            }
            Plan::Join { condition, .. } => all.extend(condition),
            Plan::Aggregate { keys, calls, .. } => {
                all.extend(keys.iter_mut().map(|(_, expr)| expr));
                for (_, call) in calls {
                    all.extend(&mut call.direct);
                    all.extend(&mut call.arguments);
                    all.extend(&mut call.filter);
                    all.extend(call.order.iter_mut().map(|key| &mut key.expr));
                }
            }
            Plan::Window { calls, .. } => {
                for (_, call) in calls {
                    all.extend(&mut call.arguments);
                    all.extend(&mut call.filter);
                    all.extend(&mut call.partition);
                    all.extend(call.order.iter_mut().map(|key| &mut key.expr));
                    all.extend(&mut call.frame.start_value);
                    all.extend(&mut call.frame.end_value);
                    for bound in [&mut call.frame.start, &mut call.frame.end] {
                        if let Bound::Preceding(expr) | Bound::Following(expr) = bound {
                            all.push(expr);
                        }
                    }
                }
            }
            Plan::Sort { keys, .. } => all.extend(keys.iter_mut().map(|key| &mut key.expr)),
            Plan::Limit {
                limit,
                offset,
                ties,
                ..
            } => {
                all.extend(limit);
                all.extend(offset);
                all.extend(ties.iter_mut().flatten().map(|key| &mut key.expr));
            }
            Plan::Distinct { on, .. } => all.extend(on.iter_mut().flatten()),
            Plan::CteScan { .. }
            | Plan::Recursion { .. }
            | Plan::Set { .. }
            | Plan::With { .. }
            | Plan::Barrier { .. } => {}
        }
        all
    }

    /// The columns of outer queries that it reads.
    pub fn free(&self) -> HashSet<ColumnId> {
        let (mut read, mut made) = (HashSet::new(), HashSet::new());
        self.gather(&mut read, &mut made);
        read.retain(|id| !made.contains(id));
        read
    }

    fn gather(&self, read: &mut HashSet<ColumnId>, made: &mut HashSet<ColumnId>) {
        for expr in self.expressions() {
            expr.read(read);
        }
        for input in self.inputs() {
            input.gather(read, made);
        }
        if let Plan::With { ctes, .. } = self {
            for cte in ctes {
                made.extend(cte.body.columns().iter().map(|column| column.id));
            }
        }
        if let Plan::Join {
            kind: JoinKind::Mark(id),
            ..
        } = self
        {
            made.insert(*id);
        }
        self.each_made(&mut |column| {
            made.insert(column.id);
        });
    }

    /// Calls a closure with each column that the node itself makes: all columns of a plan are
    /// made by it or by plans below it.
    pub fn each_made<'a>(&'a self, f: &mut dyn FnMut(&'a Column)) {
        match self {
            Plan::Values { columns, .. }
            | Plan::Recursion { columns, .. }
            | Plan::Set { columns, .. } => columns.iter().for_each(f),
            Plan::Scan { columns, .. } => columns.iter().for_each(|(column, _)| f(column)),
            Plan::CteScan { columns, .. } => columns.iter().for_each(|(column, _)| f(column)),
            Plan::Functions { calls, ordinality } => {
                for call in calls {
                    call.columns.iter().for_each(&mut *f);
                }
                ordinality.iter().for_each(f);
            }
            Plan::Project { items, .. } => items.iter().for_each(|(column, _)| f(column)),
            Plan::ProjectSet { items, .. } => {
                for item in items {
                    match item {
                        SetItem::Value(column, _) => f(column),
                        SetItem::Rows(call) => call.columns.iter().for_each(&mut *f),
                    }
                }
            }
            Plan::Aggregate {
                keys,
                calls,
                grouping,
                ..
            } => {
                keys.iter().for_each(|(column, _)| f(column));
                calls.iter().for_each(|(column, _)| f(column));
                grouping.iter().for_each(|(column, _)| f(column));
            }
            Plan::Window { calls, .. } => calls.iter().for_each(|(column, _)| f(column)),
            Plan::Filter { .. }
            | Plan::Join { .. }
            | Plan::Sort { .. }
            | Plan::Limit { .. }
            | Plan::Distinct { .. }
            | Plan::With { .. }
            | Plan::Barrier { .. } => {}
        }
    }

    /// The numbers of the columns that the plan gives, without their names and types.
    pub fn given(&self) -> HashSet<ColumnId> {
        let mut given = HashSet::new();
        let mut open = vec![self];
        while let Some(plan) = open.pop() {
            match plan {
                Plan::Filter { input, .. }
                | Plan::Sort { input, .. }
                | Plan::Limit { input, .. }
                | Plan::Distinct { input, .. }
                | Plan::Barrier { input } => open.push(input),
                Plan::Window { input, .. } => open.push(input),
                Plan::With { body, .. } => open.push(body),
                Plan::Join {
                    kind, left, right, ..
                } => {
                    open.push(left);
                    if kind.gives_right() {
                        open.push(right);
                    }
                    if let JoinKind::Mark(id) = kind {
                        given.insert(*id);
                    }
                }
                _ => {}
            }
            plan.each_made(&mut |column| {
                given.insert(column.id);
            });
        }
        given
    }

    /// Puts expressions in the place of columns everywhere in it.
    pub fn replace(&mut self, with: &dyn Fn(ColumnId) -> Option<Expr>) {
        for expr in self.expressions_mut() {
            expr.replace(with);
        }
        for input in self.inputs_mut() {
            input.replace(with);
        }
    }
}
