"""Transactions."""

from __future__ import annotations

import contextlib
import decimal
import os
import sys
import threading
import time
import weakref
from ctypes import byref, c_int64, c_uint64, c_void_p
from types import TracebackType
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Sequence

from ._errors import ClosedError, Error, LockedError, NotFoundError, ReadError, RejectedError, RowNotFoundError, SchemaError
from ._library import ProgressFunction, call, encode, lib, names, stream_address
from ._progress import Progress, watching
from ._values import column_value

if TYPE_CHECKING:
    import pyarrow

    from ._database import Database


# The seconds that the library waits before the interpreter can handle an interrupt.
_SLICE = 0.5


def key_names(key: Any, what: str = "key") -> list[str] | None:
    """Returns the columns of a key, each once."""
    if key is None:
        return None
    if isinstance(key, str):
        return [key]
    if not isinstance(key, (list, tuple)) or not all(isinstance(name, str) for name in key):
        raise TypeError(f"{what} must be the name of a column or a list of names, not {key!r}")
    for i, name in enumerate(key):
        if name in key[:i]:
            raise ValueError(f"{what} has the column {name!r} twice")
    return list(key)


def _check_names(data: Any) -> None:
    """Raises ValueError for a name with a zero character, which C would cut."""
    schema = getattr(data, "schema", None)
    found = getattr(schema, "names", None) or getattr(data, "columns", None)
    if not isinstance(found, list) and (isinstance(found, (str, bytes)) or not isinstance(found, Iterable)):
        return
    for name in found:
        if isinstance(name, str) and "\0" in name:
            raise ValueError(f"the name of the column {name!r} contains a zero character")


class _Rows:
    """The Arrow stream of an object, and the exception of Python code that makes its rows."""

    def __init__(self, data: Any, same_columns: bool) -> None:
        self.raised: BaseException | None = None
        # None: no rows.
        self.capsule: Any = None
        if isinstance(data, _readers()):
            import pyarrow

            reader = data if isinstance(data, pyarrow.RecordBatchReader) else data.to_reader()
            data = pyarrow.RecordBatchReader.from_batches(reader.schema, self._batches(reader))
        self.capsule = _capsule(data, same_columns)

    def _batches(self, reader: Iterable[Any]) -> Iterator[Any]:
        # pyarrow makes an exception a text: a KeyboardInterrupt would become an error of the stream.
        try:
            yield from reader
        except GeneratorExit:
            raise
        except BaseException as error:
            self.raised = error
            raise


def _readers() -> tuple[type, ...]:
    """Returns the classes whose rows code in Python may make."""
    folder, pyarrow = sys.modules.get("firn._folder"), sys.modules.get("pyarrow")
    found = () if folder is None else (folder.Folder, folder.FolderScan)
    return found if pyarrow is None else (*found, pyarrow.RecordBatchReader)


def _capsule(data: Any, same_columns: bool) -> Any:
    """Returns a capsule with an Arrow stream of the rows of an object. None: no rows.

    With `same_columns`, dicts must have the same keys.
    """
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(data, polars.LazyFrame):
        # Before its names are read, for which Polars would resolve it.
        raise TypeError("a LazyFrame has no rows before it is collected: give frame.collect()")
    _check_names(data)
    if hasattr(data, "__arrow_c_stream__"):
        capsule = data.__arrow_c_stream__()
        if capsule is None:
            raise TypeError(f"__arrow_c_stream__ of {type(data).__name__} returned None")
        return capsule
    import pyarrow

    if hasattr(data, "__arrow_c_array__"):
        batch = pyarrow.record_batch(data)
        return pyarrow.RecordBatchReader.from_batches(batch.schema, [batch]).__arrow_c_stream__()
    if isinstance(data, dict):
        return _table(data).__arrow_c_stream__()
    if isinstance(data, (str, bytes)) or not isinstance(data, Iterable):
        raise TypeError(f"{type(data).__name__} has no rows: give an Arrow stream, a frame, or dicts")
    rows = list(data)
    if not rows:
        return None
    columns: dict[str, None] = {}
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise TypeError(f"row {number + 1} is of type {type(row).__name__}: give a dict")
        if same_columns and number > 0 and row.keys() != columns.keys():
            raise ValueError(f"row {number + 1} has other columns than the first: change such rows in calls of their own")
        columns.update(dict.fromkeys(row))
    # pyarrow itself would take the columns of the first row only.
    return _table({name: [row.get(name) for row in rows] for name in columns}).__arrow_c_stream__()


def _values_of(keys: Any) -> Any:
    """Returns the values of an iterable, an array or a series, which may be dicts; None for data with columns."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(keys, (pyarrow.Array, pyarrow.ChunkedArray)):
        return None if pyarrow.types.is_struct(keys.type) else keys
    if hasattr(keys, "dtype"):
        if getattr(keys, "ndim", 1) != 1 or not hasattr(keys, "__len__"):
            raise TypeError(f"keys must have one dimension, and not {getattr(keys, 'ndim', 0)}")
        # Polars, pandas, NumPy.
        return keys.to_arrow() if hasattr(keys, "to_arrow") else keys.to_numpy() if hasattr(keys, "to_numpy") else keys
    if hasattr(keys, "__arrow_c_stream__") or hasattr(keys, "__arrow_c_array__") or isinstance(keys, (dict, str, bytes)):
        return None
    return list(keys) if isinstance(keys, Iterable) else None


def _table(columns: dict[Any, Any]) -> pyarrow.Table:
    """Returns a table of columns of Python's values."""
    import pyarrow

    arrays = {}
    for name, values in columns.items():
        if not isinstance(name, str):
            raise TypeError(f"the name of a column must be a str, not {name!r}")
        encode(name)
        try:
            arrays[name] = pyarrow.table({name: values}).column(0)
        except TypeError as error:
            raise SchemaError(f'column "{name}": {error}') from error
        except (ValueError, ArithmeticError, pyarrow.ArrowException) as error:
            raise RejectedError(f'column "{name}": {error}') from error
    return pyarrow.table(arrays)


class Writer:
    """The rows of a type within a transaction.

    Data is anything with an Arrow stream (a pyarrow table or reader, a pandas or Polars frame, a table or scan of this
    package, a DuckDB relation), a dict of columns, or an iterable of dicts. Dicts need pyarrow.
    """

    def __init__(self, transaction: Transaction, name: str) -> None:
        self._transaction = transaction
        self.name = name

    def append(self, data: Any, key: str | Sequence[str] | None = None, progress: Progress = False) -> int:
        """Appends rows, and returns their number. A type that does not exist is made, with the columns of the data.

        Args:
            data: rows with the columns of the type, in any order; columns that can be null may be missing.
            key: the primary key of a new type: a column, or a list of columns.
            progress: whether progress is shown, or a function of the number of rows and -1; see `firn.convert`.

        Raises:
            firn.SchemaError: the columns do not match; the message names the column.
            firn.RejectedError: a value is null where it must not be.
            firn.DuplicateKeyError: a row has the key already. Of many rows, the commit raises it.
        """
        return self._store(lib.firn_append, data, key, progress)

    def replace(self, data: Any, key: str | Sequence[str] | None = None, progress: Progress = False) -> int:
        """Deletes all rows of the type, then appends rows as `append`. Returns the number of new rows."""
        return self._store(lib.firn_replace, data, key, progress)

    def _store(self, function: Any, data: Any, key: str | Sequence[str] | None, progress: Progress) -> int:
        parts = key_names(key)
        columns, count = names(parts)
        if progress is False:
            rows = self._call(function, data, columns, count)
        else:
            with watching(progress, f"writing {self.name}") as watch:
                rows = self._call(function, data, columns, count, watch=watch)
        if parts is not None:
            self._transaction._keys[self.name] = tuple(parts)
        return rows

    def upsert(self, data: Any) -> int:
        """Inserts the rows whose keys do not exist, and changes the columns of the data in the others. Dicts must have the
        same keys.

        Returns the number of rows of the data.
        """
        return self._call(lib.firn_upsert, data)

    def delete(self, where: str | None = None, keys: Any = None) -> int:
        """Deletes the rows that match a predicate, or that have one of some keys. Returns their number.

        Args:
            where: a predicate in Firn's query language.
            keys: data with the columns of the key; or the values of a key of one column, as a list or another iterable, an
                array of NumPy or pyarrow, or a series.

        Raises:
            KeyError: there is no such type.
        """
        if (where is None) == (keys is None):
            raise TypeError("give either where or keys")
        if where is not None:
            count = c_int64()
            with self._transaction._call as handle:
                try:
                    call(lib.firn_delete_where, handle, encode(self.name), encode(where), byref(count))
                except NotFoundError as error:
                    raise RowNotFoundError(str(error)) from None
            return count.value
        values = _values_of(keys)
        if values is not None:
            if len(values) == 0:
                return 0
            keys = values if isinstance(values[0], dict) else self._keys_of(self._key(), values)
        return self._call(lib.firn_delete_keys, keys)

    def _key(self) -> str:
        """Returns the only column of the key."""
        key = self._transaction._keys.get(self.name) or self._transaction.database[self.name].schema.key
        if len(key) != 1:
            raise TypeError(f"the key of {self.name} has {len(key)} columns: give dicts")
        return key[0]

    def _keys_of(self, name: str, values: Any) -> dict[str, Any]:
        """Returns values of the only column of the key as data. Those of Python get the form that `table[key]` gives them."""
        if not isinstance(values, list) or self.name not in self._transaction.database:
            return {name: values}
        column, found = self._transaction.database[self.name].schema[name], []
        for value in values:
            # No row has a value that has no form.
            with contextlib.suppress(KeyError):
                found.append(column_value(value, column.kind, column.logical_type))
        if any(isinstance(value, decimal.Decimal) for value in found):
            found = [decimal.Decimal(value) if isinstance(value, int) else value for value in found]
        return {name: found}

    def _call(self, function: Any, data: Any, *arguments: Any, watch: Any = None) -> int:
        self._transaction._handle()
        name, count = encode(self.name), c_int64()
        rows = _Rows(data, function is lib.firn_upsert)
        if rows.capsule is None:
            if function is lib.firn_replace:
                self.delete(where="TRUEPREDICATE")
            return 0
        with self._transaction._call as handle:
            if watch:
                lib.firn_transaction_watch(handle, watch, None)
            try:
                call(function, handle, name, stream_address(rows.capsule), *arguments, byref(count))
            except Error as error:
                self._transaction._failed(error)
                raised, rows.raised = rows.raised, None
                try:
                    if raised is not None:
                        raise raised from None
                finally:
                    # See call.
                    del raised
                if isinstance(error, NotFoundError):
                    raise RowNotFoundError(str(error)) from None
                raise
            finally:
                if watch:
                    lib.firn_transaction_watch(handle, ProgressFunction(), None)
        return count.value

    def __repr__(self) -> str:
        return f"<firn.Writer {self.name!r}>"


class _Turn:
    """Holds a transaction for one call, in `with`. A second call is an error: to wait for the first one would never end if its data made
    the second one. A class and not a generator: a small commit makes three calls, and a generator takes as long as a small call."""

    __slots__ = ("_lock", "_transaction")

    def __init__(self, transaction: Transaction) -> None:
        self._lock = threading.Lock()
        # A strong reference would keep the transaction, and the lock of the file, until the garbage collector runs.
        self._transaction = weakref.ref(transaction)

    def __enter__(self) -> c_void_p:
        is_mine = False
        try:
            is_mine = self._lock.acquire(False)
            if not is_mine:
                raise RuntimeError("the transaction is used by another call: wait until it returns")
            return self._transaction()._handle()  # type: ignore[union-attr]
        except BaseException:
            if is_mine:
                self._lock.release()
            raise

    def __exit__(self, *error: Any) -> None:
        self._lock.release()


class Transaction:
    """The one transaction of a file. A mapping of the names of types, also of new ones, to their writers.

    It is used by one call at a time: a second one, of another thread or of the data that is written, raises RuntimeError.
    Nothing of it is visible to readers before `commit`, which makes all of it the newest version. After an error
    of a writer, the transaction can only be aborted.
    """

    def __init__(self, database: Database, timeout: float | None) -> None:
        self.database = database
        self._pid = os.getpid()
        self._thread = threading.get_ident()
        # The keys of the types that were made.
        self._keys: dict[str, tuple[str, ...]] = {}
        self._call = _Turn(self)
        self._pointer = c_void_p()
        # Before the call: an interrupt in it must not keep the file locked.
        self._finalizer = weakref.finalize(self, lib.firn_transaction_free, self._pointer)
        self._finalizer.atexit = False
        writable = database._writing()
        # Not the database itself, which a failed transaction must not keep open.
        self._source, end = writable.identity, None if timeout is None else time.monotonic() + timeout
        while True:
            left = _SLICE if end is None else end - time.monotonic()
            try:
                call(lib.firn_begin, writable.handle, min(max(0.0, left), _SLICE), byref(self._pointer))
                break
            except LockedError:
                if end is not None and left <= _SLICE:
                    raise

    def _handle(self) -> c_void_p:
        if not self._finalizer.alive:
            raise ClosedError("the transaction has ended")
        if os.getpid() != self._pid:
            raise RuntimeError("the transaction was begun before this process was forked")
        return self._pointer

    def __getitem__(self, name: str) -> Writer:
        return Writer(self, name)

    def set_metadata(self, key: str, value: str | bytes | None, of: str | None = None) -> None:
        """Sets a named value of the file, of a type (`of="Person"`) or of a column (`of="Person.height"`); None removes it.
        Firn keeps metadata and does not interpret them."""
        if isinstance(value, str):
            value = value.encode("utf-8")
        elif value is not None and not isinstance(value, (bytes, bytearray, memoryview)):
            raise TypeError(f"value must be a str, bytes or None, not {type(value).__name__}")
        data = None if value is None else bytes(value)
        with self._call as handle:
            owner = None if of is None else encode(of)
            call(lib.firn_set_metadata, handle, owner, encode(key), data, 0 if data is None else len(data))

    @property
    def is_open(self) -> bool:
        """Whether the transaction was neither committed nor aborted."""
        return self._finalizer.alive

    def commit(self) -> int:
        """Makes the changes the newest version, durably, and returns its number. Without changes, it returns the number of
        the newest version."""
        version = c_uint64()
        with self._call as handle:
            try:
                call(lib.firn_commit, handle, byref(version))
            except Error as error:
                self._failed(error)
                raise
            finally:
                self._finalizer()
        self.database._committed(version.value, self._source)
        return version.value

    def _failed(self, error: Error) -> None:
        """Lets the next transaction open the file again after a failed write."""
        if isinstance(error, ReadError):
            self.database._failed()

    def abort(self) -> None:
        """Drops the changes."""
        if self._finalizer.alive:
            with self._call:
                self._finalizer()

    def __enter__(self) -> Transaction:
        self._handle()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._finalizer.alive:
            return
        if kind is None:
            self.commit()
        else:
            self.abort()

    def __repr__(self) -> str:
        return f"<firn.Transaction {self.database.path!r}{'' if self._finalizer.alive else ', ended'}>"
