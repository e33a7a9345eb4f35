"""A folder as a pyarrow dataset, so that DuckDB pushes columns and filters into scans."""

from __future__ import annotations

from typing import Any

import pyarrow
import pyarrow.dataset

from ._dataset import TableDataset
from ._errors import UsageError
from ._folder import Folder
from ._partitions import split
from ._predicates import ArrowFilter


def pushed(filter: Any, folder: Folder) -> tuple[str | None, bool]:
    """Returns a predicate that matches at least the rows of a pyarrow expression, and whether it matches exactly these."""
    translated = ArrowFilter(filter, folder.schema, folder.column_kinds)
    where = translated.predicate()
    if where is not None:
        try:
            split(where, folder.partitions)
        except UsageError:
            return None, False
    return where, translated.is_exact and where is not None


class FolderDataset(TableDataset):
    """A folder as a pyarrow dataset."""

    def __init__(self, folder: Folder, dictionaries: bool = False, filter: Any = None) -> None:
        super().__init__(folder, dictionaries, filter)  # type: ignore[arg-type]
        self._folder = folder

    def scanner(self, columns: Any = None, filter: Any = None, **options: Any) -> Any:
        """Returns a scanner of some columns and rows, with the methods and options of pyarrow's."""
        names, where, filter = None, None, self._and(filter)
        if filter is not None:
            where, is_exact = pushed(filter, self._folder)
            if is_exact:
                filter = None
        if isinstance(columns, list):
            names = self._read(columns, filter)
        known = {key: options[key] for key in ("batch_size", "use_threads", "memory_pool") if key in options}
        reader = self._folder.scan(names, where).to_reader()
        return pyarrow.dataset.Scanner.from_batches(reader, columns=columns, filter=filter, **known)

    def __repr__(self) -> str:
        return f"<firn.FolderDataset of {self._folder!r}>"
