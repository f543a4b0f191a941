"""Results as text for a terminal and as a table for a notebook."""

from __future__ import annotations

import html
from typing import Any, List, Sequence, Tuple

ROWS = 20
WIDTH = 40

_RIGHT = ("smallint", "integer", "bigint", "real", "double precision", "numeric")


def shown(value: Any) -> str:
    """A value in one line."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        text = "\\x" + value[:WIDTH].hex()
    else:
        text = str(value)
    text = "".join(c if c.isprintable() else " " for c in text)
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


def footer(count: int, more: bool, columns: int) -> str:
    """What stands below a result."""
    rows = f"first {count} rows, there are more" if more else f"{count} row{'s' * (count != 1)}"
    return f"{rows} × {columns} column{'s' * (columns != 1)}"


def as_text(columns: Sequence[Tuple[str, str]], rows: List[Tuple[Any, ...]], more: bool) -> str:
    """A table in lines, for a terminal. ``columns`` are names and types."""
    cells = [[shown(value) for value in row] for row in rows]
    heads = [shown(name) for name, _ in columns]
    types = [kind for _, kind in columns]
    widths = [
        max(len(text) for text in (head, kind, *(row[at] for row in cells)))
        for at, (head, kind) in enumerate(zip(heads, types))
    ]

    def ruled(left: str, middle: str, right: str) -> str:
        return left + middle.join("─" * (width + 2) for width in widths) + right

    def lined(texts: Sequence[str], right: bool) -> str:
        padded = [
            f" {text:>{width}} " if right and kind.startswith(_RIGHT) else f" {text:<{width}} "
            for text, width, kind in zip(texts, widths, types)
        ]
        return "│" + "│".join(padded) + "│"

    lines = [ruled("┌", "┬", "┐"), lined(heads, False), lined(types, False)]
    lines.append(ruled("├", "┼", "┤"))
    lines.extend(lined(row, True) for row in cells)
    lines.append(ruled("└", "┴", "┘"))
    lines.append(footer(len(rows), more, len(columns)))
    return "\n".join(lines)


def as_html(columns: Sequence[Tuple[str, str]], rows: List[Tuple[Any, ...]], more: bool) -> str:
    """The same for a notebook."""
    head = "".join(
        f"<th>{html.escape(name)}<br><small>{html.escape(kind)}</small></th>"
        for name, kind in columns
    )
    body = []
    for row in rows:
        cells = []
        for value, (_, kind) in zip(row, columns):
            style = ' style="text-align:right"' if kind.startswith(_RIGHT) else ""
            text = "<i>NULL</i>" if value is None else html.escape(shown(value))
            cells.append(f"<td{style}>{text}</td>")
        body.append("<tr>" + "".join(cells) + "</tr>")
    below = html.escape(footer(len(rows), more, len(columns)))
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        f"<small>{below}</small>"
    )
