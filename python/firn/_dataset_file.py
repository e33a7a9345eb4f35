"""A file that has the rows of a dataset of this package, for functions of Arrow's C++ library that read datasets by themselves."""

from __future__ import annotations

from typing import Any, Callable

import pyarrow
import pyarrow.acero
import pyarrow.dataset
import pyarrow.fs

_PATH = "rows.arrow"


def children(schema: pyarrow.Schema, read: Callable[[], pyarrow.RecordBatchReader], filter: Any) -> list[pyarrow.dataset.Dataset]:
    """Returns the parts of a union that has the rows of a reader that match a filter. They are read into memory whenever Arrow opens
    the file."""
    form = pyarrow.dataset.IpcFileFormat()
    files = pyarrow.fs.PyFileSystem(_Files(read, filter))
    return [pyarrow.dataset.FileSystemDataset([form.make_fragment(_PATH, files)], schema, form, files)]


class _Files(pyarrow.fs.FileSystemHandler):
    """A file system with one file in Arrow's format, which is made when it is opened."""

    def __init__(self, read: Callable[[], pyarrow.RecordBatchReader], filter: Any) -> None:
        self._read, self._filter = read, filter

    def open_input_file(self, path: str) -> Any:
        """Opens the file."""
        rows = self._read().read_all()
        if self._filter is not None:
            # In this thread: the threads of Arrow may all wait for files.
            source = pyarrow.acero.Declaration("table_source", pyarrow.acero.TableSourceNodeOptions(rows))
            chosen = pyarrow.acero.Declaration("filter", pyarrow.acero.FilterNodeOptions(self._filter), [source])
            rows = chosen.to_table(use_threads=False)
        sink = pyarrow.BufferOutputStream()
        # Batches of a file share dictionaries.
        with pyarrow.ipc.new_file(sink, rows.schema) as writer:
            writer.write_table(rows.unify_dictionaries())
        return pyarrow.BufferReader(sink.getvalue())

    def open_input_stream(self, path: str) -> Any:
        """Opens the file."""
        return self.open_input_file(path)

    def get_file_info(self, paths: list[str]) -> list[Any]:
        """Returns that the file exists."""
        return [pyarrow.fs.FileInfo(path, pyarrow.fs.FileType.File) for path in paths]

    def get_type_name(self) -> str:
        """Returns the name of the file system."""
        return "firn"

    def normalize_path(self, path: str) -> str:
        """Returns a path as it is."""
        return path

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    __hash__ = object.__hash__

    def _none(self, *arguments: Any, **options: Any) -> Any:
        raise NotImplementedError("a dataset of Firn is read only")

    get_file_info_selector = create_dir = delete_dir = delete_dir_contents = delete_root_dir_contents = _none
    delete_file = move = copy_file = open_output_stream = open_append_stream = _none
