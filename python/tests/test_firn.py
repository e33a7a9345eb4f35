"""Tests of the package. FIRN_SAMPLE is the file that Tests/CInterface makes, FIRN_FIXTURES the folder of golden files."""

from __future__ import annotations

import gc
import os
import pickle
import sys
import tempfile
import threading
import unittest
import warnings
from pathlib import Path

import firn

SAMPLE = os.environ.get("FIRN_SAMPLE", "")
FIXTURES = Path(os.environ.get("FIRN_FIXTURES", Path(__file__).parents[2] / "Tests/Fixtures/firn"))


def needs(*modules: str):
    """Skips a test, with a line that says so, if a module is missing."""
    missing = []
    for name in modules:
        try:
            __import__(name)
        except ImportError:
            missing.append(name)
    if missing:
        print(f"skipped: no {', '.join(missing)}")
    return unittest.skipIf(missing, f"no {', '.join(missing)}")


class Files(unittest.TestCase):
    def test_a_file_is_a_mapping_of_types_to_tables(self):
        with firn.open(SAMPLE) as db:
            self.assertEqual(db.types, ["Person", "Number"])
            self.assertEqual((list(db), len(db), "Person" in db, "x" in db), (["Person", "Number"], 2, True, False))
            self.assertEqual({name: len(table) for name, table in db.items()}, {"Person": 2, "Number": 70000})
            self.assertIs(db["Person"], db["Person"])
            self.assertEqual(db.time.tzname(), "UTC")
            with self.assertRaises(KeyError):
                db["Persona"]

    def test_versions_and_tags(self):
        with firn.open(SAMPLE) as db, firn.open(SAMPLE, version="first") as first, firn.open(SAMPLE, version=1) as one:
            self.assertEqual((len(first["Person"]), len(one["Person"]), first.version), (1, 1, 1))
            old = first["Person"]
            self.assertEqual(len(first.refresh()["Person"]), 2)
            self.assertEqual((first.version, len(old)), (db.version, 1))
        for version in (99, "no such tag"):
            with self.assertRaises(FileNotFoundError):
                firn.open(SAMPLE, version=version)

    def test_closing(self):
        db = firn.open(SAMPLE)
        people = db["Person"]
        db.close()
        db.close()
        self.assertTrue(db.closed)
        self.assertEqual(people[1]["name"], "Ada")
        for use in (lambda: db["Person"], lambda: db.version, db.refresh, db.__enter__):
            with self.assertRaises(firn.ClosedError):
                use()
        self.assertIn("closed", repr(db))

    def test_errors_have_pythons_types(self):
        with tempfile.TemporaryDirectory() as folder:
            other = Path(folder, "other.firn")
            other.write_bytes(b"not a file of this kind" * 100)
            cases = [
                (lambda: firn.open(folder + "/none.firn"), FileNotFoundError),
                (lambda: firn.open(other), ValueError),
                (lambda: firn.open(folder), firn.FormatError),
                (lambda: firn.open(SAMPLE, key=b"1" * 64), PermissionError),
                (lambda: firn.open(SAMPLE, key="short"), ValueError),
                (lambda: firn.open(SAMPLE, key=5), TypeError),
                (lambda: firn.open(SAMPLE + "\0"), ValueError),
                (lambda: firn.open(None), TypeError),
                (lambda: firn.open(FIXTURES / "encrypted.firn"), PermissionError),
            ]
            for use, kind in cases:
                with self.assertRaises(kind) as caught:
                    use()
                self.assertTrue(str(caught.exception))
        with self.assertRaises(firn.Error) as caught:
            firn.open("/no/such.firn")
        self.assertEqual((caught.exception.code, caught.exception.file), ("notFound", "/no/such.firn"))
        self.assertEqual(caught.exception.errno, 2)

    def test_databases_are_not_pickled(self):
        with firn.open(SAMPLE) as db, self.assertRaises(TypeError):
            pickle.dumps(db)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_a_forked_child_must_open_the_file_again(self):
        db = firn.open(SAMPLE)
        people, rows = db["Person"], iter(db["Number"])
        next(rows)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                failures = 0
                for use in (lambda: people[1], lambda: db["Number"], lambda: list(people), lambda: list(rows)):
                    try:
                        use()
                    except (RuntimeError, firn.UsageError):
                        failures += 1
                with firn.open(SAMPLE) as again:
                    code = 0 if failures == 4 and again["Person"][1]["name"] == "Ada" else 2
                del rows, people, db
                gc.collect()
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(people[1]["name"], "Ada")


class Rows(unittest.TestCase):
    def setUp(self):
        self.db = firn.open(SAMPLE)
        self.people, self.numbers = self.db["Person"], self.db["Number"]

    def test_rows_by_key(self):
        self.assertEqual(self.people[2], {"id": 2, "name": "Bo", "height": None, "tags": ["a", "b"]})
        self.assertEqual((1 in self.people, 3 in self.people, "x" * 3 in [1]), (True, False, False))
        for key in (3, -(2**63), 2**63, 2**200):
            with self.assertRaises(KeyError):
                self.people[key]
        for key, kind in (("1", ValueError), (b"1", ValueError), ((1, 2), ValueError), (1.5, ValueError), ([], TypeError)):
            with self.assertRaises(kind):
                self.people[key]
        with self.assertRaises(ValueError):
            self.numbers[1]
        with self.assertRaises(KeyError):
            self.people.row(10**12)
        with self.assertRaises(KeyError):
            self.people.row(-1)

    def test_iteration(self):
        self.assertEqual([row["name"] for row in self.people], ["Ada", "Bo"])
        self.assertEqual(sum(row["n"] for row in self.numbers), 70000 * 69999 // 2)
        rows = list(self.numbers.scan(["name", "n"], where="n > 69997"))
        self.assertEqual(rows, [{"name": "name 8", "n": 69998}, {"name": "name 9", "n": 69999}])
        self.assertEqual([row["n"] for row in self.numbers.scan(["n"], limit=2)], [0, 1])
        self.assertEqual(list(self.numbers.scan(limit=0)), [])
        self.assertEqual(sum(1 for _ in self.numbers.scan([], segments=range(1, 2))), 70000 - 65536)
        self.assertEqual(list(self.numbers.scan(segments=range(5, 9))), [])

    def test_wrong_scans(self):
        for use, kind in (
            (lambda: self.numbers.scan(["m"]), ValueError),
            (lambda: self.numbers.scan("n"), TypeError),
            (lambda: self.numbers.scan([1]), TypeError),
            (lambda: self.numbers.scan(where="n >"), ValueError),
            (lambda: self.numbers.scan(where="m > 1"), ValueError),
            (lambda: self.numbers.scan(where="n > 1 SORT(n ASC)"), ValueError),
            (lambda: self.numbers.scan(where="n\0 > 1"), ValueError),
            (lambda: self.numbers.scan(limit=-1), ValueError),
            (lambda: self.numbers.scan(segments=range(4, 0, -1)), ValueError),
            (lambda: self.numbers.query("n >"), ValueError),
            (lambda: self.numbers.query(aggregates="total(n)"), ValueError),
        ):
            with self.assertRaises(kind):
                use()

    def test_schema_and_reprs(self):
        schema = self.people.schema
        self.assertEqual((schema.key, schema.names), (("id",), ["id", "name", "height", "tags"]))
        self.assertEqual([column.type for column in schema], ["int", "string", "double?", "list<string>"])
        self.assertIn("id: int (key)", str(schema))
        self.assertEqual(repr(self.people), "<firn.Table 'Person': 2 rows × 4 columns>")
        self.assertIn("<td>Bo</td>", self.people._repr_html_())
        self.assertIn("<td>70,000</td>", self.db._repr_html_())
        self.assertIn("where='n > 1'", repr(self.numbers.scan(where="n > 1")))

    def test_threads_share_a_table(self):
        found = []

        def work():
            for _ in range(3):
                found.append(sum(1 for _ in self.numbers.scan([], where="half < 100")))
                found.append(self.people[1]["id"] + 199)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [200] * 24)

    def test_objects_outlive_what_they_came_from(self):
        rows = iter(firn.open(SAMPLE)["Number"].scan(["n"]))
        gc.collect()
        self.assertEqual(next(rows), {"n": 0})
        rows.close()


@needs("pyarrow")
class Arrow(unittest.TestCase):
    def setUp(self):
        self.db = firn.open(SAMPLE)
        self.numbers = self.db["Number"]

    def test_streams(self):
        import pyarrow

        table = pyarrow.table(self.numbers)
        table.validate(full=True)
        self.assertEqual((table.num_rows, table.column_names), (70000, ["n", "half", "name"]))
        self.assertEqual(table["n"].to_pylist(), list(range(70000)))
        self.assertEqual(pyarrow.schema(self.numbers), table.schema)
        scan = self.numbers.scan(["half", "n"], where="n >= 65530", limit=10)
        for _ in range(2):
            self.assertEqual(pyarrow.table(scan).to_pydict()["n"], list(range(65530, 65540)))
        self.assertEqual(pyarrow.schema(scan).names, ["half", "n"])
        self.assertEqual(self.numbers.scan([]).to_arrow().num_rows, 70000)
        self.assertEqual(self.numbers.scan(limit=0).to_arrow().num_rows, 0)

    def test_queries(self):
        query = self.numbers.query("n < 100 SORT(n DESC)", select=["n"], limit=3, offset=1)
        self.assertEqual(query.to_arrow().to_pydict(), {"n": [98, 97, 96]})
        groups = self.numbers.query(group_by=["name"], aggregates="count, max(n) as last")
        self.assertEqual({row["name"]: row["last"] for row in groups}["name 3"], 69993)

    def test_streams_are_released_in_any_order(self):
        batch = self.numbers.to_reader().read_next_batch()
        del self.numbers
        self.db.close()
        gc.collect()
        self.assertEqual(batch.column(0)[5].as_py(), 5)
        db = firn.open(SAMPLE)
        capsule, schema = db["Number"].__arrow_c_stream__(), db["Number"].__arrow_c_schema__()
        db.close()
        del db, capsule, schema
        gc.collect()

    def test_dropped_streams_do_not_accumulate(self):
        def pages() -> int:
            return int(Path("/proc/self/statm").read_text().split()[1]) if sys.platform == "linux" else 0

        scan = self.numbers.scan(["n"], limit=10)
        before = 0
        for i in range(3000):
            if i == 1000:
                before = pages()
            scan.__arrow_c_stream__()
            firn.open(SAMPLE)["Person"].__arrow_c_schema__()
            if i % 100 == 0:
                scan.to_arrow()
        self.assertLess(pages() - before, 2000)

    def test_all_types_of_the_golden_files(self):
        for path in sorted(FIXTURES.glob("*.firn")):
            if path.name == "encrypted.firn":
                continue
            with firn.open(path) as db:
                for name, table in db.items():
                    read = table.to_arrow()
                    read.validate(full=True)
                    self.assertEqual(read.num_rows, len(table), f"{path}: {name}")
                    self.assertEqual(sum(1 for _ in table), len(table))

    def test_damaged_files_are_exceptions(self):
        import pyarrow

        with tempfile.TemporaryDirectory() as folder:
            for name in ("plain.firn", "collections.firn", "alone.firn"):
                whole = (FIXTURES / name).read_bytes()
                for at in range(0, len(whole), max(1, len(whole) // 60)):
                    for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]):
                        path = Path(folder, "damaged.firn")
                        path.unlink(missing_ok=True)
                        path.write_bytes(damaged)
                        with warnings.catch_warnings():
                            warnings.simplefilter("ignore")
                            try:
                                with firn.open(path) as db:
                                    for table in db.values():
                                        try:
                                            table.to_arrow()
                                        except (firn.Error, OSError, pyarrow.ArrowException) as error:
                                            self.assertTrue(str(error))
                                        list(table)
                            except firn.Error as error:
                                self.assertTrue(str(error))

    @needs("pandas")
    def test_pandas(self):
        frame = self.numbers.scan(where="n < 5").to_pandas()
        self.assertEqual(frame["half"].sum(), 5.0)

    @needs("polars")
    def test_polars(self):
        import polars

        self.assertEqual(self.numbers.scan(["n"], limit=5).to_polars()["n"].sum(), 10)
        self.assertEqual(polars.from_arrow(self.numbers.to_arrow()).shape, (70000, 3))

    @needs("duckdb")
    def test_duckdb(self):
        import duckdb

        numbers = self.numbers
        found = duckdb.sql("SELECT name, sum(n) FROM numbers GROUP BY name ORDER BY name LIMIT 1").fetchall()
        self.assertEqual(found, [("name 0", sum(range(0, 70000, 10)))])
        self.assertEqual(len(numbers), 70000)


if __name__ == "__main__":
    unittest.main()
