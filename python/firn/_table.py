"""Tables and scans."""

from __future__ import annotations

import functools
import operator
from ctypes import byref, c_char, c_size_t, c_void_p, create_string_buffer, sizeof
from typing import TYPE_CHECKING, Any, Iterator, Sequence

from ._errors import RowNotFoundError, UsageError
from ._html import SHOWN_ROWS, first_rows
from ._library import (
    Handle,
    SCAN_DICTIONARIES,
    SCAN_VIEWS,
    QueryOptions,
    ScanOptions,
    call,
    encode,
    fail,
    interruptible,
    lib,
    names,
    schema_capsule,
    stream_capsule,
    take_text,
    texts,
)
from ._packed import PackedRows
from ._progress import Progress, watching
from ._schema import Schema
from ._values import as_day, column_value, decode, key_values

if TYPE_CHECKING:
    import duckdb
    import pandas
    import polars
    import pyarrow
    import pyarrow.dataset

# ctypes cuts larger integers without an error.
_LARGEST = 2**62
# The bytes for a row that most rows need.
_ROOM = 1024
_Room = c_char * _ROOM


class _Get:
    """The arguments of a call of firn_get with an integer, for one call after another: to make them takes as long as a fifth of
    the call."""

    __slots__ = ("key", "room", "length", "error", "length_address", "error_address")

    def __init__(self) -> None:
        self.key = key_values((0,))
        self.room, self.length, self.error = _Room(), c_size_t(), c_void_p()
        self.length_address, self.error_address = byref(self.length), byref(self.error)


def _text(value: Any, name: str) -> str | None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    return value


def _count(value: Any, name: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool):
        raise TypeError(f"{name} must be a whole number, not a bool")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__}") from None


def _list(value: Any, name: str) -> list[str] | None:
    if value is None:
        return None
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a list of names, not one name")
    try:
        items = list(value)
    except TypeError:
        raise TypeError(f"{name} must be a list of names, not {type(value).__name__}") from None
    for item in items:
        if not isinstance(item, str):
            raise TypeError(f"{name} has {item!r}, which is not the name of a column")
    return items


class _Readable:
    """What has an Arrow stream: a table, a scan, or a query."""

    def _fill_stream(self, address: int) -> None:
        raise NotImplementedError

    def _fill_schema(self, address: int) -> None:
        raise NotImplementedError

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns a new Arrow C stream in a capsule, for pyarrow, pandas, Polars, DuckDB and others.

        Each call reads the rows again. `requested_schema` is ignored, as the protocol allows.
        """
        return stream_capsule(self._fill_stream)

    def __arrow_c_schema__(self) -> object:
        """Returns the Arrow C schema of the stream in a capsule."""
        return schema_capsule(self._fill_schema)

    def to_reader(self) -> pyarrow.RecordBatchReader:
        """Returns a pyarrow reader of record batches, which decodes rows when they are asked for."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_stream(self)

    def to_arrow(self) -> pyarrow.Table:
        """Returns all rows as a pyarrow table."""
        with interruptible():
            return self.to_reader().read_all()

    def to_pandas(self, **options: Any) -> pandas.DataFrame:
        """Returns all rows as a pandas frame. The options are those of `pyarrow.Table.to_pandas`."""
        return self.to_arrow().to_pandas(**options)

    def to_polars(self) -> polars.DataFrame:
        """Returns all rows as a Polars frame."""
        import polars

        with interruptible():
            return polars.DataFrame(self)

    def __reduce__(self) -> Any:
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled: pass the path and version of its file, and open it in the other process"
        )


class Scan(_Readable):
    """Rows of a table that match a predicate, with some of its columns. Nothing is read before they are asked for."""

    def __init__(
        self,
        table: Table,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        limit: int | None = None,
        segments: range | None = None,
        threads: int | None = None,
        dictionaries: bool = False,
        views: bool = False,
    ) -> None:
        columns, where, limit = _list(columns, "columns"), _text(where, "where"), _count(limit, "limit")
        threads = _count(threads, "threads")
        if limit is not None and limit < 0:
            raise ValueError("limit must not be negative")
        if threads is not None and not 0 < threads <= 1024:
            raise ValueError("threads must be from 1 to 1024")
        if segments is not None and not isinstance(segments, range):
            raise TypeError(f"segments must be a range, not {type(segments).__name__}")
        if segments is not None and (segments.step != 1 or segments.start < 0):
            raise ValueError("segments must be a range with the step 1")
        self.table = table
        self.columns = columns
        self.where = where
        self.limit = limit
        self.segments = segments
        self.threads = threads
        self.dictionaries = dictionaries
        self.views = views
        # Wrong names and predicates are reported here, and not when the rows are read.
        if columns is not None or where is not None:
            self._cursor().release()

    def _options(self) -> tuple[ScanOptions, Any]:
        options = ScanOptions(size=sizeof(ScanOptions))
        columns, options.column_count = names(self.columns)
        if columns is not None:
            options.columns = columns
        if self.where is not None:
            options.where = encode(self.where)
        if self.limit is not None:
            options.limit = min(self.limit, _LARGEST)
        if self.segments is not None:
            options.first_segment = min(self.segments.start, _LARGEST)
            options.segment_count = min(len(self.segments), _LARGEST)
        if self.threads is not None:
            options.threads = self.threads
        options.flags = (SCAN_DICTIONARIES if self.dictionaries else 0) | (SCAN_VIEWS if self.views else 0)
        return options, columns

    @property
    def _is_empty(self) -> bool:
        return self.limit == 0 or (self.segments is not None and len(self.segments) == 0)

    def to_polars(self) -> polars.DataFrame:
        """Returns all rows as a Polars frame."""
        if self.views or self.dictionaries:
            return super().to_polars()
        return Scan(self.table, self.columns, self.where, self.limit, self.segments, self.threads, views=True).to_polars()

    def _fill_stream(self, address: int) -> None:
        options, _kept = self._options()
        if self._is_empty:
            # Past the last segment.
            options.first_segment, options.segment_count = _LARGEST, 0
        call(lib.firn_scan, self.table._handle(), byref(options), address)

    def __arrow_c_schema__(self) -> object:
        """Returns the Arrow C schema of the stream in a capsule."""
        if self.dictionaries or self.views:
            # The columns that are dictionaries or views are known to the stream alone.
            return self.to_reader().schema.__arrow_c_schema__()
        return super().__arrow_c_schema__()

    def _fill_schema(self, address: int) -> None:
        columns, count = names(self.columns)
        call(lib.firn_table_schema, self.table._handle(), columns, count, address)

    def _cursor(self) -> Handle:
        options, _kept = self._options()
        if self._is_empty:
            options.first_segment, options.segment_count = _LARGEST, 0
        cursor = Handle(lib.firn_cursor_free)
        call(lib.firn_cursor_open, self.table._handle(), byref(options), byref(cursor.handle))
        return cursor

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterates over the rows as dicts."""
        schema = self.table.schema
        columns = schema.names if self.columns is None else self.columns
        days = [i for i, name in enumerate(columns) if schema[name].is_day]
        for text in texts(self._cursor()):
            for row in decode(text):
                for i in days:
                    row[i] = as_day(row[i])
                yield dict(zip(columns, row))

    def __repr__(self) -> str:
        parts = [f"{self.table.name!r}"]
        for name in ("columns", "where", "limit", "segments"):
            value = getattr(self, name)
            if value is not None:
                parts.append(f"{name}={value!r}")
        return f"<firn.Scan {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        """Returns the first rows as an HTML table, for notebooks."""
        schema = self.table.schema
        names = schema.names if self.columns is None else self.columns
        shown = SHOWN_ROWS if self.limit is None else min(self.limit, SHOWN_ROWS)
        scan = Scan(self.table, self.columns, self.where, shown, self.segments, self.threads)
        return first_rows(repr(self), [f"{name}: {schema[name].type}" for name in names], lambda: scan)


class _Result(_Readable):
    """Rows of which the stream alone knows the columns: of a query, or of an SQL statement."""

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterates over the rows as dicts. Needs pyarrow."""
        for batch in self.to_reader():
            yield from batch.to_pylist()

    def _repr_html_(self) -> str:
        """Returns the first rows as an HTML table, for notebooks. Runs the query or statement; needs pyarrow."""
        reader = self.to_reader()
        names = [f"{field.name}: {field.type}" for field in reader.schema]
        return first_rows(repr(self), names, lambda: (row for batch in reader for row in batch.to_pylist()))


class Query(_Result):
    """The result of a query, which may sort, group and aggregate."""

    def __init__(
        self,
        table: Table,
        query: str | None = None,
        select: Sequence[str] | None = None,
        group_by: Sequence[str] | None = None,
        aggregates: str | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> None:
        limit, offset = _count(limit, "limit"), _count(offset, "offset") or 0
        if offset < 0 or (limit is not None and limit < 0):
            raise ValueError("limit and offset must not be negative")
        self.table = table
        self._query = _text(query, "query")
        self._select = _list(select, "select")
        self._group_by = _list(group_by, "group_by")
        self._aggregates = _text(aggregates, "aggregates")
        self._limit, self._offset = limit, offset
        # Checks the names and the query; it does not run before the stream is read.
        self.__arrow_c_stream__()

    def _fill_stream(self, address: int) -> None:
        options = QueryOptions(size=sizeof(QueryOptions))
        if self._query is not None:
            options.query = encode(self._query)
        select, options.select_count = names(self._select)
        if select is not None:
            options.select = select
        group, options.group_by_count = names(self._group_by)
        if group is not None:
            options.group_by = group
        if self._aggregates is not None:
            options.aggregates = encode(self._aggregates)
        # 0 is no limit for the library: all rows are skipped instead.
        offset = _LARGEST if self._limit == 0 else self._offset
        options.limit, options.offset = min(self._limit or 0, _LARGEST), min(offset, _LARGEST)
        call(lib.firn_query, self.table._handle(), byref(options), address)

    def __arrow_c_schema__(self) -> object:
        """Returns the Arrow C schema of the result in a capsule."""
        return self.to_reader().schema.__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"<firn.Query {self.table.name!r} {self._query or ''}>"


def _parse(text: bytes) -> tuple[Schema, PackedRows]:
    schema = Schema.parse(text)
    return schema, PackedRows(schema)


_parse_recent = functools.lru_cache(maxsize=64)(_parse)


def _parsed(text: bytes) -> tuple[Schema, PackedRows]:
    """Reads a schema. Most versions of a type have the schema of the version before; those of wide types are not kept in memory."""
    return _parse_recent(text) if len(text) < 1 << 16 else _parse(text)


class Table(_Readable):
    """The rows of a type at one version of a file. It never changes, and can be used by several threads."""

    def __init__(self, snapshot: c_void_p, name: str, check: Any) -> None:
        self._held = Handle(lib.firn_table_free)
        handle = self._held.handle
        try:
            call(lib.firn_table_open, snapshot, encode(name), byref(handle))
        except FileNotFoundError as error:
            raise RowNotFoundError(str(error)) from None
        self._pointer = handle
        self._check = check
        # Those that no call uses: each thread that calls takes one, or makes one.
        self._gets: list[_Get] = []
        self.name: str = name
        self.schema: Schema
        self.schema, self._packed = _parsed(lib.firn_table_schema_text(handle))
        self._names = self.schema.names
        self._days = [i for i, column in enumerate(self.schema) if column.is_day]
        self._key_columns = [(self.schema[name].kind, self.schema[name].logical_type) for name in self.schema.key]

    def _handle(self) -> c_void_p:
        self._check()
        return self._pointer

    @property
    def segments(self) -> int:
        """The number of segments, the parts of up to 65,536 rows that `scan` can be restricted to."""
        return lib.firn_table_segment_count(self._pointer)

    @property
    def column_kinds(self) -> dict[str, str]:
        """The kinds of the columns that have single values; `"day"` for dates without a time."""
        return {column.name: "day" if column.is_day else column.kind for column in self.schema if column.collection is None}

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._names)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self), len(self._names)

    def head(self, n: int = 5) -> Scan:
        """Returns the first rows as a scan, which a notebook shows."""
        return self.scan(limit=n)

    def __len__(self) -> int:
        """The number of rows."""
        return lib.firn_table_row_count(self._pointer)

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        limit: int | None = None,
        segments: range | None = None,
        threads: int | None = None,
        dictionaries: bool = False,
        views: bool = False,
    ) -> Scan:
        """Returns the rows that match, in the order of the table.

        Args:
            columns: the names of the columns; None for all.
            where: a predicate in Firn's query language, such as `"age > 30 AND name BEGINSWITH 'A'"`.
            limit: the maximum number of rows.
            segments: the segments to read, for readers that divide a table.
            threads: the number of threads; None for one per processor.
            dictionaries: whether columns of texts that repeat are Arrow dictionaries. The first segment of the table
                decides which columns these are.
            views: whether columns of texts that are not dictionaries are Arrow string views, which Polars reads without
                a copy.

        Raises:
            firn.UsageError: a column does not exist, or the predicate is wrong.
        """
        return Scan(self, columns, where, limit, segments, threads, dictionaries, views)

    def query(
        self,
        query: str | None = None,
        select: Sequence[str] | None = None,
        group_by: Sequence[str] | None = None,
        aggregates: str | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> Query:
        """Returns the result of a query in Firn's query language, with `SORT`, `DISTINCT` and `LIMIT`.

        Args:
            query: such as `"age > 30 SORT(name ASC)"`. With groups or aggregates, `SORT`, `DISTINCT` and `LIMIT` choose and
                sort the rows before they are grouped, and not the groups: sort the result, as with
                `to_arrow().sort_by("total")`.
            select: columns, or paths such as `"birth.place"`.
            group_by: columns or paths.
            aggregates: such as `"count, sum(price) as total"`.
            limit: the maximum number of rows.
            offset: the number of rows to skip.
        """
        return Query(self, query, select, group_by, aggregates, limit, offset)

    def hash(self, key: str | Sequence[str] | None = None, progress: Progress = None) -> str:
        """Returns the content hash of the rows: 32 hexadecimal digits, as `firn hash` prints them. It is the same for the
        same rows, however they are stored, also in files of other formats.

        Args:
            key: the columns that identify a row; None for the primary key. Without one, the order of rows matters.
        """
        columns, count = names([key] if isinstance(key, str) else _list(key, "key"))
        out = create_string_buffer(33)
        with watching(progress, f"hashing {self.name}") as watch:
            call(lib.firn_table_hash, self._handle(), columns, count, watch, None, out)
        return out.value.decode()

    def to_dataset(self, dictionaries: bool = False) -> pyarrow.dataset.Dataset:
        """Returns the table as a pyarrow dataset, which reads only the columns and rows that a library needs.

        With `dictionaries`, texts that repeat are dictionaries, as in `scan`: DuckDB groups by them in less time, but
        pandas makes categories of them, and pyarrow does not sort them or join them to texts.
        """
        from ._dataset import TableDataset

        return TableDataset(self, dictionaries)

    def to_duckdb(self, connection: duckdb.DuckDBPyConnection | None = None) -> duckdb.DuckDBPyRelation:
        """Returns the table as a relation of DuckDB, which pushes columns and filters into it:

            people = db["people"].to_duckdb()
            duckdb.sql("SELECT name FROM people WHERE age > 30")

        Args:
            connection: a connection of DuckDB, whose queries can read the relation; None for the default one.
        """
        import duckdb

        # DuckDB compares and groups dictionaries in less time; they are text in its types.
        return (duckdb if connection is None else connection).from_arrow(self.to_dataset(dictionaries=True))

    def to_lazy(self) -> polars.LazyFrame:
        """Returns the table as a Polars lazy frame, which pushes columns, filters and limits into scans."""
        from ._lazy import lazy_frame

        return lazy_frame(self, self.column_kinds, views=True)

    def __getitem__(self, key: Any) -> dict[str, Any]:
        """Returns the row with a primary key; a tuple if the key has several columns.

        Raises:
            KeyError: there is no such row.
        """
        parts = key if isinstance(key, tuple) else (key,)
        try:
            if type(key) is int and -(2**63) <= key < 2**63:
                try:
                    get = self._gets.pop()
                except IndexError:
                    get = _Get()
                get.key.integer = key
                code = lib.firn_get(
                    self._handle(), get.key, 1, get.room, _ROOM, get.length_address, get.error_address
                )
                if code:
                    fail(code, get.error)
                if get.length.value <= _ROOM:
                    found = self._packed.row(get.room)
                    self._gets.append(get)
                    return found
            values, length, room, row = self._key(parts), c_size_t(), _ROOM, _Room()
            while True:
                call(lib.firn_get, self._handle(), values, len(parts), row, room, byref(length))
                if length.value <= room:
                    return self._packed.row(row)
                room = length.value
                row = create_string_buffer(room)
        except FileNotFoundError:
            raise KeyError(key) from None

    def _key(self, parts: tuple[Any, ...]) -> Any:
        """Returns the values of a key for C, as the columns of the key have them."""
        columns = self._key_columns
        if len(parts) != len(columns):
            # The error of the library names the columns.
            return key_values(parts)
        return key_values(tuple(column_value(part, *column) for part, column in zip(parts, columns)))

    def row(self, row_id: int) -> dict[str, Any]:
        """Returns the row with a row id, which links have.

        Raises:
            KeyError: there is no such row.
        """
        row_id = _count(row_id, "row_id") or 0
        if not -_LARGEST <= row_id <= _LARGEST:
            raise KeyError(row_id)
        text, length = c_void_p(), c_size_t()
        try:
            call(lib.firn_row_text, self._handle(), row_id, None, 0, byref(text), byref(length))
        except FileNotFoundError:
            raise KeyError(row_id) from None
        values = decode(take_text(text, length.value))
        for i in self._days:
            values[i] = as_day(values[i])
        return dict(zip(self._names, values))

    def __contains__(self, key: object) -> bool:
        """Whether a row has this primary key. A value of another type is in no row."""
        parts = key if isinstance(key, tuple) else (key,)
        try:
            call(lib.firn_find, self._handle(), self._key(parts), len(parts), None)
        except (FileNotFoundError, KeyError):
            return False
        except (UsageError, TypeError):
            if len(parts) != len(self.schema.key):
                raise
            return False
        return True

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterates over the rows as dicts."""
        return iter(self.scan())

    def to_polars(self) -> polars.DataFrame:
        """Returns all rows as a Polars frame."""
        return self.scan(views=True).to_polars()

    def _fill_stream(self, address: int) -> None:
        call(lib.firn_scan, self._handle(), None, address)

    def _fill_schema(self, address: int) -> None:
        call(lib.firn_table_schema, self._handle(), None, 0, address)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<firn.Table {self.name!r}: {len(self):,} rows × {len(self.schema)} columns>"

    def _repr_html_(self) -> str:
        """Returns the first rows as an HTML table, for notebooks."""
        caption = f"{self.name}: {len(self):,} rows × {len(self.schema)} columns"
        head = [f"{column.name}: {column.type}" for column in self.schema]
        return first_rows(caption, head, lambda: self.scan(limit=SHOWN_ROWS))
