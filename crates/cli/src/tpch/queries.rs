//! The 22 query texts, with the specification's validation parameters.

/// How many queries there are.
pub const COUNT: usize = 22;

macro_rules! texts {
    ($($name:literal),*) => {
        [$(include_str!(concat!("../../../../data/tpch/queries/q", $name, ".sql"))),*]
    };
}

static TEXTS: [&str; COUNT] = texts!(
    "01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12", "13", "14", "15", "16",
    "17", "18", "19", "20", "21", "22"
);

/// The text of `query` (1..=22) for a scale factor, which only Q11 depends on.
///
/// Its FRACTION is 0.0001 / scale, but 0.0001 below scale 1, as in the
/// reference answers at 0.01.
pub fn text(query: usize, scale: f64) -> Option<String> {
    let text = TEXTS.get(query.checked_sub(1)?)?;
    let fraction = format!("{:.12}", 0.0001 / scale.max(1.0));
    Some(text.replace(":FRACTION", fraction.trim_end_matches('0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_the_query_it_says() {
        for query in 1..=COUNT {
            let text = text(query, 1.0).expect("a query");
            assert!(text.starts_with(&format!("-- Q{query}: ")), "{text}");
            assert!(!text.contains(';') && !text.contains(":F"), "{text}");
        }
        assert_eq!(text(0, 1.0), None);
        assert_eq!(text(23, 1.0), None);
    }

    #[test]
    fn the_fraction_follows_the_scale() {
        assert!(text(11, 1.0).expect("Q11").contains("* 0.0001\n"));
        assert!(text(11, 0.01).expect("Q11").contains("* 0.0001\n"));
        assert!(text(11, 10.0).expect("Q11").contains("* 0.00001\n"));
    }
}
