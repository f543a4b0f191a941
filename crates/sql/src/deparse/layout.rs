//! Queries as text, in lines.

use super::naming;
use super::print::{JOIN, LEVEL, LIST, Printer, quoted};
use super::tree::{
    Body, Call, Clause, Cte, Distinct, From, Group, Node, Query, Range, RangeKind, RowsCall,
    Select, Set,
};

impl Printer<'_> {
    /// A query; `names` are those of its columns where they differ from its own, and `visible`
    /// is whether somebody sees them.
    pub(super) fn query(&mut self, query: &Query, names: &[String], visible: bool) {
        let (level, ctes) = (self.level, self.ctes.len());
        self.ctes
            .extend(query.with.iter().map(|cte| cte.name.clone()));
        let mut entered = Vec::new();
        match &query.body {
            Body::Select(select) => {
                entered = self.enter(&select.ranges, &select.from);
                self.with(query);
                self.select(select, names, visible);
            }
            Body::Values(range, rows) => {
                entered = self.enter(&[*range], &[]);
                self.with(query);
                self.all_values(query, *range, rows, names);
            }
            Body::Set(set) => {
                self.with(query);
                self.set(set, names, visible);
            }
        }
        if !query.order.is_empty() {
            self.line(" ORDER BY ", -LEVEL, LEVEL, 1);
            self.keys(&query.order, matches!(query.body, Body::Set(_)));
        }
        if let Some(offset) = &query.offset {
            self.line(" OFFSET ", -LEVEL, LEVEL, 0);
            self.node(offset, false);
        }
        if let Some(limit) = &query.limit {
            match query.ties {
                true => {
                    self.line(" FETCH FIRST (", -LEVEL, LEVEL, 0);
                    self.node(limit, false);
                    self.put(") ROWS WITH TIES");
                }
                false => {
                    self.line(" LIMIT ", -LEVEL, LEVEL, 0);
                    match limit {
                        Node::Literal(text, _) if text == "NULL" => self.put("ALL"),
                        limit => self.node(limit, false),
                    }
                }
            }
        }
        for lock in &query.locks {
            self.line(&format!(" {}", lock.words), -LEVEL, LEVEL, 0);
            let name = self.names.get(&lock.range).and_then(|one| one.name.clone());
            self.put(&format!(" OF {}", quoted(&name.unwrap_or_default())));
            self.put(lock.wait);
        }
        self.leave(&entered);
        self.ctes.truncate(ctes);
        self.level = level;
    }

    /// Names the ranges of a query; the names that it adds for the queries in it.
    fn enter(&mut self, ranges: &[usize], from: &[From]) -> Vec<usize> {
        let made = naming::names(self.ranges, ranges, from, &self.around);
        let mut entered: Vec<usize> = made.keys().copied().collect();
        entered.sort_unstable();
        let names = entered.iter().filter_map(|at| made.get(at)?.name.clone());
        let names: Vec<String> = names.collect();
        self.around.extend(names);
        self.names.extend(made);
        entered
    }

    fn leave(&mut self, entered: &[usize]) {
        for at in entered {
            if self.names.remove(at).is_some_and(|one| one.name.is_some()) {
                self.around.pop();
            }
        }
    }

    fn with(&mut self, query: &Query) {
        if query.with.is_empty() {
            return;
        }
        self.level += LEVEL;
        self.begin("");
        for (at, cte) in query.with.iter().enumerate() {
            self.put(match (at, query.recursive) {
                (0, true) => "WITH RECURSIVE ",
                (0, false) => "WITH ",
                _ => ", ",
            });
            self.cte(cte);
        }
        self.level -= LEVEL;
        self.apart();
    }

    fn cte(&mut self, cte: &Cte) {
        self.put(&quoted(&cte.name));
        self.names_in_brackets(&cte.columns);
        self.put(&format!(" AS {}(", cte.materialized));
        self.line("", 0, 0, 0);
        self.query(&cte.query, &[], true);
        self.line("", 0, 0, 0);
        self.put(")");
        for clause in &cte.clauses {
            self.clause(clause);
        }
    }

    fn clause(&mut self, clause: &Clause) {
        let listed = |columns: &[String]| {
            let columns: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
            columns.join(", ")
        };
        match clause {
            Clause::Search {
                order,
                columns,
                sequence,
            } => {
                let (columns, sequence) = (listed(columns), quoted(sequence));
                self.put(&format!(
                    " SEARCH {order} FIRST BY {columns} SET {sequence}"
                ));
            }
            Clause::Cycle {
                columns,
                mark,
                values,
                path,
            } => {
                self.put(&format!(" CYCLE {} SET {}", listed(columns), quoted(mark)));
                if let Some([value, default]) = values {
                    self.put(" TO ");
                    self.node(value, false);
                    self.put(" DEFAULT ");
                    self.node(default, false);
                }
                self.put(&format!(" USING {}", quoted(path)));
            }
        }
    }

    fn names_in_brackets(&mut self, names: &[String]) {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            self.put(&format!("({})", names.join(", ")));
        }
    }

    fn set(&mut self, set: &Set, names: &[String], visible: bool) {
        let (words, left, right) = match set {
            Set::Leaf(query) => {
                let brackets = !query.with.is_empty()
                    || !query.order.is_empty()
                    || query.limit.is_some()
                    || query.offset.is_some()
                    || !query.locks.is_empty()
                    || matches!(query.body, Body::Set(_));
                if brackets {
                    self.put("(");
                }
                self.query(query, names, visible);
                if brackets {
                    self.put(")");
                }
                return;
            }
            Set::Both { words, left, right } => (*words, left, right),
        };
        let other = matches!(left.as_ref(), Set::Both { words: of, .. } if *of != words);
        if other {
            self.put("(");
            self.line("", LEVEL, 0, 0);
        }
        self.set(left, names, visible);
        match other {
            true => self.line(") ", -LEVEL, 0, 0),
            false => self.apart(),
        }
        self.put(words);
        let brackets = matches!(right.as_ref(), Set::Both { .. });
        let indent = if brackets { LEVEL } else { 0 };
        if brackets {
            self.put("(");
        }
        self.line("", indent, 0, 0);
        self.set(right, names, false);
        self.level -= indent;
        if brackets {
            self.line(")", 0, 0, 0);
        }
    }

    fn all_values(&mut self, query: &Query, range: usize, rows: &[Vec<Node>], names: &[String]) {
        self.level += LEVEL;
        self.begin("");
        let renamed = names
            .iter()
            .zip(&query.columns)
            .any(|(name, (own, _))| name != own);
        if !renamed {
            self.values(rows);
            return;
        }
        self.put("SELECT");
        for at in 0..query.columns.len() {
            let name = names.get(at).unwrap_or(&query.columns[at].0).clone();
            let node = Node::Column {
                range,
                column: Some(at),
                row: String::new(),
            };
            self.put(if at > 0 { ", " } else { " " });
            let item = self.aside(|printer| {
                printer.node(&node, true);
                printer.named(&node, &name, true);
            });
            self.listed(&item, at > 0);
        }
        self.line(" FROM ", -LEVEL, LEVEL, 2);
        self.put("(");
        self.values(rows);
        self.put(") \"*VALUES*\"");
    }

    fn values(&mut self, rows: &[Vec<Node>]) {
        self.put("VALUES ");
        for (at, row) in rows.iter().enumerate() {
            self.put(if at > 0 { ", (" } else { "(" });
            for (at, value) in row.iter().enumerate() {
                if at > 0 {
                    self.put(",");
                }
                self.item(value, false);
            }
            self.put(")");
        }
    }

    /// AS behind an item, unless its name is that of its column.
    fn named(&mut self, node: &Node, name: &str, visible: bool) {
        let own = match self.column_name(node) {
            Some(own) => Some(own),
            None if matches!(node, Node::Column { .. }) || visible => None,
            None => Some("?column?".to_owned()),
        };
        if own.as_deref() != Some(name) {
            self.put(&format!(" AS {}", quoted(name)));
        }
    }

    /// Begins a line, or goes on behind a blank where all is in one line.
    fn apart(&mut self) {
        match self.inline {
            true => self.put(" "),
            false => self.line("", 0, 0, 0),
        }
    }

    /// Adds an item of a list, each but the first in a line of its own.
    fn listed(&mut self, item: &str, follows: bool) {
        if item.starts_with('\n') {
            while self.text.ends_with(' ') {
                self.text.pop();
            }
        } else if follows {
            self.line("", -LEVEL, LEVEL, LIST);
        }
        self.text.push_str(item);
    }

    fn select(&mut self, select: &Select, names: &[String], visible: bool) {
        self.level += LEVEL;
        self.begin("SELECT");
        match &select.distinct {
            None => {}
            Some(Distinct::All) => self.put(" DISTINCT"),
            Some(Distinct::On(keys)) => {
                self.put(" DISTINCT ON (");
                for (at, key) in keys.iter().enumerate() {
                    if at > 0 {
                        self.put(", ");
                    }
                    self.key(key);
                }
                self.put(")");
            }
        }
        for (at, item) in select.items.iter().enumerate() {
            self.put(if at > 0 { ", " } else { " " });
            let name = names.get(at).unwrap_or(&item.name);
            let text = self.aside(|printer| {
                printer.item(&item.node, true);
                printer.named(&item.node, name, visible);
            });
            self.listed(&text, at > 0);
        }
        for (at, one) in select.from.iter().enumerate() {
            if at == 0 {
                self.line(" FROM ", -LEVEL, LEVEL, 2);
                self.from(one);
                continue;
            }
            self.put(", ");
            let text = self.aside(|printer| printer.from(one));
            self.listed(&text, true);
        }
        if let Some(condition) = &select.condition {
            self.line(" WHERE ", -LEVEL, LEVEL, 1);
            self.node(condition, false);
        }
        if !select.groups.is_empty() {
            self.line(" GROUP BY ", -LEVEL, LEVEL, 1);
            if select.group_distinct {
                self.put("DISTINCT ");
            }
            self.groups(&select.groups, true);
        }
        if let Some(having) = &select.having {
            self.line(" HAVING ", -LEVEL, LEVEL, 0);
            self.node(having, false);
        }
        for (at, (name, window)) in select.windows.iter().enumerate() {
            match at {
                0 => self.line(" WINDOW ", -LEVEL, LEVEL, 1),
                _ => self.put(", "),
            }
            self.put(&format!("{} AS ", quoted(name)));
            self.window(window);
        }
    }

    /// Keys and sets of keys; `bare` is whether a single key stands without brackets.
    fn groups(&mut self, groups: &[Group], bare: bool) {
        for (at, group) in groups.iter().enumerate() {
            if at > 0 {
                self.put(", ");
            }
            match group {
                Group::Key(key) if bare => self.key(key),
                Group::Key(key) => {
                    self.put("(");
                    self.key(key);
                    self.put(")");
                }
                Group::Keys(keys) => {
                    self.put("(");
                    for (at, key) in keys.iter().enumerate() {
                        if at > 0 {
                            self.put(", ");
                        }
                        self.key(key);
                    }
                    self.put(")");
                }
                Group::Sets(words, groups) => {
                    self.put(words);
                    self.groups(groups, !words.starts_with("GROUPING"));
                    self.put(")");
                }
            }
        }
    }

    fn from(&mut self, from: &From) {
        match from {
            From::Range(at) => self.range(*at),
            From::Join {
                range,
                kind,
                left,
                right,
                on,
            } => {
                let ranges = self.ranges;
                let of = &ranges[*range];
                let RangeKind::Join(join) = &of.kind else {
                    return;
                };
                let outer = !self.pretty || of.alias.is_some();
                if outer {
                    self.put("(");
                }
                self.from(left);
                let conditional = on.is_some() || join.using > 0;
                let word = match (*kind, conditional) {
                    ("INNER", true) => " JOIN ".to_owned(),
                    ("INNER", false) => " CROSS JOIN ".to_owned(),
                    (kind, _) => format!(" {kind} JOIN "),
                };
                self.line(&word, -LEVEL, LEVEL, JOIN);
                let is_join = match right.as_ref() {
                    From::Range(_) => false,
                    From::Join { range, .. } => ranges[*range].alias.is_none(),
                };
                let brackets = self.pretty && is_join;
                if brackets {
                    self.put("(");
                }
                self.from(right);
                if brackets {
                    self.put(")");
                }
                let naming = self.names.get(range).cloned().unwrap_or_default();
                if join.using > 0 {
                    self.put(" USING ");
                    self.names_in_brackets(&naming.using);
                    if let Some(alias) = &join.using_alias {
                        self.put(&format!(" AS {}", quoted(alias)));
                    }
                } else if let Some(on) = on {
                    self.put(" ON ");
                    self.open();
                    self.node(on, false);
                    self.close();
                } else if *kind != "INNER" {
                    self.put(" ON TRUE");
                }
                if outer {
                    self.put(")");
                }
                if of.alias.is_some() {
                    self.put(&format!(" {}", quoted(&naming.name.unwrap_or_default())));
                    if naming.listed {
                        self.names_in_brackets(&naming.columns);
                    }
                }
            }
        }
    }

    fn range(&mut self, at: usize) {
        let ranges = self.ranges;
        let range: &Range = &ranges[at];
        let naming = self.names.get(&at).cloned().unwrap_or_default();
        let name = naming.name.unwrap_or_default();
        if range.lateral {
            self.put("LATERAL ");
        }
        let mut named = range.alias.is_some() || naming.listed;
        let mut defined: &[(String, String)] = &[];
        match &range.kind {
            RangeKind::Relation { schema, only, .. } => {
                if *only {
                    self.put("ONLY ");
                }
                let hidden = self.ctes.contains(&range.name);
                let shown = self.shown.relation(schema, &range.name, hidden);
                self.put(&shown);
                named |= name != range.name;
            }
            RangeKind::Query(query) => {
                self.put("(");
                self.query(query, &[], true);
                self.put(")");
            }
            RangeKind::Cte => {
                self.put(&quoted(&range.name));
                named |= name != range.name;
            }
            RangeKind::Functions { calls, ordinality } => {
                named = true;
                defined = self.functions(calls, *ordinality);
                if *ordinality {
                    self.put(" WITH ORDINALITY");
                }
            }
            RangeKind::Values | RangeKind::Join(_) => {}
        }
        if named {
            self.put(&format!(" {}", quoted(&name)));
        }
        match defined {
            [] if naming.listed => self.names_in_brackets(&naming.columns),
            [] => {}
            defined => self.definitions(defined, &naming.columns),
        }
        if let RangeKind::Relation {
            sample: Some(sample),
            ..
        } = &range.kind
        {
            self.put(&format!(" TABLESAMPLE {} (", sample.method));
            self.node(&sample.share, false);
            self.put(")");
            if let Some(seed) = &sample.seed {
                self.put(" REPEATABLE (");
                self.node(seed, false);
                self.put(")");
            }
        }
    }

    fn definitions(&mut self, defined: &[(String, String)], names: &[String]) {
        let all = defined.iter().enumerate().map(|(at, (name, ty))| {
            let name = names.get(at).unwrap_or(name);
            format!("{} {ty}", quoted(name))
        });
        let all: Vec<String> = all.collect();
        self.put(&format!("({})", all.join(", ")));
    }

    /// Functions in FROM; the column definition list that is written behind the alias.
    fn functions<'c>(&mut self, calls: &'c [RowsCall], ordinality: bool) -> &'c [(String, String)] {
        let several = |call: &RowsCall| {
            let arguments =
                |node: &Node| matches!(node, Node::Call(call) if call.arguments.len() > 1);
            call.unnest && arguments(&call.node)
        };
        if let [only] = calls
            && (only.defined.is_empty() || !ordinality)
            && !several(only)
        {
            self.node(&only.node, true);
            return &only.defined;
        }
        if calls.iter().all(|call| call.unnest) {
            self.put("UNNEST(");
            for (at, call) in calls.iter().enumerate() {
                if at > 0 {
                    self.put(", ");
                }
                if let Node::Call(call) = &call.node {
                    self.list(&call.arguments);
                }
            }
            self.put(")");
            return &[];
        }
        self.put("ROWS FROM(");
        for (at, call) in calls.iter().enumerate() {
            if at > 0 {
                self.put(", ");
            }
            match &call.node {
                // Of several arrays beside other calls each has its own.
                Node::Call(unnest) if several(call) => {
                    for (at, array) in unnest.arguments.iter().enumerate() {
                        if at > 0 {
                            self.put(", ");
                        }
                        let arguments = vec![array.clone()];
                        let one = Call {
                            arguments,
                            ..unnest.as_ref().clone()
                        };
                        self.node(&Node::Call(Box::new(one)), true);
                    }
                }
                node => self.node(node, true),
            }
            if !call.defined.is_empty() {
                self.put(" AS ");
                self.definitions(&call.defined, &[]);
            }
        }
        self.put(")");
        &[]
    }
}
