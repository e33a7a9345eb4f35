"""A data source for Apache Spark 4: `pip install firn[spark]`.

    import firn.spark

    firn.spark.register(spark)
    frame = spark.read.format("firn").load("sales")          # a file, or a folder of files as one table
    frame.write.format("firn").mode("append").save("out")    # one file for each task

Spark (4.3 was tested) stores the filters that a source in Python takes with the frame, and applies them to other queries
of the same frame: `f.filter("id < 10").count()` and then `f.count()` both return 10. So filters are left to Spark, unless the
option pushdown is "true"; the option where has a predicate that Firn applies.
"""

from __future__ import annotations

import datetime
import decimal
import json
import weakref
from typing import Any, Iterator, MutableMapping, Sequence

import pyarrow
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from ._errors import UsageError
from ._folder import Folder
from ._parts import Job, Part
from ._partitions import split
from ._predicates import day, name, text
from ._work import Work

# The segments of up to 65,536 rows of a task.
_SEGMENTS = 16
_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


def register(spark: Any) -> None:
    """Makes the format "firn" known to a session."""
    spark.dataSource.register(FirnDataSource)


def read(spark: Any, path: Any, tag: bool = False, **options: Any) -> Any:
    """Returns a frame of a file or a folder. The versions of its files are those of now in each action on the frame.

    Args:
        spark: the session.
        path: a file, a folder, a pattern, or a list of them.
        tag: whether to tag the versions until this process releases the session, for files that other processes write while
            it is used; needs permission to write them.
        options: the options of the format: type, version, columns, where, segments, pushdown. With pushdown=True, use
            the frame in one query only.
    """
    register(spark)
    if str(options.get("pushdown", "")).lower() == "true":
        spark.conf.set(_PUSHDOWN, "true")
    folder = Folder(path, options.get("type"), options.get("version"))
    if tag:
        folder.tag()
        weakref.finalize(spark, folder.close)
    columns = options.pop("columns", None)
    if columns is not None:
        options["columns"] = json.dumps(list(columns))
    options["files"] = json.dumps(list(zip(folder.files, folder.versions)))
    given = {option: str(value) for option, value in options.items() if value is not None and option != "version"}
    return spark.read.format("firn").options(**given).load()


class FirnDataSource(DataSource):
    """The format "firn". Options: path, type, version, columns (a JSON list, or names separated by commas), where (a
    predicate of Firn), segments (the segments of a task, 16 by default), pushdown, and key of written files."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        # The files and versions, which are chosen once for a frame.
        self._files: list[tuple[str, int]] | None = None

    @classmethod
    def name(cls) -> str:
        return "firn"

    def _folder(self) -> Folder:
        if self._files is None and "files" in self.options:
            self._files = [(path, int(version)) for path, version in json.loads(self.options["files"])]
        path = self.options.get("path")
        if path is None and self._files is None:
            raise UsageError("there is no path: give one to load()")
        folder = Folder(path or "", self.options.get("type"), self.options.get("version"), _versions=self._files)
        if self._files is None:
            self._files = list(zip(folder.files, folder.versions))
        return folder

    def _columns(self) -> list[str] | None:
        given = self.options.get("columns")
        if given is None:
            return None
        return json.loads(given) if given.startswith("[") else [part.strip() for part in given.split(",")]

    def schema(self) -> Any:
        """The columns as Spark's types."""
        with self._folder() as folder:
            chosen = self._columns()
            # Reports wrong names and predicates.
            folder.works(chosen, self.options.get("where"))
            names = folder.schema.names if chosen is None else chosen
            return from_arrow_schema(pyarrow.schema([_spark_field(folder.schema.field(name)) for name in names]))

    def reader(self, schema: Any) -> FirnReader:
        """Returns the reader of some columns: those of a schema that the user gives, or all."""
        pushes = self.options.get("pushdown", "false").lower() == "true"
        return (PushingReader if pushes else FirnReader)(self, schema)

    def writer(self, schema: Any, overwrite: bool) -> FirnWriter:
        """Returns the writer of a folder."""
        if "path" not in self.options:
            raise UsageError("there is no path: give one to save()")
        arrow = pyarrow.schema([field.remove_metadata() for field in to_arrow_schema(schema, timezone="UTC")])
        key = self.options.get("key")
        parts = None if key is None else [part.strip() for part in key.split(",")]
        mode = "overwrite" if overwrite else "append"
        return FirnWriter(Job(self.options["path"], arrow, mode, self.options.get("type"), parts))


class FirnReader(DataSourceReader):
    """Divides the rows into tasks. Each task opens its file."""

    def __init__(self, source: FirnDataSource, schema: Any) -> None:
        self._source = source
        self._schema = to_arrow_schema(schema, timezone="UTC")
        self._where = [source.options["where"]] if "where" in source.options else []
        with source._folder() as folder:
            self._kinds, self._partitions = folder.column_kinds, folder.partitions

    def partitions(self) -> list[InputPartition]:
        """Returns the units of work, each of which names a file and a version."""
        where = " AND ".join(f"({part})" for part in self._where) or None
        segments = int(self._source.options.get("segments", _SEGMENTS))
        with self._source._folder() as folder:
            return [InputPartition(work) for work in folder.works(self._schema.names, where, segments)]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        """Reads a unit of work as Arrow batches with Spark's types."""
        # Without units, Spark asks for the value None.
        work: Work | None = partition.value
        for batch in () if work is None else work.batches():
            arrays = [_converted(batch.column(field.name), field.type) for field in self._schema]
            if not arrays:
                continue
            yield pyarrow.RecordBatch.from_arrays(arrays, schema=self._schema)


class PushingReader(FirnReader):
    """A reader that uses filters to skip rows."""

    def pushFilters(self, filters: Sequence[Any]) -> Iterator[Any]:
        """Uses filters to skip rows. A predicate matches at least the rows of a filter, so Spark applies all filters to
        the rows that are left."""
        for filter in filters:
            found = _predicate(filter, self._kinds)
            if found is not None:
                try:
                    split(found, self._partitions)
                    self._where.append(found)
                except UsageError:
                    pass
            yield filter


class _Message(WriterCommitMessage):
    def __init__(self, part: Part) -> None:
        self.part = part


class FirnWriter(DataSourceArrowWriter):
    """Writes one file for each task, and publishes the files when all tasks have ended."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def write(self, iterator: Iterator[pyarrow.RecordBatch]) -> _Message:
        """Writes the rows of a task."""
        from pyspark import TaskContext

        context = TaskContext.get()
        batches = (batch.replace_schema_metadata(None) for batch in iterator)
        return _Message(self._job.write(batches, 0 if context is None else context.partitionId()))

    def commit(self, messages: list[Any]) -> None:
        """Publishes the files."""
        self._job.commit(message.part for message in messages if message is not None)

    def abort(self, messages: list[Any]) -> None:
        """Removes the files."""
        self._job.abort()


# Types


def _spark_type(kind: pyarrow.DataType) -> pyarrow.DataType:
    """Returns the type that Spark has for a type of Arrow."""
    types = pyarrow.types
    if isinstance(kind, pyarrow.BaseExtensionType):
        return _spark_type(kind.storage_type)
    if types.is_dictionary(kind):
        return _spark_type(kind.value_type)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return pyarrow.list_(_spark_field(kind.value_field))
    if types.is_map(kind):
        return pyarrow.map_(_spark_type(kind.key_type), _spark_field(kind.item_field))
    if types.is_struct(kind):
        return pyarrow.struct([_spark_field(field) for field in kind])
    if types.is_timestamp(kind):
        return pyarrow.timestamp("us", None if kind.tz is None else "UTC")
    if types.is_decimal(kind):
        return pyarrow.decimal128(kind.precision, kind.scale) if kind.precision <= 38 and kind.scale >= 0 else pyarrow.string()
    wider = {
        "uint8": pyarrow.int16(), "uint16": pyarrow.int32(), "uint32": pyarrow.int64(), "uint64": pyarrow.decimal128(20, 0),
        "halffloat": pyarrow.float32(), "large_string": pyarrow.string(), "string_view": pyarrow.string(),
        "large_binary": pyarrow.binary(), "binary_view": pyarrow.binary(), "date64[ms]": pyarrow.date32(), "null": pyarrow.string(),
    }  # fmt: skip
    if types.is_fixed_size_binary(kind):
        return pyarrow.binary()
    if types.is_duration(kind):
        return pyarrow.int64()
    if types.is_time(kind) or types.is_interval(kind):
        return pyarrow.string()
    return wider.get(str(kind), kind)


def _spark_field(field: pyarrow.Field) -> pyarrow.Field:
    return pyarrow.field(field.name, _spark_type(field.type), field.nullable)


def _converted(array: pyarrow.Array, kind: pyarrow.DataType) -> pyarrow.Array:
    if array.type == kind:
        return array
    if isinstance(array, pyarrow.ExtensionArray):
        array = array.storage
    if pyarrow.types.is_timestamp(array.type) or pyarrow.types.is_nested(array.type):
        # Nanoseconds are cut: Spark has microseconds.
        return array.cast(kind, safe=False)
    return array.cast(kind)


# Filters

_COMPARISONS = {
    "EqualTo": "==", "GreaterThan": ">", "GreaterThanOrEqual": ">=", "LessThan": "<", "LessThanOrEqual": "<=",
}  # fmt: skip
_TEXT = {"StringStartsWith": "BEGINSWITH", "StringEndsWith": "ENDSWITH", "StringContains": "CONTAINS"}
_MAXIMUM_VALUES = 100


def _predicate(filter: Any, kinds: dict[str, str]) -> str | None:
    """Returns a predicate that matches at least the rows of a filter of Spark; None if there is no such predicate."""
    operation = type(filter).__name__
    if operation == "Not":
        child = filter.child
        if type(child).__name__ == "EqualTo" and kinds.get(child.attribute[0]) in ("int", "string", "bool", "day"):
            # A row without a value is different from every value in Firn, and unknown in Spark.
            equal = _predicate(child, kinds)
            return None if equal is None else f"NOT {equal}"
        return None
    path = filter.attribute
    column, kind = name(path[0]), kinds.get(path[0])
    if len(path) != 1 or column is None or kind is None:
        return None
    if operation in ("IsNull", "IsNotNull"):
        return f"({column} {'==' if operation == 'IsNull' else '!='} nil)"
    if operation == "EqualNullSafe":
        return f"({column} == nil)" if filter.value is None else _comparison(column, kind, "==", filter.value)
    if operation == "In":
        values = [value for value in filter.value if value is not None]
        parts = [_comparison(column, kind, "==", value) for value in values[:_MAXIMUM_VALUES]]
        if not values or len(values) > _MAXIMUM_VALUES or None in parts:
            return None
        return f"({' OR '.join(part for part in parts if part)})"
    if operation in _TEXT:
        literal = text(filter.value) if kind == "string" else None
        return None if not literal or literal == '""' else f"({column} {_TEXT[operation]} {literal})"
    if operation in _COMPARISONS:
        return _comparison(column, kind, _COMPARISONS[operation], filter.value)
    return None


def _comparison(column: str, kind: str, operator: str, value: Any) -> str | None:
    literal = None
    if kind == "bool":
        literal = str(value).lower() if isinstance(value, bool) and operator == "==" else None
    elif kind in ("int", "double", "float", "decimal128"):
        if isinstance(value, bool) or not isinstance(value, (int, float, decimal.Decimal)):
            return None
        # In Spark, NaN is greater than every number and equal to itself.
        if kind in ("double", "float") and operator in (">", ">="):
            return None
        if kind == "float" and operator == "==" and value != int(value):
            return None
        if value == value and abs(value) < 1e300:
            literal = format(value, "f") if isinstance(value, decimal.Decimal) else repr(value)
    elif kind == "string" and isinstance(value, str):
        literal = text(value)
    elif kind == "day" and isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        literal = day(value)
    elif kind == "date" and isinstance(value, datetime.datetime):
        return _time(column, operator, value)
    return None if literal is None else f"({column} {operator} {literal})"


def _time(column: str, operator: str, value: datetime.datetime) -> str:
    """Compares with the whole seconds before and after a time."""
    if value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    before = value.replace(microsecond=0)
    parts = []
    if operator in (">", ">=", "=="):
        parts.append(f"{column} >= {before.isoformat().replace('T', '@')}")
    if operator in ("<", "<=", "==") and before.year < 9999:
        after = before + datetime.timedelta(seconds=1)
        parts.append(f"{column} <= {after.isoformat().replace('T', '@')}")
    return f"({' AND '.join(parts) or 'TRUEPREDICATE'})"
