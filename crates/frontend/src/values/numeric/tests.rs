//! Values by PostgreSQL, and the order of bytes.

use super::*;

fn n(text: &str) -> Numeric {
    Numeric::parse(text).unwrap()
}

/// A generator of numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// A number of any size, often near others and often with zeros at its ends.
    fn number(&mut self) -> Numeric {
        let length = match self.below(8) {
            0 => self.below(90),
            1 => self.below(40),
            _ => self.below(7),
        };
        let digits: String = (0..=length)
            .map(|_| match self.below(3) {
                0 => '0',
                1 => char::from(b'0' + self.below(10) as u8),
                _ => '9',
            })
            .collect();
        let exponent = match self.below(6) {
            0 => self.below(400) as i64 - 200,
            1 => self.below(90) as i64 - 45,
            _ => self.below(6) as i64 - 3,
        };
        let sign = if self.below(2) == 0 { "-" } else { "" };
        n(&format!("{sign}{digits}e{exponent}"))
    }
}

#[test]
fn texts() {
    let cases = [
        ("0", "0"),
        ("-0", "0"),
        ("-0.00", "0.00"),
        (" 12.50\n", "12.50"),
        ("+.5", "0.5"),
        ("5.", "5"),
        ("-1.50e3", "-1500"),
        ("1.50e1", "15.0"),
        ("1e-3", "0.001"),
        ("1e 5", "100000"),
        ("000123.4500", "123.4500"),
        ("nan", "NaN"),
        ("+Inf", "Infinity"),
        ("-INFINITY", "-Infinity"),
        ("0e1073741822", "0"),
        (
            "170141183460469231731687303715884105728",
            "170141183460469231731687303715884105728",
        ),
        (
            "-170141183460469231731687303715884105728.00",
            "-170141183460469231731687303715884105728.00",
        ),
        (
            "0.000000000000000000000000000000000000000000000000001",
            "0.000000000000000000000000000000000000000000000000001",
        ),
    ];
    for (text, shown) in cases {
        assert_eq!(n(text).to_string(), shown, "{text}");
    }
    let bad = [
        "",
        " ",
        ".",
        "-",
        "+-1",
        "1_000",
        "1 2",
        "0x10",
        "1e",
        "1e+",
        "-nan",
        "e5",
        "infx",
        "١",
        "1.2.3",
        "Infinity5",
        "é",
    ];
    for text in bad {
        let error = Numeric::parse(text).unwrap_err();
        assert_eq!(error.sqlstate, "22P02", "{text}");
        assert_eq!(
            error.message,
            format!("invalid input syntax for type numeric: \"{text}\"")
        );
    }
    for text in [
        "1e131072",
        "1e-16384",
        "1e2147483647",
        "1e99999999999999999999",
    ] {
        assert_eq!(
            Numeric::parse(text).unwrap_err().sqlstate,
            "22003",
            "{text}"
        );
    }
    assert_eq!(Numeric::new(5, 70_000).to_string().len(), 70_002);
    assert_eq!(n("1e131071").to_string().len(), 131_072);
    assert_eq!(n("1e-16383").to_string().len(), 16_385);
}

#[test]
fn bytes_order_as_values() {
    let mut random = Random(42);
    let mut all: Vec<Numeric> = (0..300).map(|_| random.number()).collect();
    all.extend([
        Numeric::NAN,
        Numeric::INFINITY,
        Numeric::NEG_INFINITY,
        n("0"),
        n("0.00"),
    ]);
    all.extend(["1e300", "-1e300", "1e-300", "-1e-300", "1e83", "1e82"].map(n));
    for number in all.clone() {
        let same = Numeric::decode(&number.encode());
        assert_eq!(same.to_string(), number.to_string());
        if number.scale() + 3 < MOST_SCALE && number.is_finite() {
            // Equal numbers differ in the scale only.
            let other = number.rescaled(number.scale() + 3);
            assert_eq!(
                Numeric::key(&other.encode()),
                Numeric::key(&number.encode())
            );
            assert_eq!(other, number);
            if !number.is_zero() {
                assert_ne!(other.encode(), number.encode());
            }
        }
    }
    let all: Vec<_> = all
        .into_iter()
        .map(|number| (number.encode(), number))
        .collect();
    for (left, a) in &all {
        for (right, b) in all.iter().step_by(17) {
            let order = a.cmp(b);
            assert_eq!(
                Numeric::key(left).cmp(Numeric::key(right)),
                order,
                "{a} {b}"
            );
            if order != Ordering::Equal {
                assert_eq!(left.cmp(right), order, "{a} {b}");
            }
        }
    }
}

#[test]
fn order_is_that_of_differences() {
    let mut random = Random(7);
    for _ in 0..4000 {
        let (a, b) = (random.number(), random.number());
        let sign = a.sub(&b).unwrap().sign();
        assert_eq!(a.cmp(&b) as i32, sign, "{a} {b}");
    }
}

#[test]
fn everyday_numbers_are_short() {
    for text in [
        "0",
        "1",
        "-1.5",
        "19.99",
        "123456789.12",
        "-99999999999999.9999",
        "1e60",
    ] {
        assert!(n(text).encode().len() <= 12, "{text}");
    }
    assert_eq!(n("12.50").encode(), [0xAB, 25, 100, 2]);
}

#[test]
fn any_bytes_are_read() {
    let mut random = Random(3);
    for _ in 0..2000 {
        let bytes: Vec<u8> = (0..random.below(30)).map(|_| random.next() as u8).collect();
        let number = Numeric::decode(&bytes);
        assert!(number.scale() <= MOST_SCALE);
    }
}

#[test]
fn operations() {
    type Operation = fn(&Numeric, &Numeric) -> Result<Numeric>;
    let cases: [(&str, Operation, &str, &str); 46] = [
        ("1.5", Numeric::add, "2.25", "3.75"),
        ("1.5", Numeric::sub, "2.250", "-0.750"),
        ("1.5", Numeric::mul, "2.25", "3.375"),
        ("1", Numeric::div, "3", "0.33333333333333333333"),
        ("10", Numeric::div, "4", "2.5000000000000000"),
        ("-7", Numeric::div, "0.3", "-23.3333333333333333"),
        ("1e50", Numeric::div, "3e49", "3.3333333333333333"),
        ("99999", Numeric::div, "7", "14285.571428571429"),
        ("7.5", Numeric::rem, "-2", "1.5"),
        ("-7.5", Numeric::rem, "2.00", "-1.50"),
        ("7", Numeric::div_trunc, "2", "3"),
        ("-7.9", Numeric::div_trunc, "2", "-3"),
        ("inf", Numeric::rem, "5", "NaN"),
        ("5.5", Numeric::rem, "inf", "5.5"),
        ("inf", Numeric::div, "-2", "-Infinity"),
        ("5", Numeric::div, "inf", "0"),
        ("inf", Numeric::add, "-inf", "NaN"),
        ("inf", Numeric::sub, "-inf", "Infinity"),
        ("inf", Numeric::mul, "0", "NaN"),
        ("nan", Numeric::div, "0", "NaN"),
        ("12", Numeric::gcd, "0.9", "0.3"),
        ("4", Numeric::lcm, "6.0", "12.0"),
        ("0", Numeric::gcd, "-5", "5"),
        (
            "2",
            Numeric::power,
            "100",
            "1267650600228229401496703205376.0000000000000000",
        ),
        ("0.5", Numeric::power, "17", "0.0000076293945313"),
        ("2", Numeric::power, "0.5", "1.4142135623730950"),
        ("-2", Numeric::power, "3", "-8.0000000000000000"),
        ("10", Numeric::power, "-20", "0.0000000000000000"),
        ("0", Numeric::power, "0", "1.0000000000000000"),
        ("1", Numeric::power, "nan", "1"),
        ("-1", Numeric::power, "-inf", "1"),
        ("0.5", Numeric::power, "inf", "0"),
        ("-inf", Numeric::power, "3", "-Infinity"),
        ("9.9", Numeric::power, "1.5", "31.149622790653501"),
        ("2", |a, b| Numeric::log(a, b), "64", "6.0000000000000000"),
        ("10", |a, b| Numeric::log(a, b), "2", "0.3010299956639812"),
        ("2", |a, _| a.sqrt(), "0", "1.414213562373095"),
        ("20000", |a, _| a.sqrt(), "0", "141.4213562373095"),
        ("0.00002", |a, _| a.sqrt(), "0", "0.0044721359549995794"),
        ("2", |a, _| a.ln(), "0", "0.6931471805599453"),
        ("1.0000001", |a, _| a.ln(), "0", "0.00000009999999500000033"),
        ("1", |a, _| a.exp(), "0", "2.7182818284590452"),
        ("-5.5", |a, _| a.exp(), "0", "0.004086771438464067"),
        (
            "100.0",
            |a, _| a.exp(),
            "0",
            "26881171418161354484126255515800135873611118.8",
        ),
        ("2.5", |a, _| a.round(0), "0", "3"),
        ("1234.5", |a, _| a.round(-2), "0", "1200"),
    ];
    for (a, operation, b, wanted) in cases {
        let result = operation(&n(a), &n(b)).unwrap();
        assert_eq!(result.to_string(), wanted, "{a} {b}");
    }
}

#[test]
fn operations_of_long_and_short_agree() {
    // The way of long integers gives what machine arithmetic gives.
    let mut random = Random(11);
    let far = n("1e60");
    for _ in 0..1000 {
        let (a, b) = (random.number(), random.number());
        let sum = a.add(&far).unwrap().add(&b).unwrap().sub(&far).unwrap();
        assert_eq!(sum, a.add(&b).unwrap());
        if !b.is_zero() {
            let whole = a.div_trunc(&b).unwrap();
            let rest = a.rem(&b).unwrap();
            assert_eq!(whole.mul(&b).unwrap().add(&rest).unwrap(), a, "{a} {b}");
        }
        let places = random.below(20) as i32 - 10;
        let step = n(&format!("1e{}", -places));
        let off = a.sub(&a.round(places).unwrap()).unwrap().abs();
        assert!(off.mul(&n("2")).unwrap() <= step, "{a} {places}");
        assert!(a.floor() <= a && a <= a.ceil());
        assert!(a.trunc(0).abs() <= a.abs());
    }
}

#[test]
fn floats() {
    let cases = [
        (0.1, "0.1"),
        (1e15, "1000000000000000"),
        (123456789012345678.0, "123456789012346000"),
        (-1.5e-7, "-0.00000015"),
        (f64::NAN, "NaN"),
        (1e300, &format!("1{}", "0".repeat(300))),
        (0.1 + 0.2, "0.3"),
    ];
    for (value, text) in cases {
        assert_eq!(Numeric::from_f64(value).to_string(), text);
    }
    assert_eq!(Numeric::from_f32(0.1).to_string(), "0.1");
    assert_eq!(Numeric::from_f32(16777217.0).to_string(), "16777200");
    let mut random = Random(5);
    for _ in 0..1000 {
        let number = random.number();
        let double: f64 = number.to_string().parse().unwrap();
        assert_eq!(number.to_f64(), double, "{number}");
    }
}
