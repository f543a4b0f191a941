"""What PEP 249 wants of a module beside connections: constants, constructors, types."""

from __future__ import annotations

import datetime
import time
from typing import FrozenSet

apilevel = "2.0"
threadsafety = 2
paramstyle = "qmark"

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> datetime.date:  # noqa: N802 - the name is PEP 249's
    """The local date at so many seconds since 1970."""
    return Date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> datetime.time:  # noqa: N802
    """The local time of day at so many seconds since 1970."""
    return Time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> datetime.datetime:  # noqa: N802
    """The local date and time at so many seconds since 1970."""
    return Timestamp(*time.localtime(ticks)[:6])


class TypeObject:
    """Equal to the type codes in ``cursor.description`` that are of its kind."""

    def __init__(self, name: str, *types: str) -> None:
        self.name = name
        self.types: FrozenSet[str] = frozenset(types)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TypeObject):
            return self.name == other.name
        return isinstance(other, str) and other.partition("(")[0] in self.types

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"freestone.{self.name}"


STRING = TypeObject(
    "STRING",
    "text",
    "character varying",
    "character",
    "bpchar",
    "name",
    "json",
    "jsonb",
    "jsonpath",
    "uuid",
)
BINARY = TypeObject("BINARY", "bytea")
NUMBER = TypeObject(
    "NUMBER", "smallint", "integer", "bigint", "real", "double precision", "numeric", "oid"
)
DATETIME = TypeObject(
    "DATETIME",
    "date",
    "time",
    "time without time zone",
    "time with time zone",
    "timestamp",
    "timestamp without time zone",
    "timestamp with time zone",
    "interval",
)
ROWID = TypeObject("ROWID")
