"""SQL over types of open files, and over files of any format."""

from __future__ import annotations

import os
from ctypes import POINTER, Structure, byref, c_char_p, c_int64, c_size_t, c_void_p, cast, pointer, sizeof
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from ._errors import UsageError
from ._library import KeyValue, call, encode, lib, names, stream_capsule
from ._progress import Progress, watching
from ._run import RunOptions, path_bytes, run_options
from ._table import _Result
from ._values import key_values, sql_value

if TYPE_CHECKING:
    from ._database import Database


class _Options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("run", POINTER(RunOptions)),
        ("snapshots", POINTER(c_void_p)),
        ("snapshot_count", c_size_t),
        ("files", POINTER(c_char_p)),
        ("file_count", c_size_t),
        ("parameter_names", POINTER(c_char_p)),
        ("parameters", POINTER(KeyValue)),
        ("parameter_count", c_size_t),
        ("flags", c_int64),
    ]


# Of enum firn_sql_flag.
_GIVEN_ONLY = 1


def _named(parameters: Mapping[str, Any] | Sequence[Any] | None) -> dict[str, Any]:
    """Returns parameters by name; those of a list are ?1, ?2 and so on."""
    if parameters is None:
        return {}
    if isinstance(parameters, Mapping):
        return dict(parameters)
    if isinstance(parameters, (list, tuple)):
        return {str(i): value for i, value in enumerate(parameters, 1)}
    raise TypeError(f"parameters must be a dict or a list, not {type(parameters).__name__}")


def _converted(name: Any, value: Any) -> Any:
    """Returns the value of a parameter for C."""
    try:
        value = sql_value(value)
    except TypeError as error:
        raise TypeError(f'the parameter "{name}" cannot be a {type(value).__name__}: {error}') from None
    try:
        return key_values((value,))
    except TypeError:
        raise TypeError(f'the parameter "{name}" cannot be a {type(value).__name__}: SQL has numbers, texts, bytes and None') from None
    except KeyError:
        raise UsageError(f'the parameter "{name}" is {value}, which is not an integer of 64 bits') from None


class SQLResult(_Result):
    """The rows of an SQL statement. Each time they are read after the first, the statement runs again."""

    def __init__(
        self,
        statement: str,
        databases: list[Database],
        files: list[Any],
        parameters: Mapping[str, Any] | Sequence[Any] | None,
        encryption_key: bytes | str | None,
        progress: Progress,
        open_files: bool,
        options: Mapping[str, Any],
    ) -> None:
        if not isinstance(statement, str):
            raise TypeError(f"the statement must be a str, not {type(statement).__name__}")
        self._statement = statement
        self._pid = os.getpid()
        self._pins = [database._pinned() for database in databases]
        self._files = [path_bytes(file, "file") for file in files]
        self._parameters = _named(parameters)
        self._key, self._progress, self._options = encryption_key, progress, dict(options)
        self._flags = 0 if open_files else _GIVEN_ONLY
        # Errors in the statement are reported here, and not when the rows are read.
        # A list, from which one thread takes it.
        self._first: list[Any] = [stream_capsule(self._fill_stream)]

    def _fill_stream(self, address: int) -> None:
        if os.getpid() != self._pid:
            raise RuntimeError("the statement was prepared before this process was forked")
        values = list(self._parameters.values())
        made = (KeyValue * (len(values) + 1))()
        kept = []
        for i, (name, value) in enumerate(self._parameters.items()):
            converted = _converted(name, value)
            kept.append(converted)
            made[i] = converted if isinstance(converted, KeyValue) else converted[0]
        parameter_names, count = names([encode_name(name) for name in self._parameters])
        snapshots = (c_void_p * (len(self._pins) + 1))(*(pin.handle.value for pin in self._pins), None)
        files = (c_char_p * (len(self._files) + 1))(*self._files, None)
        with watching(self._progress, "running SQL") as watch:
            run, _kept = run_options(self._options, self._key, None, watch)
            options = _Options(
                size=sizeof(_Options),
                run=pointer(run),
                snapshots=snapshots,
                snapshot_count=len(self._pins),
                files=files,
                file_count=len(self._files),
                parameter_names=cast(parameter_names, POINTER(c_char_p)),
                parameters=made,
                parameter_count=count,
                flags=self._flags,
            )
            call(lib.firn_sql, encode(self._statement), byref(options), address)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Returns an Arrow C stream of the rows in a capsule."""
        try:
            return self._first.pop()
        except IndexError:
            return stream_capsule(self._fill_stream)

    def __arrow_c_schema__(self) -> object:
        """Returns the Arrow C schema of the rows in a capsule. The statement runs for it."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_stream(_Again(self)).schema.__arrow_c_schema__()

    def __repr__(self) -> str:
        return f"<firn.SQLResult {self._statement!r}>"


class _Again:
    """The stream of a result without its first one."""

    def __init__(self, result: SQLResult) -> None:
        self._result = result

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return stream_capsule(self._result._fill_stream)


def encode_name(name: Any) -> str:
    """Returns the name of a parameter, without its prefix."""
    if not isinstance(name, str):
        raise TypeError(f"the name of a parameter must be a str, not {type(name).__name__}")
    return name.lstrip(":@$?")


def sql(
    statement: str,
    *sources: Any,
    parameters: Mapping[str, Any] | Sequence[Any] | None = None,
    encryption_key: bytes | str | None = None,
    progress: Progress = None,
    open_files: bool = True,
    **options: Any,
) -> SQLResult:
    """Runs SQL in SQLite's dialect over files of any format, as `firn sql` does.

        firn.sql("SELECT city, count(*) FROM 'people.csv' GROUP BY city").to_pandas()
        firn.sql("SELECT * FROM Dog JOIN Person ON Dog.owner = Person.id", db, "old.parquet")
        firn.sql("SELECT * FROM people WHERE age > :age", "people.firn", parameters={"age": 30})

    Args:
        statement: one statement, or several separated by `;`, of which one returns rows. A table that is the path of a
            file is that file.
        sources: databases whose types are tables, and paths of files, folders and patterns.
        parameters: the values of `:name`, or a list for `?1`, `?2`. A date or a datetime is the text that SQL has for it;
            a datetime without a zone is in UTC.
        encryption_key: the key of encrypted files.
        progress: whether progress is shown; see `firn.convert`.
        open_files: whether a table that is the path of a file is that file. False for statements of others: they read
            the sources alone.
        options: the flags of `firn sql` about reading text files, and `timeout`.

    Raises:
        ValueError: the statement is wrong; `line` and `column` of the error are the position.
    """
    from ._database import Database

    databases = [source for source in sources if isinstance(source, Database)]
    files = [source for source in sources if not isinstance(source, Database)]
    return SQLResult(statement, databases, files, parameters, encryption_key, progress, open_files, options)
