#!/usr/bin/env python3
"""Measures whether the time for nested and for wide tables is linear in the number of values.

`Tools/bench/shapes.py FIRN [--rows N] [--runs N] [--columns N,N,…]` prints, for objects nested 1 … 12 levels deep, the seconds of a whole `firn convert FILE -` from
.firn and from NDJSON, and for tables of three rows and many columns the seconds of query, verify and diff. Seconds are the processor time of the process and all
its threads: the minimum of the runs.
"""
import argparse, json, os, random, resource, subprocess, sys, tempfile


def seconds(command, runs, expect=(0,)):
    least = None
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if code.returncode not in expect:
            sys.exit(f"{' '.join(command)}: exit {code.returncode}: {code.stderr.decode()[:400]}")
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        least = spent if least is None else min(least, spent)
    return least


def nested(path, rows, levels, draw):
    """Each level has a number, a word, and the next level in seven of ten objects. Returns the number of values."""
    values = 0
    words = [f"word {i}" for i in range(50)]
    with open(path, "w") as out:
        for row in range(rows):
            depth = 1
            while depth < levels and draw.random() < 0.7 ** (1 / max(1, levels / 4)):
                depth += 1
            inner = None
            for level in range(depth, 0, -1):
                object = {"n": draw.randrange(1000), "w": draw.choice(words)}
                if inner is not None:
                    object["next"] = inner
                inner = object
            values += 2 * depth
            print(json.dumps({"id": row, "o": inner}), file=out)
    return values


def wide(path, columns, change):
    with open(path, "w") as out:
        print("id", *(f"c{i}" for i in range(columns)), sep=",", file=out)
        for row in range(3):
            print(row, *(-1 if change and row == 1 and i == columns // 2 else (i * 31 + row) % 1000 for i in range(columns)), sep=",", file=out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("firn")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--columns", default="5000,10000,20000,100000,1000000")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        at = lambda name: os.path.join(folder, name)
        print("levels values from-firn from-ndjson ns-a-value")
        for levels in range(1, 13):
            values = nested(at("n.ndjson"), options.rows, levels, random.Random(levels))
            subprocess.run([options.firn, "convert", at("n.ndjson"), at("n.firn"), "--force", "-q"], check=True)
            stored = seconds([options.firn, "convert", at("n.firn"), "-", "--to", "ndjson", "-q"], options.runs)
            parsed = seconds([options.firn, "convert", at("n.ndjson"), "-", "--to", "ndjson", "-q"], options.runs)
            print(levels, values, f"{stored:.2f} {parsed:.2f} {stored / values * 1e9:.0f}", flush=True)
        print("columns convert query verify diff")
        for columns in map(int, options.columns.split(",")):
            wide(at("a.csv"), columns, False)
            wide(at("b.csv"), columns, True)
            times = [seconds([options.firn, "convert", at("a.csv"), at("a.firn"), "--force", "-q", "--key", "id"], 1)]
            subprocess.run([options.firn, "convert", at("b.csv"), at("b.firn"), "--force", "-q", "--key", "id"], check=True)
            times.append(seconds([options.firn, "query", at("a.firn"), "id == 1"], options.runs))
            times.append(seconds([options.firn, "verify", at("a.firn")], options.runs))
            times.append(seconds([options.firn, "diff", at("a.firn"), at("b.firn"), "-q"], options.runs, expect=(1,)))
            print(columns, *(f"{time:.2f}" for time in times), flush=True)


if __name__ == "__main__":
    main()
