#!/usr/bin/env python3
"""Durable commits of one row per second, and syncs per commit: Firn, SQLite (WAL, synchronous=FULL) and LMDB (its defaults) on the same disk, in turn.

    Tools/bench/commits.py [FOLDER] [--count 1000] [--rounds 5] [--threads 1,2,4,8] [--bench .build/release/firn-bench]

SQLite is Python's sqlite3 module, LMDB the package `lmdb` (skipped with a notice if it is not installed). The time of a commit is that of its sync, so the
language matters little; with several threads, the interpreter's lock is free during a sync. Syncs are counted by strace in a separate run."""
import argparse, os, shutil, sqlite3, statistics, subprocess, sys, tempfile, threading, time

def workers(threads, count, body):
    failures = []
    def work(number):
        try: body(number, count // threads)
        except BaseException as error: failures.append(error)
    all_ = [threading.Thread(target=work, args=(n,)) for n in range(threads)]
    start = time.perf_counter()
    for t in all_: t.start()
    for t in all_: t.join()
    if failures: raise failures[0]
    return count // threads * threads / (time.perf_counter() - start)

def sqlite(folder, threads, count):
    path = os.path.join(folder, "a.sqlite")
    first = sqlite3.connect(path, isolation_level=None)
    first.execute("PRAGMA journal_mode=WAL"); first.execute("CREATE TABLE row(id INTEGER PRIMARY KEY, name TEXT, score REAL)")
    def body(number, steps):
        c = sqlite3.connect(path, isolation_level=None, timeout=60)
        c.execute("PRAGMA synchronous=FULL")
        for step in range(steps):
            id_ = number * count + step
            c.execute("BEGIN IMMEDIATE"); c.execute("INSERT INTO row VALUES(?,?,?)", (id_, f"name {id_}", id_ / 8)); c.execute("COMMIT")
    return workers(threads, count, body)

def lmdb(folder, threads, count):
    import lmdb as package
    env = package.open(os.path.join(folder, "lmdb"), map_size=1 << 30)
    def body(number, steps):
        for step in range(steps):
            id_ = number * count + step
            with env.begin(write=True) as transaction: transaction.put(id_.to_bytes(8, "big"), f"name {id_} {id_ / 8}".encode())
    return workers(threads, count, body)

peers = {"sqlite": sqlite, "lmdb": lmdb}

def command(engine, folder, threads, count, options):
    if engine.startswith("firn"): return [options.bench, "commits", folder, engine.split(".")[1], str(threads), str(count)]
    return [sys.executable, __file__, "--engine", engine, folder, "--threads", str(threads), "--count", str(count)]

def once(engine, threads, count, options, prefix=()):
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        run = subprocess.run([*prefix, *command(engine, folder, threads, count, options)], capture_output=True, text=True)
    rates = [float(line.split()[1]) for line in run.stdout.splitlines() if line.startswith("rate ")]
    if not rates: print(f"{engine}: {run.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
    return rates[0] if rates else None, run.stderr

def syncs(engine, threads, count, options):
    _, trace = once(engine, threads, count, options, ("strace", "-c", "-f", "-e", "trace=fsync,fdatasync,sync_file_range,msync"))
    calls = 0
    for line in trace.splitlines():
        cells = line.split()
        if len(cells) >= 5 and cells[-1] in ("fsync", "fdatasync", "msync"): calls += int(cells[3])
    return calls / count

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", nargs="?", default="/tmp"); parser.add_argument("--engine")
    parser.add_argument("--count", type=int, default=1000); parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", default="1,2,4,8"); parser.add_argument("--bench", default=".build/release/firn-bench")
    options = parser.parse_args()
    if options.engine: return print("rate", peers[options.engine](options.folder, int(options.threads), options.count))
    engines = [e for e in ("firn.full", "firn.grouped", "firn.none") if os.path.exists(options.bench)] + ["sqlite"]
    try:
        import lmdb as _
        engines.append("lmdb")
    except ImportError: print("lmdb: the package is not installed", file=sys.stderr)
    for threads in map(int, options.threads.split(",")):
        rates = {e: [] for e in engines}
        for _ in range(options.rounds):
            for e in engines:
                rate, _ = once(e, threads, options.count, options)
                if rate: rates[e].append(rate)
        for e in engines:
            if not rates[e]: continue
            print(f"commits.{e}.{threads} {statistics.median(rates[e]):.0f} commits/s (from {min(rates[e]):.0f} to {max(rates[e]):.0f})")
            if shutil.which("strace"): print(f"commits.{e}.{threads}.syncs {syncs(e, threads, min(options.count, 400), options):.3f} syncs/commit")

main()
