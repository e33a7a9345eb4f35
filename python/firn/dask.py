"""Dask frames of .firn files: `pip install firn[dask]`.

    import firn.dask

    frame = firn.dask.read("sales", columns=["city", "price"], where="price > 10")
    firn.dask.write(frame, "out")                            # a folder with one file for each partition
"""

from __future__ import annotations

import os
from typing import Any, Iterator, Sequence

import dask
import dask.dataframe
import pandas
import pyarrow

from ._database import Version
from ._folder import Folder
from ._parts import Job, Part
from ._work import Work

# The segments of up to 65,536 rows of a partition.
_SEGMENTS = 16


def read(
    path: Any,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    index: str | None = None,
    type: str | None = None,
    version: Version | None = None,
    key: bytes | str | None = None,
    segments: int = _SEGMENTS,
    tag: bool = False,
) -> dask.dataframe.DataFrame:
    """Returns a Dask frame of a file, or of a folder of files as one table. Its columns have Arrow types of pandas. The versions
    of the files are those of now.

    Args:
        path: a file, a folder, a pattern, or a list of them.
        columns: the names of the columns; None for all.
        where: a predicate in Firn's query language.
        index: the column of the index. If the rows are in its order, the frame has divisions; the column is read for that.
        type: the name of the type; needed if the files have several.
        version: a version of one file: a number, a tag or a time.
        key: the key of encrypted files.
        segments: the segments of up to 65,536 rows of a partition.
        tag: whether to tag the versions until this process releases the frame, for files that other processes write
            while it is used; needs permission to write them.
    """
    folder = Folder(path, type, version, key)
    names = folder.schema.names if columns is None else list(columns)
    if index is not None and index not in names:
        names.append(index)
    works = folder.works(names, where, segments)
    if tag:
        folder.tag()
    divisions = None
    if index is not None:
        works, divisions = _divisions(works, index)
    schema = pyarrow.schema([folder.schema.field(name) for name in names])
    meta = _frame(schema.empty_table(), index)
    if not works:
        return dask.dataframe.from_pandas(meta, npartitions=1)
    # The function keeps the folder, and so its tags.
    return dask.dataframe.from_map(
        _Reader(index, folder), works, meta=meta, divisions=divisions, label="firn", enforce_metadata=False
    )


class _Reader:
    """Reads a partition. Dask chooses columns, if it needs some only."""

    def __init__(self, index: str | None, folder: Folder | None) -> None:
        self._index, self._folder = index, folder

    def __call__(self, work: Work, columns: Sequence[str] | None = None) -> pandas.DataFrame:
        if columns is not None:
            names = list(columns) + ([self._index] if self._index is not None and self._index not in columns else [])
            work = work.selecting(names)
        return _frame(work.table(), self._index)

    def __reduce__(self) -> Any:
        return _Reader, (self._index, None)

    def __dask_tokenize__(self) -> Any:
        return ("firn", self._index)


def _frame(table: pyarrow.Table, index: str | None) -> pandas.DataFrame:
    # Without Arrow's types, a column would have another type in a partition with null values.
    frame = table.to_pandas(types_mapper=pandas.ArrowDtype)
    return frame if index is None else frame.set_index(index)


def _divisions(works: list[Work], index: str) -> tuple[list[Work], tuple[Any, ...] | None]:
    """Returns the units of work with rows, and the first values of each and the last of all; None if they are not in order."""
    import pyarrow.compute

    firsts, kept = [], []
    last: Any = None
    for work in works:
        values = work.selecting([index]).table()[index].combine_chunks()
        if len(values) == 0:
            continue
        one, other = values.slice(0, len(values) - 1), values.slice(1)
        in_order = values.null_count == 0 and (
            len(one) == 0 or pyarrow.compute.all(pyarrow.compute.less_equal(one, other)).as_py()
        )
        first = values[0].as_py()
        if not in_order or (last is not None and first <= last):
            return works, None
        firsts.append(first)
        kept.append(work)
        last = values[-1].as_py()
    return (kept, (*firsts, last)) if kept else (works, None)


def write(
    frame: dask.dataframe.DataFrame,
    folder: str | os.PathLike[str],
    mode: str = "error",
    type: str | None = None,
    key: str | Sequence[str] | None = None,
    compute: bool = True,
) -> Any:
    """Writes a frame into a folder, one file for each partition, and returns the number of rows. An index with a name is a
    column. All files become visible when all tasks have ended.

    Args:
        frame: the rows.
        folder: the folder, which all machines share.
        mode: `"error"` if the folder has files already, `"append"`, or `"overwrite"`.
        type: the name of the type; by default that of the folder.
        key: the primary key of each file.
        compute: whether to write now; otherwise a delayed value is returned.
    """
    meta = frame._meta
    indexed = meta.index.name is not None
    schema = pyarrow.Schema.from_pandas(meta, preserve_index=indexed).remove_metadata()
    # Frames without rows do not have the types of columns of objects.
    schema = pyarrow.schema(
        [field.with_type(pyarrow.string()) if pyarrow.types.is_null(field.type) else field for field in schema]
    )
    job = Job(folder, schema, mode, type, key)
    parts = [
        dask.delayed(_write)(part, job, number, indexed, dask_key_name=f"firn-write-{job.id}-{number}")
        for number, part in enumerate(frame.to_delayed())
    ]
    if compute:
        try:
            done = dask.compute(*parts)
        except BaseException:
            job.abort()
            raise
        return job.commit(done)
    return dask.delayed(lambda found: job.commit(found))(parts)


def _write(frame: pandas.DataFrame, job: Job, number: int, indexed: bool) -> Part:
    def batches() -> Iterator[pyarrow.RecordBatch]:
        yield from pyarrow.Table.from_pandas(frame, preserve_index=indexed).replace_schema_metadata(None).to_batches()

    return job.write(batches(), number)
