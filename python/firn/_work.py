"""Units of work: parts of tables that other processes read.

A unit names a file and a version, not an open file, so it can be pickled and sent to another process or machine. The
reader opens the file, and reads the same rows at any time: later commits do not change them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Iterator, Sequence

from ._errors import NotFoundError

if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True)
class Work:
    """Some rows and columns of one file at one version.

    Attributes:
        path: the path of the file.
        version: the number of the version.
        type: the name of the type.
        schema: the Arrow schema of the rows, in the order of the columns.
        constants: the values of the columns that are names of folders.
        where: a predicate, or None.
        segments: the first segment and the one after the last, or None for all.
        threads: the number of threads; None for one per processor.
        rows: the number of rows before the predicate, for planners.
        size: an estimate of the bytes in the file, for planners.
        key: the key of an encrypted file.
    """

    path: str
    version: int
    type: str
    schema: pyarrow.Schema
    constants: tuple[tuple[str, Any], ...] = ()
    where: str | None = None
    segments: tuple[int, int] | None = None
    threads: int | None = 1
    rows: int = 0
    size: int = 0
    key: bytes | str | None = field(default=None, repr=False)

    def selecting(self, columns: Sequence[str]) -> Work:
        """Returns the unit of work with some of its columns."""
        schema = self.schema.empty_table().select(list(columns)).schema
        return replace(self, schema=schema, constants=tuple(pair for pair in self.constants if pair[0] in columns))

    def reader(self) -> pyarrow.RecordBatchReader:
        """Opens the file and returns a reader of the rows."""
        import pyarrow

        return pyarrow.RecordBatchReader.from_batches(self.schema, self.batches())

    def batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Opens the file and yields the rows.

        Raises:
            FileNotFoundError: the version is not kept any more.
        """
        from ._database import Database

        constants = dict(self.constants)
        try:
            db = Database(self.path, self.version, self.key)
        except NotFoundError as error:
            if not os.path.exists(self.path):
                raise
            raise NotFoundError(
                f"{self.path}: version {self.version} was dropped after the job was planned: tag the version and read the tag"
            ) from error
        with db:
            columns = [name for name in self.schema.names if name not in constants]
            segments = None if self.segments is None else range(*self.segments)
            scan = db[self.type].scan(columns, self.where, segments=segments, threads=self.threads)
            for batch in scan.to_reader():
                yield shaped(batch, self.schema, constants)

    def table(self) -> pyarrow.Table:
        """Returns the rows as a pyarrow table."""
        return self.reader().read_all()


def shaped(batch: pyarrow.RecordBatch, schema: pyarrow.Schema, constants: dict[str, Any]) -> pyarrow.RecordBatch:
    """Returns a batch with the columns of a schema, some of which have one value in all rows."""
    import pyarrow

    if not constants and batch.schema.equals(schema, check_metadata=True):
        return batch
    if len(schema) == 0:
        return batch
    arrays = []
    for wanted in schema:
        if wanted.name in constants:
            one = pyarrow.scalar(constants[wanted.name], wanted.type)
            arrays.append(pyarrow.repeat(one, batch.num_rows))
            continue
        array = batch.column(wanted.name)
        arrays.append(array if array.type == wanted.type else array.cast(wanted.type))
    return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)
