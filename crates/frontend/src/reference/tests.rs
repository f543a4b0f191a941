use std::cell::RefCell;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int32Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

use super::*;
use crate::functions::aggregates::Aggregate;
use crate::functions::kernel::{Bool, I32, f2};
use crate::functions::{Scalar, TableFunction, catalogue, scalar};
use crate::plan::Column;
use crate::plan::*;

/// Makes plans by hand: numbers columns, and knows a few functions.
#[derive(Default)]
pub(crate) struct Make {
    next: RefCell<u32>,
}

fn operator(name: &'static str, f: fn(i32, i32) -> Result<bool>) -> Arc<Scalar> {
    let kernel = f2::<I32, I32, Bool>(f);
    Arc::new(scalar(name, &[Type::Int4, Type::Int4], Type::Bool, kernel))
}

/// A comparison of two INTEGERs.
pub(crate) fn compare(name: &'static str, a: Expr, b: Expr) -> Expr {
    let function = match name {
        "=" => operator("=", |a, b| Ok(a == b)),
        "<>" => operator("<>", |a, b| Ok(a != b)),
        "<" => operator("<", |a, b| Ok(a < b)),
        _ => operator(">", |a, b| Ok(a > b)),
    };
    Expr::call(function, vec![a, b], Type::Bool)
}

pub(crate) fn add(a: Expr, b: Expr) -> Expr {
    let kernel = f2::<I32, I32, I32>(|a, b| Ok(a.wrapping_add(b)));
    let function = scalar("+", &[Type::Int4, Type::Int4], Type::Int4, kernel);
    Expr::call(Arc::new(function), vec![a, b], Type::Int4)
}

pub(crate) fn int(value: i32) -> Expr {
    Expr::int4(value)
}

/// Rows of 1 to the argument.
fn series() -> Arc<TableFunction> {
    Arc::new(TableFunction {
        name: "series",
        parameters: vec![Type::Int4],
        variadic: None,
        columns: vec![("series", Type::Int4.into())],
        strict: true,
        rows: Arc::new(|_, arguments| {
            let last = arguments[0].as_primitive::<Int32Type>().value(0);
            let array: ArrayRef = Arc::new(Int32Array::from_iter_values(1..=last));
            Ok(Box::new(std::iter::once(Ok(vec![array]))))
        }),
    })
}

pub(crate) fn aggregate(name: &str, parameters: &[Type]) -> Arc<Aggregate> {
    let all = catalogue().aggregates(name);
    let found = all.iter().find(|a| a.parameters == parameters);
    Arc::clone(found.unwrap_or_else(|| panic!("no aggregate {name}")))
}

/// A call of an aggregate of the catalogue.
pub(crate) fn called(name: &str, arguments: Vec<Expr>, returns: Type) -> AggregateCall {
    let types: Vec<Type> = match name {
        "array_agg" => vec![Type::AnyNonArray],
        "count" if !arguments.is_empty() => vec![Type::Any],
        _ => arguments.iter().map(|a| a.ty.clone()).collect(),
    };
    AggregateCall {
        function: aggregate(name, &types),
        direct: vec![],
        arguments,
        distinct: false,
        filter: None,
        order: vec![],
        returns,
    }
}

impl Make {
    pub(crate) fn id(&self) -> ColumnId {
        *self.next.borrow_mut() += 1;
        ColumnId(*self.next.borrow())
    }

    pub(crate) fn column(&self, name: &str, ty: Type) -> Column {
        Column {
            id: self.id(),
            name: name.to_owned(),
            ty,
        }
    }

    /// A scan of a table whose columns are INTEGERs.
    pub(crate) fn scan(&self, name: &str, columns: &[&str]) -> (Plan, Vec<Expr>) {
        let all = columns.iter().map(|name| self.column(name, Type::Int4));
        let all: Vec<Column> = all.collect();
        let relation = Relation {
            schema: "public".to_owned(),
            name: name.to_owned(),
            columns: columns
                .iter()
                .map(|c| (c.to_string(), Type::Int4))
                .collect(),
            hidden: vec![],
            key: vec![],
            number: 0,
            handle: Arc::new(()),
        };
        let references = all.iter().map(Column::reference).collect();
        let columns = all.into_iter().enumerate().map(|(at, c)| (c, at)).collect();
        let plan = Plan::Scan {
            relation,
            alias: name.to_owned(),
            columns,
            sample: None,
        };
        (plan, references)
    }

    /// A projection, and references to its columns.
    pub(crate) fn project(&self, input: Plan, exprs: Vec<Expr>) -> (Plan, Vec<Expr>) {
        let items = exprs.into_iter();
        let items = items.map(|expr| (self.column("p", expr.ty.clone()), expr));
        let items: Vec<_> = items.collect();
        let references = items.iter().map(|(column, _)| column.reference()).collect();
        let input = Box::new(input);
        (Plan::Project { input, items }, references)
    }

    pub(crate) fn grouped(
        &self,
        input: Plan,
        keys: Vec<Expr>,
        calls: Vec<AggregateCall>,
    ) -> (Plan, Vec<Expr>) {
        let key = |expr: Expr| (self.column("k", expr.ty.clone()), expr);
        let keys: Vec<_> = keys.into_iter().map(key).collect();
        let call = |call: AggregateCall| (self.column("a", call.returns.clone()), call);
        let calls: Vec<_> = calls.into_iter().map(call).collect();
        let references = keys.iter().map(|(c, _)| c.reference());
        let references = references.chain(calls.iter().map(|(c, _)| c.reference()));
        let references = references.collect();
        let plan = Plan::Aggregate {
            input: Box::new(input),
            keys,
            sets: None,
            calls,
            grouping: vec![],
        };
        (plan, references)
    }
}

pub(crate) fn filter(input: Plan, condition: Expr) -> Plan {
    let input = Box::new(input);
    Plan::Filter { input, condition }
}

pub(crate) fn join(kind: JoinKind, left: Plan, right: Plan, condition: Option<Expr>) -> Plan {
    Plan::Join {
        kind,
        left: Box::new(left),
        right: Box::new(right),
        condition,
        lateral: false,
    }
}

pub(crate) fn key(expr: &Expr) -> SortKey {
    SortKey {
        expr: expr.clone(),
        descending: false,
        nulls_first: false,
    }
}

pub(crate) fn subquery(kind: SubqueryKind, plan: Plan, ty: Type) -> Expr {
    let subquery = Subquery { kind, plan, id: 0 };
    Expr::new(ExprKind::Subquery(Box::new(subquery)), ty)
}

/// Tables of two columns; NULL is -99.
pub(crate) fn tables(relation: &Relation, columns: &[(Column, usize)]) -> Result<Vec<RecordBatch>> {
    let rows: &[[i32; 2]] = match relation.name.as_str() {
        "r" => &[
            [1, 10],
            [2, 20],
            [2, 21],
            [3, -99],
            [-99, 40],
            [4, 10],
            [4, 10],
        ],
        "s" => &[
            [1, 10],
            [1, 11],
            [2, 20],
            [-99, 50],
            [5, -99],
            [4, 10],
            [0, 0],
        ],
        "t" => &[[2, 1], [2, 2], [3, 3], [3, -99], [7, 7]],
        _ => &[],
    };
    let column = |at: usize| {
        let values = rows.iter().map(|row| Some(row[at]).filter(|v| *v != -99));
        Arc::new(Int32Array::from_iter(values)) as ArrayRef
    };
    let fields = ["x", "y"].map(|name| Field::new(name, DataType::Int32, true));
    let schema = Arc::new(Schema::new(fields.to_vec()));
    let batch = RecordBatch::try_new(schema, vec![column(0), column(1)])?;
    read(&[batch], columns)
}

/// The rows of a plan as texts.
pub(crate) fn rows(plan: &Plan) -> Result<Vec<String>> {
    let table = run(plan, &tables, &Session::default(), &[])?;
    let wanted = plan.columns();
    assert_eq!(wanted.len(), table.columns.len());
    for (column, (id, array)) in wanted.iter().zip(&table.columns) {
        assert_eq!((column.id, &column.ty.arrow()), (*id, array.data_type()));
        assert_eq!(array.len(), table.rows);
    }
    let row = |row: usize| {
        let values = table.columns.iter().map(|(_, array)| value(array, row));
        values.collect::<Vec<_>>().join(" ")
    };
    Ok((0..table.rows).map(row).collect())
}

fn value(array: &ArrayRef, row: usize) -> String {
    if array.is_null(row) {
        return "-".to_owned();
    }
    match array.data_type() {
        DataType::Int32 => array.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => array.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Boolean => array.as_boolean().value(row).to_string(),
        DataType::Utf8View => array.as_string_view().value(row).to_owned(),
        DataType::Struct(_) => {
            let list = crate::types::arrays::Arrays::of(array)
                .unwrap()
                .elements(row);
            let values: Vec<String> = (0..list.len()).map(|at| value(&list, at)).collect();
            format!("{{{}}}", values.join(","))
        }
        _ => format!("{:?}", array.slice(row, 1)),
    }
}

fn check(plan: &Plan, expected: &[&str]) {
    assert_eq!(rows(plan).unwrap(), expected);
}

const XY: [&str; 2] = ["x", "y"];

#[test]
fn joins_of_all_kinds() {
    let expected: &[(JoinKind, &[&str])] = &[
        (
            JoinKind::Inner,
            &[
                "2 20 2 1", "2 20 2 2", "2 21 2 1", "2 21 2 2", "3 - 3 3", "3 - 3 -",
            ],
        ),
        (JoinKind::Semi, &["2 20", "2 21", "3 -"]),
        (JoinKind::Anti, &["1 10", "- 40", "4 10", "4 10"]),
        (JoinKind::AsOf, &["2 20 2 2", "2 21 2 2", "3 - 3 -"]),
    ];
    for (kind, expected) in expected {
        let make = Make::default();
        let (r, a) = make.scan("r", &XY);
        let (t, b) = make.scan("t", &XY);
        let condition = compare("=", a[0].clone(), b[0].clone());
        check(&join(*kind, r, t, Some(condition)), expected);
    }
    for (kind, extra) in [
        (JoinKind::Left, 4),
        (JoinKind::Right, 1),
        (JoinKind::Full, 5),
    ] {
        let make = Make::default();
        let (r, a) = make.scan("r", &XY);
        let (t, b) = make.scan("t", &XY);
        let condition = compare("=", a[0].clone(), b[0].clone());
        let found = rows(&join(kind, r, t, Some(condition))).unwrap();
        assert_eq!(found.len(), 6 + extra);
        assert_eq!(
            found.contains(&"4 10 - -".to_owned()),
            kind != JoinKind::Right
        );
        assert_eq!(
            found.contains(&"- - 7 7".to_owned()),
            kind != JoinKind::Left
        );
    }
    let make = Make::default();
    let (r, a) = make.scan("r", &XY);
    let (t, b) = make.scan("t", &XY);
    let mark = JoinKind::Mark(make.id());
    let condition = compare("=", a[0].clone(), b[1].clone());
    let expected = [
        "1 10 true",
        "2 20 true",
        "2 21 true",
        "3 - true",
        "- 40 -",
        "4 10 -",
        "4 10 -",
    ];
    check(
        &join(mark, r.clone(), t.clone(), Some(condition.clone())),
        &expected,
    );
    let single = join(JoinKind::Single, r.clone(), t.clone(), Some(condition));
    assert_eq!(rows(&single).unwrap()[0], "1 10 2 1");
    let condition = compare("=", a[0].clone(), b[0].clone());
    let several = rows(&join(JoinKind::Single, r, t, Some(condition)));
    assert_eq!(several.unwrap_err().sqlstate, "21000");
}

#[test]
fn correlated_sub_queries() {
    let make = Make::default();
    let (r, a) = make.scan("r", &XY);
    let inner = |by: usize| {
        let (s, b) = make.scan("s", &XY);
        let condition = compare("=", b[by].clone(), a[by].clone());
        (filter(s, condition), b)
    };
    let (plan, b) = inner(0);
    let count = called("count", vec![b[1].clone()], Type::Int8);
    let (plan, _) = make.grouped(plan, vec![], vec![count]);
    let counted = subquery(SubqueryKind::Scalar, plan, Type::Int8);
    let exists = subquery(SubqueryKind::Exists, inner(1).0, Type::Bool);
    let (plan, b) = inner(0);
    let (plan, _) = make.project(plan, vec![b[1].clone()]);
    let array = subquery(SubqueryKind::Array, plan, Type::Int4.array());
    let (s, b) = make.scan("s", &XY);
    let kind = SubqueryKind::Compare {
        comparison: Box::new(compare("=", a[1].clone(), b[1].clone())),
        quantifier: Quantifier::Any,
    };
    let any = subquery(kind, s, Type::Bool);
    let items = vec![a[0].clone(), counted, exists, array, any];
    let (plan, _) = make.project(r, items);
    check(
        &plan,
        &[
            "1 2 true {10,11} true",
            "2 1 true {20} true",
            "2 1 false {20} -",
            "3 0 false {} -",
            "- 0 false {} -",
            "4 1 true {10} true",
            "4 1 true {10} true",
        ],
    );
}

#[test]
fn groups_and_grouping_sets() {
    let make = Make::default();
    let (s, b) = make.scan("s", &XY);
    let mut sum = called("sum", vec![b[1].clone()], Type::Int8);
    let mut all = called("array_agg", vec![b[0].clone()], Type::Int4.array());
    all.distinct = true;
    all.filter = Some(compare(">", b[0].clone(), int(0)));
    sum.order = vec![key(&b[0])];
    let (plan, _) = make.grouped(s, vec![b[0].clone()], vec![sum, all]);
    let Plan::Aggregate {
        input, keys, calls, ..
    } = plan
    else {
        panic!()
    };
    let grouping = vec![(make.column("g", Type::Int4), vec![0])];
    let plan = Plan::Aggregate {
        input,
        keys,
        sets: Some(vec![vec![0], vec![]]),
        calls,
        grouping,
    };
    check(
        &plan,
        &[
            "1 21 {1} 0",
            "2 20 {2} 0",
            "- 50 - 0",
            "5 - {5} 0",
            "4 10 {4} 0",
            "0 0 - 0",
            "- 101 {1,2,4,5} 1",
        ],
    );
}

#[test]
fn limits_and_distinct_rows() {
    let make = Make::default();
    let (r, a) = make.scan("r", &XY);
    let sorted = Plan::Sort {
        input: Box::new(r),
        keys: vec![key(&a[0])],
    };
    let limit = |limit, ties: bool, percent| Plan::Limit {
        input: Box::new(sorted.clone()),
        limit: Some(int(limit)),
        offset: None,
        ties: ties.then(|| vec![key(&a[0])]),
        percent,
    };
    check(&limit(2, false, false), &["1 10", "2 20"]);
    check(&limit(2, true, false), &["1 10", "2 20", "2 21"]);
    check(&limit(15, false, true), &["1 10", "2 20"]);
    assert_eq!(
        rows(&limit(-1, false, false)).unwrap_err().sqlstate,
        "2201W"
    );
    let distinct = |on| Plan::Distinct {
        input: Box::new(sorted.clone()),
        on,
    };
    assert_eq!(rows(&distinct(None)).unwrap().len(), 6);
    let on = Some(vec![a[0].clone()]);
    check(&distinct(on), &["1 10", "2 20", "3 -", "4 10", "- 40"]);
}

#[test]
fn sets_with_multiplicities() {
    let expected: &[(SetKind, bool, &[&str])] = &[
        (
            SetKind::Union,
            false,
            &["10", "20", "21", "-", "40", "11", "50", "0"],
        ),
        (SetKind::Intersect, true, &["10", "10", "20", "-"]),
        (SetKind::Intersect, false, &["10", "20", "-"]),
        (SetKind::Except, true, &["10", "21", "40"]),
        (SetKind::Except, false, &["21", "40"]),
    ];
    for (kind, all, expected) in expected {
        let make = Make::default();
        let side = |name| {
            let (scan, a) = make.scan(name, &XY);
            make.project(scan, vec![a[1].clone()]).0
        };
        let plan = Plan::Set {
            kind: *kind,
            all: *all,
            inputs: vec![side("r"), side("s")],
            columns: vec![make.column("y", Type::Int4)],
        };
        check(&plan, expected);
    }
}

/// The numbers from 1 by recursion, endless or below 5, as a part of a plan over them.
fn counting(all: bool, last: Option<i32>, body: impl FnOnce(&Make, Plan, Expr) -> Plan) -> Plan {
    let make = Make::default();
    let base = Plan::Values {
        columns: vec![make.column("n", Type::Int4)],
        rows: vec![vec![int(1)], vec![int(1)]],
    };
    let round = make.column("n", Type::Int4);
    let n = round.reference();
    let mut step = Plan::Recursion {
        id: CteId(1),
        name: "n".to_owned(),
        columns: vec![round],
    };
    if let Some(last) = last {
        step = filter(step, compare("<", n.clone(), int(last)));
    }
    let (step, _) = make.project(step, vec![add(n, int(1))]);
    let column = make.column("n", Type::Int4);
    let here = make.column("n", Type::Int4);
    let scan = Plan::CteScan {
        id: CteId(1),
        name: "n".to_owned(),
        columns: vec![(here.clone(), column.id)],
    };
    let body = Box::new(body(&make, scan, here.reference()));
    let body_of = CteBody::Recursive {
        base,
        step,
        all,
        columns: vec![column],
    };
    let cte = Cte {
        id: CteId(1),
        name: "n".to_owned(),
        body: body_of,
        materialized: false,
    };
    Plan::With {
        ctes: vec![cte],
        body,
    }
}

#[test]
fn recursion() {
    check(
        &counting(false, Some(3), |_, scan, _| scan),
        &["1", "2", "3"],
    );
    let all = counting(true, Some(3), |_, scan, _| scan);
    check(&all, &["1", "1", "2", "2", "3", "3"]);
    let endless = counting(true, None, |_, scan, _| Plan::Limit {
        input: Box::new(scan),
        limit: Some(int(3)),
        offset: None,
        ties: None,
        percent: false,
    });
    check(&endless, &["1", "1", "2"]);
}

#[test]
fn functions_side_by_side_and_for_each_row() {
    let make = Make::default();
    let call = |argument| TableCall {
        function: series(),
        arguments: vec![argument],
        columns: vec![make.column("s", Type::Int4)],
    };
    let plan = Plan::Functions {
        calls: vec![call(int(3)), call(int(1))],
        ordinality: Some(make.column("o", Type::Int8)),
    };
    check(&plan, &["1 1 1", "2 - 2", "3 - 3"]);
    let (t, a) = make.scan("t", &XY);
    let value = (make.column("y", Type::Int4), a[1].clone());
    let plan = Plan::ProjectSet {
        input: Box::new(filter(t, compare("<", a[0].clone(), int(7)))),
        items: vec![
            SetItem::Rows(call(a[1].clone())),
            SetItem::Value(value.0, value.1),
        ],
    };
    check(&plan, &["1 1", "1 2", "2 2", "1 3", "2 3", "3 3"]);
    // The same rows of a dependent join.
    let (t, a) = make.scan("t", &XY);
    let right = Plan::Functions {
        calls: vec![call(a[1].clone())],
        ordinality: None,
    };
    let plan = Plan::Join {
        kind: JoinKind::Left,
        left: Box::new(t),
        right: Box::new(right),
        condition: Some(compare("<", a[0].clone(), int(7))),
        lateral: true,
    };
    let found = rows(&plan).unwrap();
    assert_eq!(found.len(), 8);
    assert_eq!(found[6..], ["3 - -", "7 7 -"]);
}

#[test]
fn windows_and_their_frames() {
    let make = Make::default();
    let (s, b) = make.scan("s", &XY);
    let call = |units, start, end, exclude| WindowCall {
        kind: WindowKind::Aggregate(aggregate("count", &[])),
        arguments: vec![],
        ignore_nulls: false,
        distinct: false,
        filter: None,
        partition: vec![],
        order: vec![key(&b[0])],
        frame: Frame {
            units,
            start,
            end,
            exclude,
            start_value: Some(add(b[0].clone(), int(-1))),
            end_value: Some(add(b[0].clone(), int(1))),
        },
        returns: Type::Int8,
    };
    let near = || (Bound::Preceding(int(1)), Bound::Following(int(1)));
    let calls = [
        call(FrameUnits::Rows, near().0, near().1, Exclude::NoOthers),
        call(FrameUnits::Groups, near().0, near().1, Exclude::NoOthers),
        call(FrameUnits::Range, near().0, near().1, Exclude::NoOthers),
        call(
            FrameUnits::Range,
            Bound::Unbounded,
            Bound::Current,
            Exclude::Ties,
        ),
        call(
            FrameUnits::Range,
            near().0,
            Bound::Unbounded,
            Exclude::CurrentRow,
        ),
    ];
    let calls = calls.into_iter().map(|c| (make.column("w", Type::Int8), c));
    let plan = Plan::Window {
        input: Box::new(s),
        calls: calls.collect(),
    };
    // x in order: 0 1 1 2 4 5 NULL
    check(
        &plan,
        &[
            "1 10 3 4 4 2 6",
            "1 11 3 4 4 2 6",
            "2 20 3 4 3 4 5",
            "- 50 2 2 1 7 0",
            "5 - 3 3 2 6 2",
            "4 10 3 3 2 5 2",
            "0 0 2 3 3 1 6",
        ],
    );
}

#[test]
fn too_many_rows_are_refused() {
    let make = Make::default();
    let call = |argument| TableCall {
        function: series(),
        arguments: vec![argument],
        columns: vec![make.column("s", Type::Int4)],
    };
    let many = || Plan::Functions {
        calls: vec![call(int(20_000))],
        ordinality: None,
    };
    let plan = join(JoinKind::Inner, many(), many(), None);
    assert_eq!(rows(&plan).unwrap_err().sqlstate, "54000");
}
