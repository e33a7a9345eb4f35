"""A data source and sink for Ray Data: `pip install firn[ray]`.

    import firn.ray

    dataset = firn.ray.read("sales", columns=["city", "price"], where="price > 10")
    firn.ray.write(dataset, "out")                           # a folder with one file for each task
"""

from __future__ import annotations

import functools
import os
from typing import Any, Iterable, Sequence

import pyarrow
import ray.data
from ray.data.block import BlockAccessor, BlockMetadata
from ray.data.datasource import Datasink, Datasource, ReadTask

from ._database import Version
from ._folder import Folder
from ._folder_dataset import pushed
from ._parts import Job, Part
from ._work import Work


def read(
    path: Any,
    columns: Sequence[str] | None = None,
    where: str | None = None,
    type: str | None = None,
    version: Version | None = None,
    key: bytes | str | None = None,
    tag: bool = False,
    **options: Any,
) -> ray.data.Dataset:
    """Returns a dataset of a file, or of a folder of files as one table. The versions of the files are those of now.

    Args:
        path: a file, a folder, a pattern, or a list of them.
        columns: the names of the columns; None for all.
        where: a predicate in Firn's query language.
        type: the name of the type; needed if the files have several.
        version: a version of one file: a number, a tag or a time.
        key: the key of encrypted files.
        tag: whether to tag the versions until this process releases the dataset, for files that other processes write
            while it is used; needs permission to write them.
        options: those of `ray.data.read_datasource`, such as `override_num_blocks`.
    """
    return ray.data.read_datasource(FirnDatasource(path, columns, where, type, version, key, tag), **options)


def write(
    dataset: ray.data.Dataset,
    folder: str | os.PathLike[str],
    mode: str = "error",
    type: str | None = None,
    key: str | Sequence[str] | None = None,
    **options: Any,
) -> None:
    """Writes a dataset into a folder, one file for each task. All files become visible when all tasks have ended.

    Args:
        dataset: the rows.
        folder: the folder, which all machines share.
        mode: `"error"` if the folder has files already, `"append"`, or `"overwrite"`.
        type: the name of the type; by default that of the folder.
        key: the primary key of each file.
        options: those of `Dataset.write_datasink`, such as `concurrency`.
    """
    dataset.write_datasink(FirnDatasink(folder, mode, type, key), **options)


class FirnDatasource(Datasource):
    """Reads a file or a folder. Ray pushes columns and filters into it."""

    def __init__(
        self,
        path: Any,
        columns: Sequence[str] | None = None,
        where: str | None = None,
        type: str | None = None,
        version: Version | None = None,
        key: bytes | str | None = None,
        tag: bool = False,
    ) -> None:
        super().__init__()
        self._projection_map = None
        folder = Folder(path, type, version, key)
        # Reports wrong names and predicates here.
        folder.works(columns, where)
        if tag:
            folder.tag()
        self._columns, self._where = None if columns is None else list(columns), where
        self._opening = (path, type, None, key, list(zip(folder.files, folder.versions)))
        # Other processes open the files again.
        self._folder: Folder | None = folder

    def _opened(self) -> Folder:
        if self._folder is None:
            self._folder = Folder(*self._opening)
        return self._folder

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_folder": None}

    def get_name(self) -> str:
        return "Firn"

    def supports_projection_pushdown(self) -> bool:
        return True

    def supports_predicate_pushdown(self) -> bool:
        return True

    def estimate_inmemory_data_size(self) -> int | None:
        """An estimate: twice to four times the size of the files."""
        return 3 * sum(os.path.getsize(path) for path in self._opened().files)

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[ReadTask]:
        """Returns tasks, each of which opens its file and reads some segments."""
        folder = self._opened()
        names = folder.schema.names if self._columns is None else self._columns
        if self._projection_map is not None:
            names = [name for name in self._projection_map if name in names]
        where, filter = self._where, None
        if self._predicate_expr is not None:
            filter = self._predicate_expr.to_pyarrow()
            found, is_exact = pushed(filter, folder)
            where = found if where is None else where if found is None else f"({where}) AND {found}"
            filter = None if is_exact else filter
        # Columns of the filter are read, and left out afterwards.
        read = names if filter is None else [name for name in folder.schema.names if name in names or name in str(filter)]
        total = max(1, sum(segments for _, segments in folder.counts))
        works = folder.works(read, where, max(1, -(-total // max(1, parallelism))))
        schema = pyarrow.schema([folder.schema.field(name) for name in names])
        if not works:
            empty = BlockMetadata(num_rows=0, size_bytes=0, input_files=None, exec_stats=None)
            return [ReadTask(functools.partial(_empty, schema), empty, schema)]
        return [
            ReadTask(
                functools.partial(_read, work, schema, filter),
                BlockMetadata(
                    num_rows=work.rows if work.where is None and filter is None else None,
                    size_bytes=3 * work.size, input_files=[work.path], exec_stats=None,
                ),
                schema,
                per_task_row_limit,
            )
            for work in works
        ]  # fmt: skip


def _empty(schema: pyarrow.Schema) -> list[pyarrow.Table]:
    return [schema.empty_table()]


def _read(work: Work, schema: pyarrow.Schema, filter: Any) -> Iterable[pyarrow.Table]:
    found = False
    for batch in work.batches():
        table = pyarrow.Table.from_batches([batch])
        if filter is not None:
            table = table.filter(filter).select(schema.names)
        if table.num_rows:
            found = True
            yield table
    if not found:
        # A task has the columns, also without rows.
        yield schema.empty_table()


class FirnDatasink(Datasink[list[Part]]):
    """Writes one file for each task, and publishes the files when all tasks have ended."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        mode: str = "error",
        type: str | None = None,
        key: str | Sequence[str] | None = None,
    ) -> None:
        self._arguments = (os.path.abspath(os.fspath(folder)), mode, type, key)
        self._job: Job | None = None

    def on_write_start(self, schema: Any = None) -> None:
        """Compares the columns with those of the folder."""
        arrow = schema if isinstance(schema, pyarrow.Schema) or schema is None else pyarrow.schema(schema)
        folder, mode, type, key = self._arguments
        self._job = Job(folder, None if arrow is None else arrow.remove_metadata(), mode, type, key)

    def write(self, blocks: Iterable[Any], ctx: Any) -> list[Part]:
        """Writes the rows of a task."""
        assert self._job is not None

        def batches() -> Iterable[pyarrow.RecordBatch]:
            for block in blocks:
                yield from BlockAccessor.for_block(block).to_arrow().replace_schema_metadata(None).to_batches()

        return [self._job.write(batches(), getattr(ctx, "task_idx", 0))]

    def on_write_complete(self, write_result: Any) -> None:
        """Publishes the files."""
        assert self._job is not None
        self._job.commit(part for parts in write_result.write_returns for part in parts)

    def on_write_failed(self, error: Exception) -> None:
        """Removes the files."""
        if self._job is not None:
            self._job.abort()
