#!/usr/bin/env python3
"""Measures how the costs of a file grow with its rows, columns, versions and types, and prints a table for each, and all figures as JSON.

    Tools/bench/curve.py FOLDER [--only rows,columns,versions,types] [--large] [--priority] [--firn …] [--json FILE]
    Tools/bench/curve.py --table FILE.json [--only rows]         prints the tables of figures that were measured before

rows      10^3 … 10^7 rows of 4 columns (10^8 with --large)
columns   1 … 10^4 columns, 4,096 rows
versions  1 … 10^4 versions that are kept (10^5 with --large), 1,000 rows of 4 columns, each version changes one row
types     1 … 10^4 types of 3 columns and 10 rows

Each file is measured by processes of its own, which use the package firn (needs pyarrow and numpy); `compact` is the command. Times are processor
time of all threads, the minimum or the median of several runs, with the file in the page cache; only `commit.wall` is wall time. `slope` is that of a
straight line through the logarithms of the size and the figure, over the last three decades, and `last` over the last one: 0 is a constant, 1 is
proportional to the size. A figure is "flat" if it grows by at most a quarter over the three decades, and "logarithmic" if it grows at most a quarter
more than the logarithm of the size, over the last decade too. FOLDER keeps the files. `--priority` lets processes that write run before all others
(SCHED_FIFO; needs root): otherwise a commit on a busy machine waits for a processor after each sync.
"""
import argparse, json, math, os, random, resource, shutil, statistics, subprocess, sys, time

# (name, unit, what it is)
FIGURES = [
    ("open", "µs", "open the file"),
    ("first", "µs", "open it and read one value"),
    ("memory", "kB", "memory of the process that this and one point read add"),
    ("point", "µs", "a row by its key, in an open file"),
    ("indexed", "µs", "the same, after `firn index` of the key"),
    ("scan", "ns", "sum of a column, a row"),
    ("cells", "ns", "all columns as Arrow, a value"),
    ("begin", "µs", "open it for writing and begin a transaction"),
    ("commit", "µs", "change a value of a row, durably"),
    ("commit.wall", "µs", "the same, wall time"),
    ("diff", "µs", "find the one changed row of two versions"),
    ("compact", "ns", "`firn compact`, a value"),
]
SIZES = {"rows": [10**n for n in range(3, 9)], "columns": [10**n for n in range(5)], "versions": [10**n for n in range(6)], "types": [10**n for n in range(5)]}
LARGE = {"rows": 10**8, "versions": 10**5}
CHUNK = 1_000_000


# ---- files -------------------------------------------------------------------------------------------------------------------------

def table(first, count):
    """Returns rows with a key, an integer, a double and a text."""
    import numpy as np, pyarrow as pa
    draw = np.random.default_rng(first)
    words = pa.array([f"word {i}" for i in range(1000)]).take(pa.array(draw.integers(0, 1000, count)))
    return pa.table({"id": np.arange(first, first + count), "a": draw.integers(0, 10**6, count), "b": np.round(draw.random(count) * 1000, 2), "s": words})


def make(dimension, size, path):
    import firn, numpy as np, pyarrow as pa
    draw = np.random.default_rng(1)
    with firn.create(path) as db:
        if dimension in ("rows", "versions"):
            rows = size if dimension == "rows" else 1000
            with db.write() as transaction:
                for first in range(0, rows, CHUNK):
                    transaction["t0"].append(table(first, min(CHUNK, rows - first)), key="id" if first == 0 else None)
        elif dimension == "columns":
            columns = {"id": np.arange(4096), **{"a" if i == 0 else f"c{i}": draw.integers(0, 10**6, 4096) for i in range(size)}}
            with db.write() as transaction:
                transaction["t0"].append(pa.table(columns), key="id")
        else:
            rows = table(0, 10).select(["id", "a", "s"])
            # Each new type costs time for all types that its transaction has made before.
            for first in range(0, size, 100):
                with db.write() as transaction:
                    for number in range(first, min(first + 100, size)):
                        transaction[f"t{number}"].append(rows, key="id")
    if dimension == "versions":
        subprocess.run([options.firn, "log", "--keep", str(size + 1000), path], check=True, capture_output=True)
        with firn.open(path) as db:
            for number in range(size - 1):
                change(db, number % 1000, number)


def change(db, key, value):
    import pyarrow as pa
    row = pa.table({"id": [key], "a": [value]})
    with db.write() as transaction:
        transaction["t0"].upsert(row)


# ---- measuring, in a process for each file -------------------------------------------------------------------------------------------

def timed(act, count=1):
    """Returns the processor time of a call in µs, divided by `count`."""
    start = time.process_time()
    act()
    return (time.process_time() - start) / count * 1e6


def least(act, limit=2.0, count=1):
    """Returns the minimum of runs within a time limit, at least 3 and at most 30."""
    found, start = [], time.perf_counter()
    while len(found) < 3 or (len(found) < 30 and time.perf_counter() - start < limit):
        found.append(timed(act, count))
    return min(found)


def memory():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))


def opened(path):
    import firn
    firn.open(path).close()


def first_value(path):
    import firn
    with firn.open(path) as db:
        return next(iter(db["t0"].scan(["a"], limit=1)))


def read(path):
    """Figures of reading."""
    import firn
    # The memory of pyarrow is not counted.
    import pyarrow  # noqa: F401
    before = memory()
    db = firn.open(path)
    t0 = db["t0"]
    next(iter(t0.scan(["a"], limit=1)))
    t0[0]
    found = {"memory": memory() - before, "open": least(lambda: opened(path)), "first": least(lambda: first_value(path))}
    rows = len(t0)
    found["point"] = point(t0)
    found["scan"] = least(lambda: t0.query(aggregates="sum(a) as s").to_arrow()) * 1000 / rows

    def cells():
        for _ in t0.to_reader():
            pass
    found["cells"] = least(cells) * 1000 / rows / len(t0.schema)
    return found


def point(table):
    """Returns the time of a row by its key; the first reads are not counted."""
    draw, count = random.Random(1), 1000 if len(table.schema) < 100 else 10
    keys = [draw.randrange(len(table)) for _ in range(count)]
    return least(lambda: [table[key] for key in keys], count=count)


def indexed(path):
    import firn
    return {"indexed": point(firn.open(path)["t0"])}


def write(path):
    """Figures of writing and of comparing versions; the file is a copy."""
    import firn
    rows = len(firn.open(path)["t0"])

    def begin():
        with firn.open(path) as db:
            db.write().abort()
    found, draw, db = {"begin": least(begin)}, random.Random(2), firn.open(path)
    walls, used = [], []
    for number in range(205):
        start, key = time.perf_counter(), draw.randrange(rows)
        spent = timed(lambda: change(db, key, 2_000_000 + number))
        if number >= 5:
            walls.append((time.perf_counter() - start) * 1e6)
            used.append(spent)
        if number >= 20 and sum(walls) > 20e6:
            break
    found["commit"], found["commit.wall"] = statistics.median(used), statistics.median(walls)
    newest = db.version

    def differ():
        with firn.open(path, newest - 1) as old, firn.open(path, newest) as new:
            if len(list(firn.diff(old["t0"], new["t0"]))) != 1:
                sys.exit("the versions do not differ in one row")
    found["diff"] = least(differ)
    return found


def compact(path, values):
    spent = []
    for _ in range(3 if values < 5e6 else 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([options.firn, "compact", "-fq", path, path + ".out"], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    os.remove(path + ".out")
    return {"compact": min(spent) * 1e9 / values}


def measure(dimension, size):
    path = os.path.join(options.folder, f"{dimension}-{size}.firn")

    def child(what, *words):
        command = [sys.executable, os.path.abspath(__file__), *words, "--firn", options.firn, "--child", what, *(["--priority"] if options.priority else [])]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    if not os.path.exists(path):
        child("make", path + ".new.firn", "--only", dimension, "--size", str(size))
        os.rename(path + ".new.firn", path)
    found = json.loads(child("read", path))
    copy = path + ".copy.firn"
    shutil.copyfile(path, copy)
    subprocess.run([options.firn, "index", copy, "t0.id"], check=True, capture_output=True)
    found.update(json.loads(child("indexed", copy)))
    shutil.copyfile(path, copy)
    found.update(json.loads(child("write", copy)))
    os.remove(copy)
    values = {"rows": 4 * size, "columns": 4096 * (size + 1), "versions": 4000, "types": 30 * size}[dimension]
    found.update(compact(path, values))
    found["bytes"] = os.path.getsize(path)
    return found


# ---- the result ----------------------------------------------------------------------------------------------------------------------

def slope(points):
    """Returns the slope of the line of least squares through the logarithms."""
    xs, ys = ([math.log(point[i]) for point in points] for i in (0, 1))
    x, y = statistics.fmean(xs), statistics.fmean(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys)) / sum((a - x) ** 2 for a in xs)


def verdict(points):
    """Returns the slopes over the last three decades and over the last one, and what they mean."""
    points = [(n, max(value, 1e-9)) for n, value in points][-4:]
    first, last = points[0][1], points[-1][1]
    k, end = slope(points), slope(points[-2:])
    if last <= 1.25 * first:
        return k, end, "falls" if last < first / 2 else "flat"
    logarithmic = lambda a, b: b[1] <= 1.25 * a[1] * math.log(b[0]) / math.log(max(a[0], 2))
    if logarithmic(points[0], points[-1]) and logarithmic(points[-2], points[-1]):
        return k, end, "logarithmic"
    return k, end, f"up to n^{max(k, end):.1f}"


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def print_table(dimension, found):
    sizes = sorted(found)
    print(f"\n| {dimension} | " + " | ".join(f"{size:,}" for size in sizes) + " | slope | last | |")
    print("|---" * (len(sizes) + 4) + "|")
    for name, unit, what in FIGURES:
        k, end, word = verdict([(size, found[size][name]) for size in sizes])
        print(f"| {name}, {unit} | " + " | ".join(number(found[size][name]) for size in sizes) + f" | {k:.2f} | {end:.2f} | {word} |")
    print("| bytes | " + " | ".join(f"{found[size]['bytes']:,}" for size in sizes) + " | | | |", flush=True)


def main():
    if options.table:
        with open(options.table) as file:
            curves = {dimension: {int(size): found for size, found in sizes.items()} for dimension, sizes in json.load(file)["curves"].items()}
    else:
        os.makedirs(options.folder, exist_ok=True)
        curves = {}
        for dimension in options.only.split(","):
            for size in SIZES[dimension]:
                if size < LARGE.get(dimension, size + 1) or options.large:
                    curves.setdefault(dimension, {})[size] = found = measure(dimension, size)
                    print(f"# {dimension} {size}: " + ", ".join(f"{name} {number(found[name])} {unit}" for name, unit, _ in FIGURES), flush=True)
    for dimension, found in curves.items():
        if dimension in options.only.split(","):
            print_table(dimension, found)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"figures": FIGURES, "curves": curves, "load": os.getloadavg()[0]}, file, indent=1)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("folder", nargs="?")
parser.add_argument("--only", default=",".join(SIZES))
parser.add_argument("--large", action="store_true")
parser.add_argument("--firn", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.build/release/firn"))
parser.add_argument("--json")
parser.add_argument("--priority", action="store_true")
parser.add_argument("--table")
parser.add_argument("--child", help=argparse.SUPPRESS)
parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
options = parser.parse_args()
if options.child in ("make", "write") and options.priority:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
if options.child == "make":
    make(options.only, options.size, options.folder)
elif options.child:
    print(json.dumps({"read": read, "write": write, "indexed": indexed}[options.child](options.folder)))
elif options.folder or options.table:
    main()
else:
    parser.error("give a folder, or --table")
