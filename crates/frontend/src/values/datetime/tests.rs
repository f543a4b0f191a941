//! Texts of dates, times and intervals and what they look like by several settings.

use super::calendar::{self, DAY};
use super::{
    Locale, SpanField, SpanFields, Zone, read_date, read_interval, read_stamp, read_stamp_tz,
    read_time, read_timetz, write_date, write_interval, write_stamp, write_stamp_tz, write_time,
    write_timetz, zone_exists,
};
use crate::error::Result;

/// A text read as a type and written again.
fn again(ty: &str, text: &str, locale: &Locale) -> Result<String> {
    Ok(match ty {
        "date" => write_date(read_date(text, locale)?, locale),
        "timestamp" => write_stamp(read_stamp(text, locale)?, locale),
        "timestamptz" => write_stamp_tz(read_stamp_tz(text, locale)?, locale),
        "time" => write_time(read_time(text, locale)?),
        "timetz" => {
            let (time, east) = read_timetz(text, locale)?;
            write_timetz(time, east)
        }
        _ => {
            let span = read_interval(text, locale.intervals, SpanFields::default())?;
            write_interval(&span, locale.intervals)
        }
    })
}

/// Type, text, and what PostgreSQL shows of it.
type Case = (&'static str, &'static str, &'static str);

fn check(zone: &str, dates: &str, intervals: &str, cases: &[Case]) {
    let locale = Locale::new(zone, dates, intervals, 1_600_000_000_000_000);
    for (ty, text, expected) in cases {
        let found = again(ty, text, &locale);
        let found = found.unwrap_or_else(|e| format!("ERROR {}: {}", e.sqlstate, e.message));
        assert_eq!(&found, expected, "{ty} {text:?} in {zone}, {dates}");
    }
}

#[test]
fn iso() {
    let cases: &[Case] = &[
        ("date", "1999-01-08", "1999-01-08"),
        ("date", "January 8, 1999", "1999-01-08"),
        ("date", "1/8/1999", "1999-01-08"),
        ("date", "1/18/1999", "1999-01-18"),
        ("date", "01/02/03", "2003-01-02"),
        ("date", "08-Jan-99", "1999-01-08"),
        ("date", "19990108", "1999-01-08"),
        ("date", "1999.008", "1999-01-08"),
        ("date", "J2451187", "1999-01-08"),
        ("date", "January 8, 99 BC", "0099-01-08 BC"),
        (
            "date",
            "2023-02-29",
            "ERROR 22008: date/time field value out of range: \"2023-02-29\"",
        ),
        ("date", "epoch", "1970-01-01"),
        ("date", "-infinity", "-infinity"),
        (
            "date",
            "4714-11-23 BC",
            "ERROR 22008: date out of range: \"4714-11-23 BC\"",
        ),
        ("date", "5874897-12-31", "5874897-12-31"),
        (
            "date",
            "5874898-01-01",
            "ERROR 22008: date out of range: \"5874898-01-01\"",
        ),
        (
            "date",
            "12-31",
            "ERROR 22007: invalid input syntax for type date: \"12-31\"",
        ),
        (
            "date",
            "2020-W01-1",
            "ERROR 22007: invalid input syntax for type date: \"2020-W01-1\"",
        ),
        (
            "date",
            "é",
            "ERROR 22007: invalid input syntax for type date: \"é\"",
        ),
        (
            "date",
            "",
            "ERROR 22007: invalid input syntax for type date: \"\"",
        ),
        ("timestamp", "2020-01-01T101112.5", "2020-01-01 10:11:12.5"),
        (
            "timestamp",
            "2020-07-01 10:11:12.1234567 PST",
            "2020-07-01 10:11:12.123457",
        ),
        ("timestamp", "2020-01-01 24:00:00", "2020-01-02 00:00:00"),
        (
            "timestamp",
            "2020-01-01 24:00:01",
            "ERROR 22008: date/time field value out of range: \"2020-01-01 24:00:01\"",
        ),
        (
            "timestamp",
            "2020-01-01 13:00 PM",
            "ERROR 22008: date/time field value out of range: \"2020-01-01 13:00 PM\"",
        ),
        ("timestamp", "20200101T101010Z", "2020-01-01 10:10:10"),
        ("timestamp", "Jan 1 2020 1:00 am", "2020-01-01 01:00:00"),
        (
            "timestamp",
            "2020-01-01 Foo/Bar",
            "ERROR 22023: time zone \"foo/bar\" not recognized",
        ),
        (
            "timestamp",
            "2020-01-01 +16",
            "ERROR 22009: time zone displacement out of range: \"2020-01-01 +16\"",
        ),
        ("timestamp", "j2451187.5", "1999-01-08 12:00:00"),
        ("timestamp", "infinity", "infinity"),
        (
            "timestamp",
            "1999-12-31 23:59:60.5",
            "ERROR 22008: date/time field value out of range: \"1999-12-31 23:59:60.5\"",
        ),
        ("timestamp", "0044-03-15 10:00 BC", "0044-03-15 10:00:00 BC"),
        (
            "timestamptz",
            "2020-03-08 02:30 America/New_York",
            "2020-03-08 07:30:00+00",
        ),
        (
            "timestamptz",
            "2020-11-01 01:30 America/New_York",
            "2020-11-01 06:30:00+00",
        ),
        (
            "timestamptz",
            "2012-07-01 10:11:12 MSK",
            "2012-07-01 06:11:12+00",
        ),
        (
            "timestamptz",
            "2020-07-01 10:11 MET DST",
            "2020-07-01 08:11:00+00",
        ),
        (
            "timestamptz",
            "2020-07-01 10:11:12-7",
            "2020-07-01 17:11:12+00",
        ),
        (
            "timestamptz",
            "2020-07-01 10:11:12 UTC+3",
            "2020-07-01 13:11:12+00",
        ),
        (
            "timestamptz",
            "1800-01-01 Europe/Paris",
            "1799-12-31 23:50:39+00",
        ),
        ("timestamptz", "2500-07-01 12:00", "2500-07-01 12:00:00+00"),
        (
            "timestamptz",
            "11111-07-01 12:00",
            "11111-07-01 12:00:00+00",
        ),
        (
            "timestamptz",
            "2020-07-01 10:11 EST5EDT",
            "2020-07-01 14:11:00+00",
        ),
        ("timestamptz", "epoch", "1970-01-01 00:00:00+00"),
        ("time", "04:05:06.789", "04:05:06.789"),
        ("time", "040506", "04:05:06"),
        ("time", "04:05 PM", "16:05:00"),
        ("time", "24:00:00", "24:00:00"),
        (
            "time",
            "24:00:01",
            "ERROR 22008: date/time field value out of range: \"24:00:01\"",
        ),
        ("time", "allballs", "00:00:00"),
        ("time", "2003-04-12 04:05:06 America/New_York", "04:05:06"),
        (
            "time",
            "04:05 America/New_York",
            "ERROR 22007: invalid input syntax for type time: \"04:05 America/New_York\"",
        ),
        (
            "time",
            "12 am",
            "ERROR 22007: invalid input syntax for type time: \"12 am\"",
        ),
        (
            "time",
            "foo",
            "ERROR 22007: invalid input syntax for type time: \"foo\"",
        ),
        ("timetz", "04:05:06-08:00", "04:05:06-08"),
        ("timetz", "040506+0730", "04:05:06+07:30"),
        ("timetz", "10:00 MSK", "10:00:00+03"),
        ("timetz", "2020-07-01 10:00 PST8PDT", "10:00:00-07"),
        ("timetz", "10:00 z", "10:00:00+00"),
        ("interval", "1-2", "1 year 2 mons"),
        (
            "interval",
            "-1-2 3 4:05:06",
            "-1 years -2 mons +3 days 04:05:06",
        ),
        ("interval", "1 day 02:03:04", "1 day 02:03:04"),
        (
            "interval",
            "P1Y2M3DT4H5M6.5S",
            "1 year 2 mons 3 days 04:05:06.5",
        ),
        (
            "interval",
            "P0001-02-03T04:05:06",
            "1 year 2 mons 3 days 04:05:06",
        ),
        ("interval", "@ 1 day ago", "-1 days"),
        ("interval", "1.5 months", "1 mon 15 days"),
        ("interval", "1.55 decades", "15 years 6 mons"),
        ("interval", "0.7 mons -3.5 days", "18 days -12:00:00"),
        (
            "interval",
            "1 2",
            "ERROR 22007: invalid input syntax for type interval: \"1 2\"",
        ),
        ("interval", "1:30", "01:30:00"),
        ("interval", "30:15.5", "00:30:15.5"),
        (
            "interval",
            "1 day 1 day",
            "ERROR 22007: invalid input syntax for type interval: \"1 day 1 day\"",
        ),
        (
            "interval",
            "2147483648 days",
            "ERROR 22015: interval field value out of range: \"2147483648 days\"",
        ),
        (
            "interval",
            "178956971 years",
            "ERROR 22008: interval out of range",
        ),
        (
            "interval",
            "1 mon -1 day +01:00:00",
            "1 mon -1 days +01:00:00",
        ),
        ("interval", "0", "00:00:00"),
        (
            "interval",
            "1 foo",
            "ERROR 22007: invalid input syntax for type interval: \"1 foo\"",
        ),
        ("interval", "-1 day 1 sec", "-1 days +00:00:01"),
        ("interval", "PT", "00:00:00"),
    ];
    check("UTC", "ISO, MDY", "postgres", cases);
}

#[test]
fn sql() {
    let cases: &[Case] = &[
        ("date", "1999-01-08", "08/01/1999"),
        ("date", "January 8, 1999", "08/01/1999"),
        ("date", "1/8/1999", "01/08/1999"),
        (
            "date",
            "1/18/1999",
            "ERROR 22008: date/time field value out of range: \"1/18/1999\"",
        ),
        ("date", "01/02/03", "01/02/2003"),
        ("date", "08-Jan-99", "08/01/1999"),
        ("date", "19990108", "08/01/1999"),
        ("date", "1999.008", "08/01/1999"),
        ("date", "J2451187", "08/01/1999"),
        ("date", "January 8, 99 BC", "08/01/0099 BC"),
        (
            "date",
            "2023-02-29",
            "ERROR 22008: date/time field value out of range: \"2023-02-29\"",
        ),
        ("date", "epoch", "01/01/1970"),
        ("date", "-infinity", "-infinity"),
        (
            "date",
            "4714-11-23 BC",
            "ERROR 22008: date out of range: \"4714-11-23 BC\"",
        ),
        ("date", "5874897-12-31", "31/12/5874897"),
        (
            "date",
            "5874898-01-01",
            "ERROR 22008: date out of range: \"5874898-01-01\"",
        ),
        (
            "date",
            "12-31",
            "ERROR 22007: invalid input syntax for type date: \"12-31\"",
        ),
        (
            "date",
            "2020-W01-1",
            "ERROR 22007: invalid input syntax for type date: \"2020-W01-1\"",
        ),
        (
            "date",
            "é",
            "ERROR 22007: invalid input syntax for type date: \"é\"",
        ),
        (
            "date",
            "",
            "ERROR 22007: invalid input syntax for type date: \"\"",
        ),
        ("timestamp", "2020-01-01T101112.5", "01/01/2020 10:11:12.5"),
        (
            "timestamp",
            "2020-07-01 10:11:12.1234567 PST",
            "01/07/2020 10:11:12.123457",
        ),
        ("timestamp", "2020-01-01 24:00:00", "02/01/2020 00:00:00"),
        (
            "timestamp",
            "2020-01-01 24:00:01",
            "ERROR 22008: date/time field value out of range: \"2020-01-01 24:00:01\"",
        ),
        (
            "timestamp",
            "2020-01-01 13:00 PM",
            "ERROR 22008: date/time field value out of range: \"2020-01-01 13:00 PM\"",
        ),
        ("timestamp", "20200101T101010Z", "01/01/2020 10:10:10"),
        ("timestamp", "Jan 1 2020 1:00 am", "01/01/2020 01:00:00"),
        (
            "timestamp",
            "2020-01-01 Foo/Bar",
            "ERROR 22023: time zone \"foo/bar\" not recognized",
        ),
        (
            "timestamp",
            "2020-01-01 +16",
            "ERROR 22009: time zone displacement out of range: \"2020-01-01 +16\"",
        ),
        ("timestamp", "j2451187.5", "08/01/1999 12:00:00"),
        ("timestamp", "infinity", "infinity"),
        (
            "timestamp",
            "1999-12-31 23:59:60.5",
            "ERROR 22008: date/time field value out of range: \"1999-12-31 23:59:60.5\"",
        ),
        ("timestamp", "0044-03-15 10:00 BC", "15/03/0044 10:00:00 BC"),
        (
            "timestamptz",
            "2020-03-08 02:30 America/New_York",
            "08/03/2020 03:30:00 EDT",
        ),
        (
            "timestamptz",
            "2020-11-01 01:30 America/New_York",
            "01/11/2020 01:30:00 EST",
        ),
        (
            "timestamptz",
            "2012-07-01 10:11:12 MSK",
            "01/07/2012 02:11:12 EDT",
        ),
        (
            "timestamptz",
            "2020-07-01 10:11 MET DST",
            "01/07/2020 04:11:00 EDT",
        ),
        (
            "timestamptz",
            "2020-07-01 10:11:12-7",
            "01/07/2020 13:11:12 EDT",
        ),
        (
            "timestamptz",
            "2020-07-01 10:11:12 UTC+3",
            "01/07/2020 09:11:12 EDT",
        ),
        (
            "timestamptz",
            "1800-01-01 Europe/Paris",
            "31/12/1799 18:54:37 LMT",
        ),
        ("timestamptz", "2500-07-01 12:00", "01/07/2500 12:00:00 EDT"),
        (
            "timestamptz",
            "11111-07-01 12:00",
            "01/07/11111 12:00:00 EDT",
        ),
        (
            "timestamptz",
            "2020-07-01 10:11 EST5EDT",
            "01/07/2020 10:11:00 EDT",
        ),
        ("timestamptz", "epoch", "31/12/1969 19:00:00 EST"),
        ("time", "04:05:06.789", "04:05:06.789"),
        ("time", "040506", "04:05:06"),
        ("time", "04:05 PM", "16:05:00"),
        ("time", "24:00:00", "24:00:00"),
        (
            "time",
            "24:00:01",
            "ERROR 22008: date/time field value out of range: \"24:00:01\"",
        ),
        ("time", "allballs", "00:00:00"),
        ("time", "2003-04-12 04:05:06 America/New_York", "04:05:06"),
        (
            "time",
            "04:05 America/New_York",
            "ERROR 22007: invalid input syntax for type time: \"04:05 America/New_York\"",
        ),
        (
            "time",
            "12 am",
            "ERROR 22007: invalid input syntax for type time: \"12 am\"",
        ),
        (
            "time",
            "foo",
            "ERROR 22007: invalid input syntax for type time: \"foo\"",
        ),
        ("timetz", "04:05:06-08:00", "04:05:06-08"),
        ("timetz", "040506+0730", "04:05:06+07:30"),
        ("timetz", "10:00 MSK", "10:00:00+03"),
        ("timetz", "2020-07-01 10:00 PST8PDT", "10:00:00-07"),
        ("timetz", "10:00 z", "10:00:00+00"),
        ("interval", "1-2", "@ 1 year 2 mons"),
        (
            "interval",
            "-1-2 3 4:05:06",
            "@ 1 year 2 mons -3 days -4 hours -5 mins -6 secs ago",
        ),
        (
            "interval",
            "1 day 02:03:04",
            "@ 1 day 2 hours 3 mins 4 secs",
        ),
        (
            "interval",
            "P1Y2M3DT4H5M6.5S",
            "@ 1 year 2 mons 3 days 4 hours 5 mins 6.5 secs",
        ),
        (
            "interval",
            "P0001-02-03T04:05:06",
            "@ 1 year 2 mons 3 days 4 hours 5 mins 6 secs",
        ),
        ("interval", "@ 1 day ago", "@ 1 day ago"),
        ("interval", "1.5 months", "@ 1 mon 15 days"),
        ("interval", "1.55 decades", "@ 15 years 6 mons"),
        ("interval", "0.7 mons -3.5 days", "@ 18 days -12 hours"),
        (
            "interval",
            "1 2",
            "ERROR 22007: invalid input syntax for type interval: \"1 2\"",
        ),
        ("interval", "1:30", "@ 1 hour 30 mins"),
        ("interval", "30:15.5", "@ 30 mins 15.5 secs"),
        (
            "interval",
            "1 day 1 day",
            "ERROR 22007: invalid input syntax for type interval: \"1 day 1 day\"",
        ),
        (
            "interval",
            "2147483648 days",
            "ERROR 22015: interval field value out of range: \"2147483648 days\"",
        ),
        (
            "interval",
            "178956971 years",
            "ERROR 22008: interval out of range",
        ),
        (
            "interval",
            "1 mon -1 day +01:00:00",
            "@ 1 mon -1 days 1 hour",
        ),
        ("interval", "0", "@ 0"),
        (
            "interval",
            "1 foo",
            "ERROR 22007: invalid input syntax for type interval: \"1 foo\"",
        ),
        ("interval", "-1 day 1 sec", "@ 1 day -1 sec ago"),
        ("interval", "PT", "@ 0"),
    ];
    check("America/New_York", "SQL, DMY", "postgres_verbose", cases);
}

#[test]
fn postgres() {
    let cases: &[Case] = &[
        ("date", "1999-01-08", "01-08-1999"),
        ("date", "January 8, 1999", "01-08-1999"),
        (
            "date",
            "1/8/1999",
            "ERROR 22008: date/time field value out of range: \"1/8/1999\"",
        ),
        (
            "date",
            "1/18/1999",
            "ERROR 22008: date/time field value out of range: \"1/18/1999\"",
        ),
        ("date", "01/02/03", "02-03-2001"),
        (
            "date",
            "08-Jan-99",
            "ERROR 22008: date/time field value out of range: \"08-Jan-99\"",
        ),
        ("date", "19990108", "01-08-1999"),
        ("date", "1999.008", "01-08-1999"),
        ("date", "J2451187", "01-08-1999"),
        (
            "date",
            "January 8, 99 BC",
            "ERROR 22008: date/time field value out of range: \"January 8, 99 BC\"",
        ),
        (
            "date",
            "2023-02-29",
            "ERROR 22008: date/time field value out of range: \"2023-02-29\"",
        ),
        ("date", "epoch", "01-01-1970"),
        ("date", "-infinity", "-infinity"),
        (
            "date",
            "4714-11-23 BC",
            "ERROR 22008: date out of range: \"4714-11-23 BC\"",
        ),
        ("date", "5874897-12-31", "12-31-5874897"),
        (
            "date",
            "5874898-01-01",
            "ERROR 22008: date out of range: \"5874898-01-01\"",
        ),
        (
            "date",
            "12-31",
            "ERROR 22007: invalid input syntax for type date: \"12-31\"",
        ),
        (
            "date",
            "2020-W01-1",
            "ERROR 22007: invalid input syntax for type date: \"2020-W01-1\"",
        ),
        (
            "date",
            "é",
            "ERROR 22007: invalid input syntax for type date: \"é\"",
        ),
        (
            "date",
            "",
            "ERROR 22007: invalid input syntax for type date: \"\"",
        ),
        (
            "timestamp",
            "2020-01-01T101112.5",
            "Wed Jan 01 10:11:12.5 2020",
        ),
        (
            "timestamp",
            "2020-07-01 10:11:12.1234567 PST",
            "Wed Jul 01 10:11:12.123457 2020",
        ),
        (
            "timestamp",
            "2020-01-01 24:00:00",
            "Thu Jan 02 00:00:00 2020",
        ),
        (
            "timestamp",
            "2020-01-01 24:00:01",
            "ERROR 22008: date/time field value out of range: \"2020-01-01 24:00:01\"",
        ),
        (
            "timestamp",
            "2020-01-01 13:00 PM",
            "ERROR 22008: date/time field value out of range: \"2020-01-01 13:00 PM\"",
        ),
        ("timestamp", "20200101T101010Z", "Wed Jan 01 10:10:10 2020"),
        (
            "timestamp",
            "Jan 1 2020 1:00 am",
            "Wed Jan 01 01:00:00 2020",
        ),
        (
            "timestamp",
            "2020-01-01 Foo/Bar",
            "ERROR 22023: time zone \"foo/bar\" not recognized",
        ),
        (
            "timestamp",
            "2020-01-01 +16",
            "ERROR 22009: time zone displacement out of range: \"2020-01-01 +16\"",
        ),
        ("timestamp", "j2451187.5", "Fri Jan 08 12:00:00 1999"),
        ("timestamp", "infinity", "infinity"),
        (
            "timestamp",
            "1999-12-31 23:59:60.5",
            "ERROR 22008: date/time field value out of range: \"1999-12-31 23:59:60.5\"",
        ),
        (
            "timestamp",
            "0044-03-15 10:00 BC",
            "Fri Mar 15 10:00:00 0044 BC",
        ),
        (
            "timestamptz",
            "2020-03-08 02:30 America/New_York",
            "Sun Mar 08 08:30:00 2020 CET",
        ),
        (
            "timestamptz",
            "2020-11-01 01:30 America/New_York",
            "Sun Nov 01 07:30:00 2020 CET",
        ),
        (
            "timestamptz",
            "2012-07-01 10:11:12 MSK",
            "Sun Jul 01 08:11:12 2012 CEST",
        ),
        (
            "timestamptz",
            "2020-07-01 10:11 MET DST",
            "Wed Jul 01 10:11:00 2020 CEST",
        ),
        (
            "timestamptz",
            "2020-07-01 10:11:12-7",
            "Wed Jul 01 19:11:12 2020 CEST",
        ),
        (
            "timestamptz",
            "2020-07-01 10:11:12 UTC+3",
            "Wed Jul 01 15:11:12 2020 CEST",
        ),
        (
            "timestamptz",
            "1800-01-01 Europe/Paris",
            "Wed Jan 01 00:44:07 1800 LMT",
        ),
        (
            "timestamptz",
            "2500-07-01 12:00",
            "Thu Jul 01 12:00:00 2500 CEST",
        ),
        (
            "timestamptz",
            "11111-07-01 12:00",
            "Sat Jul 01 12:00:00 11111 CEST",
        ),
        (
            "timestamptz",
            "2020-07-01 10:11 EST5EDT",
            "Wed Jul 01 16:11:00 2020 CEST",
        ),
        ("timestamptz", "epoch", "Thu Jan 01 01:00:00 1970 CET"),
        ("time", "04:05:06.789", "04:05:06.789"),
        ("time", "040506", "04:05:06"),
        ("time", "04:05 PM", "16:05:00"),
        ("time", "24:00:00", "24:00:00"),
        (
            "time",
            "24:00:01",
            "ERROR 22008: date/time field value out of range: \"24:00:01\"",
        ),
        ("time", "allballs", "00:00:00"),
        ("time", "2003-04-12 04:05:06 America/New_York", "04:05:06"),
        (
            "time",
            "04:05 America/New_York",
            "ERROR 22007: invalid input syntax for type time: \"04:05 America/New_York\"",
        ),
        (
            "time",
            "12 am",
            "ERROR 22007: invalid input syntax for type time: \"12 am\"",
        ),
        (
            "time",
            "foo",
            "ERROR 22007: invalid input syntax for type time: \"foo\"",
        ),
        ("timetz", "04:05:06-08:00", "04:05:06-08"),
        ("timetz", "040506+0730", "04:05:06+07:30"),
        ("timetz", "10:00 MSK", "10:00:00+03"),
        ("timetz", "2020-07-01 10:00 PST8PDT", "10:00:00-07"),
        ("timetz", "10:00 z", "10:00:00+00"),
        ("interval", "1-2", "1-2"),
        ("interval", "-1-2 3 4:05:06", "-1-2 -3 -4:05:06"),
        ("interval", "1 day 02:03:04", "1 2:03:04"),
        ("interval", "P1Y2M3DT4H5M6.5S", "+1-2 +3 +4:05:06.5"),
        ("interval", "P0001-02-03T04:05:06", "+1-2 +3 +4:05:06"),
        ("interval", "@ 1 day ago", "-1 0:00:00"),
        ("interval", "1.5 months", "+0-1 +15 +0:00:00"),
        ("interval", "1.55 decades", "15-6"),
        ("interval", "0.7 mons -3.5 days", "+0-0 +18 -12:00:00"),
        (
            "interval",
            "1 2",
            "ERROR 22007: invalid input syntax for type interval: \"1 2\"",
        ),
        ("interval", "1:30", "1:30:00"),
        ("interval", "30:15.5", "0:30:15.5"),
        (
            "interval",
            "1 day 1 day",
            "ERROR 22007: invalid input syntax for type interval: \"1 day 1 day\"",
        ),
        (
            "interval",
            "2147483648 days",
            "ERROR 22015: interval field value out of range: \"2147483648 days\"",
        ),
        (
            "interval",
            "178956971 years",
            "ERROR 22008: interval out of range",
        ),
        ("interval", "1 mon -1 day +01:00:00", "+0-1 -1 +1:00:00"),
        ("interval", "0", "0"),
        (
            "interval",
            "1 foo",
            "ERROR 22007: invalid input syntax for type interval: \"1 foo\"",
        ),
        ("interval", "-1 day 1 sec", "-1 0:00:01"),
        ("interval", "PT", "0"),
    ];
    check("Europe/Berlin", "Postgres, YMD", "sql_standard", cases);
}

#[test]
fn german() {
    let cases: &[Case] = &[
        ("date", "1999-01-08", "08.01.1999"),
        ("date", "January 8, 1999", "08.01.1999"),
        ("date", "1/8/1999", "01.08.1999"),
        (
            "date",
            "1/18/1999",
            "ERROR 22008: date/time field value out of range: \"1/18/1999\"",
        ),
        ("date", "01/02/03", "01.02.2003"),
        ("date", "08-Jan-99", "08.01.1999"),
        ("date", "19990108", "08.01.1999"),
        ("date", "1999.008", "08.01.1999"),
        ("date", "J2451187", "08.01.1999"),
        ("date", "January 8, 99 BC", "08.01.0099 BC"),
        (
            "date",
            "2023-02-29",
            "ERROR 22008: date/time field value out of range: \"2023-02-29\"",
        ),
        ("date", "epoch", "01.01.1970"),
        ("date", "-infinity", "-infinity"),
        (
            "date",
            "4714-11-23 BC",
            "ERROR 22008: date out of range: \"4714-11-23 BC\"",
        ),
        ("date", "5874897-12-31", "31.12.5874897"),
        (
            "date",
            "5874898-01-01",
            "ERROR 22008: date out of range: \"5874898-01-01\"",
        ),
        (
            "date",
            "12-31",
            "ERROR 22007: invalid input syntax for type date: \"12-31\"",
        ),
        (
            "date",
            "2020-W01-1",
            "ERROR 22007: invalid input syntax for type date: \"2020-W01-1\"",
        ),
        (
            "date",
            "é",
            "ERROR 22007: invalid input syntax for type date: \"é\"",
        ),
        (
            "date",
            "",
            "ERROR 22007: invalid input syntax for type date: \"\"",
        ),
        ("timestamp", "2020-01-01T101112.5", "01.01.2020 10:11:12.5"),
        (
            "timestamp",
            "2020-07-01 10:11:12.1234567 PST",
            "01.07.2020 10:11:12.123457",
        ),
        ("timestamp", "2020-01-01 24:00:00", "02.01.2020 00:00:00"),
        (
            "timestamp",
            "2020-01-01 24:00:01",
            "ERROR 22008: date/time field value out of range: \"2020-01-01 24:00:01\"",
        ),
        (
            "timestamp",
            "2020-01-01 13:00 PM",
            "ERROR 22008: date/time field value out of range: \"2020-01-01 13:00 PM\"",
        ),
        ("timestamp", "20200101T101010Z", "01.01.2020 10:10:10"),
        ("timestamp", "Jan 1 2020 1:00 am", "01.01.2020 01:00:00"),
        (
            "timestamp",
            "2020-01-01 Foo/Bar",
            "ERROR 22023: time zone \"foo/bar\" not recognized",
        ),
        (
            "timestamp",
            "2020-01-01 +16",
            "ERROR 22009: time zone displacement out of range: \"2020-01-01 +16\"",
        ),
        ("timestamp", "j2451187.5", "08.01.1999 12:00:00"),
        ("timestamp", "infinity", "infinity"),
        (
            "timestamp",
            "1999-12-31 23:59:60.5",
            "ERROR 22008: date/time field value out of range: \"1999-12-31 23:59:60.5\"",
        ),
        ("timestamp", "0044-03-15 10:00 BC", "15.03.0044 10:00:00 BC"),
        (
            "timestamptz",
            "2020-03-08 02:30 America/New_York",
            "08.03.2020 13:00:00 IST",
        ),
        (
            "timestamptz",
            "2020-11-01 01:30 America/New_York",
            "01.11.2020 12:00:00 IST",
        ),
        (
            "timestamptz",
            "2012-07-01 10:11:12 MSK",
            "01.07.2012 11:41:12 IST",
        ),
        (
            "timestamptz",
            "2020-07-01 10:11 MET DST",
            "01.07.2020 13:41:00 IST",
        ),
        (
            "timestamptz",
            "2020-07-01 10:11:12-7",
            "01.07.2020 22:41:12 IST",
        ),
        (
            "timestamptz",
            "2020-07-01 10:11:12 UTC+3",
            "01.07.2020 18:41:12 IST",
        ),
        (
            "timestamptz",
            "1800-01-01 Europe/Paris",
            "01.01.1800 05:44:07 LMT",
        ),
        ("timestamptz", "2500-07-01 12:00", "01.07.2500 12:00:00 IST"),
        (
            "timestamptz",
            "11111-07-01 12:00",
            "01.07.11111 12:00:00 IST",
        ),
        (
            "timestamptz",
            "2020-07-01 10:11 EST5EDT",
            "01.07.2020 19:41:00 IST",
        ),
        ("timestamptz", "epoch", "01.01.1970 05:30:00 IST"),
        ("time", "04:05:06.789", "04:05:06.789"),
        ("time", "040506", "04:05:06"),
        ("time", "04:05 PM", "16:05:00"),
        ("time", "24:00:00", "24:00:00"),
        (
            "time",
            "24:00:01",
            "ERROR 22008: date/time field value out of range: \"24:00:01\"",
        ),
        ("time", "allballs", "00:00:00"),
        ("time", "2003-04-12 04:05:06 America/New_York", "04:05:06"),
        (
            "time",
            "04:05 America/New_York",
            "ERROR 22007: invalid input syntax for type time: \"04:05 America/New_York\"",
        ),
        (
            "time",
            "12 am",
            "ERROR 22007: invalid input syntax for type time: \"12 am\"",
        ),
        (
            "time",
            "foo",
            "ERROR 22007: invalid input syntax for type time: \"foo\"",
        ),
        ("timetz", "04:05:06-08:00", "04:05:06-08"),
        ("timetz", "040506+0730", "04:05:06+07:30"),
        ("timetz", "10:00 MSK", "10:00:00+03"),
        ("timetz", "2020-07-01 10:00 PST8PDT", "10:00:00-07"),
        ("timetz", "10:00 z", "10:00:00+00"),
        ("interval", "1-2", "P1Y2M"),
        ("interval", "-1-2 3 4:05:06", "P-1Y-2M3DT4H5M6S"),
        ("interval", "1 day 02:03:04", "P1DT2H3M4S"),
        ("interval", "P1Y2M3DT4H5M6.5S", "P1Y2M3DT4H5M6.5S"),
        ("interval", "P0001-02-03T04:05:06", "P1Y2M3DT4H5M6S"),
        ("interval", "@ 1 day ago", "P-1D"),
        ("interval", "1.5 months", "P1M15D"),
        ("interval", "1.55 decades", "P15Y6M"),
        ("interval", "0.7 mons -3.5 days", "P18DT-12H"),
        (
            "interval",
            "1 2",
            "ERROR 22007: invalid input syntax for type interval: \"1 2\"",
        ),
        ("interval", "1:30", "PT1H30M"),
        ("interval", "30:15.5", "PT30M15.5S"),
        (
            "interval",
            "1 day 1 day",
            "ERROR 22007: invalid input syntax for type interval: \"1 day 1 day\"",
        ),
        (
            "interval",
            "2147483648 days",
            "ERROR 22015: interval field value out of range: \"2147483648 days\"",
        ),
        (
            "interval",
            "178956971 years",
            "ERROR 22008: interval out of range",
        ),
        ("interval", "1 mon -1 day +01:00:00", "P1M-1DT1H"),
        ("interval", "0", "PT0S"),
        (
            "interval",
            "1 foo",
            "ERROR 22007: invalid input syntax for type interval: \"1 foo\"",
        ),
        ("interval", "-1 day 1 sec", "P-1DT1S"),
        ("interval", "PT", "PT0S"),
    ];
    check("Asia/Kolkata", "German", "iso_8601", cases);
}

#[test]
fn days_and_dates() {
    for days in (-2_440_588..2_932_897).step_by(97) {
        let (year, month, day) = calendar::civil(days);
        assert_eq!(calendar::days_of(year, month.into(), day.into()), days);
    }
    assert_eq!(calendar::civil(0), (1970, 1, 1));
    assert_eq!(calendar::civil(-1), (1969, 12, 31));
    assert_eq!(calendar::weekday(0), 4);
    assert_eq!(
        calendar::iso_week(calendar::days_of(2021, 1, 3)),
        (2020, 53)
    );
}

#[test]
fn zones_by_name() {
    for name in [
        "utc",
        "europe/berlin",
        "EST5EDT",
        "<+03>-3",
        "-3.5",
        "FOO+3",
        "5",
    ] {
        assert!(zone_exists(name), "{name}");
    }
    for name in ["Foo/Bar", "", "Europe/", "+", "é", "200"] {
        assert!(!zone_exists(name), "{name}");
    }
}

#[test]
fn years_beyond_the_database_use_its_last_rule() {
    let zone = Zone::find("America/New_York").unwrap_or_default();
    for year in [2400, 9999, 12_000, 200_000] {
        let july = calendar::days_of(year, 7, 1) * DAY;
        let january = calendar::days_of(year, 1, 1) * DAY;
        assert_eq!(zone.east_at(july), -4 * 3600, "{year}");
        assert_eq!(zone.east_at(january), -5 * 3600, "{year}");
        assert_eq!(zone.to_utc(zone.to_local(july)), Some(july));
    }
}

#[test]
fn fields_of_intervals() {
    let read = |text: &str, first, last, decimals| {
        let of = SpanFields {
            first,
            last,
            decimals,
        };
        let span = read_interval(text, Default::default(), of);
        span.map(|span| write_interval(&span, Default::default()))
            .ok()
    };
    use SpanField::{Day, Hour, Minute, Month, Second, Year};
    let cases = [
        (read("5", Day, Day, None), "5 days"),
        (read("1-2", Year, Year, None), "1 year"),
        (read("5", Year, Month, None), "5 mons"),
        (read("1:30", Minute, Second, None), "00:01:30"),
        (read("1 day 01:02:03", Day, Hour, None), "1 day 01:00:00"),
        (read("1.23456", Second, Second, Some(2)), "00:00:01.23"),
    ];
    for (found, expected) in cases {
        assert_eq!(found.as_deref(), Some(expected));
    }
}

#[test]
fn no_text_is_too_odd() {
    let locale = Locale::default();
    let alphabet = [
        "1", "20", "2020", "-", ":", ".", "/", " ", "t", "jan", "é", "+", "z", "pm",
    ];
    let mut state = 1u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            text.push_str(alphabet[(state >> 33) as usize % alphabet.len()]);
        }
        for ty in [
            "date",
            "timestamp",
            "timestamptz",
            "time",
            "timetz",
            "interval",
        ] {
            let Ok(shown) = again(ty, &text, &locale) else {
                continue;
            };
            // A zone may be further off than an offset can be read.
            if ty == "timetz" {
                continue;
            }
            let twice = again(ty, &shown, &locale);
            assert_eq!(twice.ok().as_ref(), Some(&shown), "{ty} {text:?}");
        }
    }
}
