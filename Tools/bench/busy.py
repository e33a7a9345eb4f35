#!/usr/bin/env python3
"""Measures one writer and one reader on one file: a process commits single rows durably while another one runs TPC-H Q1, Q6 and point reads.

    Tools/bench/busy.py LINEITEM.csv FOLDER [--rounds 5] [--seconds 5] [--engines firn,sqlite,duckdb] [--cores 1,0] [--priority] [--json FILE]

Each engine has its own file with the rows of the CSV (of tpchgen-cli) and the primary key (l_orderkey, l_linenumber). The writer inserts rows of lineitem,
one in each transaction. A round runs the writer alone, the reader alone, and both (`busy`): the reader moves to the newest version before each query and
each point read. Then it does the same with a reader that keeps the version it began with (`same.idle`, `same.busy`). Each process runs on a processor of its
own and with one thread. `kept` is the speed with both, relative to the process alone: of commits per second and of queries per second. Lines with `.cpu` are
processor time; other work on the machine affects them less. `--cores` should give the writer the processor that handles the interrupts of the disk (see
/proc/interrupts), which otherwise take time of the reader. `--priority` runs both processes before all others (SCHED_FIFO; needs root).

The three engines do the same work from Python: the package firn, sqlite3 (WAL, synchronous=FULL), and duckdb, which runs alone only, because its writer
excludes other processes; the script prints the message of the second process. FOLDER keeps the files for the next run. Needs pyarrow and the package firn.
"""
import argparse, csv, json, os, random, select, shutil, statistics, subprocess, sys, time

KEY = ("l_orderkey", "l_linenumber")
COLUMNS = {
    "l_orderkey": int, "l_partkey": int, "l_suppkey": int, "l_linenumber": int, "l_quantity": int, "l_extendedprice": float, "l_discount": float, "l_tax": float,
    "l_returnflag": str, "l_linestatus": str, "l_shipdate": str, "l_commitdate": str, "l_receiptdate": str, "l_shipinstruct": str, "l_shipmode": str, "l_comment": str,
}
Q1 = ("SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)), "
      "sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*) "
      "FROM lineitem WHERE l_shipdate <= '1998-09-02' GROUP BY 1, 2 ORDER BY 1, 2")
Q6 = ("SELECT sum(l_extendedprice * l_discount) FROM lineitem WHERE l_shipdate >= '1994-01-01' AND l_shipdate < '1995-01-01' "
      "AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24")
POINT = "SELECT * FROM lineitem WHERE l_orderkey = ? AND l_linenumber = ?"
INSERT = f"INSERT INTO lineitem VALUES({','.join('?' * len(COLUMNS))})"
POINTS = 300


def new_row(number):
    """Returns a row that no input has."""
    return (1_000_000_000 + number, number % 100_000, number % 5000, 1, number % 50 + 1, number % 90_000 + 0.25, number % 11 / 100, number % 9 / 100,
            "N", "O", "1997-02-03", "1997-02-04", "1997-02-05", "NONE", "AIR", f"row {number} of the writer")


# ---- engines: `write(first)` returns a function that commits a row, `read(same)` the functions Q1, Q6 and point, which read one version if `same` -------------------

class Firn:
    ending = "firn"

    def __init__(self, path):
        self.path = path

    def load(self, source):
        import firn
        firn.convert(source, self.path, key=list(KEY), type="lineitem")

    def write(self, first):
        import firn, pyarrow as pa
        db = firn.open(self.path)
        schema = db["lineitem"].scan(limit=1).to_arrow().schema
        texts = pa.table([list(column) for column in zip(*map(new_row, range(first, first + 100_000)))], names=list(COLUMNS))
        rows = texts.cast(schema)

        def commit(number):
            with db.write() as transaction:
                transaction["lineitem"].append(rows.slice(number - first, 1))
        return commit

    def read(self, same):
        import firn
        db = firn.open(self.path)
        q1 = dict(query="l_shipdate <= 1998-09-02@00:00:00", group_by=["l_returnflag", "l_linestatus"], aggregates=(
            "sum(l_quantity) as a, sum(l_extendedprice) as b, sum(l_extendedprice * (1 - l_discount)) as c, "
            "sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as d, avg(l_quantity) as e, avg(l_extendedprice) as f, avg(l_discount) as g, count as h"))
        q6 = dict(aggregates="sum(l_extendedprice * l_discount) as a", query=(
            "l_shipdate >= 1994-01-01@00:00:00 AND l_shipdate < 1995-01-01@00:00:00 AND l_discount BETWEEN {0.05, 0.07} AND l_quantity < 24"))

        kept = db["lineitem"]
        table = (lambda: kept) if same else (lambda: db.refresh()["lineitem"])

        def ask(query):
            rows = table().query(**query).to_arrow().to_pylist()
            return sorted(tuple(row.values()) for row in rows)
        return lambda: ask(q1), lambda: ask(q6), lambda key: table()[key]


class SQLite:
    ending = "sqlite"

    def __init__(self, path):
        self.path = path

    def connect(self):
        import sqlite3
        connection = sqlite3.connect(self.path, isolation_level=None, timeout=60)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA cache_size=-200000")
        connection.execute("PRAGMA mmap_size=4000000000")
        return connection

    def load(self, source):
        connection = self.connect()
        connection.execute("PRAGMA journal_mode=WAL")
        names = {int: "INTEGER", float: "REAL", str: "TEXT"}
        columns = ", ".join(f"{name} {names[kind]}" for name, kind in COLUMNS.items())
        connection.execute(f"CREATE TABLE lineitem({columns}, PRIMARY KEY({', '.join(KEY)}))")
        with open(source, newline="") as file:
            rows = csv.reader(file)
            next(rows)
            connection.execute("BEGIN")
            connection.executemany(INSERT, rows)
            connection.execute("COMMIT")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()

    def write(self, first):
        connection = self.connect()

        def commit(number):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(INSERT, new_row(number))
            connection.execute("COMMIT")
        return commit

    def read(self, same):
        connection = self.connect()
        if same:
            connection.execute("BEGIN")
        ask = lambda *words: connection.execute(*words).fetchall()
        return lambda: ask(Q1), lambda: ask(Q6), lambda key: ask(POINT, key)


class DuckDB:
    ending = "duckdb"

    def __init__(self, path):
        self.path = path

    def connect(self):
        import duckdb
        connection = duckdb.connect(self.path)
        connection.execute("SET threads TO 1")
        return connection

    def load(self, source):
        names = {int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}
        columns = ", ".join(f"{name} {'DATE' if name.endswith('date') else names[kind]}" for name, kind in COLUMNS.items())
        with self.connect() as connection:
            connection.execute(f"CREATE TABLE lineitem({columns}, PRIMARY KEY({', '.join(KEY)}))")
            connection.execute(f"INSERT INTO lineitem SELECT * FROM read_csv('{source}')")

    def write(self, first):
        connection = self.connect()
        return lambda number: connection.execute(INSERT, new_row(number))

    def read(self, same):
        connection = self.connect()
        ask = lambda *words: connection.execute(*words).fetchall()
        return lambda: ask(Q1), lambda: ask(Q6), lambda key: ask(POINT, key)


ENGINES = {"firn": Firn, "sqlite": SQLite, "duckdb": DuckDB}


# ---- the two processes -----------------------------------------------------------------------------------------------------------------------------------------

def wait_for_start():
    print("ready", flush=True)
    sys.stdin.readline()


def stopped():
    """Whether the parent closed the input of this process."""
    return bool(select.select([sys.stdin], [], [], 0)[0])


def writer(engine):
    commit = engine.write(options.first)
    commit(options.first)
    wait_for_start()
    count, start, used = 0, time.perf_counter(), time.process_time()
    # The package firn has 100,000 rows prepared.
    while count < 99_000 and not stopped():
        count += 1
        commit(options.first + count)
    seconds, used = time.perf_counter() - start, time.process_time() - used
    print(json.dumps({"commits": count, "seconds": seconds, "cpu": used}))


def keys_of(source):
    """Returns keys of rows in an order that is the same for each engine."""
    keys = []
    with open(source, newline="") as file:
        for number, line in enumerate(file):
            if number % 997 == 1:
                cells = line.split(",", 4)
                keys.append((int(cells[0]), int(cells[3])))
    random.Random(1).shuffle(keys)
    return keys


def reader(engine):
    q1, q6, point = engine.read(options.same)
    keys = keys_of(options.source)
    found = {"q1": [], "q6": [], "point": []}

    def timed(name, count, act):
        start, used = time.perf_counter(), time.process_time()
        act()
        found[name].append(((time.perf_counter() - start) / count, (time.process_time() - used) / count))

    def points(at):
        for i in range(POINTS):
            point(keys[(at + i) % len(keys)])
    answers = [q1(), q6()]
    for _ in range(2):
        q1(), q6(), points(0)
    wait_for_start()
    start, loop = time.perf_counter(), 0
    while loop < 2 or time.perf_counter() - start < options.seconds:
        loop += 1
        timed("q1", 1, q1)
        for _ in range(3):
            timed("q6", 1, q6)
        timed("point", POINTS, lambda: points(loop * POINTS))
    print(json.dumps({"times": found, "answers": answers}))


class Process:
    """A process of this script that is ready to start its work."""

    def __init__(self, role, name, path, first=0, same=False):
        command = [sys.executable, os.path.abspath(__file__), options.source, options.folder, "--role", role, "--engines", name, "--file", path,
                   "--seconds", str(options.seconds), "--cores", options.cores, "--first", str(first), *(["--priority"] if options.priority else []), *(["--same"] if same else [])]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.child.stdout.readline() != "ready\n":
            raise RuntimeError(self.child.stderr.read().strip().splitlines()[-1])

    def start(self):
        self.child.stdin.write("\n")
        self.child.stdin.flush()

    def result(self):
        """Closes the input, which stops a writer, and returns what the process measured."""
        out, error = self.child.communicate()
        if self.child.returncode != 0:
            raise RuntimeError(error.strip())
        return json.loads(out)


# ---- the rounds ------------------------------------------------------------------------------------------------------------------------------------------------

figures = []


def say(name, value, unit):
    figures.append({"name": name, "value": value, "unit": unit})
    print(f"{name} {value:.4g} {unit}", flush=True)


def prepared(name):
    """Returns a fresh copy of the engine's file, which is made if it does not exist."""
    engine = ENGINES[name]
    kept, path = (os.path.join(options.folder, f"{stem}.{engine.ending}") for stem in ("lineitem", "busy"))
    if not os.path.exists(kept):
        engine(kept).load(options.source)
    for ending in ("", "-wal", "-shm", ".wal"):
        if os.path.exists(path + ending):
            os.remove(path + ending)
    shutil.copyfile(kept, path)
    return path


# (phase, whether the writer runs, whether the reader runs)
PHASES = [("idle", True, False), ("idle", False, True), ("busy", True, True), ("same.idle", False, True), ("same.busy", True, True)]


def run_phase(name, path, phase, writes, reads, first):
    """Runs the writer, the reader, or both; returns what they print. Raises RuntimeError if the reader cannot open the file."""
    writing = Process("writer", name, path, first) if writes else None
    try:
        reading = Process("reader", name, path, same=phase.startswith("same")) if reads else None
    except RuntimeError:
        writing.start()
        writing.result()
        raise
    if writing:
        writing.start()
    if reading:
        # The reader measures a writer that has begun.
        time.sleep(0.2 if writing else 0)
        reading.start()
        read = reading.result()
    else:
        time.sleep(options.seconds)
    return writing.result() if writing else None, read if reading else None


def run(name):
    path, commits, times, refused, answers, first = prepared(name), {}, {}, None, None, 0
    for _ in range(options.rounds):
        for phase, writes, reads in PHASES:
            if refused and writes and reads:
                continue
            try:
                written, read = run_phase(name, path, phase, writes, reads, first)
            except RuntimeError as error:
                refused = str(error)
                continue
            finally:
                first += 100_000 * writes
            if written:
                commits.setdefault(phase, []).append((written["commits"] / written["seconds"], written["cpu"] / written["commits"]))
            if read:
                answers = answers or read["answers"]
                for query, pairs in read["times"].items():
                    times.setdefault((query, phase), []).extend(pairs)
    for column, ending in enumerate(("", ".cpu")):
        middle = lambda pairs: statistics.median(pair[column] for pair in pairs)
        say_phases(f"busy.{name}.commits{ending}", "µs/commit" if ending else "commits/s", {phase: middle(pairs) * (1e6 if ending else 1) for phase, pairs in commits.items()})
        for query, unit, scale in (("q1", "ms", 1e3), ("q6", "ms", 1e3), ("point", "µs", 1e6)):
            say_phases(f"busy.{name}.{query}{ending}", unit, {phase: middle(pairs) * scale for (other, phase), pairs in times.items() if other == query})
    if refused:
        print(f"# {name}: the second process is refused: {refused}")
    return answers


def say_phases(name, unit, found):
    """Prints the figure of each phase, and the speed that is kept with both processes."""
    for phase, value in found.items():
        say(f"{name}.{phase}", value, unit)
    for busy, idle in (("busy", "idle"), ("same.busy", "same.idle" if "same.idle" in found else "idle")):
        if busy in found:
            say(f"{name}.{busy.replace('busy', 'kept')}", 100 * (found[busy] / found[idle] if unit == "commits/s" else found[idle] / found[busy]), "%")


def compare(answers):
    """Stops if two engines gave different answers before the first commit."""
    names = list(answers)
    for name in names[1:]:
        for (ours, theirs) in zip(answers[names[0]], answers[name]):
            flat = lambda rows: [cell for row in rows for cell in row]
            for a, b in zip(flat(ours), flat(theirs)):
                if isinstance(a, str) and a != b or not isinstance(a, str) and abs(a - b) > 1e-6 * abs(a):
                    sys.exit(f"{names[0]} and {name} differ: {a}, {b}")


def main():
    os.makedirs(options.folder, exist_ok=True)
    names, answers = options.engines.split(","), {}
    for name in names:
        try:
            __import__({"sqlite": "sqlite3"}.get(name, name))
        except ImportError:
            print(f"# {name} is not installed: its figures are left out")
            continue
        answers[name] = run(name)
    print(f"# load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors, {options.rounds} rounds of {options.seconds:g} s")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"rounds": options.rounds, "figures": figures}, file, indent=1)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("source")
parser.add_argument("folder")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--seconds", type=float, default=5)
parser.add_argument("--engines", default=",".join(ENGINES))
parser.add_argument("--priority", action="store_true")
parser.add_argument("--cores", default="1,0", help="the processors of the writer and of the reader")
parser.add_argument("--json")
parser.add_argument("--role", help=argparse.SUPPRESS)
parser.add_argument("--file", help=argparse.SUPPRESS)
parser.add_argument("--first", type=int, help=argparse.SUPPRESS)
parser.add_argument("--same", action="store_true", help=argparse.SUPPRESS)
options = parser.parse_args()
if options.role:
    # The writer and the reader have a processor each; threads of imported packages inherit it.
    os.sched_setaffinity(0, {int(options.cores.split(",")[options.role == "reader"])})
    if options.priority:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    {"writer": writer, "reader": reader}[options.role](ENGINES[options.engines](options.file))
else:
    main()
