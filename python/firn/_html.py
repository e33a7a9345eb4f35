"""Tables of notebooks."""

from __future__ import annotations

import html
import itertools
from typing import Any, Callable, Iterable

SHOWN_ROWS = 10
_SHOWN_CHARACTERS = 60


def _cell(value: Any, tag: str = "td") -> str:
    text = "" if value is None else str(value)
    text = text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"
    return f"<{tag}>{html.escape(text)}</{tag}>"


def first_rows(caption: str, head: Iterable[str], read: Callable[[], Iterable[dict[str, Any]]]) -> str:
    """Returns the first rows as an HTML table; an error in a file is shown instead of them."""
    from ._errors import Error

    try:
        rows = list(itertools.islice(read(), SHOWN_ROWS))
    except Error as error:
        return f"<pre>{html.escape(str(error))}</pre>"
    columns = "".join(_cell(name, "th") for name in head)
    body = "".join("<tr>" + "".join(_cell(value) for value in row.values()) + "</tr>" for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption><thead><tr>{columns}</tr></thead><tbody>{body}</tbody></table>"
