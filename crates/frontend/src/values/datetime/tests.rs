//! Tests of texts of dates, times and intervals.
