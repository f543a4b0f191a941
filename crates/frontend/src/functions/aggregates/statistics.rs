//! Variances, regressions, moments and entropy.
//!
//! Variances of integers and NUMERIC are exact ([`exact`](super::exact)). Those of floats are
//! updated with each value by the method of Youngs and Cramer, which loses no digits where
//! values are close to one another:
//!
//! ```text
//! Sx += x;  Sxx += (n·x − Sx)² / (n·(n − 1))
//! ```
//!
//! An infinite or missing number among the values makes Sxx no number; finite values whose
//! sums overflow are an error.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef};

use super::collect::Values;
use super::general::Count;
use super::sums::{Wanted, exact};
use super::{Catalogue, Fold, State, argument, float_overflow, fold, make, one, plain};
use crate::error::Result;
use crate::functions::kernel::{Call, F32, F64, I64, Input};
use crate::functions::ordering::comparator;
use crate::types::Type;

/// The count, the sum and the sum of squared distances from the mean of one variable.
#[derive(Clone, Copy, Default)]
struct Spread {
    n: f64,
    sum: f64,
    squares: f64,
}

impl Spread {
    fn add(&mut self, x: f64) -> Result<()> {
        let before = *self;
        self.n += 1.0;
        self.sum += x;
        if before.n > 0.0 {
            let distance = x * self.n - self.sum;
            self.squares += distance * distance / (self.n * before.n);
            if self.sum.is_infinite() || self.squares.is_infinite() {
                if !before.sum.is_infinite() && !x.is_infinite() {
                    return Err(float_overflow());
                }
                self.squares = f64::NAN;
            }
        } else if !x.is_finite() {
            self.squares = f64::NAN;
        }
        Ok(())
    }
}

macro_rules! spreads {
    ($($(#[$doc:meta])* $double:ident $single:ident |$all:ident| $result:expr;)*) => {$(
        spreads!(@ $(#[$doc])* $double F64 f64 $all $result);
        spreads!(@ $(#[$doc])* $single F32 f32 $all $result);
    )*};
    (@ $(#[$doc:meta])* $name:ident $item:ident $native:ident $all:ident $result:expr) => {
        $(#[$doc])*
        #[derive(Default)]
        struct $name(Spread);

        impl Fold for $name {
            type In = $item;
            type Out = F64;
            fn step(&mut self, item: $native) -> Result<()> {
                self.0.add(item.into())
            }
            fn finish(&self) -> Result<Option<f64>> {
                let $all = &self.0;
                Ok($result)
            }
        }
    };
}

spreads! {
    /// `avg`.
    Mean64 Mean32 |all| (all.n > 0.0).then(|| all.sum / all.n);
    /// `var_pop`.
    VarPop64 VarPop32 |all| (all.n > 0.0).then(|| all.squares / all.n);
    /// `var_samp`.
    VarSamp64 VarSamp32 |all| (all.n > 1.0).then(|| all.squares / (all.n - 1.0));
    /// `stddev_pop`.
    DevPop64 DevPop32 |all| (all.n > 0.0).then(|| (all.squares / all.n).sqrt());
    /// `stddev_samp`.
    DevSamp64 DevSamp32 |all| (all.n > 1.0).then(|| (all.squares / (all.n - 1.0)).sqrt());
}

/// Sums of two variables, by which a line is laid through their points.
#[derive(Clone, Copy, Default)]
struct Pairs {
    n: f64,
    x: f64,
    xx: f64,
    y: f64,
    yy: f64,
    xy: f64,
}

impl Pairs {
    fn add(&mut self, y: f64, x: f64) -> Result<()> {
        let before = *self;
        self.n += 1.0;
        self.x += x;
        self.y += y;
        if before.n > 0.0 {
            let (to_x, to_y) = (x * self.n - self.x, y * self.n - self.y);
            let scale = 1.0 / (self.n * before.n);
            self.xx += to_x * to_x * scale;
            self.yy += to_y * to_y * scale;
            self.xy += to_x * to_y * scale;
            self.check(&before, y, x)?;
        } else {
            if !x.is_finite() {
                (self.xx, self.xy) = (f64::NAN, f64::NAN);
            }
            if !y.is_finite() {
                (self.yy, self.xy) = (f64::NAN, f64::NAN);
            }
        }
        Ok(())
    }

    /// Refuses overflow of finite values, and makes sums of infinite ones no numbers.
    fn check(&mut self, before: &Pairs, y: f64, x: f64) -> Result<()> {
        let finite_x = !before.x.is_infinite() && !x.is_infinite();
        let finite_y = !before.y.is_infinite() && !y.is_infinite();
        let over_x = self.x.is_infinite() || self.xx.is_infinite();
        let over_y = self.y.is_infinite() || self.yy.is_infinite();
        let over_both = self.xy.is_infinite();
        if over_x && finite_x || over_y && finite_y || over_both && finite_x && finite_y {
            return Err(float_overflow());
        }
        for sum in [&mut self.xx, &mut self.yy, &mut self.xy] {
            if sum.is_infinite() {
                *sum = f64::NAN;
            }
        }
        Ok(())
    }
}

/// An aggregate over pairs of floats.
struct Regression {
    pairs: Pairs,
    result: fn(&Pairs) -> Option<f64>,
}

impl State for Regression {
    fn add(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        let (y, x) = (argument(arguments, 0)?, argument(arguments, 1)?);
        let (ys, xs) = (F64::reader(y)?, F64::reader(x)?);
        for row in 0..y.len().min(x.len()) {
            if !y.is_null(row) && !x.is_null(row) {
                self.pairs.add(ys.value(row), xs.value(row))?;
            }
        }
        Ok(())
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        one::<F64>(call, (self.result)(&self.pairs))
    }
}

/// A number that pairs of values give, if there are enough.
type OfPairs = fn(&Pairs) -> Option<f64>;

/// The aggregates over pairs `(y, x)`.
const REGRESSIONS: &[(&str, OfPairs)] = &[
    ("corr", |p| {
        let spread = p.xx != 0.0 && p.yy != 0.0;
        some(p, spread).then(|| p.xy / (p.xx * p.yy).sqrt())
    }),
    ("covar_pop", |p| some(p, true).then(|| p.xy / p.n)),
    ("covar_samp", |p| (p.n > 1.0).then(|| p.xy / (p.n - 1.0))),
    ("regr_avgx", |p| some(p, true).then(|| p.x / p.n)),
    ("regr_avgy", |p| some(p, true).then(|| p.y / p.n)),
    ("regr_intercept", |p| {
        some(p, p.xx != 0.0).then(|| (p.y - p.x * p.xy / p.xx) / p.n)
    }),
    ("regr_r2", |p| {
        some(p, p.xx != 0.0).then(|| match p.yy == 0.0 {
            true => 1.0,
            false => (p.xy * p.xy) / (p.xx * p.yy),
        })
    }),
    ("regr_slope", |p| some(p, p.xx != 0.0).then(|| p.xy / p.xx)),
    ("regr_sxx", |p| some(p, true).then_some(p.xx)),
    ("regr_sxy", |p| some(p, true).then_some(p.xy)),
    ("regr_syy", |p| some(p, true).then_some(p.yy)),
];

/// Whether there are points, and something else holds.
fn some(pairs: &Pairs, and: bool) -> bool {
    pairs.n > 0.0 && and
}

/// Sums of powers of the distances from the mean, updated with each value.
#[derive(Default)]
struct Powers {
    n: f64,
    mean: f64,
    second: f64,
    third: f64,
    fourth: f64,
}

impl Powers {
    fn add(&mut self, x: f64) {
        let before = self.n;
        self.n += 1.0;
        let n = self.n;
        let delta = x - self.mean;
        let part = delta / n;
        let square = part * part;
        let term = delta * part * before;
        self.mean += part;
        self.fourth += term * square * (n * n - 3.0 * n + 3.0) + 6.0 * square * self.second
            - 4.0 * part * self.third;
        self.third += term * part * (n - 2.0) - 3.0 * part * self.second;
        self.second += term;
    }

    fn skewness(&self) -> Option<f64> {
        let n = self.n;
        (n > 2.0).then(|| {
            let biased = n.sqrt() * self.third / self.second.powf(1.5);
            (n * (n - 1.0)).sqrt() / (n - 2.0) * biased
        })
    }

    fn kurtosis(&self, sample: bool) -> Option<f64> {
        let n = self.n;
        let excess = n * self.fourth / (self.second * self.second) - 3.0;
        match sample {
            true if n <= 3.0 => None,
            true => Some(((n + 1.0) * excess + 6.0) * (n - 1.0) / ((n - 2.0) * (n - 3.0))),
            false if n <= 1.0 => None,
            false => Some(excess),
        }
    }
}

macro_rules! powers {
    ($($(#[$doc:meta])* $name:ident |$all:ident| $result:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Default)]
        struct $name(Powers);

        impl Fold for $name {
            type In = F64;
            type Out = F64;
            fn step(&mut self, item: f64) -> Result<()> {
                self.0.add(item);
                Ok(())
            }
            fn finish(&self) -> Result<Option<f64>> {
                let $all = &self.0;
                // Equal values have no shape.
                Ok($result.filter(|value: &f64| !value.is_nan()))
            }
        }
    )*};
}

powers! {
    /// `skewness` of a sample.
    Skewness |all| all.skewness();
    /// `kurtosis` of a sample: that of the normal distribution is zero.
    Kurtosis |all| all.kurtosis(true);
    /// `kurtosis_pop`.
    KurtosisPop |all| all.kurtosis(false);
}

/// Values that are told apart: `entropy`, `approx_count_distinct`.
struct Distinct {
    values: Values,
    entropy: bool,
}

impl Distinct {
    /// How often each value is there.
    fn counts(&mut self, ty: &Type) -> Result<Vec<u64>> {
        let Some(values) = self.values.all()? else {
            return Ok(Vec::new());
        };
        let compare = comparator(ty)?;
        let mut rows: Vec<usize> = (0..values.len())
            .filter(|row| !values.is_null(*row))
            .collect();
        rows.sort_unstable_by(|a, b| compare(&values, *a, &values, *b));
        let equal = |a: &usize, b: &usize| compare(&values, *a, &values, *b).is_eq();
        Ok(rows.chunk_by(equal).map(|run| run.len() as u64).collect())
    }
}

impl State for Distinct {
    fn add(&mut self, _: &Call<'_>, arguments: &[ArrayRef]) -> Result<()> {
        self.values.add(argument(arguments, 0)?)
    }

    fn result(&mut self, call: &Call<'_>) -> Result<ArrayRef> {
        let counts = self.counts(call.types.first().unwrap_or(&Type::Text))?;
        if !self.entropy {
            return one::<I64>(call, Some(counts.len() as i64));
        }
        let all = counts.iter().sum::<u64>() as f64;
        let parts = counts.iter().map(|count| *count as f64 / all);
        // The sum of no parts is zero, and never the negative one.
        let entropy = parts.fold(0.0, |sum, part| sum - part * part.log2());
        one::<F64>(call, Some(entropy))
    }

    fn size(&self) -> usize {
        self.values.size()
    }
}

/// Adds the functions.
pub(super) fn register(c: &mut Catalogue) {
    use Type::{AnyElement, Float4, Float8, Int2, Int4, Int8};
    c.add_aggregate(plain("avg", &[Float8], Float8, fold::<Mean64>()));
    c.add_aggregate(plain("avg", &[Float4], Float8, fold::<Mean32>()));
    let variance = |sample| Wanted::Variance { sample };
    let deviation = |sample| Wanted::Deviation { sample };
    let (var_pop, var_pop_4) = (fold::<VarPop64>(), fold::<VarPop32>());
    let (var_samp, var_samp_4) = (fold::<VarSamp64>(), fold::<VarSamp32>());
    let (dev_pop, dev_pop_4) = (fold::<DevPop64>(), fold::<DevPop32>());
    let (dev_samp, dev_samp_4) = (fold::<DevSamp64>(), fold::<DevSamp32>());
    let spreads = [
        ("var_pop", variance(false), &var_pop, &var_pop_4),
        ("var_samp", variance(true), &var_samp, &var_samp_4),
        ("variance", variance(true), &var_samp, &var_samp_4),
        ("stddev_pop", deviation(false), &dev_pop, &dev_pop_4),
        ("stddev_samp", deviation(true), &dev_samp, &dev_samp_4),
        ("stddev", deviation(true), &dev_samp, &dev_samp_4),
    ];
    for (name, wanted, double, single) in spreads {
        let numeric = Type::Numeric(None);
        for ty in [Int2, Int4, Int8, numeric.clone()] {
            c.add_aggregate(plain(name, &[ty], numeric.clone(), exact(wanted)));
        }
        c.add_aggregate(plain(name, &[Float8], Float8, Arc::clone(double)));
        c.add_aggregate(plain(name, &[Float4], Float8, Arc::clone(single)));
    }
    let regression = |result| {
        make(move |_, _| {
            let pairs = Pairs::default();
            Ok(Regression { pairs, result })
        })
    };
    for (name, result) in REGRESSIONS {
        let state = regression(*result);
        c.add_aggregate(plain(name, &[Float8, Float8], Float8, state));
    }
    // Pairs are counted without a look at their values, which may overflow.
    let count = make(|_, _| Ok(Count(0)));
    c.add_aggregate(plain("regr_count", &[Float8, Float8], Int8, count));
    let powers = [
        ("skewness", fold::<Skewness>()),
        ("kurtosis", fold::<Kurtosis>()),
        ("kurtosis_pop", fold::<KurtosisPop>()),
    ];
    for (name, state) in powers {
        c.add_aggregate(plain(name, &[Float8], Float8, state));
    }
    for (name, entropy, returns) in [
        ("entropy", true, Float8),
        ("approx_count_distinct", false, Int8),
    ] {
        let state = make(move |_, _| {
            let values = Values::default();
            Ok(Distinct { values, entropy })
        });
        c.add_aggregate(plain(name, &[AnyElement], returns, state));
    }
}
