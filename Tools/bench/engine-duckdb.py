#!/usr/bin/env python3
"""Runs the queries of `firn-bench query` on DuckDB: engine-duckdb.py DATABASE THREADS RUNS NAME=SQL …

All run within one process that has the file open and has read it once. Prints the median of each in milliseconds as `query.NAME VALUE ms`, and
its result as a remark.
"""
import statistics
import sys
import time

import duckdb

path, threads, runs = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
connection = duckdb.connect(path, read_only=True)
connection.execute(f"set threads to {threads}")
for word in sys.argv[4:]:
    name, sql = word.split("=", 1)
    connection.execute(sql).fetchall()
    spent = []
    for _ in range(runs):
        start = time.perf_counter()
        answer = connection.execute(sql).fetchall()
        spent.append((time.perf_counter() - start) * 1000)
    print(f"query.{name} {statistics.median(spent):.4f} ms")
    print(f"# {name}: {len(answer)} rows: {', '.join(str(value) for value in answer[0]) if answer else ''}", flush=True)
