//! Values shown in the styles that settings ask for, as PostgreSQL shows them.

use freestone::Cells;

use crate::support::{Sql, runtime};

/// The values of a query of one row, as a client is shown them.
fn shown(sql: &Sql, query: &str) -> Vec<String> {
    let batches = runtime().block_on(sql.session.query(query)).unwrap();
    let styles = sql.session.styles();
    let cells = batches[0].columns().iter();
    let cells = cells.map(|array| Cells::styled(array, &styles).text(0));
    cells
        .map(|text| text.unwrap_or_else(|| "NULL".into()))
        .collect()
}

/// A value is the same text wherever it is made one: where a client is shown it, in casts,
/// concatenations and aggregates, and within arrays and records.
#[track_caller]
fn check(sql: &Sql, value: &str, text: &str) {
    let same = format!(
        "SELECT {value}, ({value})::text, ({value})::varchar, '' || ({value}), \
         concat({value}), format('%s', {value}), string_agg(({value})::text, ',')"
    );
    assert_eq!(shown(sql, &same), vec![text; 7], "{value}");
    for around in [
        "ARRAY[v, NULL]",
        "ARRAY[[v], [v]]",
        "ROW(v, 1)",
        "ROW(ARRAY[v])",
    ] {
        let query = format!("SELECT {around}, ({around})::text FROM (SELECT {value} AS v)");
        let both = shown(sql, &query);
        assert_eq!(both[0], both[1], "{around} of {value}");
    }
}

const DATES: [&str; 9] = [
    "DATE '2003-02-01'",
    "DATE '0044-03-15 BC'",
    "DATE 'infinity'",
    "DATE '12345-06-07'",
    "TIMESTAMP '2003-02-01 04:05:06.75'",
    "TIMESTAMP '0044-03-15 00:00 BC'",
    "TIMESTAMP '-infinity'",
    "TIMESTAMPTZ '2003-07-01 04:05:06+00'",
    "TIMESTAMPTZ '1803-02-01 04:05:06+00'",
];

#[test]
fn dates_have_the_style_and_the_order() {
    let sql = Sql::new();
    sql.run("SET timezone = 'Europe/Berlin'");
    let iso = [
        "2003-02-01",
        "0044-03-15 BC",
        "infinity",
        "12345-06-07",
        "2003-02-01 04:05:06.75",
        "0044-03-15 00:00:00 BC",
        "-infinity",
        "2003-07-01 06:05:06+02",
        "1803-02-01 04:58:34+00:53:28",
    ];
    let month_first = [
        "02/01/2003",
        "03/15/0044 BC",
        "infinity",
        "06/07/12345",
        "02/01/2003 04:05:06.75",
        "03/15/0044 00:00:00 BC",
        "-infinity",
        "07/01/2003 06:05:06 CEST",
        "02/01/1803 04:58:34 LMT",
    ];
    let day_first = [
        "01/02/2003",
        "15/03/0044 BC",
        "infinity",
        "07/06/12345",
        "01/02/2003 04:05:06.75",
        "15/03/0044 00:00:00 BC",
        "-infinity",
        "01/07/2003 06:05:06 CEST",
        "01/02/1803 04:58:34 LMT",
    ];
    let words = [
        "02-01-2003",
        "03-15-0044 BC",
        "infinity",
        "06-07-12345",
        "Sat Feb 01 04:05:06.75 2003",
        "Fri Mar 15 00:00:00 0044 BC",
        "-infinity",
        "Tue Jul 01 06:05:06 2003 CEST",
        "Tue Feb 01 04:58:34 1803 LMT",
    ];
    let words_day_first = [
        "01-02-2003",
        "15-03-0044 BC",
        "infinity",
        "07-06-12345",
        "Sat 01 Feb 04:05:06.75 2003",
        "Fri 15 Mar 00:00:00 0044 BC",
        "-infinity",
        "Tue 01 Jul 06:05:06 2003 CEST",
        "Tue 01 Feb 04:58:34 1803 LMT",
    ];
    let points = day_first.map(|text| text.replace('/', "."));
    let points: Vec<&str> = points.iter().map(String::as_str).collect();
    for (style, texts) in [
        ("ISO, MDY", &iso[..]),
        ("ISO, DMY", &iso),
        ("ISO, YMD", &iso),
        ("SQL, MDY", &month_first),
        ("SQL, DMY", &day_first),
        ("SQL, YMD", &month_first),
        ("Postgres, MDY", &words),
        ("Postgres, DMY", &words_day_first),
        ("Postgres, YMD", &words),
        ("German, MDY", &points),
        ("German, DMY", &points),
        ("German, YMD", &points),
    ] {
        sql.run(&format!("SET datestyle = '{style}'"));
        assert_eq!(sql.one("SHOW datestyle"), style);
        for (value, text) in DATES.iter().zip(texts) {
            check(&sql, value, text);
        }
        // JSON has one form always.
        let json = shown(
            &sql,
            "SELECT to_json(DATE '2003-02-01'), json_agg(DATE '2003-02-01')",
        );
        assert_eq!(json, ["\"2003-02-01\"", "[\"2003-02-01\"]"]);
    }
}

#[test]
fn intervals_have_the_style() {
    let sql = Sql::new();
    let values = [
        "INTERVAL '1 year 2 mons 3 days 04:05:06.789'",
        "make_interval(months => -10, days => -3, secs => 14706)",
        "INTERVAL '0'",
        "make_interval(days => -5, hours => 6)",
        "make_interval(secs => -0.5)",
        "INTERVAL '14 mons'",
        "make_interval(days => 3, secs => -1)",
    ];
    for (style, texts) in [
        (
            "postgres",
            [
                "1 year 2 mons 3 days 04:05:06.789",
                "-10 mons -3 days +04:05:06",
                "00:00:00",
                "-5 days +06:00:00",
                "-00:00:00.5",
                "1 year 2 mons",
                "3 days -00:00:01",
            ],
        ),
        (
            "postgres_verbose",
            [
                "@ 1 year 2 mons 3 days 4 hours 5 mins 6.789 secs",
                "@ 10 mons 3 days -4 hours -5 mins -6 secs ago",
                "@ 0",
                "@ 5 days -6 hours ago",
                "@ 0.5 secs ago",
                "@ 1 year 2 mons",
                "@ 3 days -1 sec",
            ],
        ),
        (
            "sql_standard",
            [
                "+1-2 +3 +4:05:06.789",
                "-0-10 -3 +4:05:06",
                "0",
                "+0-0 -5 +6:00:00",
                "-0:00:00.5",
                "1-2",
                "+0-0 +3 -0:00:01",
            ],
        ),
        (
            "iso_8601",
            [
                "P1Y2M3DT4H5M6.789S",
                "P-10M-3DT4H5M6S",
                "PT0S",
                "P-5DT6H",
                "PT-0.5S",
                "P1Y2M",
                "P3DT-1S",
            ],
        ),
    ] {
        sql.run(&format!("SET intervalstyle = {style}"));
        assert_eq!(sql.one("SHOW intervalstyle"), style);
        for (value, text) in values.iter().zip(texts) {
            check(&sql, value, text);
        }
    }
}

#[test]
fn floats_have_their_digits() {
    let sql = Sql::new();
    let values = [
        "FLOAT8 '0.1'",
        "(FLOAT8 '0.1' + FLOAT8 '0.2')",
        "FLOAT8 '1e23'",
        "FLOAT8 '123456789012345678'",
        "FLOAT4 '0.1'",
        "FLOAT4 '16777216'",
        "FLOAT8 '-Infinity'",
        "FLOAT8 '-0'",
    ];
    let all = [
        "0.1",
        "0.30000000000000004",
        "9.999999999999999e+22",
        "1.2345678901234568e+17",
        "0.1",
        "1.6777216e+07",
        "-Infinity",
        "-0",
    ];
    for (digits, texts) in [
        (3, all),
        (1, all),
        (
            0,
            [
                "0.1",
                "0.3",
                "1e+23",
                "1.23456789012346e+17",
                "0.1",
                "1.67772e+07",
                "-Infinity",
                "-0",
            ],
        ),
        (
            -15,
            [
                "0.1",
                "0.3",
                "1e+23",
                "1e+17",
                "0.1",
                "2e+07",
                "-Infinity",
                "-0",
            ],
        ),
    ] {
        sql.run(&format!("SET extra_float_digits = {digits}"));
        for (value, text) in values.iter().zip(texts) {
            check(&sql, value, text);
        }
    }
}

#[test]
fn bytes_are_hex_or_escaped() {
    let sql = Sql::new();
    let value = r"'\x00415c7f80ff'::bytea";
    check(&sql, value, r"\x00415c7f80ff");
    sql.run("SET bytea_output = 'escape'");
    check(&sql, value, r"\000A\\\177\200\377");
    assert_eq!(shown(&sql, "SELECT ''::bytea"), [""]);
}

/// Plans that were made under other styles are not used.
#[test]
fn known_plans_have_the_styles_they_were_made_for() {
    let sql = Sql::new();
    sql.run("CREATE TABLE t (d date); INSERT INTO t VALUES ('2003-02-01')");
    let query = "SELECT d::text || DATE '2003-04-05' FROM t";
    let prepared = "PREPARE p AS SELECT d::text FROM t";
    sql.run(prepared);
    assert_eq!(sql.one(query), "2003-02-012003-04-05");
    assert_eq!(sql.one(query), "2003-02-012003-04-05");
    sql.run("SET datestyle = 'SQL, DMY'");
    assert_eq!(sql.one(query), "01/02/200305/04/2003");
    assert_eq!(sql.rows_of_one_engine("EXECUTE p"), ["01/02/2003"]);
    sql.run("SELECT set_config('datestyle', 'German', false)");
    assert_eq!(sql.one(query), "01.02.200305.04.2003");
    sql.run("RESET datestyle");
    assert_eq!(sql.one(query), "2003-02-012003-04-05");
}

#[test]
fn unknown_values_are_refused() {
    let sql = Sql::new();
    for set in [
        "SET datestyle = 'ISOO'",
        "SET datestyle = 'ISO, SQL'",
        "SET datestyle = 'DMY, MDY'",
        "SET intervalstyle = 'verbose'",
        "SET extra_float_digits = 4",
        "SET bytea_output = 'base64'",
    ] {
        assert_eq!(sql.state(set), "22023", "{set}");
    }
    for (set, shown) in [
        ("SET datestyle = dmy", "ISO, DMY"),
        ("SET datestyle TO sql", "SQL, DMY"),
        ("SET datestyle TO 'Postgres', 'MDY'", "Postgres, MDY"),
        ("SET datestyle TO DEFAULT", "ISO, MDY"),
    ] {
        sql.run(set);
        assert_eq!(sql.one("SHOW datestyle"), shown, "{set}");
    }
}
