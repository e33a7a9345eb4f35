"""Folders of .firn files as one table."""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
import uuid
import weakref
from typing import TYPE_CHECKING, Any, Iterator, Sequence

from ._database import Database, Version
from ._errors import Error, NotFoundError, SchemaError, UsageError
from ._html import first_rows
from ._partitions import Partitions, split
from ._run import path_bytes
from ._table import Table, _Readable
from ._work import Work

if TYPE_CHECKING:
    import duckdb
    import polars
    import pyarrow
    import pyarrow.dataset

# The number of files that stay open, which pins their versions.
_MAXIMUM_OPEN = 256


def files_of(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    """Returns the files of a folder and below, of a pattern, or of a list of them, in the order in which they are read.

    As in `firn query FOLDER`, names that begin with a point, and links to folders, are left out.
    """
    if isinstance(source, (list, tuple)):
        return [path for part in source for path in files_of(part)]
    given = os.fsdecode(path_bytes(source, "source"))
    if os.path.isdir(given):
        found = []
        for folder, below, names in os.walk(given):
            below[:] = [name for name in below if not name.startswith(".")]
            found += [os.path.join(folder, name) for name in names if name.endswith(".firn") and not name.startswith(".")]
        return sorted(found, key=os.fsencode)
    if os.path.exists(given):
        return [given]
    return sorted((path for path in glob.glob(given, recursive=True) if os.path.isfile(path)), key=os.fsencode)


class Folder(_Readable):
    """Several .firn files as one table. The version of each file is that at the time of opening.

    Attributes:
        files: the paths, in the order in which they are read.
        versions: the version of each file.
        counts: the numbers of rows and segments of each file.
        schema: the Arrow schema of the rows.
    """

    def __init__(
        self,
        source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        type: str | None = None,
        version: Version | None = None,
        key: bytes | str | None = None,
        _versions: Sequence[tuple[str, int]] | None = None,
    ) -> None:
        self.source = source
        self.files: list[str] = files_of(source) if _versions is None else [path for path, _ in _versions]
        if not self.files:
            raise NotFoundError(f"{source}: there are no .firn files")
        if version is not None and len(self.files) != 1:
            raise UsageError("a version can be chosen for one file only: each file of a folder has its own versions")
        import pyarrow

        self.versions: list[int] = []
        self._types: list[str] = []
        self._key = key
        self._untag: Any = None
        self._open: dict[str, Database] = {}
        self.counts: list[tuple[int, int]] = []
        self.name = ""
        schema: list[pyarrow.Field] = []
        for i, path in enumerate(self.files):
            wanted = version if _versions is None else _versions[i][1]
            db = Database(path, wanted, key)
            table = self._table_of(db, type or self.name or None)
            self.versions.append(db.version)
            self._types.append(table.name)
            self.counts.append((len(table), table.segments))
            if i == 0:
                self.name, self._first = table.name, table.schema
                schema = list(pyarrow.schema(table))
            else:
                self._join(schema, table, path)
            if i < _MAXIMUM_OPEN:
                self._open[path] = db
            else:
                db.close()
        if type is not None and type not in self._types:
            self.close()
            known = ", ".join(f'"{name}"' for name in dict.fromkeys(self._types))
            raise UsageError(f'{source}: no file has the type "{type}"; the types are {known}')
        self._partitions = Partitions(self.files, [field.name for field in schema])
        schema += [self._partitions.arrow(name) for name in self._partitions.kinds]
        self.schema: pyarrow.Schema = pyarrow.schema(schema)

    @staticmethod
    def _table_of(db: Database, name: str | None) -> Table:
        if name is None:
            if len(db.types) != 1:
                names = ", ".join(f'"{known}"' for known in db.types) or "none"
                raise UsageError(f"{db.path}: the types are {names}: choose one with type")
            name = db.types[0]
        elif name not in db.types and len(db.types) == 1:
            # Files that were converted one by one have types that are named after them.
            name = db.types[0]
        return db[name]

    def _join(self, schema: list[Any], table: Table, path: str) -> None:
        """Compares the columns of another file with those of the first one, by name."""
        import pyarrow

        first = self.files[0]
        found = {field.name: field for field in pyarrow.schema(table)}
        for i, field in enumerate(schema):
            other = found.pop(field.name, None)
            if other is None:
                raise SchemaError(f'{path}: there is no column "{field.name}", which {first} has')
            ours, theirs = self._first[field.name], table.schema[field.name]
            if field.type != other.type:
                wider = _wider(field.type, other.type)
                if wider is None or (ours.kind, ours.collection) != (theirs.kind, theirs.collection):
                    raise SchemaError(f'{path}: column "{field.name}" is {other.type}, and {field.type} in {first}')
                schema[i] = field = field.with_type(wider)
            if other.nullable and not field.nullable:
                schema[i] = field.with_nullable(True)
        if found:
            raise SchemaError(f'{path}: there is a column "{next(iter(found))}", which {first} does not have')

    @property
    def partitions(self) -> list[str]:
        """The names of the columns whose values are names of folders."""
        return list(self._partitions.kinds)

    @property
    def column_kinds(self) -> dict[str, str]:
        """The kinds of the columns that have single values; `"day"` for dates without a time."""
        kinds = {
            column.name: "day" if column.is_day else column.kind for column in self._first if column.collection is None
        }
        return {**kinds, **self._partitions.kinds}

    def __len__(self) -> int:
        """The number of rows."""
        return sum(rows for rows, _ in self.counts)

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        limit: int | None = None,
        threads: int | None = None,
    ) -> FolderScan:
        """Returns the rows that match, in the order of the files.

        Args:
            columns: the names of the columns; None for all.
            where: a predicate in Firn's query language. Conditions on names of folders are joined with the others by
                AND; files that they exclude are not read.
            limit: the maximum number of rows.
            threads: the number of threads; None for one per processor.

        Raises:
            firn.UsageError: a column does not exist, or the predicate is wrong.
        """
        return FolderScan(self, columns, where, limit, threads)

    def works(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        segments: int | None = None,
        threads: int | None = 1,
    ) -> list[Work]:
        """Divides the rows that match into units of work for other processes, of up to `segments` segments; None for one
        unit for each file."""
        import pyarrow

        if isinstance(columns, str):
            raise TypeError("columns must be a list of names, not one name")
        if segments is not None and segments < 1:
            raise ValueError("segments must be positive")
        names = self.schema.names if columns is None else list(columns)
        unknown = [name for name in names if name not in self.schema.names]
        if unknown:
            raise UsageError(f'there is no column "{unknown[0]}": the columns are {", ".join(self.schema.names)}')
        schema = pyarrow.schema([self.schema.field(name) for name in names])
        ours, rest = (None, None) if where is None else split(where, self._partitions.kinds)
        read = self._partitions.matching(ours) if ours else [True] * len(self.files)
        works: list[Work] = []
        if rest is not None:
            self._check(rest)
        for i, path in enumerate(self.files):
            if not read[i]:
                continue
            rows, total = self.counts[i]
            values = self._partitions.values[i]
            constants = tuple((name, values[name]) for name in names if name in values)
            size = os.path.getsize(path)
            step = max(1, total) if segments is None else segments
            for start in range(0, max(1, total), step):
                stop = min(start + step, max(1, total))
                share = (stop - start) / max(1, total)
                works.append(
                    Work(
                        path, self.versions[i], self._types[i], schema, constants, rest,
                        None if segments is None else (start, stop), threads, round(rows * share), round(size * share), self._key,
                    )
                )  # fmt: skip
        return works

    def _check(self, where: str) -> None:
        """Reports a wrong predicate before rows are read."""
        with Database(self.files[0], self.versions[0], self._key) as db:
            db[self._types[0]].scan(where=where)

    def to_dataset(self) -> pyarrow.dataset.Dataset:
        """Returns the folder as a pyarrow dataset, which reads only the columns and rows that a library needs."""
        from ._folder_dataset import FolderDataset

        return FolderDataset(self)

    def to_duckdb(self, connection: duckdb.DuckDBPyConnection | None = None) -> duckdb.DuckDBPyRelation:
        """Returns the folder as a relation of DuckDB, which pushes columns and filters into it. `connection` is that whose
        queries can read the relation; None for the default one."""
        import duckdb

        return (duckdb if connection is None else connection).from_arrow(self.to_dataset())

    def to_lazy(self) -> polars.LazyFrame:
        """Returns the folder as a Polars lazy frame, which pushes columns, filters and limits into scans."""
        from ._lazy import lazy_frame

        return lazy_frame(self, self.column_kinds)

    def tag(self) -> None:
        """Tags the version of each file until the folder is closed or the process ends, so that other processes can open it
        after any number of commits. Without a tag, a file keeps its newest versions, 8 by default. Needs permission to
        write the files; a process that is killed leaves its tags, which begin with "job-"."""
        name = f"job-{os.getpid()}-{uuid.uuid4().hex[:12]}"
        done: list[str] = []
        self._untag = weakref.finalize(self, _untag, done, name, self._key)
        for path, version in zip(self.files, self.versions):
            with Database(path, version, self._key) as db:
                db.tag(name)
            done.append(path)

    def close(self) -> None:
        """Releases the files, whose versions are not pinned and tagged any more."""
        if self._untag is not None:
            self._untag()
        for db in self._open.values():
            db.close()

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.scan().__arrow_c_stream__()

    def to_reader(self) -> pyarrow.RecordBatchReader:
        """Returns a pyarrow reader of record batches, which decodes rows when they are asked for."""
        return self.scan().to_reader()

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterates over the rows as dicts."""
        return iter(self.scan())

    def __reduce__(self) -> Any:
        raise TypeError("a Folder cannot be pickled: pass the units of work of works()")

    def __repr__(self) -> str:
        return f"<firn.Folder {str(self.source)!r}: {len(self.files):,} files, {len(self):,} rows × {len(self.schema)} columns>"

    def _repr_html_(self) -> str:
        """Returns the first rows as an HTML table, for notebooks."""
        caption = f"{self.name}: {len(self.files):,} files, {len(self):,} rows × {len(self.schema)} columns"
        return first_rows(caption, [f"{field.name}: {field.type}" for field in self.schema], self.scan)


class FolderScan(_Readable):
    """Rows of a folder that match a predicate, with some of its columns."""

    def __init__(
        self,
        folder: Folder,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        limit: int | None = None,
        threads: int | None = None,
    ) -> None:
        if limit is not None and limit < 0:
            raise ValueError("limit must not be negative")
        self.folder, self.where, self.limit = folder, where, limit
        self.columns = folder.schema.names if columns is None else list(columns)
        self._works = folder.works(columns, where, threads=threads)

    @property
    def files(self) -> list[str]:
        """The files that are read."""
        return [work.path for work in self._works]

    def to_reader(self) -> pyarrow.RecordBatchReader:
        """Returns a pyarrow reader of record batches, which decodes rows when they are asked for."""
        import pyarrow

        schema = pyarrow.schema([self.folder.schema.field(name) for name in self.columns])
        return pyarrow.RecordBatchReader.from_batches(schema, self._batches())

    def _batches(self) -> Iterator[pyarrow.RecordBatch]:
        left = self.limit
        for batch in itertools.chain.from_iterable(work.batches() for work in self._works):
            if left is not None:
                if left == 0:
                    return
                batch = batch.slice(0, left)
                left -= batch.num_rows
            yield batch

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_reader().__arrow_c_stream__()

    def __arrow_c_schema__(self) -> object:
        return self.to_reader().schema.__arrow_c_schema__()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterates over the rows as dicts."""
        rows = itertools.chain.from_iterable(self._dicts(work) for work in self._works)
        return itertools.islice(rows, self.limit)

    def _dicts(self, work: Work) -> Iterator[dict[str, Any]]:
        constants = dict(work.constants)
        own = [name for name in self.columns if name not in constants]
        with Database(work.path, work.version, work.key) as db:
            for row in db[work.type].scan(own, work.where, threads=work.threads):
                yield {name: constants[name] if name in constants else row[name] for name in self.columns}

    def _repr_html_(self) -> str:
        """Returns the first rows as an HTML table, for notebooks."""
        head = [f"{name}: {self.folder.schema.field(name).type}" for name in self.columns]
        return first_rows(repr(self), head, lambda: self)

    def __repr__(self) -> str:
        parts = [repr(str(self.folder.source))]
        for name in ("columns", "where", "limit"):
            value = getattr(self, name)
            if value is not None and value != self.folder.schema.names:
                parts.append(f"{name}={value!r}")
        return f"<firn.FolderScan {', '.join(parts)}>"


def _untag(paths: list[str], name: str, key: bytes | str | None) -> None:
    for path in paths:
        # The file may have been removed, or not be writable any more.
        with contextlib.suppress(Error), Database(path, None, key) as db:
            db.untag(name)


_UNITS = ["s", "ms", "us", "ns"]


def _wider(one: Any, other: Any) -> Any:
    """Returns the type for dates of two files, which have the unit of their first values; None for other types."""
    import pyarrow

    if pyarrow.types.is_date32(one) and pyarrow.types.is_timestamp(other):
        return other
    if pyarrow.types.is_date32(other) and pyarrow.types.is_timestamp(one):
        return one
    if pyarrow.types.is_timestamp(one) and pyarrow.types.is_timestamp(other) and one.tz == other.tz:
        return one if _UNITS.index(one.unit) >= _UNITS.index(other.unit) else other
    return None


def open_folder(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    type: str | None = None,
    version: Version | None = None,
    key: bytes | str | None = None,
) -> Folder:
    """Opens several .firn files as one table. Needs pyarrow.

    Names of folders such as `year=2024` are columns: whole numbers, days, or texts. A column of the files with the same
    name has precedence.

    Args:
        source: a folder, a pattern such as `"sales/2024-*.firn"`, a file, or a list of them.
        type: the name of the type; needed if the files have several.
        version: a version of one file.
        key: the key of encrypted files.

    Raises:
        FileNotFoundError: there are no files.
        firn.SchemaError: the columns of two files differ; the message names file and column.
    """
    return Folder(source, type, version, key)
