//! Numbers as people read them.

/// A number with at most that many significant digits: `12,345`, `0.0012`, `1.2×10⁻⁷`.
pub fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return "–".to_string();
    }
    if value == 0.0 {
        return "0".to_string();
    }
    // Rust rounds right, and names the exponent after rounding.
    let scientific = format!("{:.*e}", digits.saturating_sub(1), value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let body = match exponent {
        -4..=7 => {
            let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
            plain(value.abs(), decimals)
        }
        _ => power(trimmed(mantissa), exponent),
    };
    signed(value, body)
}

/// A number with that many decimals, thousands apart, no zeros at the end.
fn plain(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        // Four digits read well without.
        if at > 0 && whole.len() > 4 && (whole.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    match fraction.trim_end_matches('0') {
        "" => out,
        kept => format!("{out}.{kept}"),
    }
}

fn trimmed(mantissa: &str) -> &str {
    match mantissa.contains('.') {
        true => mantissa.trim_end_matches('0').trim_end_matches('.'),
        false => mantissa,
    }
}

fn power(mantissa: &str, exponent: i32) -> String {
    match mantissa {
        "1" => format!("10{}", raised(exponent)),
        _ => format!("{mantissa}×10{}", raised(exponent)),
    }
}

fn signed(value: f64, body: String) -> String {
    match value < 0.0 {
        true => format!("−{body}"),
        false => body,
    }
}

/// An exponent in raised digits.
pub fn raised(exponent: i32) -> String {
    let raise = |c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    };
    exponent.to_string().chars().map(raise).collect()
}

/// The number at a tick.
pub fn tick(value: f64) -> String {
    match value.abs() >= 1e6 {
        true => millions(value),
        false => significant(value, 6),
    }
}

/// `2×10⁶` instead of `2,000,000`.
fn millions(value: f64) -> String {
    let scientific = format!("{:.3e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    signed(
        value,
        power(trimmed(mantissa), exponent.parse().unwrap_or(0)),
    )
}

/// Bytes, as `1.5 GiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut value = count as f64;
    let mut unit = UNITS[0];
    for larger in &UNITS[1..] {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    format!("{} {unit}", significant(value, 3))
}

/// A time, as `0.4 s`, `12 s` or `3 min 5 s`.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        short if short < 10.0 => format!("{short:.1} s"),
        middle if middle < 120.0 => format!("{middle:.0} s"),
        long => format!("{:.0} min {:.0} s", (long / 60.0).floor(), long % 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let written = |value| significant(value, 4);
        assert_eq!(written(12_345.6), "12,346");
        assert_eq!(written(1234.6), "1235");
        assert_eq!(written(0.001_234_56), "0.001235");
        assert_eq!(written(-2.5), "−2.5");
        assert_eq!(written(1.2e-7), "1.2×10⁻⁷");
        assert_eq!(written(9.9999e8), "10⁹");
        assert_eq!(written(f64::NAN), "–");
        assert_eq!(written(0.0), "0");
    }

    #[test]
    fn ticks_are_short() {
        let ticks = [0.25, 20.0, 1500.0, 200_000.0, 2e6, 1e7, 1.5e9, 1e-6].map(tick);
        let expected = [
            "0.25",
            "20",
            "1500",
            "200,000",
            "2×10⁶",
            "10⁷",
            "1.5×10⁹",
            "10⁻⁶",
        ];
        assert_eq!(ticks, expected);
    }

    #[test]
    fn sizes_and_times_have_units() {
        assert_eq!(bytes(512), "512 bytes");
        assert_eq!(bytes(48 * 1024), "48 KiB");
        assert_eq!(bytes(3 << 29), "1.5 GiB");
        assert_eq!(seconds(0.25), "0.2 s");
        assert_eq!(seconds(185.0), "3 min 5 s");
    }
}
