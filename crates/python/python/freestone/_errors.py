"""The exceptions of PEP 249, chosen by SQLSTATE."""

from __future__ import annotations

from typing import Optional


class Warning(Exception):  # noqa: A001 - the name is PEP 249's
    """Something noteworthy that is no error."""


class Error(Exception):
    """Whatever the database refuses.

    Attributes:
        sqlstate: five characters of the SQL standard and PostgreSQL, such as ``42P01``.
        message: one sentence that names what failed.
        detail: more facts, or ``None``.
        hint: what to do instead, or ``None``.
        line, column: where in the statement's text, from 1, or ``None``.
    """

    sqlstate: Optional[str] = None
    message: str = ""
    detail: Optional[str] = None
    hint: Optional[str] = None
    line: Optional[int] = None
    column: Optional[int] = None


class InterfaceError(Error):
    """The package was used in a way that it does not have, such as a closed connection."""


class DatabaseError(Error):
    """Something about the database."""


class DataError(DatabaseError):
    """A value is out of range, has a wrong form, or is divided by zero (22)."""


class OperationalError(DatabaseError):
    """Nothing wrong with the statement: disk, memory, another transaction, an interrupt."""


class IntegrityError(DatabaseError):
    """A constraint would not hold (23)."""


class InternalError(DatabaseError):
    """The transaction has failed before (25P02), or there is a bug (XX000)."""


class ProgrammingError(DatabaseError):
    """The statement is wrong: syntax, names, types, parameters (42)."""


class NotSupportedError(DatabaseError):
    """Understood, but not offered (0A)."""


# By SQLSTATE, then by its class: the first two characters.
_BY_STATE = {
    "08003": InterfaceError,
    "08P01": ProgrammingError,
    "55006": ProgrammingError,
    "55000": ProgrammingError,
}
_BY_CLASS = {
    "07": ProgrammingError,
    "08": OperationalError,
    "0A": NotSupportedError,
    "20": ProgrammingError,
    "21": ProgrammingError,
    "22": DataError,
    "23": IntegrityError,
    "24": ProgrammingError,
    "25": InternalError,
    "26": ProgrammingError,
    "28": OperationalError,
    "2B": InternalError,
    "2D": InternalError,
    "34": ProgrammingError,
    "3B": ProgrammingError,
    "3D": ProgrammingError,
    "3F": ProgrammingError,
    "40": OperationalError,
    "42": ProgrammingError,
    "44": IntegrityError,
    "53": OperationalError,
    "54": OperationalError,
    "55": OperationalError,
    "57": OperationalError,
    "58": OperationalError,
    "XX": InternalError,
}


def of_error(
    sqlstate: str,
    message: str,
    detail: Optional[str] = None,
    hint: Optional[str] = None,
    line: Optional[int] = None,
    column: Optional[int] = None,
) -> Error:
    """The exception for an error of the database."""
    kind = _BY_STATE.get(sqlstate) or _BY_CLASS.get(sqlstate[:2]) or DatabaseError
    text = f"{sqlstate}: {message}"
    if line is not None:
        text += f" (line {line}, column {column})"
    if detail:
        text += f"\nDETAIL: {detail}"
    if hint:
        text += f"\nHINT: {hint}"
    error = kind(text)
    error.sqlstate = sqlstate
    error.message = message
    error.detail = detail
    error.hint = hint
    error.line = line
    error.column = column
    return error
