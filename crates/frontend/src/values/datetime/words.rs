//! Words in dates, times and intervals, and the names of their units.

/// The meaning of a word in a date or a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// `now`.
    Now,
    /// `today`.
    Today,
    /// `yesterday`.
    Yesterday,
    /// `tomorrow`.
    Tomorrow,
    /// `allballs`: midnight in UTC.
    Midnight,
    /// `epoch`.
    Epoch,
    /// `infinity`.
    Late,
    /// `-infinity`.
    Early,
    /// A month, from 1.
    Month(i32),
    /// A day of the week.
    Weekday,
    /// `dst`: an hour of summer time.
    Summer,
    /// `am`, or `pm` if it is true.
    Afternoon(bool),
    /// `ad`, or `bc` if it is true.
    BeforeChrist(bool),
    /// A label of the next or the last number.
    Label(Unit),
    /// `t`, before a time.
    Time,
    /// A word without meaning.
    Ignored,
}

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub(crate) enum Unit {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    Decade,
    Century,
    Millennium,
    Timezone,
    TimezoneHour,
    TimezoneMinute,
    Julian,
    Dow,
    IsoDow,
    Doy,
    IsoYear,
    Epoch,
    /// A time without separators, after `t`.
    Time,
}

/// Words are told apart by this many bytes.
pub(super) const SIGNIFICANT: usize = 10;

fn significant(word: &str) -> &str {
    word.get(..SIGNIFICANT).unwrap_or(word)
}

/// The meaning of a word in small letters.
pub(crate) fn word(text: &str) -> Option<Word> {
    Some(match significant(text) {
        "now" => Word::Now,
        "today" => Word::Today,
        "yesterday" => Word::Yesterday,
        "tomorrow" => Word::Tomorrow,
        "allballs" => Word::Midnight,
        "epoch" => Word::Epoch,
        "infinity" => Word::Late,
        "-infinity" => Word::Early,
        "jan" | "january" => Word::Month(1),
        "feb" | "february" => Word::Month(2),
        "mar" | "march" => Word::Month(3),
        "apr" | "april" => Word::Month(4),
        "may" => Word::Month(5),
        "jun" | "june" => Word::Month(6),
        "jul" | "july" => Word::Month(7),
        "aug" | "august" => Word::Month(8),
        "sep" | "sept" | "september" => Word::Month(9),
        "oct" | "october" => Word::Month(10),
        "nov" | "november" => Word::Month(11),
        "dec" | "december" => Word::Month(12),
        "sun" | "sunday" | "mon" | "monday" | "tue" | "tues" | "tuesday" | "wed" | "weds"
        | "wednesday" | "thu" | "thur" | "thurs" | "thursday" | "fri" | "friday" | "sat"
        | "saturday" => Word::Weekday,
        "dst" => Word::Summer,
        "am" => Word::Afternoon(false),
        "pm" => Word::Afternoon(true),
        "ad" => Word::BeforeChrist(false),
        "bc" => Word::BeforeChrist(true),
        "y" => Word::Label(Unit::Year),
        "m" => Word::Label(Unit::Month),
        "d" => Word::Label(Unit::Day),
        "h" => Word::Label(Unit::Hour),
        "mm" => Word::Label(Unit::Minute),
        "s" => Word::Label(Unit::Second),
        "j" | "jd" | "julian" => Word::Label(Unit::Julian),
        "dow" => Word::Label(Unit::Dow),
        "doy" => Word::Label(Unit::Doy),
        "isodow" => Word::Label(Unit::IsoDow),
        "isoyear" => Word::Label(Unit::IsoYear),
        "t" => Word::Time,
        "at" | "on" => Word::Ignored,
        _ => return None,
    })
}

/// The unit of a name in small letters, as intervals and date_trunc have it.
pub(crate) fn unit(text: &str) -> Option<Unit> {
    Some(match significant(text) {
        "us" | "usec" | "usecs" | "usecond" | "useconds" | "microsecon" => Unit::Microsecond,
        "ms" | "msec" | "msecs" | "msecond" | "mseconds" | "millisecon" => Unit::Millisecond,
        "s" | "sec" | "secs" | "second" | "seconds" => Unit::Second,
        "m" | "min" | "mins" | "minute" | "minutes" => Unit::Minute,
        "h" | "hr" | "hrs" | "hour" | "hours" => Unit::Hour,
        "d" | "day" | "days" => Unit::Day,
        "w" | "week" | "weeks" => Unit::Week,
        "mon" | "mons" | "month" | "months" => Unit::Month,
        "qtr" | "quarter" => Unit::Quarter,
        "y" | "yr" | "yrs" | "year" | "years" => Unit::Year,
        "dec" | "decs" | "decade" | "decades" => Unit::Decade,
        "c" | "cent" | "century" | "centuries" => Unit::Century,
        "mil" | "mils" | "millennium" | "millennia" => Unit::Millennium,
        "timezone" => Unit::Timezone,
        "timezone_h" => Unit::TimezoneHour,
        "timezone_m" => Unit::TimezoneMinute,
        _ => return None,
    })
}

/// The unit of a name in small letters, as extract has it.
pub(crate) fn field(text: &str) -> Option<Unit> {
    if let Some(unit) = unit(text) {
        return Some(unit);
    }
    match word(text)? {
        Word::Label(unit) => Some(unit),
        Word::Epoch => Some(Unit::Epoch),
        _ => None,
    }
}
