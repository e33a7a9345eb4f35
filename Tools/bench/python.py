#!/usr/bin/env python3
"""Compares the Python package firn with pyarrow, DuckDB and Polars over Parquet, in one process: each figure is the fastest of several runs,
in which Firn and the peer run in turn. In parentheses: processor time.

usage: Tools/bench/python.py LINEITEM.csv FOLDER     (needs the package and pyarrow; duckdb and polars if they are installed)
"""
import datetime, os, random, sys, time
import pyarrow as pa, pyarrow.csv, pyarrow.parquet as pq
import firn

source, folder = sys.argv[1:3]
ours, theirs, runs = os.path.join(folder, "lineitem.firn"), os.path.join(folder, "lineitem.parquet"), 5
if not os.path.exists(ours): firn.convert(source, ours)
if not os.path.exists(theirs): pq.write_table(pa.csv.read_csv(source), theirs, compression="zstd")

def timed(f):
    start, used = time.perf_counter(), time.process_time(); f()
    return time.perf_counter() - start, time.process_time() - used

def compare(name, f, g=None, unit="s", scale=1):
    a, b = [], []
    for _ in range(runs):
        a.append(timed(f))
        if g: b.append(timed(g))
    (took, used), (peer, peer_used) = ([min(times) for times in zip(*found)] if found else (1, 1) for found in (a, b))
    against = f"   peer {peer * scale:.3f} ({peer_used * scale:.3f})   ratio {took / peer:.2f} ({used / peer_used:.2f})" if g else ""
    print(f"{name:<44}{took * scale:>9.3f} ({used * scale:.3f}) {unit}{against}", flush=True)

print(f"bytes: firn {os.path.getsize(ours):,}, parquet {os.path.getsize(theirs):,}")
table = firn.open(ours)["lineitem"]
numbers = [c.name for c in table.schema if c.kind in ("int", "double")]
for name, columns in [("numeric columns", numbers), ("one column of integers (l_partkey)", ["l_partkey"]),
                      ("one column of ascending integers", ["l_orderkey"]), ("one column of text (l_comment)", ["l_comment"]), ("all columns", None)]:
    compare(name, lambda: table.scan(columns).to_arrow(), lambda: pq.read_table(theirs, columns=columns))

def first(columns=None):
    with firn.open(ours) as db: db["lineitem"].scan(columns).to_reader().read_next_batch()
def first_parquet(columns=None): next(pq.ParquetFile(theirs).iter_batches(columns=columns))
compare("open + first batch, one column", lambda: first(["l_partkey"]), lambda: first_parquet(["l_partkey"]), "ms", 1000)
compare("open + first batch, all columns", first, first_parquet, "ms", 1000)

Q1 = ("SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)), avg(l_discount), count(*) "
      "FROM {} WHERE l_shipdate <= DATE '1998-09-02' GROUP BY 1, 2 ORDER BY 1, 2")
Q6 = ("SELECT sum(l_extendedprice * l_discount) FROM {} WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' "
      "AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24")
try:
    import duckdb
    for name, query, lineitem in [("Q1", Q1, table.to_duckdb()), ("Q1, to_dataset()", Q1, table.to_dataset()), ("Q6", Q6, table.to_duckdb())]:
        compare(f"DuckDB, TPC-H {name}", lambda: duckdb.sql(query.format("lineitem")).fetchall(), lambda: duckdb.sql(query.format(f"'{theirs}'")).fetchall())
except ImportError: print("skipped: no duckdb")
try:
    import polars as pl
    def q6(frame):
        c = pl.col
        return frame.filter((c("l_shipdate") >= datetime.date(1994, 1, 1)) & (c("l_shipdate") < datetime.date(1995, 1, 1)) & (c("l_discount") >= 0.05)
                            & (c("l_discount") <= 0.07) & (c("l_quantity") < 24)).select((c("l_extendedprice") * c("l_discount")).sum()).collect()
    def q1(frame):
        c = pl.col
        frame = frame.filter(c("l_shipdate") <= datetime.date(1998, 9, 2)).group_by("l_returnflag", "l_linestatus")
        price, discount = c("l_extendedprice"), c("l_discount")
        return frame.agg(c("l_quantity").sum(), price.sum(), (price * (1 - discount)).sum().alias("charge"), discount.mean(), pl.len()).collect()
    compare("Polars, TPC-H Q1", lambda: q1(table.to_lazy()), lambda: q1(pl.scan_parquet(theirs)))
    compare("Polars, TPC-H Q6", lambda: q6(table.to_lazy()), lambda: q6(pl.scan_parquet(theirs)))
except ImportError: print("skipped: no polars")

count = 1_000_000
rows = pa.table({
    "id": range(count), "a": [i * 7 % 1000 for i in range(count)], "b": [i / 4 for i in range(count)], "s": [f"name {i % 1000}" for i in range(count)],
    "c": pa.array([i % 50 for i in range(count)], pa.int32()), "t": pa.array([i * 1000 for i in range(count)], pa.timestamp("ms")),
    "e": [i % 2 == 0 for i in range(count)], "f": [i * 0.5 for i in range(count)], "g": pa.array([f"x{i % 20}" for i in range(count)]).dictionary_encode()})
made = os.path.join(folder, "written")
def append(key):
    if os.path.exists(made + ".firn"): os.remove(made + ".firn")
    with firn.create(made + ".firn") as db, db.write() as transaction: transaction["rows"].append(rows, key=key)
compare("append 1 M rows × 9", lambda: append(None), lambda: pq.write_table(rows, made + ".parquet", compression="zstd"))
compare("append 1 M rows × 9, with a key", lambda: append("id"))
keyed = firn.open(made + ".firn")["rows"]
keys = [random.randrange(count) for _ in range(5000)]
compare("table[key], 9 columns", lambda: [keyed[k] for k in keys], unit="µs", scale=1e6 / len(keys))
compare("key in table", lambda: [k in keyed for k in keys], unit="µs", scale=1e6 / len(keys))
compare("rows as dicts, 100,000", lambda: sum(1 for _ in keyed.scan(limit=100_000)))
small = firn.create(os.path.join(folder, f"small-{os.getpid()}.firn"))
with small.write() as transaction: transaction["rows"].append([{"id": -1, "v": "x"}], key="id")
parts, at = [pa.table({"id": [i], "v": ["x"]}) for i in range(1000 * runs)], iter(range(1000 * runs))
def commits():
    for _ in range(1000):
        with small.write() as transaction: transaction["rows"].append(parts[next(at)])
compare("1,000 durable commits of one row", commits)
