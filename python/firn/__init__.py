"""Reads and writes .firn files: compact, columnar, transactional tables.

    import firn

    with firn.open("companies.firn") as db:
        companies = db["companies"]
        companies["AAPL"]                                      # one row, by primary key
        companies.scan(where="Founded > '1990'").to_pandas()   # rows that match
        duckdb.sql("SELECT count(*) FROM companies")           # any library that reads Arrow streams

Tables and scans have an Arrow C stream (`__arrow_c_stream__`), so pyarrow, pandas, Polars and DuckDB take them
directly. None of them is needed to open a file or to read rows as dicts.
"""

from ._database import Database, create, open
from ._diff import Change, Difference, diff
from ._errors import (
    AccessError,
    CancelledError,
    ClosedError,
    ConflictError,
    DamagedError,
    DuplicateKeyError,
    EncryptionError,
    Error,
    ExistsError,
    FolderError,
    FormatError,
    LockedError,
    MemoryLimitError,
    NotFoundError,
    ReadError,
    RejectedError,
    RowNotFoundError,
    SchemaError,
    UsageError,
)
from ._folder import Folder, FolderScan, open_folder
from ._library import lib as _lib
from ._read import read_pandas, read_polars, read_table, scan_polars
from ._run import Report, compact, convert, hash, patch, verify, write_changes
from ._schema import Column, Schema
from ._sql import SQLResult, sql
from ._table import Query, Scan, Table
from ._values import Link, ObjectId
from ._write import Transaction, Writer

__version__: str = _lib.firn_version().decode()

__all__ = [
    "AccessError",
    "CancelledError",
    "Change",
    "ClosedError",
    "Column",
    "ConflictError",
    "DamagedError",
    "Database",
    "Difference",
    "DuplicateKeyError",
    "EncryptionError",
    "Error",
    "ExistsError",
    "Folder",
    "FolderError",
    "FolderScan",
    "FormatError",
    "Link",
    "LockedError",
    "MemoryLimitError",
    "NotFoundError",
    "ObjectId",
    "Query",
    "ReadError",
    "RejectedError",
    "Report",
    "RowNotFoundError",
    "Scan",
    "Schema",
    "SQLResult",
    "SchemaError",
    "Table",
    "Transaction",
    "UsageError",
    "Writer",
    "compact",
    "convert",
    "create",
    "diff",
    "hash",
    "open",
    "open_folder",
    "patch",
    "read_pandas",
    "read_polars",
    "read_table",
    "scan_polars",
    "sql",
    "verify",
    "write_changes",
]
