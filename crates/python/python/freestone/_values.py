"""Between Python's objects and SQL's values, where the core asks for it."""

from __future__ import annotations

import datetime
import decimal
import enum
import functools
import json
import uuid
from typing import Any, NamedTuple, Optional, Tuple

from ._errors import of_error

_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_UTC = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MICROSECOND = datetime.timedelta(microseconds=1)


class Interval(NamedTuple):
    """An interval with months, which are no fixed number of days.

    Intervals without months are :class:`datetime.timedelta`.
    """

    months: int
    days: int
    microseconds: int

    def __str__(self) -> str:
        return f"{self.months} months {self.days} days {self.microseconds} microseconds"


def adapt(value: Any) -> Tuple[Optional[str], Any]:
    """What stands for an object as a parameter: its SQL type and text, or ``None`` and a
    simpler object. Called for what is not None, bool, int, float, str, bytes or a list."""
    if isinstance(value, decimal.Decimal):
        return _decimal(value)
    if isinstance(value, datetime.datetime):
        # pandas.NaT is one, and equal to nothing.
        if value != value:
            return None, None
        if value.tzinfo is None:
            return "TIMESTAMP", _moment(value)
        # In UTC, so that nothing is lost where the zone of a text is passed over.
        return "TIMESTAMPTZ", _moment(value.astimezone(datetime.timezone.utc)) + "+00:00"
    if isinstance(value, datetime.date):
        return "DATE", value.isoformat()
    if isinstance(value, datetime.time):
        if value.tzinfo is not None:
            raise of_error("0A000", "a time of day cannot have a time zone")
        return "TIME", value.isoformat()
    if isinstance(value, datetime.timedelta):
        seconds = value.days * 86_400 + value.seconds
        return "INTERVAL", f"{seconds * 1_000_000 + value.microseconds} microseconds"
    if isinstance(value, uuid.UUID):
        return "UUID", str(value)
    if isinstance(value, Interval):
        return "INTERVAL", str(value)
    if isinstance(value, (bytearray, memoryview)):
        return None, bytes(value)
    if isinstance(value, enum.Enum):
        return None, value.value
    if isinstance(value, tuple):
        return None, list(value)
    if isinstance(value, dict):
        return None, json.dumps(value)
    return _other(value)


def _moment(value: datetime.datetime) -> str:
    # Not isoformat(): that of pandas has nanoseconds.
    date, time = value.date().isoformat(), value.time()
    return f"{date} {time.isoformat()}"


def _decimal(value: decimal.Decimal) -> Tuple[Optional[str], Any]:
    if not value.is_finite():
        raise of_error("22003", f"a NUMERIC cannot be {value}", hint="give a float instead")
    return "DECIMAL", format(value, "f")


def _other(value: Any) -> Tuple[Optional[str], Any]:
    kind = type(value)
    if kind.__name__ in ("NAType", "NaTType"):
        return None, None
    if kind.__module__.partition(".")[0] == "numpy":
        if kind.__name__ == "datetime64":
            return None, value.astype("datetime64[us]").item()
        if kind.__name__ == "timedelta64":
            return None, value.astype("timedelta64[us]").item()
        if hasattr(value, "tolist"):
            return None, value.tolist()
    if isinstance(value, (set, frozenset, range)) or kind.__name__ in ("Series", "Index"):
        return None, list(value)
    raise of_error(
        "07006",
        f"an object of type {kind.__module__}.{kind.__qualname__} cannot be a parameter",
        hint="give None, bool, int, float, Decimal, str, bytes, date, time, datetime, "
        "timedelta, UUID, or a list of them",
    )


def uuid_of(value: bytes) -> uuid.UUID:
    """A UUID of its sixteen bytes."""
    return uuid.UUID(bytes=value)


def _beyond(what: str) -> Exception:
    return of_error(
        "22008",
        f"{what} is beyond the years 1 to 9999 of Python's datetime",
        hint="cast it to TEXT, or take the result as Arrow",
    )


def date_of(ordinal: int) -> datetime.date:
    """A date of its day, from 1 for the first of January of the year 1."""
    try:
        return datetime.date.fromordinal(ordinal)
    except (ValueError, OverflowError):
        raise _beyond("a date") from None


@functools.lru_cache(maxsize=64)
def _zone(name: str) -> datetime.tzinfo:
    if name in ("UTC", "Z", "+00:00", "+00", "Etc/UTC"):
        return datetime.timezone.utc
    if name[:1] in "+-":
        sign = -1 if name[0] == "-" else 1
        hours, _, minutes = name[1:].partition(":")
        offset = datetime.timedelta(hours=int(hours), minutes=int(minutes or 0))
        return datetime.timezone(sign * offset)
    import zoneinfo

    return zoneinfo.ZoneInfo(name)


def zoned_time_of(micros: int, west: int) -> datetime.time:
    """A time of the day of its microseconds, in a zone so many seconds west of UTC."""
    seconds, fraction = divmod(micros, 1_000_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    if hour > 23:
        raise of_error(
            "22008",
            "24:00:00 is beyond the times of Python's datetime",
            hint="cast it to TEXT, or take the result as Arrow",
        )
    zone = datetime.timezone(datetime.timedelta(seconds=-west))
    return datetime.time(hour, minute, second, fraction, zone)


def moment_of(micros: int, zone: Optional[str]) -> datetime.datetime:
    """A moment of its microseconds since 1970, shown in a time zone if it has one."""
    try:
        if zone is None:
            return _EPOCH + datetime.timedelta(0, 0, micros)
        return (_EPOCH_UTC + datetime.timedelta(0, 0, micros)).astimezone(_zone(zone))
    except (ValueError, OverflowError):
        raise _beyond("a timestamp") from None


def interval_of(months: int, days: int, micros: int) -> Any:
    """An interval: a timedelta unless it has months."""
    if months:
        return Interval(months, days, micros)
    try:
        return datetime.timedelta(days, 0, micros)
    except OverflowError:
        return Interval(0, days, micros)
