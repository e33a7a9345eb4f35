"""Writing a folder of .firn files from several processes: each task makes one file, and the driver publishes all of them.

Tasks write into a hidden folder, which readers leave out. A task that is tried again makes another file, and only the
files of the tasks that the driver names are published: no row is written twice.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Iterable, Iterator, Sequence

from ._database import Database
from ._errors import ExistsError, SchemaError, UsageError
from ._folder import Folder, files_of

if TYPE_CHECKING:
    import pyarrow

MODES = ("error", "append", "overwrite")
_EXCHANGE = 2
_AT_FDCWD = -100


@dataclass(frozen=True)
class Part:
    """A file that a task has written; an empty name if it had no rows."""

    name: str
    rows: int


class Job:
    """A job that writes a folder. It can be pickled: tasks call `write`, the driver calls `commit` or `abort`.

    Args:
        folder: the folder.
        schema: the Arrow schema of the rows; None if the driver does not know it.
        mode: `"error"` if the folder has files already, `"append"`, or `"overwrite"`.
        type: the name of the type; by default that of the folder.
        key: the primary key, which is checked within each file.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        schema: pyarrow.Schema | None,
        mode: str = "error",
        type: str | None = None,
        key: str | Sequence[str] | None = None,
    ) -> None:
        if mode not in MODES:
            raise ValueError(f'the mode is "{mode}": use one of {", ".join(MODES)}')
        self.folder = os.path.abspath(os.fspath(folder))
        self.mode, self.key = mode, key
        self.id = uuid.uuid4().hex[:12]
        self.staging = os.path.join(os.path.dirname(self.folder), f".{os.path.basename(self.folder)}-{self.id}")
        if os.path.exists(self.folder) and not os.path.isdir(self.folder):
            raise ExistsError(f"{self.folder}: is a file, not a folder")
        self._appends = os.path.isdir(self.folder) and bool(os.listdir(self.folder)) and mode != "overwrite"
        if self._appends and mode == "error":
            raise ExistsError(f"{self.folder}: the folder is not empty: choose the mode append or overwrite")
        if mode == "overwrite":
            _check_replaceable(self.folder)
        name = os.path.basename(self.folder).removesuffix(".firn")
        if self._appends and files_of(self.folder):
            with Folder(self.folder) as existing:
                if existing.partitions:
                    raise UsageError(f"{self.folder}: has columns that are names of folders: append to one of the folders")
                type = type or existing.name
                schema = existing.schema if schema is None else _common(existing.schema, schema, self.folder)
        self.type = type or name
        self.schema = schema

    def write(self, batches: Iterable[pyarrow.RecordBatch], number: int = 0) -> Part:
        """Writes the rows of a task into a file, which is not visible to readers before `commit`."""
        import pyarrow

        count, schema = 0, self.schema

        def converted() -> Iterator[pyarrow.RecordBatch]:
            nonlocal count, schema
            for batch in batches:
                count += batch.num_rows
                if schema is None:
                    schema = batch.schema
                if batch.num_rows:
                    yield cast(batch, schema)

        rows = converted()
        first = next(rows, None)
        if first is None and number >= 0:
            return Part("", 0)
        name = f"part-{max(0, number):05}-{uuid.uuid4().hex[:12]}.firn"
        os.makedirs(self.staging, exist_ok=True)

        def all_rows() -> Iterator[pyarrow.RecordBatch]:
            if first is not None:
                yield first
            yield from rows

        with Database(os.path.join(self.staging, name), _create=True) as db, db.write() as transaction:
            reader = pyarrow.RecordBatchReader.from_batches(schema, all_rows())
            transaction[self.type].append(reader, key=self.key)
        return Part(name, count)

    def commit(self, parts: Iterable[Part]) -> int:
        """Publishes the files of the tasks, and returns the number of rows.

        A new or replaced folder appears as a whole. So do the files that are added to an existing one: several of them are
        in a folder of their own below it.
        """
        parts = list(parts)
        names = [part.name for part in parts if part.name]
        if not names and not self._appends and self.schema is not None:
            # A folder without rows has the columns.
            names = [self.write([], number=-1).name]
        try:
            self._check(names)
            if self._appends or (self.mode == "append" and os.path.isdir(self.folder)):
                self._add(names)
            else:
                self._replace(names)
        finally:
            self.abort()
        return sum(part.rows for part in parts)

    def abort(self) -> None:
        """Removes the files of tasks that were not published."""
        shutil.rmtree(self.staging, ignore_errors=True)

    def _check(self, names: list[str]) -> None:
        new = [os.path.join(self.staging, name) for name in names]
        for path in new:
            if not os.path.exists(path):
                raise SchemaError(f"{path}: a task wrote this file, but the driver does not see it: use a shared folder")
        known = files_of(self.folder)[:1] if self._appends else []
        if len(known) + len(new) > 1:
            Folder([*known, *new]).close()

    def _add(self, names: list[str]) -> None:
        if not names:
            return
        if len(names) == 1:
            os.rename(os.path.join(self.staging, names[0]), os.path.join(self.folder, names[0]))
        else:
            self._keep(names)
            os.rename(self.staging, os.path.join(self.folder, f"part-{self.id}"))
        _sync(self.folder)

    def _keep(self, names: list[str]) -> None:
        """Removes the other files of the hidden folder."""
        for name in os.listdir(self.staging):
            if name not in names:
                os.unlink(os.path.join(self.staging, name))
        _sync(self.staging)

    def _replace(self, names: list[str]) -> None:
        os.makedirs(self.staging, exist_ok=True)
        self._keep(names)
        try:
            os.rename(self.staging, self.folder)
        except OSError:
            if self.mode != "overwrite" or not os.path.isdir(self.folder):
                raise
            # `abort` removes the old folder, which then has the name of the hidden one.
            _exchange(self.staging, self.folder)
        _sync(os.path.dirname(self.folder))


def cast(batch: pyarrow.RecordBatch, schema: pyarrow.Schema) -> pyarrow.RecordBatch:
    """Returns a batch with the columns of a schema, by name. Values are converted if nothing is lost.

    Raises:
        firn.SchemaError: a column is missing, not known, or has another type; the message names it.
    """
    import pyarrow

    if batch.schema.equals(schema):
        return batch
    for name in batch.schema.names:
        if name not in schema.names:
            raise SchemaError(f'there is no column "{name}" in the table; the columns are {", ".join(schema.names)}')
    arrays = []
    for field in schema:
        if field.name not in batch.schema.names:
            if not field.nullable:
                raise SchemaError(f'the rows have no column "{field.name}", which cannot be null')
            arrays.append(pyarrow.nulls(batch.num_rows, field.type))
            continue
        array = batch.column(field.name)
        if array.type != field.type:
            try:
                array = array.cast(field.type)
            except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError, pyarrow.ArrowTypeError) as error:
                raise SchemaError(f'column "{field.name}" is {array.type}, and {field.type} in the table: {error}') from None
        if array.null_count and not field.nullable:
            raise SchemaError(f'column "{field.name}" has null values, and cannot be null in the table')
        arrays.append(array)
    return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)


def _common(existing: pyarrow.Schema, given: pyarrow.Schema, folder: str) -> pyarrow.Schema:
    """Returns the schema of an existing folder, after a comparison with that of the rows to append."""
    import pyarrow

    for name in given.names:
        if name not in existing.names:
            raise SchemaError(f'{folder}: there is no column "{name}"; the columns are {", ".join(existing.names)}')
    for field in existing:
        if field.name not in given.names:
            if not field.nullable:
                raise SchemaError(f'{folder}: column "{field.name}" cannot be null, and the rows do not have it')
            continue
        ours = given.field(field.name).type
        if ours == field.type:
            continue
        numbers = all(pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) for kind in (ours, field.type))
        try:
            pyarrow.array([], ours).cast(field.type)
            castable = numbers or _family(ours) == _family(field.type)
        except pyarrow.ArrowException:
            castable = False
        if not castable:
            raise SchemaError(f'{folder}: column "{field.name}" is {field.type}, and {ours} in the rows')
    return existing


def _family(kind: pyarrow.DataType) -> str:
    import pyarrow.types as types

    if types.is_dictionary(kind):
        return _family(kind.value_type)
    for name in ("temporal", "decimal", "nested"):
        if getattr(types, f"is_{name}")(kind):
            return name
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    return str(kind).removeprefix("large_")


def _check_replaceable(folder: str) -> None:
    """Reports files that overwriting a folder would delete, but that no job has written."""
    for parent, _, names in os.walk(folder):
        for name in names:
            if not name.endswith(".firn"):
                path = os.path.join(parent, name)
                raise ExistsError(f"{path}: is not a .firn file: overwrite deletes the whole folder; choose another one")


def _sync(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _exchange(one: str, other: str) -> None:
    """Exchanges the names of two folders in one step."""
    libc = ctypes.CDLL(None, use_errno=True)
    renameat2 = getattr(libc, "renameat2", None)
    if renameat2 is None or renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE) != 0:
        # Some file systems of networks have no exchange: readers may find no folder in between.
        old = f"{one}-old"
        os.rename(other, old)
        os.rename(one, other)
        os.rename(old, one)
