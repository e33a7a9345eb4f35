#!/usr/bin/env python3
"""Asks one question of one file in firn, DuckDB, Polars, Dask, Ray and Spark, compares the answers, and prints the times.

usage: Tools/bench/engines.py FOLDER [--rows 6000000] [--runs 3] [--command FIRN] [--only dask,ray]
(needs the package firn with its extras duckdb, polars, dask, ray and spark, and Java 17)

The file has orders: a key, a day, a city, a price and a quantity. The question, of TPC-H Q1's kind: for each city, the number of orders
after a day, the sum of the quantities and the mean of the prices. A time is the fastest of the runs, in one session; the time to start
the session is printed by itself. Dask, Ray and Spark run with one worker and with two.
"""
import argparse, datetime, os, subprocess, sys, time
import pyarrow as pa
import firn

parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--rows", type=int, default=6_000_000)
parser.add_argument("--runs", type=int, default=3)
parser.add_argument("--command", default="firn")
parser.add_argument("--only", default="firn,package,duckdb,polars,dask,ray,spark")
given = parser.parse_args()
path = os.path.join(given.folder, f"orders-{given.rows}.firn")
WHERE, DAY = "day > 2024-03-01@00:00:00", datetime.date(2024, 3, 1)
COLUMNS = ["day", "city", "price", "quantity"]


def make():
    import numpy as np

    random, start = np.random.default_rng(1), np.datetime64("2024-01-01", "D")
    with firn.create(path) as db, db.write() as transaction:
        for at in range(0, given.rows, 1_000_000):
            n = min(1_000_000, given.rows - at)
            transaction["orders"].append(pa.table({
                "id": np.arange(at, at + n), "day": start + random.integers(0, 366, n), "city": [f"city {i}" for i in random.integers(0, 40, n)],
                "price": random.integers(100, 100_000, n) / 100, "quantity": random.integers(1, 50, n)}), key="id" if at == 0 else None)


expected = None


def report(name, session, ask):
    """Prints the fastest of the runs, and stops if the answer is another one."""
    global expected
    times = []
    for _ in range(given.runs):
        start = time.perf_counter()
        answer = {city: (int(n), int(quantity), round(float(price), 6)) for city, n, quantity, price in ask()}
        times.append(time.perf_counter() - start)
        if expected is None:
            expected = answer
        if answer != expected:
            sys.exit(f"{name}: another answer: {sorted(answer.items())[:3]}, not {sorted(expected.items())[:3]}")
    print(f"| {name} | {session:.1f} s | {min(times):.2f} s |", flush=True)


def timed(make_session):
    start = time.perf_counter()
    return make_session(), time.perf_counter() - start


def with_firn():
    def ask():
        command = [given.command, "query", path, WHERE, "--group-by", "city", "--agg", "count, sum(quantity) as q, avg(price) as p",
                   "--format", "csv", "--quiet"]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[1:]
        return [line.split(",") for line in lines]
    report("`firn query`, a process", 0, ask)


def with_package():
    table = firn.open(path)["orders"]
    aggregates = "count, sum(quantity) as q, avg(price) as p"
    report("the package", 0, lambda: [tuple(r.values()) for r in table.query(WHERE, group_by=["city"], aggregates=aggregates)])


def with_duckdb():
    import duckdb

    connection = duckdb.connect()
    orders = firn.open(path)["orders"].to_duckdb(connection)
    query = "SELECT city, count(*), sum(quantity), avg(price) FROM orders WHERE day > DATE '2024-03-01' GROUP BY city"
    report("DuckDB", 0, lambda: orders.query("orders", query).fetchall())


def with_polars():
    import polars as pl

    lazy = firn.open(path)["orders"].to_lazy().filter(pl.col("day") > DAY).group_by("city")
    frame = lazy.agg(pl.len(), pl.col("quantity").sum(), pl.col("price").mean())
    report("Polars", 0, lambda: frame.collect().rows())


def with_dask():
    import firn.dask
    from dask.distributed import Client, LocalCluster

    for workers in (1, 2):
        client, session = timed(lambda: Client(LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)))

        def ask():
            frame = firn.dask.read(path, columns=["city", "price", "quantity"], where=WHERE)
            found = frame.groupby("city").agg({"city": "count", "quantity": "sum", "price": "mean"})
            return list(found.compute().itertuples())
        report(f"Dask, {workers} worker{'s' * (workers > 1)}", session, ask)
        client.cluster.close()
        client.close()


def with_ray():
    import ray, ray.data, firn.ray
    from ray.data.aggregate import Count, Mean, Sum

    for workers in (1, 2):
        _, session = timed(lambda: ray.init(num_cpus=workers, include_dashboard=False, object_store_memory=1 << 30, log_to_driver=False))
        ray.data.DataContext.get_current().enable_progress_bars = False

        def part(table):
            return table.group_by("city").aggregate([("city", "count"), ("quantity", "sum"), ("price", "sum")])

        def ask():
            data = firn.ray.read(path, columns=["city", "price", "quantity"], where=WHERE, override_num_blocks=6)
            # Groups of each task first: Ray would sort all rows.
            parts = pa.concat_tables(ray.get(data.map_batches(part, batch_format="pyarrow", batch_size=None).to_arrow_refs()))
            found = parts.group_by("city").aggregate([("city_count", "sum"), ("quantity_sum", "sum"), ("price_sum", "sum")]).to_pylist()
            return [(r["city"], r["city_count_sum"], r["quantity_sum_sum"], r["price_sum_sum"] / r["city_count_sum"]) for r in found]
        report(f"Ray, {workers} worker{'s' * (workers > 1)}", session, ask)
        ray.shutdown()


def with_spark():
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    import firn.spark
    from pyspark.sql import SparkSession, functions as F

    for workers in (1, 2):
        builder = SparkSession.builder.master(f"local[{workers}]").config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
        builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.sql.shuffle.partitions", str(workers))
        spark, session = timed(builder.config("spark.ui.showConsoleProgress", "false").getOrCreate)
        firn.spark.register(spark)

        def ask():
            frame = spark.read.format("firn").option("columns", "city,price,quantity").option("where", WHERE).load(path)
            return [tuple(r) for r in frame.groupBy("city").agg(F.count("*"), F.sum("quantity"), F.avg("price")).collect()]
        report(f"Spark, {workers} worker{'s' * (workers > 1)}", session, ask)
        spark.stop()


if __name__ == "__main__":
    if not os.path.exists(path): make()
    print(f"{given.rows:,} rows, {os.path.getsize(path):,} bytes\n\n| engine | start | question |\n|---|---|---|")
    for name in given.only.split(","): globals()[f"with_{name}"]()
