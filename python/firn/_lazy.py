"""Lazy frames of Polars over tables and folders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

from ._errors import UsageError
from ._predicates import polars_predicate

if TYPE_CHECKING:
    import polars
    import pyarrow

_BATCH_ROWS = 1 << 16
_MOST_BATCHES = 8


def _part_rows(threads: int) -> int:
    """Returns the least number of rows of a part: a batch for each thread, of which a filter took some rows. The memory of longer
    parts would not be reused for those after them, and new memory of the system takes longer than decoding into it."""
    return _BATCH_ROWS * max(1, min(threads, _MOST_BATCHES)) - _BATCH_ROWS // 2


def lazy_frame(source: Any, kinds: dict[str, str], **options: Any) -> polars.LazyFrame:
    """Returns a lazy frame that pushes columns, filters and limits into the scans of a table or folder. `kinds` are the kinds
    of the columns that have single values. `options` are those of each scan."""
    import polars
    from polars.io.plugins import register_io_source

    def scan(columns: Any, predicate: Any, rows: int | None) -> tuple[Any, bool]:
        """Returns a scan, and whether it applies the whole filter."""
        if predicate is None or rows is not None:
            # With both, Polars means the rows of the limit that match. It gives no limit of the rows that match.
            return source.scan(columns, None, rows, **options), predicate is None
        where, is_exact = polars_predicate(predicate, kinds)
        try:
            return source.scan(columns, where, None, **options), is_exact
        except UsageError:
            # A folder cannot join names of folders with other columns by OR.
            if where is None:
                raise
            return source.scan(columns, None, None, **options), False

    def read(columns: Any, predicate: Any, rows: int | None, batch_size: int | None) -> Iterator[polars.DataFrame]:
        found, is_filtered = scan(columns, predicate, rows)
        for part in _parts(found.to_reader(), _part_rows(polars.thread_pool_size())):
            frame = polars.DataFrame(polars.from_arrow(part, rechunk=False))
            # Polars gives a column without a name another one.
            frame.columns = part.column_names
            yield frame if is_filtered else frame.filter(predicate)
            # The memory of the part is free for the next one.
            del frame, part

    schema = polars.DataFrame(source.scan(limit=0, **options)).schema
    return register_io_source(read, schema=schema, validate_schema=True)


def _parts(reader: pyarrow.RecordBatchReader, least: int) -> Iterator[pyarrow.Table]:
    """Returns the batches of a reader as tables of several batches, of so many rows at least, because Polars works on a table with
    several threads."""
    import pyarrow

    batches, rows = [], 0
    for batch in reader:
        batches.append(batch)
        rows += batch.num_rows
        if rows >= least:
            yield pyarrow.Table.from_batches(batches)
            batches, rows = [], 0
    # A part has the columns, also without rows.
    yield pyarrow.Table.from_batches(batches, reader.schema)
