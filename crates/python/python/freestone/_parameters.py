"""Parameters by name: ``:name`` in a statement becomes ``$1``, ``$2``, …

``?`` and ``$1`` are the database's own and stay as they are.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any, List, Optional, Tuple

from ._errors import of_error

# What is passed over: strings (those with E'' have escapes), quoted names, dollar quotes,
# comments, casts. A name that directly follows a word, a bracket or a colon is no
# parameter but the end of a slice: a[1:n].
_TOKENS = re.compile(
    r"""
    (?P<escaped>   (?<![\w$])[eE]'(?:[^'\\]|\\.|'')*(?:'|\Z))
  | (?P<text>      '(?:[^']|'')*(?:'|\Z))
  | (?P<quoted>    "(?:[^"]|"")*(?:"|\Z))
  | (?P<dollar>    (?<![\w$])\$(?P<tag>[A-Za-z_]\w*)\$.*?(?:\$(?P=tag)\$|\Z)
                 | (?<![\w$])\$\$.*?(?:\$\$|\Z))
  | (?P<line>      --[^\n]*)
  | (?P<comment>   /\*)
  | (?P<cast>      ::)
  | (?P<name>      (?<![\w\])":]):(?P<word>[A-Za-z_]\w*))
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r"/\*|\*/")


def _after_comment(sql: str, start: int) -> int:
    """The end of the comment that begins at ``start``; comments nest."""
    depth = 0
    for mark in _COMMENT.finditer(sql, start):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    return len(sql)


@functools.lru_cache(maxsize=512)
def rewritten(sql: str) -> Tuple[str, Tuple[str, ...]]:
    """The statement with numbered parameters, and the names in the order of their numbers."""
    parts: List[str] = []
    names: List[str] = []
    place = copied = 0
    while True:
        token = _TOKENS.search(sql, place)
        if token is None:
            break
        place = token.end()
        if token.lastgroup == "comment" or token.group("comment"):
            place = _after_comment(sql, token.start())
        elif token.group("name"):
            word = token.group("word")
            if word not in names:
                names.append(word)
            parts.append(sql[copied : token.start()])
            parts.append(f"${names.index(word) + 1}")
            copied = place
    parts.append(sql[copied:])
    return "".join(parts), tuple(names)


def prepared(sql: str, parameters: Any) -> Tuple[str, Optional[Sequence[Any]]]:
    """The statement and its values in order.

    Raises:
        ProgrammingError: ``07001`` when a name has no value, ``07006`` when what is given
            is neither a sequence nor a mapping.
    """
    if parameters is None:
        return sql, None
    if isinstance(parameters, Mapping):
        text, names = rewritten(sql)
        missing = [name for name in names if name not in parameters]
        if missing:
            raise of_error(
                "07001",
                f"there is no value for the parameter :{missing[0]}",
                hint="values are given as a dictionary: execute(sql, {'name': value})",
            )
        if not names and parameters:
            raise of_error(
                "07001",
                "the statement has no parameter with a name",
                hint="values for ? and $1 are given as a list: execute(sql, [value])",
            )
        return text, [parameters[name] for name in names]
    if isinstance(parameters, (str, bytes)) or not hasattr(parameters, "__iter__"):
        raise of_error(
            "07006",
            f"parameters are a list, a tuple or a dictionary, not {type(parameters).__name__}",
            hint="a single value is given as [value]",
        )
    return sql, parameters if isinstance(parameters, (list, tuple)) else list(parameters)
