"""One line of progress: on a terminal, in a notebook, or nowhere."""
from __future__ import annotations

import html
import sys
from typing import Any, Optional


def _notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


class Progress:
    """Shows a line that each call replaces. `wanted`: False shows nothing."""

    def __init__(self, wanted: bool = True) -> None:
        self._terminal = wanted and sys.stderr is not None and sys.stderr.isatty()
        self._page = wanted and _notebook()
        self._handle: Optional[Any] = None
        self._drawn = False

    @property
    def on(self) -> bool:
        """Whether anyone sees it."""
        return self._terminal or self._page

    def show(self, text: str) -> None:
        """Replace the line; an empty text erases it."""
        if self._page:
            self._show_on_page(text)
        elif self._terminal and (text or self._drawn):
            self._drawn = True  # before it is: Ctrl-C may come in between
            sys.stderr.write(f"\r\033[K{text}")
            sys.stderr.flush()
            self._drawn = bool(text)

    def _show_on_page(self, text: str) -> None:
        if not text and self._handle is None:
            return
        from IPython.display import HTML, display

        line = HTML(f"<pre>{html.escape(text)}</pre>" if text else "")
        if self._handle is None:
            self._handle = display(line, display_id=True)
        else:
            self._handle.update(line)

    def bar(self, what: str, part: float) -> None:
        """A bar of 20 cells; `part` is from 0 to 1."""
        n = int(part * 20 + 0.5)
        self.show(f"{what} {'█' * n}{'░' * (20 - n)} {100 * part:.0f} %")

    def close(self) -> None:
        """Erase the line."""
        self.show("")
