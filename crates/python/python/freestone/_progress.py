"""A bar for what takes longer than half a second, in terminals and notebooks."""

from __future__ import annotations

import sys
import time
from typing import Any, Optional

PATIENCE = 0.5
_WIDTH = 40


def in_notebook() -> bool:
    """Whether the cells of a notebook show what we draw."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


def wanted(choice: Optional[bool]) -> bool:
    """Whether to draw: as chosen, or where somebody looks."""
    if choice is not None:
        return choice
    return in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


class Bar:
    """Called with the share of the work that is done, or ``None``, while a statement runs."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.drawn = False
        self.handle: Any = None

    def __call__(self, fraction: Optional[float]) -> None:
        elapsed = time.monotonic() - self.begun
        if elapsed < PATIENCE:
            return
        if in_notebook():
            self._in_cell(fraction, elapsed)
        else:
            sys.stderr.write("\r" + line(fraction, elapsed))
            sys.stderr.flush()
        self.drawn = True

    def _in_cell(self, fraction: Optional[float], elapsed: float) -> None:
        from IPython.display import HTML, display

        value = "" if fraction is None else f' value="{fraction:.3f}"'
        shown = HTML(f"<progress{value}></progress> {elapsed:.1f} s")
        if self.handle is None:
            self.handle = display(shown, display_id=True)
        else:
            self.handle.update(shown)

    def clear(self) -> None:
        """Leaves no trace."""
        if not self.drawn:
            return
        self.drawn = False
        if self.handle is not None:
            from IPython.display import HTML

            self.handle.update(HTML(""))
        elif sys.stderr is not None:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def line(fraction: Optional[float], elapsed: float) -> str:
    """The bar as one line."""
    if fraction is None:
        return f"running  {elapsed:.1f} s"
    filled = round(fraction * _WIDTH)
    return f"{'█' * filled}{'░' * (_WIDTH - filled)} {fraction:4.0%}  {elapsed:.1f} s"
