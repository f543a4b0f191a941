"""Tables of the program around us, which statements name as if they were the database's."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Callable, Dict, Iterable, Mapping, Optional, Tuple

from ._errors import of_error

Finder = Callable[[str], Optional[Tuple[Any, bool]]]

_PACKAGE = __name__.partition(".")[0]


def _kind(value: Any) -> Tuple[str, str]:
    kind = type(value)
    return kind.__module__.partition(".")[0], kind.__name__


def is_frame(value: Any) -> bool:
    """Whether an object is a table: of pandas, Polars, Arrow, or one that says so."""
    if value is None or isinstance(value, (type, str, bytes, int, float)):
        return False
    family, name = _kind(value)
    if family in ("pandas", "polars"):
        return name in ("DataFrame", "LazyFrame")
    if family == "pyarrow" and name in ("Array", "ChunkedArray"):
        return False
    return hasattr(value, "__arrow_c_stream__") or _reader(value) or _is_batch(value)


def _reader(value: Any) -> bool:
    return _kind(value)[0] == "pyarrow" and (
        hasattr(value, "to_reader") or hasattr(value, "scanner")
    )


def _is_batch(value: Any) -> bool:
    return hasattr(value, "__arrow_c_array__") and hasattr(value, "num_columns")


def exported(value: Any) -> Tuple[Any, bool]:
    """An object that gives a stream of Arrow, and whether it does so only once.

    Raises:
        ProgrammingError: ``42804`` for an object that is no table.
    """
    if not is_frame(value):
        raise of_error(
            "42804",
            f"an object of type {type(value).__name__} is no table",
            hint="give a pandas or Polars frame, an Arrow table, or anything with "
            "__arrow_c_stream__",
        )
    family, name = _kind(value)
    if family == "pandas":
        import pyarrow

        # The index is no column; reset_index() makes it one.
        return pyarrow.Table.from_pandas(value, preserve_index=False), False
    if name == "LazyFrame":
        return value.collect(), False
    if family == "pyarrow" and hasattr(value, "scanner"):
        return value.scanner().to_reader(), True
    once = name in ("RecordBatchReader", "Cursor", "Rows", "ArrowArrayStream", "Scanner")
    return value, once


def _named(names: Mapping[str, Any], name: str) -> Any:
    """The frame of that name; SQL folds names to lower case, Python does not."""
    found = names.get(name)
    if is_frame(found):
        return found
    alike = [key for key in names if isinstance(key, str) and key.lower() == name]
    frames = [key for key in alike if is_frame(names[key])]
    return names[frames[0]] if len(frames) == 1 else None


def caller() -> Optional[FrameType]:
    """The frame of the code that called this package."""
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module != _PACKAGE and not module.startswith(_PACKAGE + "."):
            return frame
        frame = frame.f_back
    return None


def finder(registered: Dict[str, Any], look_around: bool) -> Finder:
    """Finds frames by name: first those that were registered, then the caller's variables."""
    frame = caller() if look_around else None

    def find(name: str) -> Optional[Tuple[Any, bool]]:
        spaces: Iterable[Mapping[str, Any]] = [registered]
        if frame is not None:
            spaces = [registered, frame.f_locals, frame.f_globals]
        for space in spaces:
            found = _named(space, name)
            if found is not None:
                return exported(found)
        return None

    return find
