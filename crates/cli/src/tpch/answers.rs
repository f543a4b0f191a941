//! The official answers, and whether a result is one of them.
//!
//! Two sets are embedded. At scale 1 the benchmark's own: columns padded with
//! blanks, decimals rounded to two digits. At scale 0.01 a reference run with
//! every digit. Both are tighter than the specification asks (2.1.3.5 allows
//! 100 dollars on a sum and 1 % on an average or ratio), and so is the check:
//!
//! - text equals text, without trailing blanks;
//! - at scale 1 the answer is at most half a unit of its last digit away. Only
//!   Q17 gets three units more: its file says 348406.02, the exact quotient of
//!   the sum and seven is 348406.05;
//! - at scale 0.01 values are equal; where ours has fewer digits (an average of
//!   decimals ends after six) it is within one unit of its last digit, and where
//!   the answer is a float of 15 or more digits, within 1e-12 of it.
//!
//! Rows are compared in order. ORDER BY leaves ties open in Q11 only in theory
//! but costs nothing to respect everywhere: rows whose sort columns are equal
//! may come in any order among themselves.

/// How the numbers of an answer set are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// Rounded to the digits shown.
    Rounded,
    /// All of them.
    Full,
}

/// The answers at one scale.
#[derive(Debug, Clone, Copy)]
pub struct AnswerSet {
    files: &'static [&'static str; 22],
    digits: Digits,
}

macro_rules! files {
    ($folder:literal, $($name:literal),*) => {
        &[$(include_str!(concat!("../../../../data/tpch/answers-", $folder, "/", $name))),*]
    };
}

static SCALE_1: AnswerSet = AnswerSet {
    digits: Digits::Rounded,
    files: files!(
        "sf1", "q1.out", "q2.out", "q3.out", "q4.out", "q5.out", "q6.out", "q7.out", "q8.out",
        "q9.out", "q10.out", "q11.out", "q12.out", "q13.out", "q14.out", "q15.out", "q16.out",
        "q17.out", "q18.out", "q19.out", "q20.out", "q21.out", "q22.out"
    ),
};

static SCALE_0_01: AnswerSet = AnswerSet {
    digits: Digits::Full,
    files: files!(
        "sf0.01", "q01.csv", "q02.csv", "q03.csv", "q04.csv", "q05.csv", "q06.csv", "q07.csv",
        "q08.csv", "q09.csv", "q10.csv", "q11.csv", "q12.csv", "q13.csv", "q14.csv", "q15.csv",
        "q16.csv", "q17.csv", "q18.csv", "q19.csv", "q20.csv", "q21.csv", "q22.csv"
    ),
};

/// For each query the positions of its ORDER BY columns in the output.
const SORT_COLUMNS: [&[usize]; 22] = [
    &[0, 1],
    &[0, 2, 1, 3],
    &[1, 2],
    &[0],
    &[1],
    &[],
    &[0, 1, 2],
    &[0],
    &[0, 1],
    &[2],
    &[1],
    &[0],
    &[1, 0],
    &[],
    &[0],
    &[3, 0, 1, 2],
    &[],
    &[4, 3],
    &[],
    &[0],
    &[1, 0],
    &[0],
];

/// How many units of the last digit the official Q17 at scale 1 is off.
const Q17_UNITS: u128 = 3;

/// A result row: the text of each cell, `None` for NULL.
pub type Row = Vec<Option<String>>;

impl AnswerSet {
    /// The answers for a scale factor, where there are any.
    pub fn for_scale(scale: f64) -> Option<&'static AnswerSet> {
        [(1.0, &SCALE_1), (0.01, &SCALE_0_01)]
            .into_iter()
            .find_map(|(known, set)| (scale == known).then_some(set))
    }

    /// Compares the result of `query` (1..=22) with its answer.
    ///
    /// # Errors
    /// The first difference, in words.
    pub fn check(&self, query: usize, rows: &[Row]) -> Result<(), String> {
        let Some((file, keys)) = self.files.get(query - 1).zip(SORT_COLUMNS.get(query - 1)) else {
            return Err(format!("there is no query {query}"));
        };
        let expected: Vec<Vec<&str>> = file
            .lines()
            .skip(1)
            .map(|line| line.split('|').collect())
            .collect();
        if expected.len() != rows.len() {
            return Err(format!("{} rows, expected {}", rows.len(), expected.len()));
        }
        let slack = if query == 17 { Q17_UNITS } else { 0 };
        let same = |expected: &[&str], row: &Row| {
            expected.len() == row.len()
                && expected
                    .iter()
                    .zip(row)
                    .all(|(expected, cell)| self.same(expected, cell, slack))
        };
        let mut start = 0;
        while start < expected.len() {
            let tied = |row: &Vec<&str>| {
                keys.iter()
                    .all(|key| row.get(*key) == expected[start].get(*key))
            };
            let group = expected[start..].iter().take_while(|row| tied(row)).count();
            let mut open: Vec<&Row> = rows[start..start + group].iter().collect();
            for (at, answer) in expected[start..start + group].iter().enumerate() {
                let Some(found) = open.iter().position(|row| same(answer, row)) else {
                    return Err(difference(start + at + 1, answer, open[0]));
                };
                open.remove(found);
            }
            start += group;
        }
        Ok(())
    }

    fn same(&self, expected: &str, cell: &Option<String>, slack: u128) -> bool {
        let Some(cell) = cell else {
            return expected.trim().is_empty();
        };
        match (Number::parse(expected), Number::parse(cell)) {
            (Some(expected), Some(found)) => match self.digits {
                Digits::Rounded => expected.is_rounded(&found, slack),
                Digits::Full => expected.is_close(&found),
            },
            _ => expected.trim_end() == cell.trim_end(),
        }
    }
}

fn difference(row: usize, expected: &[&str], found: &Row) -> String {
    let expected: Vec<&str> = expected.iter().map(|cell| cell.trim()).collect();
    let found: Vec<&str> = found
        .iter()
        .map(|cell| cell.as_deref().unwrap_or("NULL"))
        .collect();
    format!(
        "row {row}: {}, expected {}",
        found.join(" | "),
        expected.join(" | ")
    )
}

/// A decimal number: `unscaled` × 10^-`scale`.
#[derive(Debug, Clone, Copy)]
struct Number {
    unscaled: i128,
    scale: u32,
}

impl Number {
    /// Reads `-12.30`; anything else, also an exponent, is no number here.
    fn parse(text: &str) -> Option<Number> {
        let text = text.trim();
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let digits = whole.strip_prefix('-').unwrap_or(whole);
        let numeric = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if digits.is_empty() || !numeric(digits) || !numeric(fraction) {
            return None;
        }
        Some(Number {
            unscaled: format!("{whole}{fraction}").parse().ok()?,
            scale: u32::try_from(fraction.len()).ok()?,
        })
    }

    /// The unscaled value with `scale` digits, of which it has no more already.
    fn at(&self, scale: u32) -> Option<i128> {
        10i128
            .checked_pow(scale.checked_sub(self.scale)?)?
            .checked_mul(self.unscaled)
    }

    /// This number is `found` rounded to its own digits, up or down at a half, or
    /// `slack` units of its last digit further.
    fn is_rounded(&self, found: &Number, slack: u128) -> bool {
        let scale = self.scale.max(found.scale);
        let (Some(expected), Some(value)) = (self.at(scale), found.at(scale)) else {
            return false;
        };
        let unit = 10u128.checked_pow(scale - self.scale).unwrap_or(u128::MAX);
        let allowed = (unit / 2).saturating_add(unit.saturating_mul(slack));
        expected.abs_diff(value) <= allowed
    }

    /// `found` is this number as far as its digits go.
    fn is_close(&self, found: &Number) -> bool {
        let scale = self.scale.max(found.scale);
        let (Some(expected), Some(value)) = (self.at(scale), found.at(scale)) else {
            return false;
        };
        let distance = expected.abs_diff(value);
        let last_digit = match found.scale < self.scale {
            true => 10u128
                .checked_pow(self.scale - found.scale)
                .unwrap_or(u128::MAX),
            false => 0,
        };
        let is_float = self.unscaled.unsigned_abs() >= 10u128.pow(14);
        let float = if is_float {
            expected.unsigned_abs() / 10u128.pow(12)
        } else {
            0
        };
        distance <= last_digit.max(float)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounded(expected: &str, found: &str) -> bool {
        SCALE_1.same(expected, &Some(found.into()), 0)
    }

    fn close(expected: &str, found: &str) -> bool {
        SCALE_0_01.same(expected, &Some(found.into()), 0)
    }

    /// The rows of an answer file as a correct result would give them.
    fn rows(set: &AnswerSet, query: usize) -> Vec<Row> {
        let lines = set.files[query - 1].lines().skip(1);
        let cell = |text: &str| Some(text.trim_end().to_string()).filter(|text| !text.is_empty());
        lines
            .map(|line| line.split('|').map(cell).collect())
            .collect()
    }

    #[test]
    fn rounded_numbers() {
        assert!(rounded("   25.52", "25.522005"));
        assert!(rounded("0.03", "0.034999"));
        assert!(rounded("0.03", "0.035") && rounded("0.04", "0.035"));
        assert!(!rounded("0.03", "0.035001"));
        assert!(rounded("-1.00", "-0.995"));
        assert!(!rounded("1.00", "1.01"));
        assert!(rounded("5.00", "5"));
        assert!(!rounded("5.01", "5"));
        assert!(rounded("1478493", "1478493"));
        assert!(!rounded("1478493", "1478494"));
    }

    #[test]
    fn full_numbers() {
        assert!(close("380456", "380456.00"));
        assert!(!close("380456", "380456.01"));
        assert!(close("25.575154611454693", "25.575154"));
        assert!(close("25.575154611454693", "25.575155"));
        assert!(!close("25.575154611454693", "25.575153"));
        assert!(close("15.48654581228407", "15.486545812284072"));
        assert!(!close("1193053.2253", "1193053.2254"));
    }

    #[test]
    fn text_null_and_what_only_looks_like_a_number() {
        assert!(rounded("Brand#41  ", "Brand#41"));
        assert!(!rounded(" a", "a"));
        assert!(close("33-429-790-6131", "33-429-790-6131"));
        assert!(SCALE_0_01.same("", &None, 0));
        assert!(!SCALE_0_01.same("1", &None, 0));
    }

    #[test]
    fn every_answer_is_its_own_answer() {
        for set in [&SCALE_1, &SCALE_0_01] {
            for query in 1..=22 {
                assert_eq!(set.check(query, &rows(set, query)), Ok(()), "Q{query}");
            }
        }
    }

    #[test]
    fn one_changed_cell_or_row_is_found() {
        for query in 1..=22 {
            let good = rows(&SCALE_1, query);
            let mut changed = good.clone();
            let last = changed[0].len() - 1;
            changed[0][last] = Some("12345.678".into());
            assert!(SCALE_1.check(query, &changed).is_err(), "Q{query}");
            assert!(SCALE_1.check(query, &good[1..]).is_err(), "Q{query}");
        }
    }

    #[test]
    fn only_q17_is_given_three_units() {
        let row = |text: &str| vec![vec![Some(text.to_string())]];
        assert_eq!(SCALE_1.check(17, &row("348406.054285")), Ok(()));
        assert!(SCALE_1.check(17, &row("348406.06")).is_err());
        assert!(SCALE_1.check(6, &row("123141078.26")).is_err());
        assert_eq!(SCALE_1.check(6, &row("123141078.2283")), Ok(()));
    }

    #[test]
    fn ties_may_come_in_any_order_but_nothing_else() {
        let set = AnswerSet {
            files: Box::leak(Box::new(["h\n1|9.00\n2|9.00\n3|8.00"; 22])),
            digits: Digits::Rounded,
        };
        let row = |key: &str, value: &str| vec![Some(key.to_string()), Some(value.to_string())];
        let swapped = [row("2", "9"), row("1", "9"), row("3", "8")];
        assert_eq!(set.check(11, &swapped), Ok(()));
        let moved = [row("1", "9"), row("3", "8"), row("2", "9")];
        assert!(set.check(11, &moved).is_err());
    }

    #[test]
    fn other_scales_have_no_answers() {
        assert!(AnswerSet::for_scale(1.0).is_some());
        assert!(AnswerSet::for_scale(0.01).is_some());
        assert!(AnswerSet::for_scale(10.0).is_none());
    }
}
