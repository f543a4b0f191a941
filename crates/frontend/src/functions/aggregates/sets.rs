//! Ordered-set and hypothetical-set aggregates.
//!
//! ```text
//! percentile_cont(0.5) WITHIN GROUP (ORDER BY x) over 1, 2, 4, 8 = 3
//! percentile_disc(0.5) WITHIN GROUP (ORDER BY x) over 1, 2, 4, 8 = 2
//! rank(4)              WITHIN GROUP (ORDER BY x) over 1, 2, 4, 8 = 3
//! ```
//!
//! Rows come in order, NULLs left out but for hypothetical sets. `median`, `quantile_cont` and
//! `quantile_disc` mean the same as percentiles and sort the values themselves.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef};

use super::collect::{Values, list_of};
use super::{
    Aggregate, Catalogue, Direction, Kind, State, argument, as_argument, copied, make, null, one,
    plain,
};
use crate::error::{Error, Result};
use crate::functions::Returns;
use crate::functions::kernel::{Call, F64, I64, Input, Output, Span};
use crate::functions::ordering::{Comparator, comparator};
use crate::types::Type;
use crate::types::arrays::{Arrays, Bounds};
use crate::values::Interval;

/// The fractions that were asked for; a fraction may be NULL.
struct Fractions {
    /// `None` if all of them are NULL as one.
    all: Option<Vec<Option<f64>>>,
    /// Their bounds, if they are an array.
    many: Option<Bounds>,
}

impl Fractions {
    /// Reads them from the first row of an array.
    fn of(array: &ArrayRef) -> Result<Self> {
        let arrays = Arrays::read(array);
        let many = arrays.map(|arrays| match array.is_empty() {
            true => Bounds::default(),
            false => arrays.bounds(0),
        });
        if array.is_empty() || array.is_null(0) {
            return Ok(Self { all: None, many });
        }
        let values = match arrays {
            Some(arrays) => arrays.elements(0),
            None => array.slice(0, 1),
        };
        let reader = F64::reader(&values)?;
        let at = |row| (!values.is_null(row)).then(|| F64::get(&reader, &values, row));
        let all: Vec<Option<f64>> = (0..values.len()).map(at).collect();
        for fraction in all.iter().flatten() {
            if !(0.0..=1.0).contains(fraction) {
                let shown = general(*fraction);
                let message = format!("percentile value {shown} is not between 0 and 1");
                return Err(Error::new("22003", message));
            }
        }
        let all = Some(all);
        Ok(Self { all, many })
    }
}

/// A float with six significant digits, as C's `%g` writes it.
fn general(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        let behind = usize::try_from(5 - exponent).unwrap_or(0);
        return trimmed(&format!("{value:.behind$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), exponent.abs())
}

/// How a value is found between others.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Between {
    /// The first value that at least the fraction of all is not behind.
    Discrete,
    /// On the line between two values.
    Continuous,
}

/// A percentile.
struct Percentile {
    /// `None` until the first row, where the fractions are an argument of each row.
    fractions: Option<Fractions>,
    between: Between,
    /// The comparison by which values are sorted first, where they do not come in order.
    sort: Option<Comparator>,
    values: Values,
}

impl Percentile {
    /// The values in order, without NULLs.
    fn sorted(&mut self) -> Result<Option<ArrayRef>> {
        let Some(values) = self.values.all()? else {
            return Ok(None);
        };
        let sorted = self.sort.is_none();
        if sorted && values.null_count() == 0 {
            return Ok(Some(values));
        }
        let mut rows: Vec<usize> = (0..values.len())
            .filter(|row| !values.is_null(*row))
            .collect();
        if let Some(compare) = &self.sort {
            rows.sort_by(|a, b| compare(&values, *a, &values, *b));
        }
        let rows = arrow_array::UInt64Array::from_iter_values(rows.iter().map(|row| *row as u64));
        let values = arrow_select::take::take(&values, &rows, None)?;
        Ok((!values.is_empty()).then_some(values))
    }

    /// The percentiles of values in order, one row each.
    fn of(&self, call: &Call<'_>, ty: &Type, values: &ArrayRef) -> Result<ArrayRef> {
        let fractions = self.fractions.as_ref().and_then(|f| f.all.as_deref());
        let fractions = fractions.unwrap_or(&[None]);
        let count = values.len() as f64;
        match self.between {
            Between::Discrete => {
                let row = |fraction: f64| ((fraction * count).ceil() as u64).max(1) - 1;
                let rows = fractions.iter().map(|fraction| fraction.map(row));
                let rows: arrow_array::UInt64Array = rows.collect();
                Ok(arrow_select::take::take(values, &rows, None)?)
            }
            Between::Continuous if *ty == Type::Interval => {
                interpolated::<Span>(call, ty, values, fractions, |low, high, part| {
                    let way: Interval = high.minus(&low)?.times(part)?;
                    way.plus(&low)
                })
            }
            Between::Continuous => {
                interpolated::<F64>(call, ty, values, fractions, |low, high, part| {
                    Ok(low + part * (high - low))
                })
            }
        }
    }
}

/// Values on the line between the two that are next to each fraction.
fn interpolated<T>(
    call: &Call<'_>,
    ty: &Type,
    values: &ArrayRef,
    fractions: &[Option<f64>],
    way: impl Fn(<T as Output>::Item, <T as Output>::Item, f64) -> Result<<T as Output>::Item>,
) -> Result<ArrayRef>
where
    T: Output + for<'a> Input<Item<'a> = <T as Output>::Item>,
{
    let _ = call;
    let reader = T::reader(values)?;
    let mut writer = T::writer(ty, fractions.len());
    let last = (values.len() - 1) as f64;
    for fraction in fractions {
        let Some(fraction) = fraction else {
            T::null(&mut writer);
            continue;
        };
        let place = fraction * last;
        let (low, high) = (place.floor(), place.ceil());
        let value = T::get(&reader, values, low as usize);
        if low < high {
            let next = T::get(&reader, values, high as usize);
            T::put(&mut writer, way(value, next, place - low)?)?;
        } else {
            T::put(&mut writer, value)?;
        }
    }
    Ok(T::finish(writer))
}

impl State for Percentile {
    fn add(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        if self.fractions.is_none()
            && let Some(fractions) = arguments.get(1).filter(|array| !array.is_empty())
        {
            self.fractions = Some(Fractions::of(fractions)?);
        }
        self.values.add(argument(arguments, 0)?)
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        let none = |f: &Fractions| f.all.is_none();
        if self.fractions.as_ref().is_none_or(none) {
            return Ok(null(call));
        }
        let Some(values) = self.sorted()? else {
            return Ok(null(call));
        };
        let many = self.fractions.as_ref().and_then(|f| f.many.as_ref());
        match (call.returns, many) {
            (Type::Array(element), Some(bounds)) => {
                let found = self.of(call, element, &values)?;
                list_of(found, bounds)
            }
            (ty, _) => self.of(call, ty, &values),
        }
    }

    fn size(&self) -> usize {
        self.values.size()
    }
}

/// `mode`: the most frequent value; of several, the first.
struct Mode {
    values: Values,
    compare: Comparator,
    /// Whether equal values come one after the other.
    sorted: bool,
}

impl State for Mode {
    fn add(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        self.values.add(argument(arguments, 0)?)
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        let Some(values) = self.values.all()? else {
            return Ok(null(call));
        };
        let compare = |a: usize, b: usize| (self.compare)(&values, a, &values, b);
        let mut rows: Vec<usize> = (0..values.len())
            .filter(|row| !values.is_null(*row))
            .collect();
        if !self.sorted {
            rows.sort_by(|a, b| compare(*a, *b));
        }
        let runs = rows.chunk_by(|a, b| compare(*a, *b).is_eq());
        let runs = runs.filter_map(|run| Some((run.len(), std::cmp::Reverse(*run.first()?))));
        match runs.max() {
            Some((_, first)) => copied(&values, first.0),
            None => Ok(null(call)),
        }
    }

    fn size(&self) -> usize {
        self.values.size()
    }
}

/// A question about a hypothetical row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
}

/// A hypothetical row among the others.
struct Hypothetical {
    place: Place,
    row: Vec<ArrayRef>,
    compare: Vec<Comparator>,
    directions: Vec<Direction>,
    rows: i64,
    before: i64,
    not_behind: i64,
    /// Distinct rows before it, and the last of them.
    distinct: i64,
    last: Option<Vec<ArrayRef>>,
}

impl Hypothetical {
    /// The order of two rows.
    fn order(&self, a: (&[ArrayRef], usize), b: (&[ArrayRef], usize)) -> Ordering {
        for (at, compare) in self.compare.iter().enumerate() {
            let (Some(left), Some(right)) = (a.0.get(at), b.0.get(at)) else {
                break;
            };
            let direction = self.directions.get(at).copied().unwrap_or_default();
            let order = match (left.is_null(a.1), right.is_null(b.1)) {
                (true, true) => Ordering::Equal,
                (true, false) if direction.nulls_first => Ordering::Less,
                (true, false) => Ordering::Greater,
                (false, true) if direction.nulls_first => Ordering::Greater,
                (false, true) => Ordering::Less,
                _ => match compare(left, a.1, right, b.1) {
                    order if direction.descending => order.reverse(),
                    order => order,
                },
            };
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }
}

impl State for Hypothetical {
    fn add(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        let rows = argument(arguments, 0)?.len();
        let mut last = None;
        for row in 0..rows {
            self.rows += 1;
            let order = self.order((arguments, row), (&self.row, 0));
            self.not_behind += i64::from(order.is_le());
            if order.is_lt() {
                self.before += 1;
                let same = match (last, &self.last) {
                    (Some(last), _) => self.order((arguments, row), (arguments, last)).is_eq(),
                    (None, Some(last)) => self.order((arguments, row), (last, 0)).is_eq(),
                    (None, None) => false,
                };
                self.distinct += i64::from(!same);
                last = Some(row);
            }
        }
        if let Some(last) = last {
            let last = arguments.iter().map(|array| copied(array, last));
            self.last = Some(last.collect::<Result<_>>()?);
        }
        Ok(())
    }

    fn set_order(&mut self, directions: &[Direction]) {
        self.directions = directions.to_vec();
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        let rows = self.rows as f64;
        match self.place {
            Place::Rank => one::<I64>(call, Some(self.before + 1)),
            Place::DenseRank => one::<I64>(call, Some(self.distinct + 1)),
            Place::PercentRank if self.rows == 0 => one::<F64>(call, Some(0.0)),
            Place::PercentRank => one::<F64>(call, Some(self.before as f64 / rows)),
            Place::CumeDist => {
                let part = (self.not_behind + 1) as f64 / (rows + 1.0);
                one::<F64>(call, Some(part))
            }
        }
    }
}

/// The type of the ordered argument, which comes after the direct ones.
fn as_ordered() -> Returns {
    Returns::Of(Arc::new(|types| {
        types.last().cloned().unwrap_or(Type::Text)
    }))
}

fn percentile(between: Between) -> super::Maker {
    make(move |_, direct| {
        Ok(Percentile {
            fractions: Some(Fractions::of(argument(direct, 0)?)?),
            between,
            sort: None,
            values: Values::default(),
        })
    })
}

/// A percentile of values in any order, with a fraction that is fixed or the second argument.
fn quantile(between: Between, fraction: Option<f64>) -> super::Maker {
    make(move |call, _| {
        let fractions = fraction.map(|fraction| Fractions {
            all: Some(vec![Some(fraction)]),
            many: None,
        });
        Ok(Percentile {
            fractions,
            between,
            sort: Some(comparator(call.types.first().unwrap_or(call.returns))?),
            values: Values::default(),
        })
    })
}

fn mode(sorted: bool) -> super::Maker {
    make(move |call, _| {
        Ok(Mode {
            values: Values::default(),
            compare: comparator(call.types.first().unwrap_or(call.returns))?,
            sorted,
        })
    })
}

fn hypothetical(name: &'static str, place: Place, returns: Type) -> Aggregate {
    let state = make(move |call, direct| {
        let types = call.types.get(direct.len()..).unwrap_or(&[]);
        let compare = types.iter().map(comparator);
        Ok(Hypothetical {
            place,
            row: direct.to_vec(),
            compare: compare.collect::<Result<_>>()?,
            directions: Vec::new(),
            rows: 0,
            before: 0,
            not_behind: 0,
            distinct: 0,
            last: None,
        })
    });
    Aggregate {
        kind: Kind::Hypothetical,
        variadic: Some(Type::Any),
        ordered: true,
        ..plain(name, &[], returns, state).with_nulls()
    }
}

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Between::{Continuous, Discrete};
    use Type::{AnyElement, Float8, Int8, Interval};
    let many = Float8.array();
    for ty in [Float8, Interval] {
        let set = |returns: Type, direct: Type| {
            let set = plain(
                "percentile_cont",
                std::slice::from_ref(&ty),
                returns,
                percentile(Continuous),
            );
            set.within_group(&[direct])
        };
        c.add_aggregate(set(ty.clone(), Float8));
        c.add_aggregate(set(ty.clone().array(), many.clone()));
        let median = quantile(Continuous, Some(0.5));
        c.add_aggregate(plain(
            "median",
            std::slice::from_ref(&ty),
            ty.clone(),
            median,
        ));
        let parameters = [ty.clone(), Float8];
        let state = quantile(Continuous, None);
        c.add_aggregate(plain("quantile_cont", &parameters, ty.clone(), state));
    }
    let set = |returns: Returns, direct: Type| {
        let set = plain(
            "percentile_disc",
            &[AnyElement],
            returns,
            percentile(Discrete),
        );
        set.within_group(&[direct])
    };
    c.add_aggregate(set(as_ordered(), Float8));
    c.add_aggregate(set(Type::AnyArray.into(), many));
    for name in ["quantile_disc", "quantile"] {
        let state = quantile(Discrete, None);
        c.add_aggregate(plain(name, &[AnyElement, Float8], as_argument(), state));
    }
    c.add_aggregate(plain("mode", &[AnyElement], as_argument(), mode(false)));
    let set = plain("mode", &[AnyElement], as_argument(), mode(true));
    c.add_aggregate(set.within_group(&[]));
    c.add_aggregate(hypothetical("rank", Place::Rank, Int8));
    c.add_aggregate(hypothetical("dense_rank", Place::DenseRank, Int8));
    c.add_aggregate(hypothetical("percent_rank", Place::PercentRank, Float8));
    c.add_aggregate(hypothetical("cume_dist", Place::CumeDist, Float8));
}
