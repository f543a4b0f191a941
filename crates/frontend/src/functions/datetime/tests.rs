//! Functions, operators and casts, and what PostgreSQL gives.

use super::{digits_of_field, of, ordinals};
use crate::error::Result;
use crate::functions::kernel::{Call, Column};
use crate::functions::testing::{self, Argument};
use crate::functions::{Catalogue, catalogue, resolve_function};
use crate::types::Type;

fn shown(found: Result<Option<String>>) -> String {
    match found {
        Ok(text) => text.unwrap_or_else(|| "NULL".to_owned()),
        Err(error) => format!("ERROR {}: {}", error.sqlstate, error.message),
    }
}

/// A name, arguments, and what PostgreSQL shows.
type Case<'a> = (&'a str, &'a [(Type, &'a str)], &'a str);

fn arguments<'a>(of: &'a [(Type, &'a str)]) -> Vec<Argument<'a>> {
    of.iter()
        .map(|(ty, text)| (ty.clone(), Some(*text)))
        .collect()
}

#[test]
fn functions() {
    let cases: &[Case<'_>] = &[
        (
            "date_trunc",
            &[(Type::Text, "quarter"), (of::STAMP, "2020-05-17 10:11:12")],
            "2020-04-01 00:00:00",
        ),
        (
            "date_trunc",
            &[(Type::Text, "millennium"), (of::STAMP, "2000-05-17")],
            "1001-01-01 00:00:00",
        ),
        (
            "date_trunc",
            &[(Type::Text, "decade"), (of::STAMP, "0005-05-17 BC")],
            "0011-01-01 00:00:00 BC",
        ),
        (
            "date_trunc",
            &[(Type::Text, "week"), (of::STAMP, "2021-01-03 12:00")],
            "2020-12-28 00:00:00",
        ),
        (
            "date_trunc",
            &[(Type::Text, "dow"), (of::STAMP, "2021-01-03")],
            "ERROR 22023: unit \"dow\" not recognized for type timestamp without time zone",
        ),
        (
            "date_trunc",
            &[(Type::Text, "foo"), (of::STAMP, "2021-01-03")],
            "ERROR 22023: unit \"foo\" not recognized for type timestamp without time zone",
        ),
        (
            "date_trunc",
            &[
                (Type::Text, "day"),
                (of::STAMPTZ, "2020-03-29 12:00+00"),
                (Type::Text, "Europe/Berlin"),
            ],
            "2020-03-28 23:00:00+00",
        ),
        (
            "date_trunc",
            &[
                (Type::Text, "day"),
                (of::STAMPTZ, "2020-03-29 12:00+00"),
                (Type::Text, "Foo"),
            ],
            "ERROR 22023: time zone \"Foo\" not recognized",
        ),
        (
            "date_trunc",
            &[(Type::Text, "week"), (of::SPAN, "3 days")],
            "ERROR 0A000: unit \"week\" not supported for type interval",
        ),
        (
            "date_trunc",
            &[(Type::Text, "month"), (of::SPAN, "1 year 2 mons 3 days")],
            "1 year 2 mons",
        ),
        (
            "date_bin",
            &[
                (of::SPAN, "15 min"),
                (of::STAMP, "2020-02-11 15:44:17"),
                (of::STAMP, "2001-01-01"),
            ],
            "2020-02-11 15:30:00",
        ),
        (
            "date_bin",
            &[
                (of::SPAN, "1 hour"),
                (of::STAMP, "1999-12-31 23:30"),
                (of::STAMP, "2001-01-01 00:10"),
            ],
            "1999-12-31 23:10:00",
        ),
        (
            "date_bin",
            &[
                (of::SPAN, "1 month"),
                (of::STAMP, "2020-02-11"),
                (of::STAMP, "2001-01-01"),
            ],
            "ERROR 0A000: timestamps cannot be binned into intervals containing months or years",
        ),
        (
            "date_bin",
            &[
                (of::SPAN, "0"),
                (of::STAMP, "2020-02-11"),
                (of::STAMP, "2001-01-01"),
            ],
            "ERROR 22008: stride must be greater than zero",
        ),
        (
            "age",
            &[(of::STAMP, "2001-04-10"), (of::STAMP, "1957-06-13")],
            "43 years 9 mons 27 days",
        ),
        (
            "age",
            &[(of::STAMP, "2000-01-31"), (of::STAMP, "2000-03-01 01:00")],
            "-1 mons -1 days -01:00:00",
        ),
        (
            "justify_interval",
            &[(of::SPAN, "1 mon -1 hour")],
            "29 days 23:00:00",
        ),
        (
            "justify_hours",
            &[(of::SPAN, "-25 hours")],
            "-1 days -01:00:00",
        ),
        ("justify_days", &[(of::SPAN, "-35 days 1 mon")], "-5 days"),
        (
            "timezone",
            &[(Type::Text, "PST"), (of::STAMP, "2001-02-16 20:38:40")],
            "2001-02-17 04:38:40+00",
        ),
        (
            "timezone",
            &[
                (Type::Text, "America/Denver"),
                (of::STAMPTZ, "2001-02-16 20:38:40-05"),
            ],
            "2001-02-16 18:38:40",
        ),
        (
            "timezone",
            &[(Type::Text, "MSK"), (of::STAMP, "2012-01-01")],
            "2011-12-31 20:00:00+00",
        ),
        (
            "timezone",
            &[(Type::Text, "nowhere"), (of::STAMP, "2012-01-01")],
            "ERROR 22023: time zone \"nowhere\" not recognized",
        ),
        (
            "timezone",
            &[
                (Type::Text, "Europe/Berlin"),
                (of::STAMP, "2020-03-29 02:30"),
            ],
            "2020-03-29 01:30:00+00",
        ),
        (
            "timezone",
            &[
                (of::SPAN, "-08:00"),
                (of::STAMPTZ, "2001-02-16 20:38:40+00"),
            ],
            "2001-02-16 12:38:40",
        ),
        (
            "timezone",
            &[(of::SPAN, "1 day"), (of::STAMPTZ, "2001-02-16 20:38:40+00")],
            "ERROR 22023: interval time zone \"1 day\" must not include months or days",
        ),
        (
            "timezone",
            &[
                (Type::Text, "+05:30"),
                (of::STAMPTZ, "2001-02-16 20:38:40+00"),
            ],
            "2001-02-16 15:08:40",
        ),
        (
            "to_char",
            &[
                (of::STAMP, "2002-04-20 17:31:12.66"),
                (Type::Text, "HH12:MI:SS"),
            ],
            "05:31:12",
        ),
        (
            "to_char",
            &[
                (of::STAMP, "2003-02-01 16:05:06.789"),
                (
                    Type::Text,
                    "Day, DD Month YYYY FMMonth FMDDth HH:MI PM MS US",
                ),
            ],
            "Saturday , 01 February  2003 February 1st 04:05 PM 789 789000",
        ),
        (
            "to_char",
            &[
                (of::STAMP, "0044-03-15 BC"),
                (Type::Text, "YYYY B.C. CC Q WW IW IYYY J D ID DDD IDDD RM"),
            ],
            "0044 B.C. -01 1 11 11 0044 1705428 6 5 074 075 III ",
        ),
        (
            "to_char",
            &[
                (of::STAMPTZ, "2003-02-01 16:05:06.789+00"),
                (Type::Text, "TZ tz TZH:TZM OF SSSS FF3"),
            ],
            "UTC utc +00:00 +00 57906 789",
        ),
        (
            "to_char",
            &[(of::SPAN, "15h 2m 12s"), (Type::Text, "HH24:MI:SS")],
            "15:02:12",
        ),
        (
            "to_char",
            &[(of::SPAN, "-3 days -4 hours"), (Type::Text, "DD HH24")],
            "-3 -04",
        ),
        (
            "to_char",
            &[(of::SPAN, "1 day"), (Type::Text, "Day")],
            "ERROR 22007: invalid format specification for an interval value",
        ),
        (
            "to_char",
            &[
                (of::STAMP, "2003-02-01"),
                (Type::Text, "\"YYYY\" \\\"YYYY\\\" yyyy"),
            ],
            "YYYY \"2003\" 2003",
        ),
        (
            "to_char",
            &[(of::STAMP, "infinity"), (Type::Text, "YYYY")],
            "NULL",
        ),
        (
            "to_date",
            &[(Type::Text, "05 Dec 2000"), (Type::Text, "DD Mon YYYY")],
            "2000-12-05",
        ),
        (
            "to_date",
            &[(Type::Text, "2020-366"), (Type::Text, "YYYY-DDD")],
            "2020-12-31",
        ),
        (
            "to_date",
            &[(Type::Text, "2020-53-7"), (Type::Text, "IYYY-IW-ID")],
            "2021-01-03",
        ),
        (
            "to_date",
            &[(Type::Text, "20-1-1"), (Type::Text, "YY-MM-DD")],
            "2020-01-01",
        ),
        (
            "to_date",
            &[(Type::Text, "2020-02-30"), (Type::Text, "YYYY-MM-DD")],
            "ERROR 22008: date/time field value out of range: \"2020-02-30\"",
        ),
        (
            "to_date",
            &[(Type::Text, "2020 foo"), (Type::Text, "YYYY Mon")],
            "ERROR 22007: invalid value \"foo\" for \"Mon\"",
        ),
        (
            "to_date",
            &[(Type::Text, "2020-13"), (Type::Text, "YYYY-WW IW")],
            "2020-03-25",
        ),
        (
            "to_date",
            &[(Type::Text, "44-02-01 BC"), (Type::Text, "YYYY-MM-DD BC")],
            "0044-02-01 BC",
        ),
        (
            "to_timestamp",
            &[
                (Type::Text, "2011-12-18 11:38:59.5 PM"),
                (Type::Text, "YYYY-MM-DD HH12:MI:SS.MS AM"),
            ],
            "2011-12-18 23:38:59.5+00",
        ),
        (
            "to_timestamp",
            &[
                (Type::Text, "2011-12-18 23:38:15-05:30"),
                (Type::Text, "YYYY-MM-DD HH24:MI:SSTZH:TZM"),
            ],
            "2011-12-19 05:08:15+00",
        ),
        (
            "to_timestamp",
            &[
                (Type::Text, "2011-12-18 13:00 PM"),
                (Type::Text, "YYYY-MM-DD HH12:MI PM"),
            ],
            "ERROR 22007: hour \"13\" is invalid for the 12-hour clock",
        ),
        (
            "to_timestamp",
            &[(Type::Text, "20000 1 1"), (Type::Text, "YYYY MM DD")],
            "20000-01-01 00:00:00+00",
        ),
        (
            "to_timestamp",
            &[(Type::Text, "2000JUN"), (Type::Text, "YYYY///MON")],
            "2000-06-01 00:00:00+00",
        ),
        (
            "to_timestamp",
            &[(Type::Text, "2000"), (Type::Text, "FXYYYY MON")],
            "2000-01-01 00:00:00+00",
        ),
        (
            "extract",
            &[(Type::Text, "hour"), (of::DATE, "2006-01-01")],
            "ERROR 0A000: unit \"hour\" not supported for type date",
        ),
        (
            "extract",
            &[(Type::Text, "day"), (of::TIME, "10:00")],
            "ERROR 0A000: unit \"day\" not supported for type time without time zone",
        ),
        (
            "extract",
            &[(Type::Text, "timezone"), (of::STAMP, "2006-01-01")],
            "ERROR 0A000: unit \"timezone\" not supported for type timestamp without time zone",
        ),
        (
            "extract",
            &[(Type::Text, "foo"), (of::SPAN, "1 day")],
            "ERROR 22023: unit \"foo\" not recognized for type interval",
        ),
    ];
    for (name, of, expected) in cases {
        assert_eq!(
            &shown(testing::call(name, &arguments(of))),
            expected,
            "{name} {of:?}"
        );
    }
}

#[test]
fn fields_and_truths() {
    let cases: &[Case<'_>] = &[
        ("isfinite", &[(of::DATE, "infinity")], "false"),
        (
            "overlaps",
            &[
                (of::STAMP, "2001-02-16"),
                (of::STAMP, "2001-12-21"),
                (of::STAMP, "2001-10-30"),
                (of::STAMP, "2002-10-30"),
            ],
            "true",
        ),
        (
            "overlaps",
            &[
                (of::TIME, "10:00"),
                (of::SPAN, "2 hours"),
                (of::TIME, "12:00"),
                (of::SPAN, "1 hour"),
            ],
            "false",
        ),
        (
            "extract",
            &[(Type::Text, "century"), (of::DATE, "2000-12-31")],
            "20",
        ),
        (
            "extract",
            &[(Type::Text, "julian"), (of::STAMP, "2006-01-01 12:00")],
            "2453737.50000000000000000000",
        ),
        (
            "extract",
            &[(Type::Text, "second"), (of::TIME, "17:12:28.5")],
            "28.500000",
        ),
        (
            "extract",
            &[(Type::Text, "milliseconds"), (of::TIMETZ, "17:12:28.5+01")],
            "28500.000",
        ),
        (
            "extract",
            &[
                (Type::Text, "timezone_hour"),
                (of::TIMETZ, "17:12:28.5-03:30"),
            ],
            "-3",
        ),
        (
            "extract",
            &[(Type::Text, "epoch"), (of::SPAN, "5 days 3 hours 1 mon")],
            "3034800.000000",
        ),
        (
            "extract",
            &[(Type::Text, "isoyear"), (of::DATE, "2006-01-01")],
            "2005",
        ),
        (
            "extract",
            &[(Type::Text, "month"), (of::STAMP, "infinity")],
            "NULL",
        ),
    ];
    for (name, of, expected) in cases {
        assert_eq!(&shown(number(name, of)), expected, "{name} {of:?}");
    }
}

/// The text of a BOOLEAN or a NUMERIC that a function gives.
fn number(name: &str, of: &[(Type, &str)]) -> Result<Option<String>> {
    use crate::values::Numeric;
    use arrow_array::cast::AsArray;
    let mut chapter = Catalogue::default();
    super::register(&mut chapter);
    let types: Vec<Type> = of.iter().map(|(ty, _)| ty.clone()).collect();
    let functions = chapter.functions(name);
    let function = functions.iter().find(|f| f.parameters == types);
    let function = function.ok_or_else(|| crate::Error::internal(name))?;
    let session = crate::functions::Session::default();
    let mut columns = Vec::new();
    for (ty, text) in of {
        let text: arrow_array::ArrayRef =
            std::sync::Arc::new(arrow_array::StringViewArray::from(vec![*text]));
        let call = Call {
            rows: 1,
            types: &[Type::Text],
            returns: ty,
            session: &session,
        };
        columns.push(Column::constant(match chapter.cast_of(&Type::Text, ty) {
            Some(cast) => match &cast.function {
                Some(read) => (read.kernel)(&call, &[Column::constant(text)])?,
                None => text,
            },
            None => text,
        }));
    }
    let returns = match &function.returns {
        crate::functions::Returns::Type(ty) => ty.clone(),
        crate::functions::Returns::Of(of) => of(&types),
    };
    let call = Call {
        rows: 1,
        types: &types,
        returns: &returns,
        session: &session,
    };
    let result = (function.kernel)(&call, &columns)?;
    if arrow_array::Array::is_null(&result, 0) {
        return Ok(None);
    }
    Ok(Some(match result.as_boolean_opt() {
        Some(truth) => truth.value(0).to_string(),
        None => Numeric::decode(result.as_binary_view().value(0)).to_string(),
    }))
}

#[test]
fn operators() {
    let cases: &[Case<'_>] = &[
        (
            "+",
            &[(of::DATE, "2001-09-28"), (of::TIME, "03:00")],
            "2001-09-28 03:00:00",
        ),
        (
            "-",
            &[(of::DATE, "2001-09-28"), (of::SPAN, "1 hour")],
            "2001-09-27 23:00:00",
        ),
        (
            "+",
            &[(of::STAMP, "2020-01-31"), (of::SPAN, "1 mon 1 day")],
            "2020-03-01 00:00:00",
        ),
        (
            "-",
            &[(of::STAMP, "2020-03-31 10:00"), (of::SPAN, "1 mon")],
            "2020-02-29 10:00:00",
        ),
        (
            "-",
            &[
                (of::STAMP, "2001-09-29 03:00"),
                (of::STAMP, "2001-07-27 12:00"),
            ],
            "63 days 15:00:00",
        ),
        (
            "-",
            &[(of::STAMP, "infinity"), (of::STAMP, "2001-07-27 12:00")],
            "ERROR 22008: cannot subtract infinite timestamps",
        ),
        (
            "+",
            &[(of::STAMP, "infinity"), (of::SPAN, "1 day")],
            "infinity",
        ),
        (
            "+",
            &[(of::STAMP, "4713-11-24 BC"), (of::SPAN, "-1 day")],
            "4713-11-23 00:00:00 BC",
        ),
        (
            "+",
            &[(of::TIME, "01:00"), (of::SPAN, "3 hours")],
            "04:00:00",
        ),
        (
            "-",
            &[(of::TIME, "01:00"), (of::SPAN, "3 hours")],
            "22:00:00",
        ),
        ("-", &[(of::TIME, "05:00"), (of::TIME, "03:00")], "02:00:00"),
        (
            "+",
            &[(of::TIMETZ, "23:00+02"), (of::SPAN, "3 hours")],
            "02:00:00+02",
        ),
        (
            "+",
            &[(of::SPAN, "2147483647 days"), (of::SPAN, "1 day")],
            "ERROR 22008: interval out of range",
        ),
        (
            "-",
            &[(of::SPAN, "1 day"), (of::SPAN, "1 mon")],
            "-1 mons +1 day",
        ),
        (
            "+",
            &[(of::SPAN, "1 hour"), (of::DATE, "2001-09-28")],
            "2001-09-28 01:00:00",
        ),
        (
            "+",
            &[(of::DATE, "2001-09-28"), (of::TIMETZ, "03:00+02")],
            "2001-09-28 01:00:00+00",
        ),
    ];
    for (name, of, expected) in cases {
        assert_eq!(
            &shown(testing::operate(name, &arguments(of))),
            expected,
            "{name} {of:?}"
        );
    }
}

#[test]
fn casts() {
    let cases = [
        (of::DATE, of::STAMP, "2020-01-01", "2020-01-01 00:00:00"),
        (of::STAMP, of::DATE, "2020-01-01 23:59:59", "2020-01-01"),
        (
            of::STAMPTZ,
            of::TIMETZ,
            "2020-01-01 23:59:59+01",
            "22:59:59+00",
        ),
        (of::SPAN, of::TIME, "-1 hour", "23:00:00"),
        (of::TIME, of::SPAN, "10:00", "10:00:00"),
        (of::TIMETZ, of::TIME, "10:00+05", "10:00:00"),
        (
            of::DATE,
            of::STAMP,
            "5874897-12-31",
            "ERROR 22008: date out of range for timestamp",
        ),
        (of::STAMPTZ, of::TIME, "infinity", "NULL"),
        (of::STAMP, of::DATE, "-infinity", "-infinity"),
        (
            Type::Text,
            Type::Timestamp(Some(0)),
            "1999-12-31 23:59:58.5",
            "1999-12-31 23:59:58",
        ),
        (
            Type::Text,
            Type::Timestamp(Some(0)),
            "2001-12-31 23:59:58.5",
            "2001-12-31 23:59:59",
        ),
        (Type::Text, Type::Time(Some(2)), "23:59:59.999", "24:00:00"),
    ];
    for (from, to, text, expected) in cases {
        let found = testing::cast((from.clone(), Some(text)), &to);
        assert_eq!(shown(found), expected, "{text} {from} to {to}");
    }
}

#[test]
fn other_names() {
    let stamp = |text| (of::STAMP, Some(text));
    let text = |text| (Type::Text, Some(text));
    let cases = [
        ("last_day", vec![stamp("2024-02-03")], "2024-02-29"),
        ("monthname", vec![stamp("2024-02-03")], "February"),
        ("dayname", vec![stamp("2024-02-03")], "Saturday"),
        (
            "strftime",
            vec![
                stamp("2003-02-01 16:05:06"),
                text("%d.%m.%y %I%p %j %-d %%"),
            ],
            "01.02.03 04PM 032 1 %",
        ),
        (
            "strptime",
            vec![
                text("Sat, 1 Feb 2003 4:05 PM"),
                text("%a, %d %b %Y %I:%M %p"),
            ],
            "2003-02-01 16:05:00",
        ),
        (
            "time_bucket",
            vec![(of::SPAN, Some("1 week")), stamp("2024-05-15 10:00")],
            "2024-05-13 00:00:00",
        ),
        (
            "time_bucket",
            vec![
                (of::SPAN, Some("3 months")),
                stamp("2024-05-15"),
                stamp("2024-01-31"),
            ],
            "2024-04-30 00:00:00",
        ),
        (
            "date_add",
            vec![stamp("2024-01-31"), (of::SPAN, Some("1 mon"))],
            "2024-02-29 00:00:00",
        ),
    ];
    for (name, arguments, expected) in cases {
        assert_eq!(shown(testing::call(name, &arguments)), expected, "{name}");
    }
}

#[test]
fn calls_that_need_casts() {
    let date = |text| (Type::Date, Some(text));
    let unknown = |text| (Type::Unknown, Some(text));
    let cases = [
        ("to_char", vec![date("2020-02-03"), unknown("YYYY")], "2020"),
        (
            "date_trunc",
            vec![unknown("month"), date("2020-02-03")],
            "2020-02-01 00:00:00+00",
        ),
        (
            "age",
            vec![date("2020-02-03"), date("2019-01-01")],
            "1 year 1 mon 2 days",
        ),
        (
            "timezone",
            vec![unknown("PST"), unknown("2020-02-03")],
            "2020-02-02 16:00:00",
        ),
        (
            "to_char",
            vec![(of::TIME, Some("10:11")), unknown("HH24:MI")],
            "10:11",
        ),
        (
            "date_diff",
            vec![unknown("day"), date("2020-02-03"), date("2020-03-01")],
            "27",
        ),
        (
            "overlaps",
            vec![
                date("2020-01-01"),
                date("2020-02-01"),
                date("2020-01-15"),
                date("2020-03-01"),
            ],
            "true",
        ),
    ];
    for (name, arguments, expected) in cases {
        assert_eq!(shown(testing::call(name, &arguments)), expected, "{name}");
    }
    let operands = [(of::SPAN, Some("1 day 12:00")), (Type::Int4, Some("2"))];
    assert_eq!(shown(testing::operate("*", &operands)), "2 days 24:00:00");
    let operands = [date("2020-01-01"), unknown("2019-01-01")];
    assert_eq!(shown(testing::operate("-", &operands)), "365");
}

/// Names of fields, those that are none among them.
const FIELDS: &[&str] = &[
    "microseconds",
    "milliseconds",
    "second",
    "minute",
    "hour",
    "day",
    "week",
    "month",
    "quarter",
    "year",
    "decade",
    "century",
    "millennium",
    "timezone",
    "timezone_hour",
    "timezone_minute",
    "julian",
    "dow",
    "isodow",
    "doy",
    "isoyear",
    "epoch",
    "YEAR",
    "t",
    "nothing",
    "",
];

/// Values of types that have fields.
fn dates_and_times() -> Vec<(Type, &'static str)> {
    let of: [(Type, &[&str]); 6] = [
        (
            of::DATE,
            &[
                "2024-02-29",
                "0044-03-15 BC",
                "infinity",
                "-infinity",
                "4713-01-01 BC",
                "5874897-12-31",
            ],
        ),
        (
            of::STAMP,
            &[
                "2024-02-29 23:59:59.999999",
                "0001-01-01",
                "infinity",
                "-infinity",
                "294246-12-31",
            ],
        ),
        (
            of::STAMPTZ,
            &[
                "2024-02-29 23:59:59.25+00",
                "0001-01-01 00:00+00",
                "infinity",
                "-infinity",
            ],
        ),
        (of::TIME, &["00:00", "23:59:59.999999", "24:00"]),
        (of::TIMETZ, &["10:11:12.5-03:30", "23:59:59+15:59"]),
        (
            of::SPAN,
            &[
                "1 year 2 mons 3 days 04:05:06.7",
                "-178956970 years",
                "2562047788:00:54.775807",
                "-1 sec",
            ],
        ),
    ];
    let all = of.into_iter();
    all.flat_map(|(ty, texts)| texts.iter().map(move |text| (ty.clone(), *text)))
        .collect()
}

/// A field is the same as a decimal of its digits, and by the number that stands for it.
#[test]
fn fields_in_other_forms() {
    let (mut decimals, mut numbers) = (0, 0);
    for (ty, text) in dates_and_times() {
        for name in FIELDS {
            let told = [(Type::Text, Some(*name)), (ty.clone(), Some(text))];
            let expected = shown(testing::call("extract", &told));
            let types = [Type::Text, ty.clone()];
            if let Some(digits) = digits_of_field(name, &ty) {
                let found = resolve_function(catalogue().functions("extract"), &types);
                let extract = found.unwrap().function;
                let returns = Type::Numeric(Some(digits));
                let value = shown(testing::apply(&extract, &returns, &told));
                assert_eq!(value, expected, "{name} of {ty} {text}");
                decimals += 1;
            }
            if let Some(numbered) = ordinals(name, &ty) {
                let ordinal = testing::apply(&numbered.of, &Type::Int8, &told).unwrap();
                let told = [(Type::Int8, ordinal.as_deref())];
                let value = testing::apply(&numbered.value, &Type::Numeric(None), &told);
                assert_eq!(shown(value), expected, "{name} of {ty} {text}");
                numbers += 1;
            }
        }
    }
    assert!(decimals > 150 && numbers > 60, "{decimals} {numbers}");
}
