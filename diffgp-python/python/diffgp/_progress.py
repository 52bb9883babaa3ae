"""What is shown and told of long work: warnings, a bar, and whatever a callback does."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

Callback = Callable[[Mapping[str, Any]], object]

_WIDTH = 30


class DiffGPWarning(UserWarning):
    """Something about the data or the training that deserves to be known and did not stop it."""


class Listener:
    """Hears the news of a training and passes them on."""

    def __init__(self, verbose: int | bool, callback: Callback | None) -> None:
        self._bar = _bar() if verbose else None
        self._callback = callback

    def __call__(self, news: Mapping[str, Any]) -> None:
        if self._callback is not None:
            self._callback(news)
        if news["event"] == "warning":
            # In the line that called `fit`.
            warnings.warn(news["text"], DiffGPWarning, stacklevel=4)
        elif self._bar is not None:
            self._bar.hear(news)

    def close(self) -> None:
        """Leaves the bar as it is and lets others write."""
        if self._bar is not None:
            self._bar.close()


class _Place:
    """Where a training is, in words."""

    def __init__(self) -> None:
        self.stages: list[str] = []
        self.stage = ""
        self.number = self.done = self.end = 0
        self.elbo: float | None = None
        self.log_likelihood: float | None = None

    def hear(self, news: Mapping[str, Any]) -> None:
        if news["event"] == "plan":
            self.stages = list(news["stages"])
            return
        if news["stage"] + 1 != self.number:
            self.number, self.stage, self.log_likelihood = news["stage"] + 1, news["name"], None
        self.done = news["iteration"]
        if news["event"] == "validation":
            self.log_likelihood = news["log_likelihood"]
        else:
            self.end, self.elbo = news["iterations"], news["elbo"]

    @property
    def share(self) -> float:
        return min(1.0, self.done / self.end) if self.end else 1.0

    @property
    def words(self) -> str:
        words = [f"{self.stage} ({self.number} of at most {len(self.stages)})", f"{self.done}/{self.end}"]
        if self.elbo is not None:
            words.append(f"ELBO {self.elbo:.1f}")
        if self.log_likelihood is not None:
            words.append(f"validation log-likelihood {self.log_likelihood:.4f}")
        return "  ".join(words)


class _TextBar:
    """One line on standard error that is written over and over; elsewhere than on a terminal, a line per stage."""

    def __init__(self) -> None:
        self._place = _Place()
        self._is_terminal = sys.stderr.isatty()
        self._stage = 0
        self._length = 0

    def hear(self, news: Mapping[str, Any]) -> None:
        self._place.hear(news)
        if not self._place.number:
            return
        if self._is_terminal:
            full = round(_WIDTH * self._place.share)
            line = f"[{'#' * full}{'.' * (_WIDTH - full)}] {self._place.words}"
            sys.stderr.write("\r" + line.ljust(self._length))
            self._length = len(line)
        elif self._stage != self._place.number:
            self._stage = self._place.number
            sys.stderr.write(self._place.words + "\n")
        sys.stderr.flush()

    def close(self) -> None:
        if self._length:
            sys.stderr.write("\n")
            sys.stderr.flush()


class _NotebookBar:
    """An element of a notebook that is drawn anew."""

    def __init__(self) -> None:
        from IPython.display import HTML, display

        self._html: Callable[[str], Any] = HTML
        self._place = _Place()
        self._shown: Any = display(HTML(""), display_id=True)

    def hear(self, news: Mapping[str, Any]) -> None:
        self._place.hear(news)
        bar = f"<progress value='{self._place.share:.3f}' max='1'></progress> <code>{escape(self._place.words)}</code>"
        self._shown.update(self._html(bar))

    def close(self) -> None:
        pass


def _bar() -> _TextBar | _NotebookBar:
    # Only where IPython runs already: nothing is imported for this.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return _TextBar() if getattr(shell, "kernel", None) is None else _NotebookBar()
