"""Tests of firn.ray on a cluster of two workers: see Tools/test-engines"""

from __future__ import annotations

import os
import shutil
import unittest

import pyarrow
import ray
import ray.data

import firn
import firn.ray
from common import COMMAND, COUNT, Case, answer, rows


def setUpModule() -> None:
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=400 << 20, log_to_driver=False, configure_logging=False)
    ray.data.DataContext.get_current().enable_progress_bars = False


def tearDownModule() -> None:
    ray.shutdown()


def whole(dataset) -> pyarrow.Table:
    return pyarrow.concat_tables(ray.get(dataset.to_arrow_refs()))


class Ray(Case):
    def test_rows_and_types(self):
        dataset = firn.ray.read(self.path, override_num_blocks=4)
        self.assertEqual(dataset.count(), COUNT)
        self.assert_same_rows(whole(dataset), self.plain)

    def test_filters_give_the_answers_of_the_command(self):
        from ray.data.expressions import col

        for condition, where in [
            (col("id") < 1000, "id < 1000"),
            (col("city") < "city 2", "city < 'city 2' AND city != nil"),
            (col("city") != "city 2", "city != 'city 2' AND city != nil"),
            ((col("price") > 100.5) & (col("id") < 90000), "price > 100.5 AND id < 90000"),
            (col("price").is_null(), "price == nil"),
        ]:
            found = whole(firn.ray.read(self.path).filter(expr=condition).select_columns(["city", "id"]))
            groups = found.group_by("city").aggregate([("id", "count"), ("id", "sum")]).to_pylist()
            self.assertEqual({row["city"]: (row["id_count"], row["id_sum"]) for row in groups}, answer(self.path, where), where)
        found = firn.ray.read(self.path, columns=["id"], where="city == nil AND id < 100")
        self.assertEqual(sorted(row["id"] for row in found.take_all()), list(range(0, 100, 7)))

    def test_a_folder_is_written_and_read_back(self):
        out = self.new("out")
        firn.ray.write(firn.ray.read(self.path, override_num_blocks=3), out, type="rows")
        self.assert_same_rows(firn.open_folder(out).to_arrow(), self.plain)
        if COMMAND is not None:
            self.assertEqual(answer(out), answer(self.path))
        firn.ray.write(ray.data.from_arrow(rows(100, COUNT)), out, mode="append")
        self.assertEqual(firn.ray.read(out).count(), COUNT + 100)
        with self.assertRaises(FileExistsError):
            firn.ray.write(ray.data.from_arrow(rows(100)), out)
        firn.ray.write(ray.data.from_arrow(rows(7)), out, mode="overwrite")
        self.assert_same_rows(firn.open_folder(out).to_arrow(), rows(7))
        self.assertEqual(self.hidden(out), [])

    def test_columns_that_do_not_match_are_named(self):
        out = self.new("out")
        firn.ray.write(ray.data.from_arrow(rows(10)), out)
        for table, message in [
            (rows(5).set_column(0, "id", pyarrow.array(["x"] * 5)), 'column "id"'),
            (rows(5).append_column("more", pyarrow.array([1] * 5)), 'no column "more"'),
        ]:
            with self.assertRaisesRegex(Exception, message):
                firn.ray.write(ray.data.from_arrow(table), out, mode="append")
        self.assert_same_rows(firn.open_folder(out).to_arrow(), rows(10))
        self.assertEqual(self.hidden(out), [])
        with self.assertRaisesRegex(firn.UsageError, 'no column "nothing"'):
            firn.ray.read(self.path, columns=["nothing"])

    def test_a_writer_beside_the_job_changes_nothing(self):
        for times, tag in [(5, False), (20, True)]:
            path = self.new("beside.firn")
            shutil.copy(self.path, path)
            dataset = firn.ray.read(path, override_num_blocks=3, tag=tag)
            self.commit_beside(path, times)
            self.assertEqual(dataset.count(), COUNT)
            self.assert_same_rows(whole(dataset), self.plain)
            del dataset

    def test_a_failed_job_publishes_nothing(self):
        out = self.new("out")

        def fail(batch):
            raise RuntimeError("on purpose")

        with self.assertRaises(Exception):
            firn.ray.write(firn.ray.read(self.path, columns=["id"]).map_batches(fail), out)
        self.assertEqual((os.path.exists(out), self.hidden(out)), (False, []))

    def test_a_damaged_file_is_reported(self):
        with self.assertRaisesRegex(Exception, "damaged"):
            whole(firn.ray.read(self.damaged()))

    def test_names_of_folders_are_columns(self):
        out = self.new("out")
        for year in (2023, 2024):
            os.makedirs(f"{out}/year={year}")
            shutil.copy(self.path, f"{out}/year={year}/part-0.firn")
        from ray.data.expressions import col

        found = whole(firn.ray.read(out, columns=["id", "year"]).filter(expr=(col("year") == 2024) & (col("id") < 10)))
        self.assertEqual(sorted((row["year"], row["id"]) for row in found.to_pylist()), [(2024, i) for i in range(10)])


if __name__ == "__main__":
    unittest.main()
