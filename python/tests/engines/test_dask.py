"""Tests of firn.dask on a cluster of two workers: see Tools/test-engines"""

from __future__ import annotations

import os
import shutil
import unittest

import dask
import dask.dataframe
import pandas
import pyarrow
from dask.distributed import Client, LocalCluster

import firn
import firn.dask
from common import COMMAND, COUNT, Case, answer, rows

client = None


def setUpModule() -> None:
    global client
    dask.config.set({"dataframe.convert-string": False})
    client = Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True))
    unittest.addModuleCleanup(client.close)


def plain(frame: pandas.DataFrame) -> pyarrow.Table:
    return pyarrow.Table.from_pandas(frame, preserve_index=frame.index.name is not None).replace_schema_metadata(None)


class Dask(Case):
    def test_rows_and_types(self):
        frame = firn.dask.read(self.path, segments=1)
        self.assertEqual((frame.npartitions, len(frame)), (3, COUNT))
        self.assert_same_rows(plain(frame.compute()), self.plain)

    def test_filters_give_the_answers_of_the_command(self):
        frame = firn.dask.read(self.path, segments=1)
        for condition, where in [
            (frame.id < 1000, "id < 1000"),
            (frame.city < "city 2", "city < 'city 2' AND city != nil"),
            ((frame.price > 100.5) & (frame.id < 90000), "price > 100.5 AND id < 90000"),
        ]:
            found = frame[condition].groupby("city", dropna=False).id.agg(["count", "sum"]).compute()
            groups = {None if pandas.isna(city) else city: (row["count"], row["sum"]) for city, row in found.iterrows()}
            self.assertEqual(groups, answer(self.path, where), where)
        found = firn.dask.read(self.path, columns=["id"], where="city == nil AND id < 100").compute()
        self.assertEqual(found.id.tolist(), list(range(0, 100, 7)))

    def test_an_ordered_column_has_divisions(self):
        frame = firn.dask.read(self.path, columns=["price"], index="id", segments=1)
        self.assertEqual(frame.divisions, (0, 65536, 131072, COUNT - 1))
        self.assertEqual(frame.loc[70000:70010].compute().index.tolist(), list(range(70000, 70011)))
        self.assertEqual(firn.dask.read(self.path, index="small", segments=1).known_divisions, False)
        with self.assertRaisesRegex(firn.UsageError, 'no column "nothing"'):
            firn.dask.read(self.path, index="nothing")

    def test_a_folder_is_written_and_read_back(self):
        out = self.new("out")
        self.assertEqual(firn.dask.write(firn.dask.read(self.path, segments=1), out, type="rows"), COUNT)
        self.assertEqual(len(os.listdir(out)), 3)
        self.assert_same_rows(firn.open_folder(out).to_arrow(), self.plain)
        if COMMAND is not None:
            self.assertEqual(answer(out), answer(self.path))
        more = dask.dataframe.from_pandas(rows(100, COUNT).to_pandas(types_mapper=pandas.ArrowDtype), npartitions=2)
        firn.dask.write(more, out, mode="append")
        self.assertEqual(len(firn.open_folder(out)), COUNT + 100)
        with self.assertRaises(FileExistsError):
            firn.dask.write(more, out)
        firn.dask.write(more, out, mode="overwrite")
        self.assertEqual((len(firn.open_folder(out)), self.hidden(out)), (100, []))

    def test_columns_that_do_not_match_are_named(self):
        out = self.new("out")
        given = pandas.DataFrame({"id": [1, 2], "name": ["a", "b"]})
        firn.dask.write(dask.dataframe.from_pandas(given, npartitions=1), out)
        for frame, message in [(given.astype(str), 'column "id"'), (given.assign(more=1), 'no column "more"')]:
            with self.assertRaisesRegex(firn.SchemaError, message):
                firn.dask.write(dask.dataframe.from_pandas(frame, npartitions=1), out, mode="append")
        self.assertEqual((len(firn.open_folder(out)), self.hidden(out)), (2, []))

    def test_a_writer_beside_the_job_changes_nothing(self):
        for times, tag in [(5, False), (20, True)]:
            path = self.new("beside.firn")
            shutil.copy(self.path, path)
            frame = firn.dask.read(path, segments=1, tag=tag)
            self.commit_beside(path, times)
            self.assertEqual(len(frame), COUNT)
            self.assert_same_rows(plain(frame.compute()), self.plain)
            del frame

    def test_a_task_that_is_tried_again_writes_no_row_twice(self):
        job = firn._parts.Job(self.new("out"), rows(1).schema)
        kept = [job.write(rows(10, 10 * i).to_batches(), i) for i in range(3)]
        job.write(rows(10, 10).to_batches(), 1)
        self.assertEqual(job.commit(kept), 30)
        self.assert_same_rows(firn.open_folder(job.folder).to_arrow(), rows(30))
        self.assertEqual(self.hidden(job.folder), [])

    def test_a_failed_job_publishes_nothing(self):
        out = self.new("out")

        def fail(frame):
            if len(frame):
                raise RuntimeError("on purpose")
            return frame

        frame = firn.dask.read(self.path, columns=["id"], segments=1)
        with self.assertRaises(RuntimeError):
            firn.dask.write(frame.map_partitions(fail, meta=frame._meta), out)
        self.assertEqual((os.path.exists(out), self.hidden(out)), (False, []))

    def test_a_damaged_file_is_reported(self):
        with self.assertRaisesRegex(Exception, "damaged"):
            firn.dask.read(self.damaged()).compute()


if __name__ == "__main__":
    unittest.main()
