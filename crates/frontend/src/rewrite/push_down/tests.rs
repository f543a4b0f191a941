use super::super::tests::{Chance, bound, same_rows};
use crate::plan::{JoinKind, Plan};
use crate::rewrite::rewritten;

/// Compares the rows of a query before and after; the plan after, a node a line.
fn check(sql: &str) -> String {
    let plan = bound(sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let new = rewritten(plan.clone());
    same_rows(sql, &plan, &new);
    let mut text = String::new();
    draw(&new, 0, &mut text);
    text
}

fn draw(plan: &Plan, level: usize, text: &mut String) {
    let name = match plan {
        Plan::Scan { alias, .. } => alias.clone(),
        Plan::Filter { condition, .. } => {
            format!("filter of {}", condition.clone().conjuncts().len())
        }
        Plan::Join {
            kind, condition, ..
        } => {
            let terms = condition.clone().map_or(0, |c| c.conjuncts().len());
            match kind {
                JoinKind::Mark(_) => format!("mark by {terms}"),
                kind => format!("{kind:?} by {terms}").to_lowercase(),
            }
        }
        Plan::Project { .. } => "project".to_owned(),
        Plan::Aggregate { .. } => "aggregate".to_owned(),
        Plan::Window { .. } => "window".to_owned(),
        Plan::Distinct { .. } => "distinct".to_owned(),
        Plan::Limit { .. } => "limit".to_owned(),
        Plan::Set { .. } => "set".to_owned(),
        Plan::With { .. } => "with".to_owned(),
        Plan::CteScan { name, .. } => format!("cte {name}"),
        _ => "other".to_owned(),
    };
    if name != "project" {
        text.push_str(&format!("{:level$}{name}\n", ""));
    }
    let below = level + usize::from(name != "project");
    for input in plan.inputs() {
        draw(input, below, text);
    }
}

#[track_caller]
fn becomes(sql: &str, lines: &[&str]) {
    let drawn = check(sql);
    assert_eq!(drawn.lines().collect::<Vec<_>>(), lines, "{sql}");
}

#[test]
fn terms_go_to_their_inputs() {
    becomes(
        "select * from r, s where r.x = s.x and r.y > 1 and s.y < 9 and r.y < s.y",
        &["inner by 2", " filter of 1", "  r", " filter of 1", "  s"],
    );
    becomes(
        "select * from (select x + 1 as a, y from r) q where a > 2 and y = 1",
        &["filter of 2", " r"],
    );
    becomes(
        "select * from (select x, count(*) n from r group by x) q where x > 1 and n > 1",
        &["filter of 1", " aggregate", "  filter of 1", "   r"],
    );
    becomes(
        "select * from (select x, y, sum(y) over (partition by x) s from r) q where x > 1 and y > 1",
        &["filter of 1", " window", "  filter of 1", "   r"],
    );
    becomes(
        "select * from (select x from r union all select y from s) q where x > 1",
        &["set", " filter of 1", "  r", " filter of 1", "  s"],
    );
    becomes(
        "select * from (select * from r order by x limit 3) q where x > 1",
        &["filter of 1", " limit", "  other", "   r"],
    );
}

#[test]
fn terms_of_grouping_sets_stay() {
    becomes(
        "select x, y, count(*) from r group by rollup (x, y) having x > 0",
        &["filter of 1", " aggregate", "  r"],
    );
    becomes(
        "select x, y, count(*) from r group by x, rollup (y) having x > 0",
        &["aggregate", " filter of 1", "  r"],
    );
    becomes(
        "select count(*) from r having 1 > (random() * 0)::int",
        &["filter of 1", " aggregate", "  r"],
    );
}

#[test]
fn outer_joins_become_inner_ones() {
    becomes(
        "select * from r left join s on r.x = s.x where s.y > 1",
        &["inner by 1", " r", " filter of 1", "  s"],
    );
    becomes(
        "select * from r left join s on r.x = s.x where s.y is null",
        &["filter of 1", " left by 1", "  r", "  s"],
    );
    becomes(
        "select * from r full join s on r.x = s.x where r.y > 1",
        &["left by 1", " filter of 1", "  r", " s"],
    );
    becomes(
        "select * from r full join s on r.x = s.x where r.y + s.y > 1",
        &["inner by 2", " r", " s"],
    );
    becomes(
        "select * from r left join s on r.x = s.x where coalesce(s.y, 1) = 1",
        &["filter of 1", " left by 1", "  r", "  s"],
    );
    becomes(
        "select * from r left join s on r.x = s.x and s.y > 1 and r.y > 1 where r.x = 2",
        &["left by 2", " filter of 1", "  r", " filter of 2", "  s"],
    );
}

#[test]
fn joins_are_connected() {
    becomes(
        "select * from r, s, t where r.x = t.x and s.x = t.y",
        &["inner by 1", " inner by 1", "  r", "  t", " s"],
    );
    becomes(
        "select * from r, s where (r.x = s.x and r.y = 1) or (r.x = s.x and s.y = 2)",
        &["inner by 2", " r", " s"],
    );
    becomes(
        "select * from r, s where (r.x = 1 and s.y = 1) or (r.x = 2 and s.y = 2)",
        &["inner by 1", " filter of 1", "  r", " filter of 1", "  s"],
    );
    becomes(
        "select * from r, s, t where r.x = s.x and s.x = t.x and r.x = 1",
        &[
            "inner by 1",
            " inner by 1",
            "  filter of 1",
            "   r",
            "  filter of 1",
            "   s",
            " filter of 1",
            "  t",
        ],
    );
}

#[test]
fn queries_of_with() {
    becomes(
        "with q as (select x, count(*) n from r group by x) select * from q where x > 1",
        &["aggregate", " filter of 1", "  r"],
    );
    becomes(
        "with q as materialized (select x from r) select * from q where x > 1",
        &["with", " r", " filter of 1", "  cte q"],
    );
    becomes(
        "with q as (select x from r), p as (select x from q) select 1 from q, s",
        &["inner by 0", " r", " s"],
    );
    becomes(
        "with q as (select x, random() z from r) select * from q where x > 1 and x < 0 limit 1",
        &["with", " r", " limit", "  filter of 2", "   cte q"],
    );
}

#[test]
fn what_is_never_true_goes_no_further() {
    becomes(
        "select * from (select x from r union all select y from s) q where x > 1 and false",
        &["filter of 1", " set", "  r", "  s"],
    );
    becomes(
        "select * from r left join s on r.x = s.x where false",
        &["filter of 1", " left by 1", "  r", "  s"],
    );
}

impl Chance {
    fn a_column(&mut self, of: &[String]) -> String {
        let at = self.below(of.len() as u64) as usize;
        of[at].clone()
    }

    fn a_value(&mut self, of: &[String]) -> String {
        match self.below(8) {
            0 => self.of(&["0", "1", "2", "3", "null::int"]).to_owned(),
            1 => format!("{} + {}", self.a_column(of), self.a_column(of)),
            2 => format!("coalesce({}, {})", self.a_column(of), self.a_column(of)),
            3 => format!(
                "case when {} > 1 then {} end",
                self.a_column(of),
                self.a_column(of)
            ),
            _ => self.a_column(of),
        }
    }

    fn a_condition(&mut self, of: &[String], depth: u32) -> String {
        match self.below(if depth > 0 { 11 } else { 6 }) {
            0 => format!("{} is null", self.a_value(of)),
            1 => format!("{} is not null", self.a_value(of)),
            2 => format!("{} in (1, 2, {})", self.a_value(of), self.a_column(of)),
            6 => format!(
                "({} or {})",
                self.a_condition(of, depth - 1),
                self.a_condition(of, depth - 1)
            ),
            7 => format!("not ({})", self.a_condition(of, depth - 1)),
            8 => format!("({}) is not true", self.a_condition(of, depth - 1)),
            9 => {
                let common = self.a_condition(of, 0);
                let (one, other) = (self.a_condition(of, 0), self.a_condition(of, 0));
                format!("(({common} and {one}) or ({common} and {other}))")
            }
            10 => {
                let not = self.of(&["", "not "]);
                let value = self.a_column(of);
                format!("{value} {not}in (select x from t where y > {value})")
            }
            _ => {
                let op = self.of(&["=", "=", "=", "<", ">", "<>", "is distinct from"]);
                format!("{} {op} {}", self.a_column(of), self.a_value(of))
            }
        }
    }

    fn conditions(&mut self, of: &[String]) -> String {
        let count = 1 + self.below(3);
        let all: Vec<String> = (0..count).map(|_| self.a_condition(of, 1)).collect();
        all.join(" and ")
    }

    /// A table expression in brackets with two columns x and y.
    fn source(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.of(&["r", "s", "t"]).to_owned();
        }
        match self.below(9) {
            0 => {
                let (from, of) = self.joins(depth - 1);
                let key = self.a_value(&of);
                let sum = self.a_column(&of);
                let having = match self.below(2) {
                    0 => String::new(),
                    _ => " having count(*) > 1".to_owned(),
                };
                let by = self.of(&["1", "rollup (1)", "cube (1)", "1, grouping sets ((), ())"]);
                format!("(select {key} as x, max({sum}) as y {from} group by {by}{having})")
            }
            1 => {
                let (from, of) = self.joins(depth - 1);
                let (key, other) = (self.a_column(&of), self.a_column(&of));
                format!(
                    "(select {key} as x, (sum({other}) over (partition by {key}))::int as y {from})"
                )
            }
            2 => {
                let op = self.of(&["union", "union all", "intersect", "except", "except all"]);
                format!(
                    "(select x, y from {} a {op} select y, x from {} b)",
                    self.source(depth - 1),
                    self.source(depth - 1)
                )
            }
            3 => {
                let (from, of) = self.joins(depth - 1);
                let (key, other) = (self.a_column(&of), self.a_column(&of));
                format!(
                    "(select distinct on ({key}) {key} as x, {other} as y {from} order by {key}, {other})"
                )
            }
            4 => {
                let (from, of) = self.joins(depth - 1);
                let (key, other) = (self.a_column(&of), self.a_column(&of));
                format!("(select distinct {key} as x, {other} as y {from})")
            }
            5 => {
                let (from, of) = self.joins(depth - 1);
                let (key, other) = (self.a_column(&of), self.a_column(&of));
                format!("(select {key} as x, {other} as y {from} order by 1, 2 limit 3)")
            }
            6 => format!(
                "(with w as (select * from {} a) select x, y from w where x > 0)",
                self.source(depth - 1)
            ),
            _ => {
                let (from, of) = self.joins(depth - 1);
                let (key, other) = (self.a_value(&of), self.a_value(&of));
                format!("(select {key} as x, {other} as y {from})")
            }
        }
    }

    /// FROM with a few joins, and WHERE; the columns in sight.
    fn joins(&mut self, depth: u32) -> (String, Vec<String>) {
        let mut sight: Vec<String> = Vec::new();
        let mut from = String::new();
        let count = 1 + self.below(3);
        for number in 0..count {
            let name = format!("q{}", self.below(1_000_000_000));
            let source = self.source(depth);
            let own = ["x", "y"].map(|column| format!("{name}.{column}"));
            if number == 0 {
                from = format!("from {source} {name}");
                sight.extend(own);
                continue;
            }
            sight.extend(own);
            match self.of(&[
                ",",
                "join",
                "left join",
                "left join",
                "right join",
                "full join",
            ]) {
                "," => from.push_str(&format!(" cross join {source} {name}")),
                "full join" => {
                    let (left, right) = (sight[0].clone(), format!("{name}.x"));
                    from.push_str(&format!(" full join {source} {name} on {left} = {right}"));
                }
                kind => {
                    let on = self.conditions(&sight);
                    from.push_str(&format!(" {kind} {source} {name} on {on}"));
                }
            }
        }
        if self.below(4) > 0 {
            let condition = self.conditions(&sight);
            from.push_str(&format!(" where {condition}"));
        }
        (from, sight)
    }
}

#[test]
fn queries_by_chance() {
    let mut chance = Chance(5);
    for _ in 0..700 {
        let (from, sight) = chance.joins(2);
        let (a, b) = (chance.a_value(&sight), chance.a_value(&sight));
        check(&format!("select {a}, {b} {from}"));
    }
}
