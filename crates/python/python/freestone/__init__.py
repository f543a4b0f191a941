"""Freestone: an embedded analytical SQL database whose blocks choose their own layout.

>>> import freestone
>>> con = freestone.connect()
>>> con.execute("CREATE TABLE stones (name TEXT, mohs DECIMAL(3,1))")
<freestone.Cursor: CREATE TABLE>
>>> con.executemany("INSERT INTO stones VALUES (?, ?)", [("talc", 1), ("quartz", 7)]).rowcount
2
>>> con.execute("SELECT name FROM stones WHERE mohs > :least", {"least": 5}).fetchall()
[('quartz',)]

Connections and cursors are those of PEP 249, with more: results print as tables, come as
Arrow, pandas and Polars (``fetch_arrow``, ``fetch_df``, ``fetch_pl``), and a statement may
name a frame by its variable's name.
"""

from __future__ import annotations

import threading
from typing import Any, Optional

from ._connection import Connection, connect
from ._cursor import Cursor
from ._dbapi import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
    apilevel,
    paramstyle,
    threadsafety,
)
from ._errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
)
from ._freestone import Batch, __version__
from ._values import Interval

__all__ = [
    "BINARY",
    "Batch",
    "Binary",
    "Connection",
    "Cursor",
    "DATETIME",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "Interval",
    "NUMBER",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "ROWID",
    "STRING",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "__version__",
    "apilevel",
    "connect",
    "execute",
    "paramstyle",
    "sql",
    "threadsafety",
]

_default: Optional[Connection] = None
_default_lock = threading.Lock()


def execute(sql: str, parameters: Any = None) -> Cursor:
    """Runs a statement in a database in memory that the whole process shares: for queries
    over frames and files. As :meth:`Connection.execute`."""
    global _default
    with _default_lock:
        if _default is None or _default.closed:
            _default = connect()
    return _default.execute(sql, parameters)


sql = execute
