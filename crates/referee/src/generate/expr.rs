//! Expressions of a type.

use freestone_frontend::types::Type;

use super::Generator;
use super::signatures::Kind;
use super::tree::{Sort, Tree, tree};
use super::values::{literal, sortable};

impl Generator<'_> {
    /// An expression of a type.
    pub(super) fn expr(&mut self, ty: &Type) -> Tree {
        // A wrong type, on purpose.
        if self.random.below(1200) == 0 {
            let other = self.wanted_type();
            return self.leaf(&other);
        }
        if !self.spend() {
            return self.leaf(ty);
        }
        let scope = self.scope();
        if scope.windows
            && self.chance(9, "windows")
            && let Some(tree) = self.window_call(ty)
        {
            return tree;
        }
        if scope.aggregates
            && self.chance(40, "aggregates")
            && let Some(tree) = self.aggregate_call(ty)
        {
            return tree;
        }
        match self.random.below(100) {
            0..=21 => self.leaf(ty),
            22..=24 => self.form(ty).unwrap_or_else(|| self.leaf(ty)),
            25..=54 if *ty == Type::Bool => self.condition(),
            25..=59 => self.operator_or_function(ty),
            60..=67 => self.special(ty),
            68..=72 => self.case_when(ty),
            73..=77 => self.choice(ty),
            78..=85 => self.cast(ty),
            86..=91 => self.scalar_subquery(ty),
            92..=94 => self.array_or_element(ty),
            _ => self.operator_or_function(ty),
        }
    }

    /// A column or a literal.
    pub(super) fn leaf(&mut self, ty: &Type) -> Tree {
        if self.random.percent(80)
            && let Some(column) = self.column_of(ty)
        {
            return Tree::expr(ty, column);
        }
        self.constant(ty)
    }

    pub(super) fn constant(&mut self, ty: &Type) -> Tree {
        Tree::expr(ty, literal(&mut self.random, ty))
    }

    fn operator_or_function(&mut self, ty: &Type) -> Tree {
        let kind = match self.random.percent(55) {
            true => Kind::Operator,
            false => Kind::Function,
        };
        match self.call(kind, ty) {
            Some(call) => call,
            None => self.leaf(ty),
        }
    }

    fn case_when(&mut self, ty: &Type) -> Tree {
        let sort = Sort::Expr(ty.clone());
        let many = 1 + self.random.below(2);
        let simple = self.random.percent(30);
        let (operand, of) = match simple {
            true => {
                let of = self.sortable_type();
                let operand = self.expr(&of);
                (tree!(Sort::Plain; " ", operand), of)
            }
            false => (Tree::nothing(), Type::Bool),
        };
        let branch = |this: &mut Self| {
            let (when, then) = (this.expr(&of), this.expr(ty));
            tree!(Sort::Plain; " WHEN ", when, " THEN ", then)
        };
        let branches = (0..many).map(|_| branch(self)).collect();
        let otherwise = match self.random.percent(60) {
            true => {
                let value = self.expr(ty);
                tree!(Sort::Optional; " ELSE ", value)
            }
            false => Tree::nothing(),
        };
        let branches = Tree::list("", 1, branches);
        tree!(sort; "CASE", operand, branches, otherwise, " END")
    }

    /// A type whose values have an order, by preference one of a column.
    pub(super) fn sortable_type(&mut self) -> Type {
        for _ in 0..4 {
            let ty = self.wanted_type();
            if sortable(&ty) {
                return ty;
            }
        }
        Type::Int4
    }

    fn choice(&mut self, ty: &Type) -> Tree {
        let sort = Sort::Expr(ty.clone());
        let words = match sortable(ty) {
            true => ["coalesce", "nullif", "greatest", "least"].as_slice(),
            false => ["coalesce"].as_slice(),
        };
        let word = self.random.word(words);
        let many = if word == "nullif" {
            2
        } else {
            // Few are many.
            match self.random.percent(4) {
                true => 9 + self.random.below(3),
                false => 2 + self.random.below(2),
            }
        };
        let items = (0..many).map(|_| self.expr(ty)).collect();
        let least = if word == "nullif" { 2 } else { 1 };
        let items = Tree::list(", ", least, items);
        tree!(sort; word, "(", items, ")")
    }

    /// A cast that fails for no value that is drawn.
    fn cast(&mut self, ty: &Type) -> Tree {
        use Type::*;
        let from = match ty {
            // Any cast there is, which may fail for a value.
            _ if self.random.percent(6) => self.castable(ty),
            Text | Varchar(_) => self.wanted_type(),
            Int8 => self.one_of(&[Int4, Int2]),
            Int4 => self.one_of(&[Int2, Bool, Int4]),
            Numeric(_) => self.one_of(&[Int4, Int8, Int2]),
            Float8 => self.one_of(&[Int4, Int8, Float4, Int2]),
            Float4 => self.one_of(&[Int4, Int2]),
            Bool => Int4,
            Date => self.one_of(&[Timestamp(None), TimestampTz(None)]),
            Timestamp(_) => self.one_of(&[Date, TimestampTz(None)]),
            TimestampTz(_) => self.one_of(&[Date, Timestamp(None)]),
            Time(_) => self.one_of(&[Timestamp(None), Interval]),
            Interval => Time(None),
            Jsonb => Json,
            Json => Jsonb,
            Char(_) => self.one_of(&[Text, Varchar(None)]),
            Bytea | Uuid | TimeTz(_) | Array(_) => ty.clone(),
            _ => return self.leaf(ty),
        };
        let sort = Sort::Expr(ty.clone());
        let value = self.expr(&from);
        match self.random.percent(50) {
            true => tree!(sort; "CAST(", value, " AS ", ty.to_string(), ")"),
            false => tree!(sort; "(", value, ")::", ty.to_string()),
        }
    }

    /// A type from which there is a cast.
    fn castable(&mut self, ty: &Type) -> Type {
        let base = ty.base();
        let found = self.signatures.cast_to(&base);
        match self.random.pick(found) {
            Some(from) if self.random.percent(70) => from.clone(),
            _ => Type::Text,
        }
    }

    pub(super) fn one_of(&mut self, types: &[Type]) -> Type {
        self.random.pick(types).cloned().unwrap_or(Type::Int4)
    }

    fn array_or_element(&mut self, ty: &Type) -> Tree {
        let sort = Sort::Expr(ty.clone());
        if let Type::Array(element) = ty {
            if self.random.percent(40) {
                let query = self.subquery(&[(**element).clone()], true);
                return tree!(sort; "ARRAY(", query, ")");
            }
            if self.random.percent(30) {
                let array = self.expr(ty);
                let bounds = ["[:]", "[1:2]", "[2:]", "[:1][1:]", "[1:2][2]", "[0:0]"];
                let bounds = self.random.word(&bounds);
                return tree!(sort; "(", array, ")", bounds);
            }
            // Elements that are arrays themselves give one dimension more.
            let inner = match self.random.percent(20) {
                true => ty,
                false => element,
            };
            let many = 1 + self.random.below(3);
            let items = (0..many).map(|_| self.expr(inner)).collect();
            let items = Tree::list(", ", 1, items);
            return tree!(sort; "ARRAY[", items, "]::", ty.to_string());
        }
        let place = self.random.below(4);
        match ty {
            Type::Record(_) | Type::Array(_) | Type::Unknown => self.leaf(ty),
            _ if sortable(ty) && ty.base() == *ty && self.random.percent(60) => {
                let array = self.expr(&ty.clone().array());
                let further = match self.random.percent(25) {
                    true => format!("[{}]", self.random.below(3)),
                    false => String::new(),
                };
                tree!(sort; "(", array, format!(")[{place}]{further}"))
            }
            _ => self.leaf(ty),
        }
    }

    /// A condition on rows; by keys so often, in percent.
    pub(super) fn row_condition(&mut self, by_keys: usize) -> Tree {
        match self.random.percent(by_keys) {
            true => self.keyed_condition(),
            false => self.condition(),
        }
    }

    /// A condition by which rows can be found by keys or an index: values of one or two columns
    /// of a relation, in several alternatives, each and all together with further conditions.
    ///
    /// ```text
    /// r1.id = 3 OR r1.id IN (1, 2) AND r1.t0 < 'x' AND (…)
    /// ```
    fn keyed_condition(&mut self) -> Tree {
        let relations = self.scope().relations;
        let Some(relation) = self.random.pick(&relations).cloned() else {
            return self.condition();
        };
        let mut columns: Vec<(String, Type)> = Vec::new();
        let unique = relation.unique.as_ref();
        let unique = relation
            .columns
            .iter()
            .find(|(name, _)| Some(name) == unique);
        columns.extend(unique.filter(|_| self.random.percent(75)).cloned());
        let others = relation.columns.iter().filter(|(_, ty)| sortable(ty));
        let others: Vec<_> = others.cloned().collect();
        if columns.is_empty() || self.random.percent(40) {
            columns.extend(self.random.pick(&others).cloned());
        }
        let many = [1, 1, 2, 3][self.random.below(4)];
        let branches = (0..many).map(|_| {
            let mut items = Vec::new();
            for (column, ty) in &columns {
                let place = relation.column(column);
                items.push(self.by_value(&place, ty, relation.unique.as_ref() == Some(column)));
            }
            if self.random.percent(35) {
                items.push(self.condition());
            }
            Tree::list(" AND ", 1, items)
        });
        let branches: Vec<Tree> = branches.collect();
        let found = Tree::list(" OR ", 1, branches);
        let sort = Sort::Expr(Type::Bool);
        match self.random.percent(35) {
            true => {
                let further = self.condition();
                tree!(sort; "((", found, ") AND ", further, ")")
            }
            false => tree!(sort; "(", found, ")"),
        }
    }

    /// A column compared with values; `is_number` if it counts the rows.
    fn by_value(&mut self, column: &str, ty: &Type, is_number: bool) -> Tree {
        let mut value = || match is_number && *ty == Type::Int4 && self.random.percent(90) {
            true => self.random.below(10).to_string(),
            false => literal(&mut self.random, ty),
        };
        let (a, b, c) = (value(), value(), value());
        let text = match self.random.below(12) {
            0..=5 => format!("{column} = {a}"),
            6 | 7 => format!("{column} IN ({a}, {b}, {c})"),
            8 => format!("{column} BETWEEN {a} AND {b}"),
            9 => {
                let operator = self.random.word(&["<", "<=", ">", ">=", "<>"]);
                format!("{column} {operator} {a}")
            }
            10 => format!("{column} = ANY (ARRAY[{a}, {b}])"),
            _ => format!("{column} IS NOT DISTINCT FROM {a}"),
        };
        Tree::expr(&Type::Bool, text)
    }

    /// A condition.
    pub(super) fn condition(&mut self) -> Tree {
        if !self.spend() {
            return self.comparison();
        }
        let sort = Sort::Expr(Type::Bool);
        match self.random.below(100) {
            0..=25 => self.comparison(),
            26..=29 => self.rare_condition(),
            30..=41 => {
                let word = self.random.word(&[" AND ", " OR "]);
                let many = 2 + self.random.below(2);
                let items = (0..many).map(|_| self.condition()).collect();
                let items = Tree::list(word, 1, items);
                tree!(sort; "(", items, ")")
            }
            42..=46 => {
                let inner = self.condition();
                tree!(sort; "(NOT ", inner, ")")
            }
            47..=51 => {
                let ty = self.wanted_type();
                let value = self.expr(&ty);
                let word = self
                    .random
                    .word(&["IS NULL", "IS NOT NULL", "ISNULL", "NOTNULL"]);
                tree!(sort; "(", value, " ", word, ")")
            }
            52..=54 => {
                let value = self.expr(&Type::Bool);
                let word = self.random.word(&[
                    "IS TRUE",
                    "IS NOT TRUE",
                    "IS FALSE",
                    "IS NOT FALSE",
                    "IS UNKNOWN",
                    "IS NOT UNKNOWN",
                ]);
                tree!(sort; "(", value, " ", word, ")")
            }
            55..=58 => {
                let ty = self.sortable_type();
                let word = self
                    .random
                    .word(&["IS DISTINCT FROM", "IS NOT DISTINCT FROM"]);
                let (a, b) = (self.expr(&ty), self.expr(&ty));
                tree!(sort; "(", a, " ", word, " ", b, ")")
            }
            59..=63 => {
                let ty = self.sortable_type();
                let words = ["BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC"];
                let word = self.random.word(&words);
                let (a, b, c) = (self.expr(&ty), self.leaf(&ty), self.leaf(&ty));
                tree!(sort; "(", a, " ", word, " ", b, " AND ", c, ")")
            }
            64..=69 => {
                let ty = self.sortable_type();
                let word = self.random.word(&["IN", "NOT IN"]);
                let value = self.expr(&ty);
                let items = (0..1 + self.random.below(3))
                    .map(|_| self.leaf(&ty))
                    .collect();
                let items = Tree::list(", ", 1, items);
                tree!(sort; "(", value, " ", word, " (", items, "))")
            }
            70..=76 => self.pattern(),
            77..=81 => {
                let word = self.random.word(&["EXISTS", "NOT EXISTS"]);
                let ty = self.wanted_type();
                let query = self.subquery(&[ty], false);
                tree!(sort; "(", word, " (", query, "))")
            }
            82..=86 => {
                let ty = self.sortable_type();
                let word = self.random.word(&["IN", "NOT IN"]);
                let value = self.expr(&ty);
                let query = self.subquery(&[ty], false);
                tree!(sort; "(", value, " ", word, " (", query, "))")
            }
            87..=90 => {
                let ty = self.sortable_type();
                let operator = self.random.word(&["=", "<>", "<", "<=", ">", ">="]);
                let word = self.random.word(&["ANY", "ALL", "SOME"]);
                let value = self.expr(&ty);
                let query = self.subquery(&[ty], false);
                tree!(sort; "(", value, " ", operator, " ", word, " (", query, "))")
            }
            91 | 92 => {
                let ty = self.one_of(&[Type::Int4, Type::Text, Type::Numeric(None)]);
                let operator = self.random.word(&["=", "<>", "<", ">="]);
                let word = self.random.word(&["ANY", "ALL"]);
                let (value, array) = (self.expr(&ty), self.expr(&ty.array()));
                tree!(sort; "(", value, " ", operator, " ", word, " (", array, "))")
            }
            93 | 94 => {
                let (one, other) = (self.sortable_type(), self.sortable_type());
                let operator = self.random.word(&["=", "<>", "<", "<=", ">", ">="]);
                let (a, b) = (self.expr(&one), self.expr(&other));
                let (c, d) = (self.expr(&one), self.expr(&other));
                tree!(sort; "((", a, ", ", b, ") ", operator, " (", c, ", ", d, "))")
            }
            95 => {
                let (one, other) = (self.sortable_type(), self.sortable_type());
                let word = self.random.word(&["IN", "NOT IN"]);
                let (a, b) = (self.expr(&one), self.expr(&other));
                let query = self.subquery(&[one, other], false);
                tree!(sort; "((", a, ", ", b, ") ", word, " (", query, "))")
            }
            96 => {
                let moments = [Type::Timestamp(None), Type::Date, Type::Time(None)];
                let ty = self.one_of(&moments);
                let each = [(); 4].map(|()| self.leaf(&ty));
                let [a, b, c, d] = each;
                tree!(sort; "((", a, ", ", b, ") OVERLAPS (", c, ", ", d, "))")
            }
            97 => self.rare_condition(),
            _ => self.operator_or_function(&Type::Bool),
        }
    }

    fn comparison(&mut self) -> Tree {
        let ty = self.sortable_type();
        let operator = self
            .random
            .word(&["=", "=", "<>", "<", "<=", ">", ">=", "!="]);
        if self.random.percent(12) {
            // A literal takes the type of the other side.
            let (a, text) = (
                self.expr(&ty),
                super::values::untyped(&mut self.random, &ty),
            );
            return tree!(Sort::Expr(Type::Bool); "(", a, " ", operator, " ", text, ")");
        }
        if self.random.percent(18) {
            let other = self.comparable(&ty);
            let (a, b) = (self.expr(&ty), self.expr(&other));
            return tree!(Sort::Expr(Type::Bool); "(", a, " ", operator, " ", b, ")");
        }
        let (a, b) = (self.expr(&ty), self.expr(&ty));
        tree!(Sort::Expr(Type::Bool); "(", a, " ", operator, " ", b, ")")
    }

    /// Another type whose values are compared with those of a type.
    fn comparable(&mut self, ty: &Type) -> Type {
        use Type::*;
        let others: &[Type] = match ty {
            Int2 | Int4 | Int8 | Float4 | Float8 | Numeric(_) => {
                &[Int2, Int4, Int8, Float4, Float8, Numeric(None)]
            }
            Text | Varchar(_) | Char(_) => &[Text, Varchar(None), Char(Some(4))],
            Date | Timestamp(_) | TimestampTz(_) => &[Date, Timestamp(None), TimestampTz(None)],
            Time(_) | TimeTz(_) => &[Time(None), TimeTz(None)],
            _ => return ty.clone(),
        };
        self.one_of(others)
    }

    /// A condition with rows or lists of a form of its own.
    fn rare_condition(&mut self) -> Tree {
        let sort = Sort::Expr(Type::Bool);
        let (one, other) = (self.sortable_type(), self.sortable_type());
        match self.random.below(8) {
            0 => {
                let (a, b) = (self.expr(&one), self.expr(&other));
                let word = self.random.word(&["IS NULL", "IS NOT NULL"]);
                tree!(sort; "(ROW(", a, ", ", b, ") ", word, ")")
            }
            1 => {
                let (a, b) = (self.expr(&one), self.expr(&other));
                let (c, d) = (self.leaf(&one), self.leaf(&other));
                let word = self
                    .random
                    .word(&["IS DISTINCT FROM", "IS NOT DISTINCT FROM"]);
                tree!(sort; "(ROW(", a, ", ", b, ") ", word, " ROW(", c, ", ", d, "))")
            }
            2 => {
                let value = self.expr(&one);
                let items = (0..1 + self.random.below(3)).map(|_| self.leaf(&one));
                let items: Vec<Tree> = items.collect();
                let rows = items
                    .into_iter()
                    .map(|item| tree!(Sort::Plain; "(", item, ")"));
                let rows = Tree::list(", ", 1, rows.collect());
                let word = self
                    .random
                    .word(&["IN", "NOT IN", "= ANY", "<> ALL", "> ALL", "<= ANY"]);
                tree!(sort; "(", value, " ", word, " (VALUES ", rows, "))")
            }
            3 => {
                let (a, b) = (self.expr(&one), self.expr(&other));
                let operator = self.random.word(&["=", "<>"]);
                let query = self.subquery(&[one, other], false);
                let word = self.random.word(&["ANY", "ALL"]);
                let operator = format!(" {operator} {word} (");
                tree!(sort; "((", a, ", ", b, ")", operator, query, "))")
            }
            4 => {
                let value = self.expr(&Type::Text);
                let word = self.random.word(&["LIKE", "NOT LIKE", "ILIKE", "~"]);
                let list = self.random.word(&[
                    "ANY (ARRAY['a%', '_', NULL])",
                    "ALL (ARRAY['%', 'a%'])",
                    "ANY ('{%b,x}')",
                ]);
                tree!(sort; "(", value, " ", word, " ", list, ")")
            }
            5 => {
                let value = self.expr(&Type::Text);
                let rest = self.random.word(&[
                    "LIKE 'x#_y#%' ESCAPE '#'",
                    "LIKE 'a%' ESCAPE ''",
                    "SIMILAR TO 'a#%|b' ESCAPE '#'",
                    "IS NORMALIZED",
                    "IS NFD NORMALIZED",
                    "NOT ILIKE 'A#%' ESCAPE '#'",
                ]);
                tree!(sort; "(", value, " ", rest, ")")
            }
            6 => {
                let items: Vec<Tree> = (0..2).map(|_| self.leaf(&one)).collect();
                let value = self.expr(&one);
                let items = Tree::list(", ", 1, items);
                let word = self.random.word(&["= ANY", "<> ALL", "< ANY", ">= ALL"]);
                tree!(sort; "(", value, " ", word, " (ARRAY[", items, "]))")
            }
            _ => {
                let types = [one.clone(), other.clone(), one.clone()];
                let left = types.iter().map(|ty| self.leaf(ty)).collect();
                let right = types.iter().map(|ty| self.leaf(ty)).collect();
                let operator = self.random.word(&["=", "<>", "<", "<=", ">", ">="]);
                let (left, right) = (Tree::list(", ", 3, left), Tree::list(", ", 3, right));
                tree!(sort; "(ROW(", left, ") ", operator, " ROW(", right, "))")
            }
        }
    }

    fn pattern(&mut self) -> Tree {
        let sort = Sort::Expr(Type::Bool);
        let value = self.expr(&Type::Text);
        let (words, patterns): (&[&str], &[&str]) = match self.random.below(3) {
            0 => (
                &["LIKE", "NOT LIKE", "ILIKE", "NOT ILIKE"],
                &[
                    "a%", "%b", "_", "%", "", "a_c", "%\\%%", "A%", "%é", "x\\_y%",
                ],
            ),
            1 => (
                &["SIMILAR TO", "NOT SIMILAR TO"],
                &["a%", "(a|b)+", "%[0-9]%", "a{2}%", "_b?", "%(x|é)%"],
            ),
            _ => (
                &["~", "!~", "~*", "!~*"],
                &[
                    "^a",
                    "b$",
                    "[0-9]+",
                    "a|b",
                    "^$",
                    "\\d",
                    "(a)(b)?",
                    "[[:alpha:]]",
                    "\\w\\s",
                ],
            ),
        };
        let (word, pattern) = (self.random.word(words), self.random.word(patterns));
        tree!(sort; "(", value, " ", word, " ", format!("'{pattern}'"), ")")
    }

    /// A sub-query that gives one value.
    fn scalar_subquery(&mut self, ty: &Type) -> Tree {
        let sort = Sort::Expr(ty.clone());
        let query = self.subquery_of_one_row(ty);
        tree!(sort; "(", query, ")")
    }
}
