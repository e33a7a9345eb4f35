"""Tests of firn.spark on two local workers: see Tools/test-engines"""

from __future__ import annotations

import os
import shutil
import unittest
from pathlib import Path

import pyarrow
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import firn
import firn.spark
from common import COMMAND, COUNT, FILTERS, Case, answer, rows

spark = None


def setUpModule() -> None:
    global spark
    # The third number is that of the attempts of a task.
    builder = SparkSession.builder.master("local[2, 3]").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    for name, value in {
        "spark.ui.showConsoleProgress": "false", "spark.sql.session.timeZone": "UTC", "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "OFF",
    }.items():  # fmt: skip
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    firn.spark.register(spark)
    unittest.addModuleCleanup(spark.stop)


def load(path, **options):
    frame = spark.read.format("firn")
    for name, value in options.items():
        frame = frame.option(name, value)
    return frame.load(str(path))


def groups(frame) -> dict:
    found = frame.groupBy("city").agg(F.count("*").alias("n"), F.sum("id").alias("total")).collect()
    return {row["city"]: (row["n"], row["total"]) for row in found}


class Spark(Case):
    def test_rows_and_types(self):
        frame = load(self.path, segments="1")
        self.assertEqual(frame.count(), COUNT)
        self.assertEqual(dict(frame.dtypes)["place"], "struct<x:bigint,name:string>")
        found = frame.filter("id % 10 = 3").toArrow()
        # Spark has one type for times in UTC.
        self.assert_same_rows(found, self.plain.filter([i % 10 == 3 for i in range(COUNT)]))

    def test_filters_give_the_answers_of_the_command(self):
        for pushdown in ("false", "true"):
            spark.conf.set("spark.sql.python.filterPushdown.enabled", pushdown)
            for condition, where in FILTERS:
                # Spark keeps the filters of a frame: see firn.spark.
                found = groups(load(self.path, pushdown=pushdown, columns="id,city,price,small,flag,day,cost").filter(condition))
                if where is None:
                    self.assertEqual(sum(n for n, _ in found.values()), 1000)
                else:
                    self.assertEqual(found, answer(self.path, where), f"{condition}, pushdown {pushdown}")

    def test_a_frame_can_be_used_in_several_queries(self):
        frame = load(self.path, columns="id")
        self.assertEqual([frame.filter("id < 10").count(), frame.count(), frame.filter("id >= 100").count()], [10, COUNT, COUNT - 100])

    def test_predicates_and_columns_are_options(self):
        frame = load(self.path, columns="id", where="city == nil AND id < 100")
        self.assertEqual(frame.columns, ["id"])
        self.assertEqual(sorted(row.id for row in frame.collect()), list(range(0, 100, 7)))
        for options in ({"columns": "nothing"}, {"where": "nothing > 1"}):
            with self.assertRaisesRegex(Exception, "nothing"):
                load(self.path, **options).count()

    def test_a_folder_is_written_and_read_back(self):
        out = self.new("out")
        load(self.path, segments="1").write.format("firn").option("type", "rows").mode("append").save(out)
        self.assertEqual(len(os.listdir(out)), 3)
        self.assert_same_rows(firn.open_folder(out).to_arrow(), self.plain)
        if COMMAND is not None:
            self.assertEqual(answer(out), answer(self.path))
        load(self.path, where="id < 100").write.format("firn").mode("append").save(out)
        self.assertEqual(load(out).count(), COUNT + 100)
        load(self.path, where="id < 7").write.format("firn").mode("overwrite").save(out)
        self.assert_same_rows(firn.open_folder(out).to_arrow(), rows(7))
        load(self.path, where="id < 0").write.format("firn").mode("overwrite").save(out)
        self.assertEqual((load(out).count(), len(load(out).columns)), (0, 12))
        self.assertEqual(self.hidden(out), [])

    def test_columns_that_do_not_match_are_named(self):
        out = self.new("out")
        load(self.path, where="id < 10").write.format("firn").mode("append").save(out)
        for expression, message in [("CAST(id AS STRING) AS id", 'column "id"'), ("id, 1 AS more", 'no column "more"')]:
            with self.assertRaisesRegex(Exception, message):
                load(self.path).selectExpr(*expression.split(", ")).write.format("firn").mode("append").save(out)
        self.assert_same_rows(firn.open_folder(out).to_arrow(), rows(10))
        self.assertEqual(self.hidden(out), [])

    def test_a_writer_beside_the_job_changes_nothing(self):
        for times, tag in [(5, False), (20, True)]:
            path = self.new("beside.firn")
            shutil.copy(self.path, path)
            frame = firn.spark.read(spark, path, tag=tag, columns=["id"])
            self.commit_beside(path, times)
            self.assertEqual((frame.count(), frame.agg(F.sum("id")).first()[0]), (COUNT, COUNT * (COUNT - 1) // 2))

    def test_a_task_that_is_tried_again_writes_no_row_twice(self):
        out, mark = self.new("out"), self.new("failed")

        def fail_once(batches):
            for batch in batches:
                yield batch
            if not Path(mark).exists():
                Path(mark).touch()
                raise RuntimeError("on purpose")

        frame = load(self.path, columns="id,city", segments="1")
        frame.mapInArrow(fail_once, frame.schema).write.format("firn").mode("append").save(out)
        self.assertTrue(Path(mark).exists())
        self.assert_same_rows(firn.open_folder(out).to_arrow(), self.plain.select(["id", "city"]))
        self.assertEqual(self.hidden(out), [])

    def test_a_failed_job_publishes_nothing(self):
        out = self.new("out")
        with self.assertRaises(Exception):
            load(self.path, columns="id").selectExpr("raise_error('on purpose') AS id").write.format("firn").mode("append").save(out)
        self.assertEqual((os.path.exists(out), self.hidden(out)), (False, []))

    def test_a_damaged_file_is_reported(self):
        with self.assertRaisesRegex(Exception, "what is damaged"):
            load(self.damaged()).toArrow()

    def test_names_of_folders_are_columns(self):
        out = self.new("out")
        for year in (2023, 2024):
            os.makedirs(f"{out}/year={year}")
            shutil.copy(self.path, f"{out}/year={year}/part-0.firn")
        spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
        for pushdown in ("false", "true"):
            frame = load(out, pushdown=pushdown, columns="id,year").filter("year = 2024 AND id < 10")
            self.assertEqual(sorted(tuple(row) for row in frame.collect()), [(i, 2024) for i in range(10)])

    def test_types_that_spark_does_not_have(self):
        path = self.new("types.firn")
        table = pyarrow.table({
            "byte": pyarrow.array([200, None], pyarrow.uint8()),
            "large": pyarrow.array([2**64 - 1, None], pyarrow.uint64()),
            "time": pyarrow.array([3_600_000_000, None], pyarrow.time64("us")),
            "nanos": pyarrow.array([1_500_000_001_123_456_789, None], pyarrow.timestamp("ns")),
            "span": pyarrow.array([5, None], pyarrow.duration("ms")),
        })  # fmt: skip
        with firn.create(path) as db, db.write() as transaction:
            transaction["rows"].append(table)
        first, second = load(path).collect()
        self.assertEqual((first.byte, int(first.large), first.span), (200, 2**64 - 1, 5))
        self.assertEqual((first.time, str(first.nanos)), ("01:00:00.000000", "2017-07-14 02:40:01.123456"))
        self.assertEqual(list(second), [None] * 5)


if __name__ == "__main__":
    unittest.main()
