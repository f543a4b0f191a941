//! Settings of a session that change the text of values.

use crate::random::Random;

/// Statements that set each setting, most often to its usual value.
pub(super) fn settings(random: &mut Random) -> Vec<String> {
    let mut drawn = |usual: &'static str, others: &[&'static str]| match random.percent(75) {
        true => usual,
        false => random.word(others),
    };
    let zone = drawn(
        "UTC",
        &[
            "America/New_York",
            "Europe/Berlin",
            "Asia/Kolkata",
            "Australia/Lord_Howe",
            "-03:30",
        ],
    );
    let dates = drawn(
        "ISO, MDY",
        &[
            "ISO, DMY",
            "Postgres, MDY",
            "Postgres, DMY",
            "SQL, DMY",
            "SQL, MDY",
            "German, DMY",
        ],
    );
    let intervals = drawn(
        "postgres",
        &["postgres_verbose", "sql_standard", "iso_8601"],
    );
    let bytes = drawn("hex", &["escape"]);
    vec![
        format!("SET timezone = '{zone}'"),
        format!("SET datestyle = '{dates}'"),
        format!("SET intervalstyle = '{intervals}'"),
        format!("SET bytea_output = '{bytes}'"),
    ]
}
