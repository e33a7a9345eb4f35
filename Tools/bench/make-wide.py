#!/usr/bin/env python3
"""Writes a CSV file with very many columns: integers, decimals, words, longer texts and empty cells.

usage: make-wide.py COLUMNS ROWS FILE
"""
import array
import random
import sys

POOL = 4096  # The number of different cells of a column.


def cells(kind, rng):
    if kind == 0:
        return [str(rng.randrange(10**6)) for _ in range(POOL)]
    if kind == 1:
        return ["%.3f" % rng.gauss(0, 100) for _ in range(POOL)]
    if kind == 2:
        return ["word%d" % rng.randrange(500) for _ in range(POOL)]
    if kind == 3:
        return ["text %d of column" % rng.randrange(10**5) for _ in range(POOL)]
    return [str(value) if value > 2 else "" for value in (rng.randrange(20) for _ in range(POOL))]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    columns, rows = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(1)
    pools = [cells(column % 5, rng) for column in range(columns)]
    with open(sys.argv[3], "w") as out:
        out.write(",".join(f"c{column}" for column in range(columns)) + "\n")
        for _ in range(rows):
            picks = array.array("H", rng.randbytes(2 * columns))
            out.write(",".join(pool[pick % POOL] for pool, pick in zip(pools, picks)) + "\n")


main()
