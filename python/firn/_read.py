"""Functions that read a file in one call, named as those of other libraries."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Sequence

from ._database import Database, Version
from ._errors import UsageError
from ._table import Table

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


def _table(path: str | os.PathLike[str], type: str | None, version: Version | None, key: bytes | str | None) -> Table:
    database = Database(path, version, key)
    if type is not None:
        return database[type]
    if len(database.types) != 1:
        raise UsageError(f"{database.path}: choose one of its types: {', '.join(database.types) or 'it has none'}")
    return database[database.types[0]]


def read_table(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    where: str | None = None,
    *,
    type: str | None = None,
    version: Version | None = None,
    key: bytes | str | None = None,
) -> pyarrow.Table:
    """Returns rows of a .firn file as a pyarrow table.

    Args:
        path: the path of the file.
        columns: the names of the columns; None for all.
        where: a predicate in Firn's query language.
        type: the type, if the file has several.
        version: the number of a version, a tag, or a time such as "2026-11-29T12:00", also a `datetime`; None for the newest.
        key: the key of an encrypted file.
    """
    return _table(path, type, version, key).scan(columns, where).to_arrow()


def read_pandas(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    where: str | None = None,
    *,
    type: str | None = None,
    version: Version | None = None,
    key: bytes | str | None = None,
    **options: Any,
) -> pandas.DataFrame:
    """Returns rows of a .firn file as a pandas frame. Arguments: see `read_table`; options: see `Table.to_pandas`."""
    return _table(path, type, version, key).scan(columns, where).to_pandas(**options)


def read_polars(
    path: str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    where: str | None = None,
    *,
    type: str | None = None,
    version: Version | None = None,
    key: bytes | str | None = None,
) -> polars.DataFrame:
    """Returns rows of a .firn file as a Polars frame. Arguments: see `read_table`."""
    return _table(path, type, version, key).scan(columns, where).to_polars()


def scan_polars(
    path: str | os.PathLike[str],
    *,
    type: str | None = None,
    version: Version | None = None,
    key: bytes | str | None = None,
) -> polars.LazyFrame:
    """Returns a Polars lazy frame of a .firn file, which pushes columns, filters and limits into scans."""
    return _table(path, type, version, key).to_lazy()
