#!/usr/bin/env python3
"""Measures the conversion of CSV that is not regular throughout, beside DuckDB, which leaves bad rows out.

usage: irregular.py FIRN [--rows N] [--runs N] [--threads N]

Prints a Markdown table: for each kind of text its size, the fastest run of each program (seconds on the clock), and the number of rows that
each one kept. DuckDB reads the text into a table of a database file."""
import argparse, os, random, re, subprocess, sys, tempfile, time

WORDS = "amber birch cedar delta ember fjord grove heath inlet jetty knoll larch meadow north ochre pines quartz ridge stone tundra".split()
NAMES = "id name price date note code share city".split()


def regular(rows):
    r = random.Random(7)
    for i in range(rows):
        yield [
            str(i), " ".join(r.choices(WORDS, k=2)), f"{r.randrange(1, 99999) / 100:.2f}", f"20{r.randrange(10, 24)}-0{r.randrange(1, 10)}-1{r.randrange(10)}",
            " ".join(r.choices(WORDS, k=r.randrange(3, 9))), f"{r.choice(WORDS)}{r.randrange(100)}", f"{r.random():.4f}", r.choice(WORDS)]


def joined(cells): return ",".join(cells)


def quoted(cells): return ",".join(f'"{cell}"' for cell in cells)


def some(share, change):
    """Changes a share of the rows, by a generator of its own."""
    r = random.Random(9)
    return lambda i, cells: change(cells) if r.random() < share else joined(cells)


def at_row(row, change, other=joined): return lambda i, cells: change(cells) if i == row else other(cells)


KINDS = {
    "regular": (lambda i, cells: joined(cells), {}),
    "one surplus cell": (at_row(1000, lambda cells: joined(cells + ["x"])), {}),
    "one stray quote": (at_row(1000, lambda cells: joined([cells[0], f'"{cells[1]}" {cells[2]}'] + cells[2:])), {}),
    "all cells quoted, one stray quote": (at_row(1000, lambda cells: quoted([cells[0], f'a "{cells[1]} z'] + cells[2:]), quoted), {}),
    "5 % short rows": (some(0.05, lambda cells: joined(cells[:-1])), {}),
    "5 % backslashes before quotes": (some(0.05, lambda cells: joined(cells[:-1] + [f'"a \\"{cells[-1]}\\" z"'])), {}),
    "20 % stray quotes": (some(0.2, lambda cells: joined(cells[:-1] + [f'"a "{cells[-1]}" z"'])), {}),
    "a comment before the header": (lambda i, cells: joined(cells), {"before": "# exported by a program\n"}),
    "a delimiter after each row": (lambda i, cells: joined(cells + [""]), {}),
    "Windows-1252": (at_row(1000, lambda cells: joined([cells[0], "Café"] + cells[2:])), {"encoding": "cp1252"}),
    "UTF-16": (lambda i, cells: joined(cells), {"encoding": "utf-16"}),
}


def write(path, rows, line, before="", encoding="utf-8"):
    with open(path, "w", encoding=encoding, newline="") as out:
        out.write(before + joined(NAMES) + "\n")
        for i, cells in enumerate(regular(rows)):
            out.write(line(i, cells) + "\n")


def fastest(runs, run):
    best, result = None, None
    for _ in range(runs):
        start = time.monotonic()
        result = run()
        taken = time.monotonic() - start
        best = taken if best is None else min(best, taken)
    return best, result


def main():
    options = argparse.ArgumentParser(usage=__doc__)
    options.add_argument("firn")
    options.add_argument("--rows", type=int, default=1_500_000)
    options.add_argument("--runs", type=int, default=3)
    options.add_argument("--threads", type=int, default=os.cpu_count())
    given = options.parse_args()
    try:
        import duckdb
    except ImportError:
        duckdb = None
        print("irregular.py: DuckDB is not installed (pip install duckdb): its column is empty", file=sys.stderr)
    print("| text | size | Firn | DuckDB | rows kept by Firn, DuckDB |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path, out, database = (os.path.join(folder, name) for name in ("t.csv", "t.firn", "t.duckdb"))
        for name, (line, form) in KINDS.items():
            write(path, given.rows, line, **form)

            def firn():
                command = [given.firn, "convert", path, out, "--force", "--quiet", "--threads", str(given.threads)]
                subprocess.run(command, check=True, stderr=subprocess.DEVNULL)

            def duck():
                if os.path.exists(database): os.remove(database)
                encoding = {"cp1252": "latin-1", "utf-16": "utf-16"}.get(form.get("encoding"), "utf-8")
                with duckdb.connect(database, config={"threads": given.threads}) as connection:
                    try:
                        connection.execute(f"create table t as select * from read_csv('{path}', ignore_errors = true, encoding = '{encoding}')")
                    except duckdb.Error as error:
                        return str(error).splitlines()[0]
                    return connection.execute("select count(*) from t").fetchone()[0]

            mine, _ = fastest(given.runs, firn)
            count = [given.firn, "query", out, "-a", "count", "--format", "csv"]
            kept = int(re.search(r"\d+", subprocess.run(count, check=True, capture_output=True, text=True).stdout).group())
            theirs, rows = fastest(given.runs, duck) if duckdb else (None, "")
            failed = isinstance(rows, str)
            if failed and rows: print(f"irregular.py: DuckDB, {name}: {rows}", file=sys.stderr)
            theirs = "" if theirs is None else "fails" if failed else f"{theirs:.2f} s"
            kept = f"{kept:,}" if failed else f"{kept:,}, {rows:,}"
            print(f"| {name} | {os.path.getsize(path) / 1e6:.0f} MB | {mine:.2f} s | {theirs} | {kept} |", flush=True)


main()
