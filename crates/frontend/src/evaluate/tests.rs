use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::{
    Array, ArrayRef, BooleanArray, Int32Array, ListArray, StringViewArray, types::Int32Type,
};

use super::fold::Fold;
use super::*;
use crate::functions::kernel::{Bool, I32, Str, f0, f1, f2};
use crate::functions::scalar;
use crate::types::arrays::{Arrays, plain};

fn operator(name: &'static str, f: fn(i32, i32) -> bool) -> Arc<Scalar> {
    let kernel = f2::<I32, I32, Bool>(move |a, b| Ok(f(a, b)));
    Arc::new(scalar(name, &[Type::Int4, Type::Int4], Type::Bool, kernel))
}

fn eq() -> Arc<Scalar> {
    operator("=", |a, b| a == b)
}

fn divide(a: Expr, b: Expr) -> Expr {
    let kernel = f2::<I32, I32, I32>(|a, b| {
        a.checked_div(b)
            .ok_or_else(|| Error::new("22012", "division by zero"))
    });
    let function = scalar("/", &[Type::Int4, Type::Int4], Type::Int4, kernel);
    Expr::call(Arc::new(function), vec![a, b], Type::Int4)
}

fn compare(name: &'static str, a: Expr, b: Expr) -> Expr {
    let function = operator(
        name,
        match name {
            "=" => |a, b| a == b,
            "<>" => |a, b| a != b,
            _ => |a, b| a > b,
        },
    );
    Expr::call(function, vec![a, b], Type::Bool)
}

fn x() -> Expr {
    Expr::new(ExprKind::Column(ColumnId(0)), Type::Int4)
}

fn p(at: u32) -> Expr {
    Expr::new(ExprKind::Column(ColumnId(at)), Type::Bool)
}

fn int(value: i32) -> Expr {
    Expr::int4(value)
}

fn ints(values: &[Option<i32>]) -> ArrayRef {
    Arc::new(Int32Array::from(values.to_vec()))
}

/// The values of an expression for column 0.
fn run(expr: &Expr, column: &ArrayRef) -> Result<ArrayRef> {
    run_all(expr, std::slice::from_ref(column))
}

fn run_all(expr: &Expr, columns: &[ArrayRef]) -> Result<ArrayRef> {
    let rows = columns[0].len();
    let read = |id: ColumnId| columns.get(id.0 as usize).cloned().map(Column::rows);
    let session = Session::default();
    let value = evaluate(expr, &Input::new(rows, &read, &session))?;
    Ok(expanded(&value, rows))
}

fn bools(values: &[Option<bool>]) -> BooleanArray {
    BooleanArray::from(values.to_vec())
}

const T: Option<bool> = Some(true);
const F: Option<bool> = Some(false);
const N: Option<bool> = None;

/// A condition that fails for rows where it must not be computed.
fn guarded() -> Expr {
    let inverse = divide(int(8), x());
    Expr::and([compare("<>", x(), int(0)), compare(">", inverse, int(2))])
}

#[test]
fn truth_tables() {
    let three = [T, F, N];
    let left: Vec<_> = three.iter().flat_map(|a| [*a; 3]).collect();
    let right: Vec<_> = three.iter().cycle().take(9).copied().collect();
    let columns: [ArrayRef; 2] = [Arc::new(bools(&left)), Arc::new(bools(&right))];
    let and = run_all(&Expr::and([p(0), p(1)]), &columns).unwrap();
    assert_eq!(and.as_boolean(), &bools(&[T, F, N, F, F, F, N, F, N]));
    let or = run_all(&Expr::or([p(0), p(1)]), &columns).unwrap();
    assert_eq!(or.as_boolean(), &bools(&[T, T, T, T, F, N, T, N, N]));
    let not = run_all(&p(1).not(), &columns).unwrap();
    assert_eq!(not.as_boolean(), &bools(&[F, T, N, F, T, N, F, T, N]));
    // Constants on either side do as columns of them.
    for (at, value) in three.into_iter().enumerate() {
        let constant = || match value {
            Some(value) => Expr::bool(value),
            None => Expr::null(Type::Bool),
        };
        let wanted = |all: &ArrayRef| all.slice(at * 3, 3);
        let columns = [columns[1].slice(0, 3)];
        for parts in [[constant(), p(0)], [p(0), constant()]] {
            let mut folded = Expr::and(parts.clone());
            let found = run_all(&folded, &columns).unwrap();
            assert_eq!(&found, &wanted(&and), "{parts:?}");
            fold(&mut folded);
            assert_eq!(&run_all(&folded, &columns).unwrap(), &wanted(&and));
            let mut folded = Expr::or(parts.clone());
            let found = run_all(&folded, &columns).unwrap();
            assert_eq!(&found, &wanted(&or), "{parts:?}");
            fold(&mut folded);
            assert_eq!(&run_all(&folded, &columns).unwrap(), &wanted(&or));
        }
    }
}

fn fold(expr: &mut Expr) {
    let session = Session::default();
    let fold = Fold {
        session: &session,
        stable: false,
        parameters: &[],
    };
    fold.expr(expr);
}

#[test]
fn guards_keep_rows_from_failing() {
    let column = ints(&[Some(0), Some(2), None, Some(4), Some(-1)]);
    let found = run(&guarded(), &column).unwrap();
    assert_eq!(found.as_boolean(), &bools(&[F, T, N, F, F]));
    let or = Expr::or([
        compare("=", x(), int(0)),
        compare(">", divide(int(8), x()), int(2)),
    ]);
    let found = run(&or, &column).unwrap();
    assert_eq!(found.as_boolean(), &bools(&[T, T, N, F, F]));
    let unguarded = compare(">", divide(int(8), x()), int(2));
    assert_eq!(run(&unguarded, &column).unwrap_err().sqlstate, "22012");
}

#[test]
fn case_and_coalesce_compute_what_they_take() {
    let column = ints(&[Some(0), Some(2), None, Some(8), Some(0)]);
    let case = Expr::new(
        ExprKind::Case {
            branches: vec![
                (compare("=", x(), int(0)), int(-7)),
                (compare("=", x(), int(8)), Expr::null(Type::Int4)),
            ],
            otherwise: Some(Box::new(divide(int(8), x()))),
        },
        Type::Int4,
    );
    let found = run(&case, &column).unwrap();
    assert_eq!(&found, &ints(&[Some(-7), Some(4), None, None, Some(-7)]));
    let short = Expr::new(
        ExprKind::Case {
            branches: vec![(compare("<>", x(), int(0)), divide(int(8), x()))],
            otherwise: None,
        },
        Type::Int4,
    );
    let found = run(&short, &column).unwrap();
    assert_eq!(&found, &ints(&[None, Some(4), None, Some(1), None]));
    // The second value is needed for the row that is NULL only.
    let zero_if_null = Expr::new(ExprKind::Coalesce(vec![x(), int(1)]), Type::Int4);
    let values = vec![
        Expr::new(
            ExprKind::Case {
                branches: vec![(compare("<>", x(), int(0)), x())],
                otherwise: None,
            },
            Type::Int4,
        ),
        divide(int(9), zero_if_null),
    ];
    let coalesce = Expr::new(ExprKind::Coalesce(values), Type::Int4);
    let found = run(&coalesce, &ints(&[Some(5), None, Some(3)])).unwrap();
    assert_eq!(&found, &ints(&[Some(5), Some(9), Some(3)]));
    assert!(run(&coalesce, &column).is_err());
}

#[test]
fn long_and_short_lists_agree() {
    let column = ints(&[Some(3), Some(11), None, Some(0)]);
    for with_null in [false, true] {
        for length in [2, 30] {
            let mut list: Vec<Expr> = (3..3 + length).map(int).collect();
            if with_null {
                list.push(Expr::null(Type::Int4));
            }
            let expr = Expr::new(
                ExprKind::InList {
                    value: Box::new(x()),
                    list,
                    equal: eq(),
                },
                Type::Bool,
            );
            let missed = if with_null { N } else { F };
            let eleven = if length > 8 { T } else { missed };
            let found = run(&expr, &column).unwrap();
            assert_eq!(found.as_boolean(), &bools(&[T, eleven, N, missed]));
        }
    }
}

#[test]
fn any_and_all() {
    let lists = plain(&ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1), Some(2)]),
        Some(vec![Some(1), None]),
        Some(vec![]),
        None,
        Some(vec![Some(5), None]),
        Some(vec![Some(5), Some(5)]),
    ]))
    .unwrap();
    let columns = [ints(&[Some(5); 6]), lists.clone()];
    let list = |kind| Expr::new(kind, Type::Int4.array());
    let over = |all, value, array| {
        let kind = ExprKind::Any {
            operator: eq(),
            value: Box::new(value),
            array: Box::new(array),
            all,
        };
        Expr::new(kind, Type::Bool)
    };
    let column = || list(ExprKind::Column(ColumnId(1)));
    let found = run_all(&over(false, x(), column()), &columns).unwrap();
    assert_eq!(found.as_boolean(), &bools(&[F, N, F, N, T, T]));
    let found = run_all(&over(true, x(), column()), &columns).unwrap();
    assert_eq!(found.as_boolean(), &bools(&[F, F, T, N, N, T]));
    let null = || Expr::null(Type::Int4);
    let found = run_all(&over(true, null(), column()), &columns).unwrap();
    assert_eq!(found.as_boolean(), &bools(&[N, N, T, N, N, N]));
    // Each of the arrays as a constant.
    for row in 0..lists.len() {
        let constant = || list(ExprKind::Literal(lists.slice(row, 1)));
        for all in [false, true] {
            let expected = run_all(&over(all, x(), column()), &columns).unwrap();
            let found = run_all(&over(all, x(), constant()), &columns).unwrap();
            assert_eq!(&found.slice(row, 1), &expected.slice(row, 1));
        }
    }
}

#[test]
fn arrays_and_rows() {
    let column = ints(&[Some(1), None]);
    let pair = || Expr::new(ExprKind::Array(vec![x(), int(7)]), Type::Int4.array());
    let found = run(&pair(), &column).unwrap();
    let expected = ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1), Some(7)]),
        Some(vec![None, Some(7)]),
    ]);
    assert_eq!(&found, &plain(&expected).unwrap());
    let short = Expr::new(ExprKind::Array(vec![int(1)]), Type::Int4.array());
    let nested = |items| Expr::new(ExprKind::Array(items), Type::Int4.array());
    let square = run(&nested(vec![pair(), pair()]), &column).unwrap();
    assert_eq!(Arrays::of(&square).unwrap().bounds(0).lengths, [2, 2]);
    let wrong = run(&nested(vec![pair(), short]), &column).unwrap_err();
    assert_eq!(wrong.sqlstate, "2202E");
    let fields: Arc<[(String, Type)]> =
        Arc::from([("f1".to_owned(), Type::Int4), ("f2".to_owned(), Type::Text)]);
    let text = Expr::text("é", Type::Text);
    let row = Expr::new(ExprKind::Row(vec![x(), text]), Type::Record(fields.into()));
    let second = Expr::new(ExprKind::Field(Box::new(row), 1), Type::Text);
    let found = run(&second, &column).unwrap();
    assert_eq!(found.as_string_view(), &StringViewArray::from(vec!["é"; 2]));
}

#[test]
fn volatile_functions_are_called_for_every_row() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let next = f1::<Str, I32>(move |_| Ok(counter.fetch_add(1, Ordering::Relaxed) as i32));
    let function = scalar("nextval", &[Type::Text], Type::Int4, next).volatile();
    let argument = Expr::text("s", Type::Text);
    let mut expr = Expr::call(Arc::new(function), vec![argument], Type::Int4);
    fold(&mut expr);
    let found = run(&expr, &ints(&[None; 3])).unwrap();
    assert_eq!(&found, &ints(&[Some(0), Some(1), Some(2)]));
    // Immutable calls of constants are computed once, and not at all without rows.
    let counter = Arc::clone(&calls);
    let once = f0::<I32>(move |_| Ok(counter.fetch_add(1, Ordering::Relaxed) as i32));
    let expr = Expr::call(
        Arc::new(scalar("pi", &[], Type::Int4, once)),
        vec![],
        Type::Int4,
    );
    let found = run(&expr, &ints(&[None; 3])).unwrap();
    assert_eq!(&found, &ints(&[Some(3); 3]));
    assert_eq!(run(&expr, &ints(&[])).unwrap().len(), 0);
    assert_eq!(calls.load(Ordering::Relaxed), 4);
}

#[test]
fn sub_queries_run_for_rows_that_need_them() {
    let subquery = Subquery {
        kind: crate::plan::SubqueryKind::Exists,
        plan: crate::plan::Plan::one_row(),
        id: 0,
    };
    let exists = Expr::new(ExprKind::Subquery(Box::new(subquery)), Type::Bool);
    let expr = Expr::and([compare("=", x(), int(1)), exists]);
    let column = ints(&[Some(1), Some(2), Some(1), None]);
    let seen = Cell::new(0);
    let run = |_: &Subquery, _: &Type, input: &Input<'_>| {
        seen.set(input.rows);
        Ok(Column::constant(Arc::new(bools(&[T])) as ArrayRef))
    };
    let session = Session::default();
    let read = |_| Some(Column::rows(column.clone()));
    let mut input = Input::new(4, &read, &session);
    assert_eq!(evaluate(&expr, &input).unwrap_err().sqlstate, "0A000");
    input.subquery = Some(&run);
    let found = evaluate(&expr, &input).unwrap();
    assert_eq!(found.array.as_boolean(), &bools(&[T, F, T, N]));
    assert_eq!(seen.get(), 3);
}

#[test]
fn folding() {
    let shown = |mut expr: Expr| {
        fold(&mut expr);
        match &expr.kind {
            ExprKind::Literal(value) if value.is_null(0) => "NULL".to_owned(),
            ExprKind::Literal(value) => {
                let int = value.as_primitive_opt::<Int32Type>();
                let bool = value.as_boolean_opt();
                int.map(|all| all.value(0).to_string())
                    .or(bool.map(|all| all.value(0).to_string()))
                    .unwrap_or_default()
            }
            ExprKind::Column(_) => "x".to_owned(),
            ExprKind::Call { .. } => "call".to_owned(),
            ExprKind::And(parts) => format!("and {}", parts.len()),
            ExprKind::Case { branches, .. } => format!("case {}", branches.len()),
            ExprKind::Coalesce(values) => format!("coalesce {}", values.len()),
            other => format!("{other:?}"),
        }
    };
    let fails = || divide(int(1), int(0));
    let null = || Expr::null(Type::Int4);
    let case = |branches, otherwise: Option<Expr>| {
        let otherwise = otherwise.map(Box::new);
        let kind = ExprKind::Case {
            branches,
            otherwise,
        };
        Expr::new(kind, Type::Int4)
    };
    let coalesce = |values| Expr::new(ExprKind::Coalesce(values), Type::Int4);
    let is = |a| compare("=", a, int(1));
    let table = [
        (divide(int(6), int(2)), "3"),
        (fails(), "call"),
        // A call that fails does so beside NULL; one of a column is not asked for.
        (divide(fails(), null()), "call"),
        (divide(divide(x(), int(0)), null()), "NULL"),
        (divide(x(), int(2)), "call"),
        (Expr::and([is(fails()), Expr::bool(false)]), "false"),
        (Expr::and([is(x()), Expr::null(Type::Bool)]), "and 2"),
        (Expr::and([is(x()), is(x()), is(int(1))]), "and 2"),
        (Expr::and([is(x()), is(int(1))]), "call"),
        (Expr::or([is(x()), is(int(1))]), "true"),
        (is(x()).not().not(), "call"),
        (is(null()).is_null(), "true"),
        (case(vec![(Expr::bool(false), fails())], Some(x())), "x"),
        (case(vec![(Expr::bool(false), fails())], None), "NULL"),
        (
            case(vec![(is(int(1)), int(4)), (is(x()), fails())], None),
            "4",
        ),
        (
            case(vec![(is(x()), int(4)), (is(int(2)), x())], None),
            "case 1",
        ),
        (
            coalesce(vec![null(), x(), null(), int(2), fails()]),
            "coalesce 2",
        ),
        (coalesce(vec![null(), int(2), fails()]), "2"),
        (coalesce(vec![null()]), "NULL"),
    ];
    for (at, (expr, expected)) in table.into_iter().enumerate() {
        assert_eq!(shown(expr), expected, "{at}");
    }
}

#[test]
fn deep_expressions() {
    let run_deep = || {
        let mut expr = x();
        for _ in 0..10_000 {
            expr = divide(expr, int(1));
        }
        let found = run(&expr, &ints(&[Some(5)])).unwrap();
        assert_eq!(&found, &ints(&[Some(5)]));
        fold(&mut expr);
        let mut truth = compare("=", x(), int(5));
        for _ in 0..5_000 {
            truth = Expr::and([p(1), Expr::or([p(1), truth]).not()]);
        }
        fold(&mut truth);
        let columns = [ints(&[Some(5)]), Arc::new(bools(&[N])) as ArrayRef];
        run_all(&truth, &columns).unwrap();
    };
    let builder = std::thread::Builder::new().stack_size(128 << 20);
    builder.spawn(run_deep).unwrap().join().unwrap();
}
