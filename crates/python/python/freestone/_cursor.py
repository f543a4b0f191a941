"""Cursors: a statement's outcome, and the ways to read it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Deque, Iterator, List, Optional, Sequence, Tuple

from . import _display, _frames, _parameters, _progress
from ._errors import of_error

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from . import _freestone
    from ._connection import Connection

Row = Tuple[Any, ...]
_Column = Tuple[str, str, None, None, Optional[int], Optional[int], bool]

# Rows that fetchone and iteration take from the core at once.
_AHEAD = 1024


class Cursor:
    """Runs statements and gives what they return; see :meth:`Connection.execute`.

    A result is computed as it is read. It prints as a table without being consumed, and
    has the Arrow PyCapsule interface, so that other libraries read it as a table:
    ``polars.DataFrame(cursor)``, ``pyarrow.table(cursor)``. It belongs to one thread.
    """

    #: Rows that ``fetchmany`` gives by default.
    arraysize: int = 1

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.lastrowid: None = None
        self._closed = False
        self._ahead: Deque[Row] = deque()
        self._forget()

    def _forget(self) -> None:
        self._ahead.clear()
        self._rows: Optional[_freestone.Rows] = None
        self._tag: Optional[str] = None
        self._count = -1
        self._taken = 0
        self._bar: Optional[_progress.Bar] = None

    # Running.

    def execute(self, sql: str, parameters: Any = None) -> Cursor:
        """Runs a statement, or several without parameters; see :meth:`Connection.execute`."""
        core = self._ready()
        text, values = _parameters.prepared(sql, parameters)
        self.connection._begin_if_needed(text)
        self._bar = self.connection._bar()
        try:
            self._rows, self._tag = core.execute(text, values, self._finder(), self._bar)
        finally:
            self._clear_bar()
        self._count = _counted(self._tag)
        return self

    def executemany(self, sql: str, seq_of_parameters: Any) -> Cursor:
        """Runs a statement with each of several lists of parameters; all or nothing."""
        core = self._ready()
        text, many = sql, []
        for parameters in seq_of_parameters:
            text, values = _parameters.prepared(sql, parameters)
            many.append(values)
        self.connection._begin_if_needed(text)
        self._bar = self.connection._bar()
        try:
            count = core.execute_many(text, many, self._finder(), self._bar)
        finally:
            self._clear_bar()
        self._count = -1 if count is None else count
        return self

    def _ready(self) -> _freestone.Connection:
        if self._closed:
            raise of_error("24000", "the cursor is closed")
        core = self.connection._core_open()
        self._end()
        self._forget()
        return core

    def _finder(self) -> _frames.Finder:
        connection = self.connection
        return _frames.finder(connection._registered, connection.replacement_scans)

    def _clear_bar(self) -> None:
        if self._bar is not None:
            self._bar.clear()

    # What there is.

    @property
    def description(self) -> Optional[List[_Column]]:
        """Of each column: name, type code, None, None, precision, scale, whether it may be
        NULL. ``None`` when there is no result."""
        if self._rows is None:
            return None
        return [
            (name, kind, None, None, precision, scale, nullable)
            for name, kind, precision, scale, nullable in self._rows.columns()
        ]

    @property
    def rowcount(self) -> int:
        """Rows that were inserted, updated or deleted; -1 of a query, or if not known."""
        return self._count

    @property
    def rownumber(self) -> Optional[int]:
        """The place, from 0, of the row that comes next; ``None`` without a result."""
        return None if self._rows is None else self._taken

    @property
    def statusmessage(self) -> Optional[str]:
        """PostgreSQL's command tag, such as ``INSERT 0 5``; ``None`` of a query."""
        return self._tag

    # Rows.

    def _result(self) -> _freestone.Rows:
        if self._closed:
            raise of_error("24000", "the cursor is closed")
        self.connection._core_open()
        if self._rows is None:
            raise of_error("24000", "there is no result: the last statement returned none")
        return self._rows

    def _more(self, most: int) -> bool:
        rows = self._result()
        if not self._ahead:
            try:
                self._ahead.extend(rows.some(most, self._bar))
            finally:
                self._clear_bar()
        return bool(self._ahead)

    def fetchone(self) -> Optional[Row]:
        """The next row, or ``None`` at the end."""
        if not self._more(_AHEAD):
            return None
        self._taken += 1
        return self._ahead.popleft()

    def fetchmany(self, size: Optional[int] = None) -> List[Row]:
        """The next ``size`` rows (``arraysize`` by default), fewer at the end."""
        most = self.arraysize if size is None else size
        found: List[Row] = []
        self._result()
        while len(found) < most and self._more(most - len(found)):
            found.append(self._ahead.popleft())
        self._taken += len(found)
        return found

    def fetchall(self) -> List[Row]:
        """All rows that are left."""
        rows = self._result()
        found: List[Row] = list(self._ahead)
        self._ahead.clear()
        try:
            while part := rows.some(1 << 30, self._bar):
                found.extend(part)
        finally:
            self._clear_bar()
        self._taken += len(found)
        return found

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    # Arrow, pandas, Polars.

    def _whole(self) -> _freestone.Rows:
        """The result with what was read ahead of the user."""
        rows = self._result()
        rows.give_back(len(self._ahead))
        self._ahead.clear()
        return rows

    def batches(self) -> Iterator[_freestone.Batch]:
        """What is left, as batches of some thousand rows, in bounded memory. Each has the
        Arrow PyCapsule interface: ``pyarrow.record_batch(batch)``."""
        rows = self._whole()
        while True:
            try:
                batch = rows.batch(self._bar)
            finally:
                self._clear_bar()
            if batch is None:
                return
            self._taken += batch.num_rows
            yield batch

    def fetch_arrow(self) -> pyarrow.Table:
        """What is left as a ``pyarrow.Table``. Only text and bytes are copied: they are
        ``string`` and ``binary``, for which pyarrow has functions, and no views."""
        pa = _module("pyarrow", "fetch_arrow")
        schema = pa.schema(self._whole())
        batches = [pa.record_batch(batch) for batch in self.batches()]
        return pa.Table.from_batches(batches, schema=schema)

    def fetch_record_batch(self, rows_per_batch: Optional[int] = None) -> pyarrow.RecordBatchReader:
        """What is left as a ``pyarrow.RecordBatchReader``, computed as it is read; batches
        have ``rows_per_batch`` rows, or as many as they come in."""
        pa = _module("pyarrow", "fetch_record_batch")
        schema = pa.schema(self._whole())
        batches = (pa.record_batch(batch) for batch in self.batches())
        if rows_per_batch is not None:
            batches = _resized(pa, schema, batches, rows_per_batch)
        return pa.RecordBatchReader.from_batches(schema, batches)

    def fetch_df(self) -> pandas.DataFrame:
        """What is left as a ``pandas.DataFrame``. NUMERIC becomes ``decimal.Decimal``, DATE
        ``datetime.date``, integers with NULL ``float64``, as pyarrow makes them."""
        _module("pandas", "fetch_df")
        return self.fetch_arrow().to_pandas()

    def fetch_pl(self) -> polars.DataFrame:
        """What is left as a ``polars.DataFrame``, without copying values."""
        pl = _module("polars", "fetch_pl")
        rows = self._whole()
        try:
            # Read here, where an error is ours and Ctrl-C works.
            rows.load(self._bar)
        finally:
            self._clear_bar()
        frame = pl.DataFrame(_Views(rows))
        self._taken += frame.height
        return frame

    arrow = fetch_arrow
    df = fetch_df
    pl = fetch_pl

    def __arrow_c_schema__(self) -> Any:
        """Columns and types, by the Arrow PyCapsule interface."""
        return self._result().__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """What is left, by the Arrow PyCapsule interface; computed as it is read."""
        return self._whole().__arrow_c_stream__(requested_schema)

    # Looking.

    def _looked_at(self) -> Tuple[List[Tuple[str, str]], List[Row], bool]:
        rows = self._whole()
        columns = [(name, kind) for name, kind, *_ in rows.columns()]
        try:
            seen = rows.peek(_display.ROWS + 1, self._bar)
        finally:
            self._clear_bar()
        return columns, seen[: _display.ROWS], len(seen) > _display.ROWS

    def _status(self) -> str:
        return f"<freestone.Cursor: {self._tag or ('closed' if self._closed else 'no result')}>"

    def __repr__(self) -> str:
        if self._rows is None or self._closed or self.connection.closed:
            return self._status()
        return _display.as_text(*self._looked_at())

    def _repr_html_(self) -> str:
        if self._rows is None or self._closed or self.connection.closed:
            import html

            return html.escape(self._status())
        return _display.as_html(*self._looked_at())

    # The rest of PEP 249.

    def _end(self) -> None:
        if self._rows is not None:
            self._rows.close()

    def close(self) -> None:
        """Ends the cursor; what was not read is not computed."""
        self._end()
        self._forget()
        self._closed = True

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Does nothing: values say what they are."""

    def setoutputsize(self, size: int, column: Optional[int] = None) -> None:
        """Does nothing: values have any size."""

    def __enter__(self) -> Cursor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Views:
    """A result whose text is views, as Polars has it."""

    def __init__(self, rows: _freestone.Rows) -> None:
        self.rows = rows

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.rows.stream_of_views()


def _counted(tag: Optional[str]) -> int:
    last = (tag or "").rpartition(" ")[2]
    return int(last) if last.isdigit() else -1


def _module(name: str, what: str) -> Any:
    """A library that only some methods need."""
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"{what} needs {name}: pip install {name}") from error


def _resized(pa: Any, schema: Any, batches: Iterator[Any], rows: int) -> Iterator[Any]:
    """The same rows in batches of another size."""
    if rows < 1:
        raise of_error("22023", "rows_per_batch is at least 1")
    waiting: List[Any] = []
    count = 0
    for batch in batches:
        waiting.append(batch)
        count += batch.num_rows
        if count >= rows:
            table = pa.Table.from_batches(waiting, schema=schema).combine_chunks()
            whole = count // rows * rows
            yield from table.slice(0, whole).to_batches(max_chunksize=rows)
            waiting = table.slice(whole).to_batches()
            count -= whole
    if count:
        yield from pa.Table.from_batches(waiting, schema=schema).combine_chunks().to_batches()
