"""Differences between tables."""

from __future__ import annotations

from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_void_p, sizeof
from dataclasses import dataclass
from typing import Any, Iterator, Literal, Sequence

from ._library import Handle, ProgressFunction, call, lib, names, texts
from ._progress import Progress, watching
from ._table import Table
from ._values import decode
from ._write import key_names


class _Options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("key", POINTER(c_char_p)),
        ("key_count", c_size_t),
        ("ignore", POINTER(c_char_p)),
        ("ignore_count", c_size_t),
        ("tolerance", c_double),
        ("threads", c_int32),
        ("progress", ProgressFunction),
        ("context", c_void_p),
    ]


class _Counts(Structure):
    _fields_ = [("added", c_int64), ("removed", c_int64), ("changed", c_int64), ("unchanged", c_int64)]


@dataclass(frozen=True)
class Change:
    """A row that differs.

    Attributes:
        kind: `"added"`, `"removed"` or `"changed"`.
        key: the values of the key.
        old: the old values: all of a removed row, those that differ of a changed one; None for an added row.
        new: the new values likewise; None for a removed row.
    """

    kind: Literal["added", "removed", "changed"]
    key: tuple[Any, ...]
    old: dict[str, Any] | None
    new: dict[str, Any] | None


class Difference:
    """The difference of two tables. Iterate over it for the rows: removed ones, then added and changed ones.

    Attributes:
        added, removed, changed, unchanged: the numbers of rows.
    """

    def __init__(
        self, old: Table, new: Table, key: Sequence[str] | None, ignore: Sequence[str] | None, tolerance: float,
        progress: Progress = None,
    ) -> None:
        self.old, self.new = old, new
        self._key, self._ignore, self._tolerance = key, ignore, tolerance
        counts = _Counts()
        with watching(progress, "comparing") as watch:
            self._cursor(counts, watch).release()
        self.added: int = counts.added
        self.removed: int = counts.removed
        self.changed: int = counts.changed
        self.unchanged: int = counts.unchanged

    def _cursor(self, counts: _Counts, watch: Any = None) -> Handle:
        options = _Options(size=sizeof(_Options), tolerance=self._tolerance, progress=watch or ProgressFunction())
        key, options.key_count = names(self._key)
        if key is not None:
            options.key = key
        ignore, options.ignore_count = names(self._ignore)
        if ignore is not None:
            options.ignore = ignore
        cursor = Handle(lib.firn_cursor_free)
        call(lib.firn_diff, self.old._handle(), self.new._handle(), byref(options), byref(counts), byref(cursor.handle))
        return cursor

    def __bool__(self) -> bool:
        """Whether the tables differ."""
        return self.added + self.removed + self.changed > 0

    def __iter__(self) -> Iterator[Change]:
        """Iterates over the rows that differ. Each time, the tables are compared again."""
        for text in texts(self._cursor(_Counts())):
            for entry in decode(text):
                yield Change(entry["kind"], tuple(entry["key"]), entry.get("old"), entry.get("new"))

    def __repr__(self) -> str:
        return (
            f"<firn.Difference: {self.added:,} added, {self.removed:,} removed, {self.changed:,} changed, "
            f"{self.unchanged:,} unchanged>"
        )


def diff(
    old: Table,
    new: Table,
    key: str | Sequence[str] | None = None,
    ignore: str | Sequence[str] | None = None,
    tolerance: float = 0.0,
    progress: Progress = None,
) -> Difference:
    """Compares two tables row by row by key: of two files, or of two versions of one.

    Args:
        old: the old table.
        new: the new table.
        key: the columns that identify a row; None for the primary key.
        ignore: columns that are not compared.
        tolerance: numbers that differ by at most this much are equal.
        progress: whether progress is shown; None shows it in terminals and notebooks.

    Raises:
        firn.UsageError: there is no key, or no such column.
        firn.DuplicateKeyError: several rows of a table have the same key.
    """
    for table, name in ((old, "old"), (new, "new")):
        if not isinstance(table, Table):
            raise TypeError(f"{name} must be a firn.Table, such as firn.open(path)[type], not {type(table).__name__}")
    if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)):
        raise TypeError(f"tolerance must be a number, not {type(tolerance).__name__}")
    key, ignore = key_names(key), key_names(ignore, "ignore")
    return Difference(
        old, new, key, ignore, tolerance, progress
    )
