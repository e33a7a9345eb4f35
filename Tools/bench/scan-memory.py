#!/usr/bin/env python3
"""Prints the memory of a scan of all rows and columns from Python, batch by batch: anonymous memory, and pages of mapped files.

usage: Tools/bench/scan-memory.py FILE [BYTES]     (makes the file with at least BYTES, by default 5e9, if it does not exist; needs numpy,
pyarrow and the package firn)
"""
import os, sys, time
import pyarrow as pa
import firn

path, wanted = sys.argv[1], int(float(sys.argv[2])) if len(sys.argv) > 2 else 5_000_000_000


def make():
    import numpy as np

    random, n, at = np.random.default_rng(1), 2_000_000, 0
    db = firn.create(path)
    while at == 0 or os.path.getsize(path) < wanted:
        with db.write() as transaction:
            for _ in range(3):
                columns = {f"x{k}": random.random(n) for k in range(6)}
                words = pa.array(random.integers(0, 10**6, n)).cast(pa.string())
                transaction["big"].append(pa.table({"id": np.arange(at, at + n), **columns, "a": random.integers(0, 2**62, n), "s": words}))
                at += n


def memory():
    """The resident megabytes of this process, by kind."""
    with open("/proc/self/status") as status:
        lines = [line.split(":") for line in status]
    return {name: int(value.split()[0]) / 1024 for name, value in lines if name in ("RssAnon", "RssFile", "VmHWM")}


if not os.path.exists(path):
    make()
    # The memory of the process that wrote is not that of a reader.
    os.execv(sys.executable, [sys.executable, *sys.argv])
table, before, peak, rows, start = firn.open(path)["big"], memory(), {}, 0, time.perf_counter()
for number, batch in enumerate(table.to_reader()):
    rows += batch.num_rows
    if number % 20 == 0:
        peak = {name: max(size, peak.get(name, 0)) for name, size in memory().items()}
print(f"{os.path.getsize(path):,} bytes, {rows:,} rows, {time.perf_counter() - start:.1f} s")
for name in peak:
    print(f"{name}: {before[name]:.0f} MB before, {peak[name]:.0f} MB at most")
