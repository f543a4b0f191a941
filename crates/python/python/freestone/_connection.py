"""Connections: sessions of a database."""

from __future__ import annotations

import contextlib
import os
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from . import _errors, _frames, _freestone, _progress
from ._cursor import Cursor
from ._errors import of_error

# Statements before which no transaction begins by itself.
_NO_BEGIN = ("begin", "start", "commit", "end", "rollback", "abort", "set", "show", "vacuum")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _table(name: str) -> str:
    """A table's name, perhaps after its schema's."""
    return ".".join(_quoted(part) for part in name.split("."))


def _text(value: Any) -> str:
    return "'" + str(value).replace("'", "''") + "'"


class Connection:
    """A session of a database; see :func:`freestone.connect`.

    Threads may share it: their statements run side by side, but those of a transaction
    should come from one thread at a time. Used with ``with`` it commits (or, after an
    exception, rolls back) what is open, and closes.
    """

    Warning = _errors.Warning
    Error = _errors.Error
    InterfaceError = _errors.InterfaceError
    DatabaseError = _errors.DatabaseError
    DataError = _errors.DataError
    OperationalError = _errors.OperationalError
    IntegrityError = _errors.IntegrityError
    InternalError = _errors.InternalError
    ProgrammingError = _errors.ProgrammingError
    NotSupportedError = _errors.NotSupportedError

    def __init__(
        self, core: _freestone.Connection, autocommit: bool, progress: Optional[bool]
    ) -> None:
        self._core = core
        self._depth = 0
        self._registered: Dict[str, Any] = {}
        #: Whether each statement outside of :meth:`begin` is a transaction of its own. If
        #: not, the first statement begins one, which :meth:`commit` ends, as in PEP 249.
        self.autocommit = autocommit
        #: Whether to draw a bar for what takes longer than half a second; ``None`` does so
        #: in terminals and notebooks.
        self.progress = progress
        #: Whether statements may name the caller's variables where there is no such table.
        self.replacement_scans = True

    def _core_open(self) -> _freestone.Connection:
        if self._core.is_closed():
            raise of_error("08003", "the connection is closed")
        return self._core

    def _bar(self) -> Optional[_progress.Bar]:
        return _progress.Bar() if _progress.wanted(self.progress) else None

    def _begin_if_needed(self, sql: str) -> None:
        if self.autocommit or self._core.in_transaction():
            return
        word = sql.lstrip(" \t\r\n(").partition(" ")[0].rstrip(";").lower()
        if word and word not in _NO_BEGIN:
            self._core.execute("BEGIN")

    # Statements.

    def cursor(self) -> Cursor:
        """A cursor, which runs statements in this session."""
        self._core_open()
        return Cursor(self)

    def execute(self, sql: str, parameters: Any = None) -> Cursor:
        """Runs a statement, or several without parameters, of which the last one's result
        is given.

        Args:
            sql: the text. Where the database has no table of a name, a frame that was
                registered, or a variable of the caller, stands for it.
            parameters: a list for ``?`` or ``$1``, a dictionary for ``:name``. Values are
                None, bool, int, float, Decimal, str, bytes, date, time, datetime,
                timedelta, UUID and lists.

        Returns:
            A cursor with the result. It prints as a table; ``fetchall()``, ``fetch_df()``,
            ``fetch_pl()``, ``fetch_arrow()`` and iteration read it.

        Raises:
            Error: a subclass by the error's SQLSTATE. KeyboardInterrupt at Ctrl-C.
        """
        return self.cursor().execute(sql, parameters)

    sql = execute

    def executemany(self, sql: str, seq_of_parameters: Any) -> Cursor:
        """Runs a statement with each of several lists (or dictionaries) of parameters, in
        one transaction. ``rowcount`` of the cursor is their sum."""
        return self.cursor().executemany(sql, seq_of_parameters)

    def explain(self, sql: str, parameters: Any = None, analyze: bool = False) -> str:
        """How a query would be run, with its predicted time; with ``analyze`` it is run,
        and the text tells rows, blocks and time of each step."""
        prefix = "EXPLAIN ANALYZE " if analyze else "EXPLAIN "
        rows = self.execute(prefix + sql, parameters).fetchall()
        return "\n".join(" ".join(str(value) for value in row) for row in rows)

    def advise(self, sql: Optional[str] = None, table: Optional[str] = None) -> Cursor:
        """Designs that the queries recorded so far (of one ``table``), or those of ``sql``,
        would be faster under."""
        if sql is not None and table is not None:
            raise of_error("42601", "give queries or a table to advise on, not both")
        if sql is not None:
            return self.execute(f"ADVISE FOR ({sql.rstrip().rstrip(';')})")
        return self.execute("ADVISE" if table is None else f"ADVISE TABLE {_table(table)}")

    def interrupt(self) -> None:
        """Stops the statements that run in this session, from another thread: they raise
        OperationalError with the SQLSTATE 57014."""
        self._core_open().interrupt()

    def notices(self) -> list[str]:
        """What was said of statements that succeeded, such as ``NOTICE: table "t" does not exist,
        skipping``, since this was asked last (the last 100 are kept)."""
        return self._core_open().notices()

    # Transactions.

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._core_open().in_transaction()

    def begin(self) -> None:
        """Opens a transaction, which :meth:`commit` or :meth:`rollback` ends."""
        self._core_open().execute("BEGIN")

    def commit(self) -> None:
        """Makes what the open transaction did last; nothing if there is none.

        Raises:
            OperationalError: 40001 when another transaction was first. Nothing has changed.
        """
        if self._core_open().in_transaction():
            self._core.execute("COMMIT")

    def rollback(self) -> None:
        """Takes back what the open transaction did; nothing if there is none."""
        if self._core_open().in_transaction():
            self._core.execute("ROLLBACK")

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Connection]:
        """``with connection.transaction():`` commits at its end, or takes back what was
        done in it after an exception. Inside of another it is a savepoint."""
        core = self._core_open()
        inside = core.in_transaction()
        point = f"freestone_{self._depth}"
        core.execute(f"SAVEPOINT {point}" if inside else "BEGIN")
        self._depth += 1
        try:
            yield self
        except BaseException:
            if not core.is_closed() and core.in_transaction():
                core.execute(f"ROLLBACK TO {point}" if inside else "ROLLBACK")
            raise
        else:
            if core.in_transaction():
                core.execute(f"RELEASE {point}" if inside else "COMMIT")
        finally:
            self._depth -= 1

    # Frames.

    def register(self, name: str, frame: Any) -> None:
        """Lets statements name a frame: of pandas, Polars, Arrow, or anything with
        ``__arrow_c_stream__``. Nothing is copied; a frame of pandas is converted each time
        a statement names it, and its index is no column. A table of the database with that
        name comes first.

        Raises:
            ProgrammingError: 42804 for an object that is no table.
        """
        self._core_open()
        if not _frames.is_frame(frame):
            _frames.exported(frame)
        self._registered[name] = frame

    def unregister(self, name: str) -> None:
        """Forgets a frame that was registered.

        Raises:
            ProgrammingError: 42P01 if none has that name.
        """
        if self._registered.pop(name, None) is None:
            raise of_error("42P01", f'no frame is registered as "{name}"')

    def insert(self, table: str, frame: Any, columns: Optional[Sequence[str]] = None) -> int:
        """Appends the rows of a frame to a table, all or none.

        Args:
            table: its name, with its schema's and a dot before it if need be.
            frame: of pandas, Polars or Arrow, a reader of record batches, or a cursor.
            columns: the table's columns, in the order of the frame's; by default those
                with the names of the frame's. Others get their defaults.

        Returns:
            How many rows there were.

        Raises:
            ProgrammingError: 42P01, 42703 for names that are not there. IntegrityError and
            DataError as for INSERT.
        """
        names = _names(frame)
        into = names if columns is None else list(columns)
        if len(into) != len(names):
            raise of_error(
                "42601", f"the frame has {len(names)} columns, and {len(into)} are named"
            )
        sql = "INSERT INTO {} ({}) SELECT {} FROM {}".format(
            _table(table),
            ", ".join(_quoted(name) for name in into),
            ", ".join(_quoted(name) for name in names),
            _quoted(_LENT),
        )
        return self._with_frame(sql, frame)

    def create_table(
        self, name: str, frame: Any, options: Optional[Mapping[str, Any]] = None
    ) -> int:
        """Makes a table of a frame: its columns, types and rows.

        Args:
            name: the table's, which must be new.
            frame: as for :meth:`insert`.
            options: the table's, such as ``{"layout": "pax", "sort_by": "day"}``.

        Returns:
            How many rows there were.
        """
        given = (options or {}).items()
        listed = ", ".join(f"{_quoted(key)} = {_text(value)}" for key, value in given)
        sql = "CREATE TABLE {}{} AS SELECT * FROM {}".format(
            _table(name), f" WITH ({listed})" if listed else "", _quoted(_LENT)
        )
        return self._with_frame(sql, frame)

    def _with_frame(self, sql: str, frame: Any) -> int:
        source = _frames.exported(frame)
        core = self._core_open()
        self._begin_if_needed(sql)
        bar = self._bar()
        try:
            _, tag = core.execute(sql, None, lambda name: source if name == _LENT else None, bar)
        finally:
            if bar is not None:
                bar.clear()
        count = (tag or "").rpartition(" ")[2]
        return int(count) if count.isdigit() else -1

    # The session.

    def set(self, name: str, value: Any) -> None:
        """Changes a setting for this session, as SET does."""
        self._core_open().set(name, str(value))

    def duplicate(self) -> Connection:
        """Another session of the same database, also of one in memory."""
        return Connection(self._core_open().again(), self.autocommit, self.progress)

    @property
    def closed(self) -> bool:
        """Whether :meth:`close` was called."""
        return self._core.is_closed()

    def close(self) -> None:
        """Ends the session: rolls back what is open, closes its cursors. The database
        closes with its last connection."""
        self._registered.clear()
        self._core.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if self._core.is_closed():
            return
        try:
            if kind is None:
                self.commit()
            else:
                self.rollback()
        finally:
            self.close()

    def __repr__(self) -> str:
        return f"<freestone.Connection{' (closed)' if self.closed else ''}>"


_LENT = "freestone lent frame"


def _names(frame: Any) -> List[str]:
    """The names of a frame's columns."""
    if not _frames.is_frame(frame):
        _frames.exported(frame)
    if isinstance(frame, Cursor):
        return [column[0] for column in frame.description or []]
    for place in ("collect_schema", "column_names", "columns"):
        found = getattr(frame, place, None)
        if place == "collect_schema" and found is not None:
            return list(found().names())
        if found is not None and all(isinstance(name, str) for name in found):
            return list(found)
    schema = getattr(frame, "schema", None)
    if schema is not None and hasattr(schema, "names"):
        return list(schema.names)
    import pyarrow

    return list(pyarrow.schema(frame).names)


def connect(
    database: Union[str, os.PathLike] = ":memory:",
    read_only: bool = False,
    *,
    autocommit: bool = True,
    threads: Optional[int] = None,
    memory_limit: Optional[str] = None,
    stripe: Sequence[Union[str, os.PathLike]] = (),
    settings: Optional[Mapping[str, Any]] = None,
    progress: Optional[bool] = None,
) -> Connection:
    """Opens a database.

    Args:
        database: its directory, made if need be; ``":memory:"`` is a new one in memory.
            Connections of one process share a database; of several processes one writes.
        read_only: changes are refused; another process, or this one, may write meanwhile.
        autocommit: ``False`` for transactions that begin by themselves, as in PEP 249.
        threads: that a statement may keep busy; all cores by default.
        memory_limit: of the database, such as ``"4GB"``; 80 % of the machine's by default.
        stripe: directories for blocks beside the database's own.
        settings: others, as SET takes them: ``{"timezone": "Europe/Berlin"}``.
        progress: whether to draw a bar; in terminals and notebooks by default.

    Raises:
        OperationalError: 58030 when the disk refuses, 55P03 or the like while another
            process writes the database. DataError: 22023 for values of settings.
    """
    path = os.fspath(database)
    if path == ":memory:":
        if read_only:
            raise of_error("22023", "a new database in memory is empty: read_only needs a path")
        core = _freestone.Connection(None, False, threads, [])
    else:
        core = _freestone.Connection(path, read_only, threads, [os.fspath(d) for d in stripe])
    connection = Connection(core, autocommit, progress)
    try:
        if memory_limit is not None:
            connection.set("memory_limit", memory_limit)
        for name, value in (settings or {}).items():
            connection.set(name, value)
    except BaseException:
        connection.close()
        raise
    return connection
