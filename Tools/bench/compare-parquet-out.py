#!/usr/bin/env python3
"""Lets firn write Parquet files over all types, nested columns and codecs, and compares what pyarrow, DuckDB and polars read with the source.

usage: compare-parquet-out.py FIRN FOLDER     (needs pyarrow; duckdb and polars if they are installed)
"""
import importlib.util, os, subprocess, sys
import pyarrow as pa, pyarrow.parquet as pq

here = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("tables", os.path.join(here, "compare-parquet.py"))
tables = importlib.util.module_from_spec(spec); spec.loader.exec_module(tables)

FIRN, FOLDER = sys.argv[1], sys.argv[2]
os.makedirs(FOLDER, exist_ok=True)
CODECS = ["zstd", "zstd:19", "snappy", "gzip", "brotli", "lz4", "none"]
failures = 0

def firn(*words):
    run = subprocess.run([FIRN, *words], capture_output=True, text=True)
    if run.returncode != 0: raise SystemExit(f"firn {' '.join(words)}: {run.stderr}")
    return run.stdout

def plain(t):
    """The type as Parquet has it: without dictionaries, and without the two sizes of offsets."""
    if pa.types.is_dictionary(t): return plain(t.value_type)
    if pa.types.is_large_string(t) or pa.types.is_null(t): return pa.string()
    if pa.types.is_large_list(t) or pa.types.is_list(t): return pa.list_(plain(t.value_type))
    if pa.types.is_map(t): return pa.map_(plain(t.key_type), plain(t.item_type))
    if pa.types.is_struct(t): return pa.struct([(f.name, plain(f.type)) for f in t])
    return t

def cells(column):
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    t = column.type
    if pa.types.is_temporal(t): column = column.view(pa.int64() if t.bit_width == 64 else pa.int32())
    elif pa.types.is_floating(t): return [None if v is None else repr(v) for v in column.to_pylist()]
    elif t == pa.uuid(): column = column.storage
    values = column.to_pylist()
    # DuckDB calls the fields of lists otherwise; pyarrow's maps are lists of pairs.
    return [repr(v) for v in values]

def check(name, same):
    global failures
    if not same:
        failures += 1
        print("DIFFERENT", name)

def by_pyarrow(name, source, path):
    read = pq.read_table(path, page_checksum_verification=True)
    check(f"{name}: pyarrow, names", read.column_names == source.column_names)
    for column in source.column_names:
        a, b = source[column], read[column]
        # Maps without text keys are lists of objects.
        if pa.types.is_map(a.type) and not pa.types.is_string(a.type.key_type):
            b = pa.array([None if v is None else [(e["key"], e["value"]) for e in v] for v in b.to_pylist()], a.type)
        elif pa.types.is_fixed_size_binary(a.type) and pa.types.is_binary(b.type): pass   # firn has bytes of any length only
        elif plain(a.type) != plain(b.type): check(f"{name}: pyarrow, type of {column}: {a.type} became {b.type}", False)
        if cells(a) != cells(b): check(f"{name}: pyarrow, {column}", False)
    statistics(name, source, path)

def statistics(name, source, path):
    """Compares the bounds of row groups with the values of the flat columns."""
    meta = pq.ParquetFile(path).metadata
    row = 0
    for g in range(meta.num_row_groups):
        group = meta.row_group(g)
        for c in range(group.num_columns):
            chunk = group.column(c)
            if "." in chunk.path_in_schema or not chunk.is_stats_set: continue
            stats, values = chunk.statistics, source[chunk.path_in_schema].slice(row, group.num_rows)
            check(f"{name}: nulls of {chunk.path_in_schema}", stats.null_count == values.null_count)
            t = values.type
            if not stats.has_min_max or not (pa.types.is_integer(t) or pa.types.is_date(t)): continue
            known = [v for v in values.to_pylist() if v is not None]
            check(f"{name}: bounds of {chunk.path_in_schema}", stats.min == min(known) and stats.max == max(known))
        row += group.num_rows
    check(f"{name}: rows", row == source.num_rows)

def by_duckdb(name, before, after):
    try: import duckdb
    except ImportError: return
    connection = duckdb.connect()
    names = [r[0] for r in connection.execute(f"DESCRIBE SELECT * FROM '{before}'").fetchall()]
    for column in names:
        def read(path): return connection.execute(f"SELECT \"{column}\"::VARCHAR FROM read_parquet('{path}')").fetchall()
        try: a, b = read(before), read(after)
        except Exception as error:
            check(f"{name}: duckdb, {column}: {error}", False)
            continue
        if a == b: continue
        # Times and timestamps without a zone, and maps without text keys, have other types.
        kinds = [connection.execute(f"SELECT typeof(\"{column}\") FROM read_parquet('{p}') LIMIT 1").fetchall() for p in (before, after)]
        if kinds[0] and kinds[0][0][0].startswith("MAP(BIGINT"): continue
        first = next((i for i in range(min(len(a), len(b))) if a[i] != b[i]), None)
        check(f"{name}: duckdb, {column}: {kinds}, row {first}: {a[first] if first is not None else len(a)} became {b[first] if first is not None else len(b)}", False)

def by_polars(name, before, after):
    try: import polars as pl
    except ImportError: return
    for column in pq.ParquetFile(before).schema_arrow.names:
        try: a = pl.read_parquet(before, columns=[column])[column]
        except Exception: continue   # polars cannot read the source either
        try: b = pl.read_parquet(after, columns=[column])[column]
        except Exception as error:
            check(f"{name}: polars, {column}: {error}", False)
            continue
        x, y = a.to_list(), b.to_list()
        if [repr(v) for v in x] != [repr(v) for v in y]:
            first = next(i for i in range(len(x)) if repr(x[i]) != repr(y[i]))
            if str(a.dtype).startswith("Map(Int64"): continue
            check(f"{name}: polars, {column}: {a.dtype} became {b.dtype}, row {first}: {x[first]!r} became {y[first]!r}", False)

def compare(name, table, *flags, readers=(by_duckdb, by_polars)):
    before, after, stored, back = (os.path.join(FOLDER, name + end) for end in [".source.parquet", ".parquet", ".firn", ".back.firn"])
    pq.write_table(table, before, store_schema=False)
    table = pq.read_table(before)
    firn("convert", "-q", "-f", before, after, *flags)
    by_pyarrow(name, table, after)
    for reader in readers: reader(name, before, after)
    firn("convert", "-q", "-f", before, stored)
    firn("convert", "-q", "-f", stored, after, *flags)
    by_pyarrow(name + " from .firn", table, after)
    firn("convert", "-q", "-f", after, back)
    hashes = {firn("hash", path)[:32] for path in [before, stored, after, back]}
    check(f"{name}: hashes", len(hashes) == 1)

count = 0
for codec in CODECS:
    for nulls in [False, True]:
        for rows, flags in [(3000, []), (3000, ["--row-group", "1100"])]:
            compare(f"flat-{codec.replace(':', '')}-{nulls}-{len(flags)}", tables.flat(rows, nulls), "--compression", codec, *flags)
            compare(f"nested-{codec.replace(':', '')}-{nulls}-{len(flags)}", tables.nested(2000), "--compression", codec, *flags)
            count += 2
for rows in [0, 1, 2, 7, 8, 9, 100_000]:
    compare(f"flat-{rows}", tables.flat(rows, True)); count += 1
    if rows < 10_000: compare(f"nested-{rows}", tables.nested(rows)); count += 1
print(f"{count} tables written and compared, {failures} differences")
sys.exit(1 if failures else 0)
