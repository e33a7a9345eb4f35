#!/usr/bin/env python3
"""Prints the time of a durable commit of one row from Python, and that of a write and a sync of the disk alone, in turn, in each folder.

usage: Tools/bench/python-commits.py FOLDER... [--commits 1000]     (needs pyarrow and the package firn; a folder in /dev/shm has no disk)
"""
import argparse, os, statistics, time
import pyarrow as pa
import firn

parser = argparse.ArgumentParser()
parser.add_argument("folders", nargs="+")
parser.add_argument("--commits", type=int, default=1000)
given = parser.parse_args()


def timed(f, *arguments):
    start, used = time.perf_counter(), time.process_time()
    f(*arguments)
    return (time.perf_counter() - start) * 1e6, (time.process_time() - used) * 1e6


def measure(folder):
    path, plain = (os.path.join(folder, f"commits-{os.getpid()}.{name}") for name in ("firn", "plain"))
    descriptor, block = os.open(plain, os.O_RDWR | os.O_CREAT), b"x" * 4096
    os.pwrite(descriptor, block * 1000, 0)
    os.fsync(descriptor)

    def sync(number):
        # Bytes of the file change, and its length does not, as in most commits.
        os.pwrite(descriptor, block, number % 1000 * 4096)
        os.fdatasync(descriptor)

    rows = [pa.table({"id": [i], "v": ["x"]}) for i in range(given.commits)]
    with firn.create(path) as db:
        with db.write() as transaction:
            transaction["rows"].append([{"id": -1, "v": "x"}], key="id")

        def commit(number):
            with db.write() as transaction:
                transaction["rows"].append(rows[number])

        commits, syncs = [], []
        for number in range(given.commits):
            commits.append(timed(commit, number))
            syncs.append(timed(sync, number))
    os.close(descriptor)
    for name in (path, plain):
        os.remove(name)
    for what, times in (("commit", commits), ("write and fdatasync", syncs)):
        wall, used = (sorted(column) for column in zip(*times))
        print(f"{folder}: {what}: median {statistics.median(wall):.0f} µs, fastest tenth {wall[len(wall) // 10]:.0f} µs, processor {statistics.median(used):.0f} µs")


for folder in given.folders: measure(folder)
