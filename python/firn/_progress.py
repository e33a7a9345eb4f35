"""Progress of long operations, in terminals and notebooks."""

from __future__ import annotations

import contextlib
import sys
import time
from typing import Any, Callable, Iterator, Union

from ._library import ProgressFunction

# True, False, None (if a person sees it), or a function of the done part and the total.
Progress = Union[bool, None, Callable[[int, int], Any]]

_DELAY, _INTERVAL = 0.5, 0.1


def _is_notebook() -> bool:
    get = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = get() if get is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


def _is_seen() -> bool:
    stream = sys.stderr
    try:
        return stream is not None and (stream.isatty() or _is_notebook())
    except ValueError:
        return False


class _Line:
    """One line of standard error, which each new text replaces."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._begin = self._next = time.monotonic()
        self._next += _DELAY
        self._width = 0

    def update(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _INTERVAL
        amount = f"{100 * done // total} %" if total > 0 else f"{done:,} rows"
        self._write(f"{self._what}: {amount}, {now - self._begin:.0f} s")

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width) + ("\r" if not text else ""))
        sys.stderr.flush()
        self._width = len(text)

    def end(self) -> None:
        if self._width:
            self._write("")


@contextlib.contextmanager
def watching(progress: Progress, what: str) -> Iterator[Any]:
    """Gives a progress function for C, or NULL. Raises what a function of the caller raised in it."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise TypeError("progress must be True, False, None or a function of the done part and the total")
    line = None
    if callable(progress):
        show: Callable[[int, int], Any] = progress
    elif progress or (progress is None and _is_seen()):
        line = _Line(what)
        show = line.update
    else:
        yield ProgressFunction()
        return
    raised: list[BaseException] = []

    def report(context: Any, done: int, total: int) -> int:
        try:
            return 1 if show(done, total) else 0
        except BaseException as error:
            raised.append(error)
            return 1

    try:
        yield ProgressFunction(report)
    except BaseException:
        if raised:
            raise raised.pop() from None
        raise
    else:
        # The operation was complete before it could be cancelled.
        if raised:
            raise raised.pop()
    finally:
        if line is not None:
            line.end()
