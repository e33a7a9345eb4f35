"""A table as a pyarrow dataset, so that DuckDB pushes columns and filters into scans."""

from __future__ import annotations

import copy
from typing import Any, Iterator

import pyarrow
import pyarrow.compute
import pyarrow.dataset

from ._dataset_file import children
from ._predicates import ArrowFilter
from ._table import Scan, Table


class PlainScanner:
    """A scan with the methods of a pyarrow scanner, for scans that pyarrow has nothing to add to."""

    def __init__(self, scan: Scan, batch_size: int | None = None) -> None:
        if batch_size is not None and batch_size <= 0:
            raise ValueError("batch_size must be positive")
        self._scan = scan
        self._batch_size = batch_size

    @property
    def projected_schema(self) -> pyarrow.Schema:
        """The schema of the rows."""
        return pyarrow.schema(self._scan)

    dataset_schema = projected_schema

    def to_reader(self) -> pyarrow.RecordBatchReader:
        """Returns the rows as a reader of batches."""
        reader, most = self._scan.to_reader(), self._batch_size
        if most is None:
            return reader
        batches = (batch.slice(start, most) for batch in reader for start in range(0, max(1, batch.num_rows), most))
        return pyarrow.RecordBatchReader.from_batches(reader.schema, batches)

    def to_table(self) -> pyarrow.Table:
        """Returns the rows as a table."""
        return self._scan.to_arrow()

    def to_batches(self) -> Iterator[pyarrow.RecordBatch]:
        """Returns the rows as batches."""
        return iter(self.to_reader())

    def scan_batches(self) -> Iterator[pyarrow.dataset.TaggedRecordBatch]:
        """Returns the rows as batches, of no fragment."""
        return (pyarrow.dataset.TaggedRecordBatch(batch, None) for batch in self.to_reader())

    def take(self, indices: Any) -> pyarrow.Table:
        """Returns the rows at some positions."""
        return self.to_table().take(indices)

    def head(self, num_rows: int) -> pyarrow.Table:
        """Returns the first rows."""
        scan = self._scan
        return Scan(scan.table, scan.columns, scan.where, num_rows, dictionaries=scan.dictionaries).to_arrow()

    def count_rows(self) -> int:
        """Returns the number of rows."""
        return sum(batch.num_rows for batch in Scan(self._scan.table, [], self._scan.where).to_reader())


class TableDataset(pyarrow.dataset.UnionDataset):
    """A table as a pyarrow dataset. Filters are translated to predicates as far as possible; pyarrow applies the
    others.

    Functions that are given the dataset and read it by Arrow's C++ library alone, such as those of `pyarrow.acero`, read
    all rows into memory, as a union of one file.
    """

    def __init__(self, table: Table, dictionaries: bool = False, filter: Any = None) -> None:
        def read() -> pyarrow.RecordBatchReader:
            return (table.scan(dictionaries=True) if dictionaries else table).to_reader()

        self._table = table
        self._dictionaries = dictionaries
        self._filter = filter
        self._schema = pyarrow.schema(table.scan(dictionaries=True) if dictionaries else table)
        # Not with methods of this object, which would keep it.
        super().__init__(self._schema, children(self._schema, read, filter))

    @property
    def schema(self) -> pyarrow.Schema:
        """The Arrow schema of the table."""
        return self._schema

    def scanner(self, columns: Any = None, filter: Any = None, **options: Any) -> Any:
        """Returns a scanner of some columns and rows, with the methods and options of pyarrow's."""
        names, where, filter = None, None, self._and(filter)
        if filter is not None:
            translated = ArrowFilter(filter, self._schema, self._table.column_kinds)
            where = translated.predicate()
            if translated.is_exact:
                filter = None
        if isinstance(columns, list):
            names = self._read(columns, filter)
        if filter is None and isinstance(columns, list) and len(set(columns)) == len(columns):
            return PlainScanner(self._table.scan(columns, where, dictionaries=self._dictionaries), options.get("batch_size"))
        reader = self._table.scan(names, where, dictionaries=self._dictionaries).to_reader()
        known = {key: options[key] for key in ("batch_size", "use_threads", "memory_pool") if key in options}
        return pyarrow.dataset.Scanner.from_batches(
            reader, columns=columns, filter=filter, **known
        )

    def _read(self, columns: list[str], filter: Any) -> list[str] | None:
        """Returns the columns to read for those of a result and for a filter; None for all."""
        written = "" if filter is None else str(filter)
        if "FieldPath(" in written:
            # A column by its position, which is that in the whole schema.
            return None
        # The text has the name of each column of the filter as it is, and possibly others.
        return [name for name in self._schema.names if name in columns or name in written]

    def count_rows(self, filter: Any = None, **options: Any) -> int:
        """Returns the number of rows that match."""
        if filter is None and self._filter is None:
            return len(self._table)
        return self.scanner([], filter, **options).count_rows()

    def to_table(self, columns: Any = None, filter: Any = None, **options: Any) -> pyarrow.Table:
        """Returns some columns and rows as a table."""
        return self.scanner(columns, filter, **options).to_table()

    def to_batches(self, columns: Any = None, filter: Any = None, **options: Any) -> Any:
        """Returns some columns and rows as batches."""
        return self.scanner(columns, filter, **options).to_batches()

    def head(self, num_rows: int, columns: Any = None, filter: Any = None, **options: Any) -> pyarrow.Table:
        """Returns the first rows that match."""
        return self.scanner(columns, filter, **options).head(num_rows)

    def take(self, indices: Any, **options: Any) -> pyarrow.Table:
        """Returns the rows at some positions as a table."""
        return self.to_table(**options).take(indices)

    # The methods of the base class would read all columns into memory.

    def _and(self, filter: Any) -> Any:
        if filter is None or self._filter is None:
            return self._filter if filter is None else filter
        return self._filter & filter

    def filter(self, expression: Any) -> TableDataset:
        """Returns the dataset of the rows that also match an expression."""
        return type(self)(self._table, self._dictionaries, self._and(expression))

    def _in_memory(self) -> pyarrow.dataset.InMemoryDataset:
        return pyarrow.dataset.InMemoryDataset(self.to_table())

    def sort_by(self, sorting: Any, **options: Any) -> pyarrow.dataset.InMemoryDataset:
        """Returns a sorted dataset in memory."""
        return self._in_memory().sort_by(sorting, **options)

    def join(self, right_dataset: Any, *keys: Any, **options: Any) -> pyarrow.dataset.InMemoryDataset:
        """Joins with another dataset, as pyarrow's datasets do, in memory."""
        right = right_dataset._in_memory() if isinstance(right_dataset, TableDataset) else right_dataset
        return self._in_memory().join(right, *keys, **options)

    def join_asof(self, right_dataset: Any, *keys: Any, **options: Any) -> pyarrow.dataset.InMemoryDataset:
        """Joins with the nearest rows of another dataset, as pyarrow's datasets do, in memory."""
        right = right_dataset._in_memory() if isinstance(right_dataset, TableDataset) else right_dataset
        return self._in_memory().join_asof(right, *keys, **options)

    @property
    def partition_expression(self) -> Any:
        """What all rows match: anything."""
        return pyarrow.compute.scalar(True)

    def get_fragments(self, filter: Any = None) -> Any:
        """Not supported: a table is scanned as a whole."""
        raise NotImplementedError("a table of Firn has no fragments")

    def replace_schema(self, schema: pyarrow.Schema) -> Any:
        """Returns a dataset with another schema, in which columns are added and left out by name."""
        return copy.copy(self) if schema.equals(self._schema) else super().replace_schema(schema)

    def __copy__(self) -> TableDataset:
        return type(self)(self._table, self._dictionaries, self._filter)

    def __reduce__(self) -> Any:
        raise TypeError("a dataset of Firn cannot be pickled: pass the path and the version of its file")

    def __repr__(self) -> str:
        return f"<firn.TableDataset of {self._table!r}>"
