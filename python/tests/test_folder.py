"""Tests of folders of files: python3 -m unittest discover -s python/tests"""

from __future__ import annotations

import datetime
import os
import pickle
import tempfile
import unittest
from pathlib import Path

import firn

try:
    import pyarrow
    from firn._partitions import split
except ImportError:
    pyarrow = None


def write(path: Path, data, type_name: str = "sales", key=None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with firn.create(path) as db, db.write() as transaction:
        transaction[type_name].append(data, key=key)


@unittest.skipIf(pyarrow is None, "no pyarrow")
class Folders(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name, "sales")
        self.expected = []
        for year in (2023, 2024):
            for part in range(2):
                rows = [{"id": year * 10 + part * 5 + i, "city": None if i == 3 else f"city {i}"} for i in range(5)]
                write(self.path / f"year={year}" / f"part-{part}.firn", rows)
                self.expected += [{**row, "year": year} for row in rows]

    def test_a_folder_is_one_table_with_the_names_of_folders_as_columns(self):
        sales = firn.open_folder(self.path)
        self.assertEqual((len(sales), len(sales.files), sales.partitions, sales.name), (20, 4, ["year"], "sales"))
        self.assertEqual(list(sales), self.expected)
        self.assertEqual(sales.to_arrow().to_pylist(), self.expected)
        self.assertEqual(pyarrow.table(sales).schema, pyarrow.schema(sales))
        self.assertEqual(sales.scan(["year", "id"], limit=6).to_arrow().num_rows, 6)
        self.assertEqual(sales.scan(["year"]).to_arrow()["year"].to_pylist(), [2023] * 10 + [2024] * 10)
        self.assertEqual(sales.scan([], where="id > 20235").to_arrow().num_rows, 14)
        self.assertEqual(len(firn.open_folder(str(self.path / "*" / "part-0.firn"))), 10)
        self.assertEqual(len(firn.open_folder(self.path / "year=2023" / "part-0.firn")), 5)
        self.assertIn("4 files, 20 rows × 3 columns", repr(sales))
        self.assertIn("<td>2023</td>", sales._repr_html_())

    def test_files_that_a_predicate_excludes_are_not_read(self):
        sales = firn.open_folder(self.path)
        for where, files, rows in [
            ("year == 2024", 2, 10),
            ("(year > 2023 AND id > 20242)", 2, 7),
            ("year == 2024 && city != nil", 2, 8),
            ("year == 2022", 0, 0),
            ("city == 'x AND year == 2022'", 4, 0),
            ("`year` IN {2023} AND (id == 20230 OR id == 20240)", 2, 1),
            ("NOT year == 2023", 2, 10),
            ("id > 0", 4, 20),
        ]:
            scan = sales.scan(where=where)
            self.assertEqual((len(scan.files), scan.to_arrow().num_rows, len(list(scan))), (files, rows, rows), where)
        with self.assertRaisesRegex(firn.UsageError, '"year" is the name of a folder'):
            sales.scan(where="year == 2024 OR id > 3")
        for wrong in ("nothing > 3", "year >", "id > 3 AND"):
            with self.assertRaises(firn.UsageError):
                sales.scan(where=wrong)
        with self.assertRaisesRegex(firn.UsageError, 'no column "nothing"'):
            sales.scan(["nothing"])

    def test_names_of_folders_are_numbers_days_or_texts(self):
        for name, values, kind in [
            ("n", ["007", "8"], pyarrow.string()),
            ("n", ["-3", "8"], pyarrow.int64()),
            ("n", ["2024-02-29", "2023-01-01"], pyarrow.date32()),
            ("n", ["2024-02-30", "2023-01-01"], pyarrow.string()),
            ("a%3Db", ["x%2Fy", "__HIVE_DEFAULT_PARTITION__"], pyarrow.string()),
        ]:
            with self.subTest(values), tempfile.TemporaryDirectory() as folder:
                for i, value in enumerate(values):
                    write(Path(folder, f"{name}={value}", "part.firn"), [{"i": i}])
                opened = firn.open_folder(folder)
                self.assertEqual(opened.schema.field(1).type, kind)
        self.assertEqual({row["a=b"] for row in self._named({"a%3Db": "x%2Fy"})}, {"x/y"})
        self.assertEqual({row["id"] for row in self._named({"id": "5"})}, {1})

    def _named(self, folders):
        path = Path(tempfile.mkdtemp(dir=self.folder.name))
        write(path.joinpath(*[f"{name}={value}" for name, value in folders.items()]) / "part.firn", [{"id": 1}])
        return list(firn.open_folder(path))

    def test_columns_that_differ_are_reported_with_the_file(self):
        for rows, message in [
            ([{"id": 1}], r'x\.firn: there is no column "city"'),
            ([{"id": 1, "city": "a", "more": 1}], r'x\.firn: there is a column "more"'),
            ([{"id": "1", "city": "a"}], r'x\.firn: column "id" is string, and int64'),
        ]:
            path = self.path / "year=2024" / "x.firn"
            write(path, rows)
            with self.assertRaisesRegex(firn.SchemaError, message):
                firn.open_folder(self.path)
            path.unlink()
        write(self.path / "year=2024" / "x.firn", [{"city": "other order", "id": 7}], "OtherName")
        self.assertEqual(list(firn.open_folder(self.path))[-1], {"id": 7, "city": "other order", "year": 2024})
        with self.assertRaises(FileNotFoundError):
            firn.open_folder(self.path / "nothing*")
        with firn.open(self.path / "year=2024" / "x.firn") as db, db.write() as transaction:
            transaction["second"].append([{"a": 1}])
        self.assertEqual(len(firn.open_folder(self.path / "year=2024" / "x.firn", type="second")), 1)
        with self.assertRaisesRegex(firn.UsageError, "choose one with type"):
            firn.open_folder(self.path / "year=2024" / "x.firn")

    def test_units_of_dates_may_differ(self):
        path = self.path.with_name("dates")
        for name, unit, value in [("a", "us", 5), ("b", "ns", 7_000_000_001)]:
            write(path / f"{name}.firn", pyarrow.table({"t": pyarrow.array([value], pyarrow.timestamp(unit))}))
        times = firn.open_folder(path).to_arrow()["t"].cast(pyarrow.timestamp("ns")).cast(pyarrow.int64())
        self.assertEqual(times.to_pylist(), [5000, 7_000_000_001])

    def test_versions_are_those_at_the_time_of_opening(self):
        sales = firn.open_folder(self.path)
        works = pickle.loads(pickle.dumps(sales.works(["id"], "id > 0")))
        for path in sales.files:
            with firn.open(path) as db, db.write() as transaction:
                transaction["sales"].append([{"id": 1, "city": "new"}])
                transaction["sales"].delete(where="id > 5")
        self.assertEqual(len(list(sales)), 20)
        self.assertEqual(sum(work.table().num_rows for work in works), 20)
        self.assertEqual(len(firn.open_folder(self.path)), 4)

    def test_a_version_that_was_dropped_is_reported(self):
        path = self.path / "year=2023" / "part-0.firn"
        sales = firn.open_folder(path)
        works = sales.works()
        sales.close()
        with firn.open(path) as db:
            for i in range(12):
                with db.write() as transaction:
                    transaction["sales"].append([{"id": i, "city": None}])
        with self.assertRaisesRegex(FileNotFoundError, "tag the version"):
            list(works[0].batches())

    def test_units_of_work_cover_all_rows_once(self):
        path = self.path.with_name("big.firn")
        count = 200_000
        write(path, pyarrow.table({"n": range(count)}))
        big = firn.open_folder(path)
        for segments, expected in [(None, 1), (1, 4), (2, 2), (100, 1)]:
            works = big.works(segments=segments)
            self.assertEqual(len(works), expected)
            self.assertEqual(sum(work.rows for work in works), count)
            found = pyarrow.concat_tables([pickle.loads(pickle.dumps(work)).table() for work in works])
            self.assertEqual(found["n"].to_pylist(), list(range(count)))

    def test_filters_of_datasets(self):
        import pyarrow.dataset

        data, field = firn.open_folder(self.path).to_dataset(), pyarrow.dataset.field
        plain = pyarrow.Table.from_pylist(self.expected)
        for condition in [
            field("year") == 2024,
            (field("year") == 2024) | (field("id") > 20237),
            (field("year") < 2024) & (field("city") < "city 2"),
            field("city") != "city 1",
            field("id") % 2 == 0 if hasattr(field("id"), "__mod__") else field("id") > 1,
        ]:
            found = data.to_table(filter=condition).to_pylist()
            self.assertEqual(found, plain.filter(condition).to_pylist(), str(condition))
        self.assertEqual((data.count_rows(), data.count_rows(field("year") == 2023)), (20, 10))

    def test_duckdb(self):
        try:
            import duckdb
        except ImportError:
            self.skipTest("no duckdb")
        sales = firn.open_folder(self.path)  # noqa: F841 - DuckDB finds it by name
        data = sales.to_dataset()  # noqa: F841
        self.assertEqual(duckdb.sql("SELECT year, count(*) FROM sales GROUP BY 1 ORDER BY 1").fetchall(), [(2023, 10), (2024, 10)])
        relation = sales.to_duckdb()  # noqa: F841
        for name in ("data", "relation"):
            query = f"SELECT max(id) FROM {name} WHERE year = 2023 AND city < 'city 4'"
            self.assertEqual(duckdb.sql(query).fetchall(), [(20237,)])

    def test_polars(self):
        try:
            import polars
        except ImportError:
            self.skipTest("no polars")
        lazy, col = firn.open_folder(self.path).to_lazy(), polars.col
        for condition, rows in [
            (col("year") == 2024, 10),
            ((col("year") == 2023) | (col("id") == 20249), 11),
            ((col("year") == 2023) & (col("id") > 20237), 2),
        ]:
            self.assertEqual(lazy.filter(condition).collect().height, rows, str(condition))
        self.assertEqual(lazy.select("year").head(3).collect().rows(), [(2023,)] * 3)

    def test_jobs_publish_all_files_or_none(self):
        from firn._parts import Job

        out, table = str(self.path.with_name("out")), pyarrow.table({"id": [1, 2], "name": ["a", None]})
        job = pickle.loads(pickle.dumps(Job(out, table.schema)))
        parts = [job.write(table.to_batches(), number) for number in range(2)]
        job.write(table.to_batches(), 1)
        self.assertFalse(Path(out).exists())
        self.assertEqual(job.commit(parts), 4)
        self.assertEqual(firn.open_folder(out).to_arrow()["id"].to_pylist(), [1, 2, 1, 2])
        failed = Job(out, table.schema, "append")
        failed.write(table.to_batches())
        failed.abort()
        smaller = pyarrow.table({"id": pyarrow.array([3], pyarrow.int16())})
        more = Job(out, smaller.schema, "append")
        more.commit([more.write(smaller.to_batches())])
        self.assertEqual(list(firn.open_folder(out).scan(where="id == 3")), [{"id": 3, "name": None}])
        several = Job(out, smaller.schema, "append")
        written = [several.write(smaller.to_batches(), number) for number in range(3)]
        several.write(smaller.to_batches(), 1)
        seen = []
        rename, os.rename = os.rename, lambda *names: (seen.append(len(firn.open_folder(out))), rename(*names))
        try:
            self.assertEqual(several.commit(written), 3)
        finally:
            os.rename = rename
        # One step makes all of them visible.
        self.assertEqual((seen, len(firn.open_folder(out))), ([5], 8))
        replaced = Job(out, smaller.schema, "overwrite")
        replaced.commit([replaced.write(smaller.to_batches())])
        self.assertEqual(list(firn.open_folder(out)), [{"id": 3}])
        Path(out, "notes.txt").touch()
        with self.assertRaisesRegex(FileExistsError, "notes.txt"):
            Job(out, smaller.schema, "overwrite")
        with self.assertRaises(FileExistsError):
            Job(out, smaller.schema)
        self.assertEqual([path.name for path in self.path.parent.iterdir() if path.name.startswith(".")], [])

    def test_predicates_are_divided_between_folders_and_files(self):
        for where, ours, others in [
            ("a > 1", None, "(a > 1)"),
            ("year > 1", "(year > 1)", None),
            ("year > 1 AND a > 1 and `year`<3", "(year > 1) AND (`year`<3)", "(a > 1)"),
            ("((year > 1) && ((a == 'year')))", "(year > 1)", "(a == 'year')"),
            ("(a == 1 OR b == 2) AND year BETWEEN {1, 2}", "(year BETWEEN {1, 2})", "(a == 1 OR b == 2)"),
            ("(year == 1 OR year == 2) AND a.year == 2", "(year == 1 OR year == 2)", "(a.year == 2)"),
            ("a == 1 OR b == 2", None, "(a == 1 OR b == 2)"),
            ("a BEGINSWITH[year] 'x' AND year == -3", "(year == -3)", "(a BEGINSWITH[year] 'x')"),
            ("-year < 3 AND a > 2024-01-01@00:00:00", "(-year < 3)", "(a > 2024-01-01@00:00:00)"),
        ]:
            self.assertEqual(split(where, ["year"]), (ours, others), where)

    def test_constants_of_days_and_nulls(self):
        path = self.path.with_name("days")
        for day in ("2024-01-01", "__HIVE_DEFAULT_PARTITION__"):
            write(path / f"day={day}" / "a.firn", [{"i": 1}])
        days = firn.open_folder(path)
        self.assertEqual([row["day"] for row in days], [datetime.date(2024, 1, 1), None])
        self.assertEqual(days.scan(where="day == nil").to_arrow()["day"].to_pylist(), [None])
        self.assertEqual(days.scan(where="day == 2024-01-01@00:00:00").to_arrow().num_rows, 1)


if __name__ == "__main__":
    unittest.main()
