"""Tests of SQL, work on whole files, progress and interrupts. FIRN_LIBRARY is the path of libfirn."""

import contextlib
import io
import os
import pickle
import signal
import tempfile
import threading
import unittest
from pathlib import Path
from types import SimpleNamespace

import firn
from firn import _errors

try:
    import pyarrow
except ImportError:
    pyarrow = None
try:
    import duckdb
except ImportError:
    duckdb = None
try:
    import polars
except ImportError:
    polars = None


def needs(module):
    return unittest.skipIf(module is None, "a library is not installed")


class Files(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        self.csv = self.folder / "people.csv"
        self.csv.write_text("id,name,age\n" + "".join(f"{i},n{i % 7},{i % 90}\n" for i in range(1000)))

    def tearDown(self):
        self._folder.cleanup()

    def path(self, name):
        return self.folder / name

    def people(self):
        firn.convert(self.csv, self.path("people.firn"), key="id")
        return firn.open(self.path("people.firn"))


class Conversion(Files):
    def test_files_of_other_formats_round_trip(self):
        report = firn.convert(self.csv, self.path("people.firn"), key="id")
        self.assertEqual((report["rows"], report.ok, report.remarks), (1000, True, []))
        self.assertEqual(firn.open(self.path("people.firn"))["people"].schema.key, ("id",))
        for name in ("people.ndjson", "people.parquet", "people.arrow", "people.sqlite", "people.tsv.gz"):
            firn.convert(self.path("people.firn"), self.path(name))
            back = firn.hash(self.path(name), key="id")["hash"]
            self.assertEqual(back, firn.hash(self.csv, key="id")["hash"], name)

    def test_options_are_the_flags_of_the_command(self):
        self.csv.write_text("id;a,b\n1;NA\n2;-\n3;x\n")
        firn.convert(self.csv, self.path("out.firn"), null=["NA", "-"], columns=["a,b"], delimiter=";", where="id > 1", limit=5)
        self.assertEqual(list(firn.open(self.path("out.firn"))["people"]), [{"a,b": None}, {"a,b": "x"}])
        with self.assertRaisesRegex(ValueError, 'no option "nul"; did you mean "null"'):
            firn.convert(self.csv, self.path("b.firn"), nul="x")
        with self.assertRaisesRegex(ValueError, 'no option "memory"'):
            firn.convert(self.csv, self.path("b.firn"), memory="1GB")
        with self.assertRaises(TypeError):
            firn.convert(self.csv, self.path("b.firn"), null=object())
        for operands in (("-", "x.firn"), (self.csv, "-"), ([], "x.firn"), (3, "x.firn"), ("", "x.firn")):
            with self.assertRaises((ValueError, TypeError)):
                firn.convert(*operands)

    def test_a_target_that_exists_is_replaced_only_if_asked_for(self):
        self.people()
        with self.assertRaisesRegex(FileExistsError, "overwrite=True") as caught:
            firn.convert(self.csv, self.path("people.firn"))
        self.assertEqual((caught.exception.errno, caught.exception.filename), (17, str(self.path("people.firn"))))
        firn.convert(self.csv, self.path("people.firn"), overwrite=True, limit=3)
        self.assertEqual(len(firn.open(self.path("people.firn"))["people"]), 3)

    def test_rejected_rows_and_wrong_rows(self):
        self.csv.write_text("id,n\n1,2\n1,3\n")
        with self.assertRaisesRegex(ValueError, "id") as caught:
            firn.convert(self.csv, self.path("out.firn"), key="id")
        self.assertNotIn("--", str(caught.exception))
        self.assertFalse(self.path("out.firn").exists())
        self.csv.write_text("id,n\n1,2\n3,3\n")
        db = self.people()
        with db.write() as transaction:
            transaction["people"].delete(where="id >= 0")
        firn.convert(db.refresh(1), self.path("first.firn"))
        self.assertEqual((len(firn.open(self.path("first.firn"))["people"]), len(firn.open(db.path)["people"])), (2, 0))
        with self.assertRaises(FileNotFoundError):
            firn.convert(self.path("none.csv"), self.path("out.firn"))

    def test_encryption(self):
        key = bytes(range(64))
        try:
            firn.convert(self.csv, self.path("secret.firn"), new_encryption_key=key, key="id")
        except firn.FormatError:
            self.skipTest("libcrypto is not installed")
        with self.assertRaises(PermissionError):
            firn.hash(self.path("secret.firn"))
        self.assertEqual(
            firn.hash(self.path("secret.firn"), encryption_key=key.hex())["hash"], firn.hash(self.csv, key="id")["hash"]
        )
        self.assertTrue(firn.verify(self.path("secret.firn"), encryption_key=key, full=True))

    def test_hashes_compaction_verification(self):
        db = self.people()
        found = firn.hash(self.path("people.firn"), each_column=True)
        self.assertEqual((db.hash(), db["people"].hash()), (found["hash"], found["hash"]))
        self.assertEqual(len(found["types"][0]["columns"]), 3)
        self.assertNotEqual(db["people"].hash(key=["name", "id"]), db.hash())
        report = firn.compact(db, self.path("small.firn"), profile="small")
        self.assertGreater(report["bytesBefore"], 0)
        self.assertEqual(firn.open(self.path("small.firn")).hash(), db.hash())
        self.assertTrue(firn.verify(db, full=True)["intact"])
        data = bytearray(self.path("small.firn").read_bytes())
        for i in range(len(data) // 2, len(data) // 2 + 64):
            data[i] ^= 0xFF
        self.path("broken.firn").write_bytes(data)
        broken = firn.verify(self.path("broken.firn"), full=True)
        self.assertFalse(broken)
        self.assertGreater(len(broken["defects"]), 0)

    @needs(pyarrow)
    def test_changes_are_written_and_applied(self):
        db = self.people()
        firn.convert(self.path("people.firn"), self.path("copy.firn"))
        with db.write() as transaction:
            transaction["people"].upsert([{"id": 5, "name": "Ada"}])
            transaction["people"].delete(where="id > 990")
        report = firn.write_changes(self.path("copy.firn"), db, self.path("changes.firn"))
        self.assertEqual((report["changed"], report["removed"]), (1, 9))
        self.assertTrue(firn.patch(self.path("copy.firn"), self.path("changes.firn"), check=True))
        self.assertEqual(firn.patch(self.path("copy.firn"), self.path("changes.firn"))["version"], 2)
        self.assertEqual(firn.open(self.path("copy.firn")).hash(), db.hash())
        self.assertFalse(firn.patch(self.path("copy.firn"), self.path("changes.firn"), check=True))
        with self.assertRaises(firn.ConflictError) as caught:
            firn.patch(self.path("copy.firn"), self.path("changes.firn"))
        self.assertEqual(caught.exception.report["conflicts"], 10)
        firn.patch(self.path("copy.firn"), self.path("changes.firn"), reverse=True)
        self.assertEqual(firn.hash(self.path("copy.firn"))["hash"], firn.hash(self.csv, key="id")["hash"])


@needs(pyarrow)
class SQL(Files):
    def test_types_of_a_database_and_files(self):
        db = self.people()
        query = "SELECT count(*) AS n, avg(age) AS a FROM people WHERE id < ?1"
        self.assertEqual(list(db.sql(query, parameters=[10])), [{"n": 10, "a": 4.5}])
        self.assertEqual(db.sql("SELECT id FROM people").to_arrow().num_rows, 1000)
        self.assertEqual(list(firn.sql(f"SELECT max(id) AS m FROM '{self.csv}'")), [{"m": 999}])
        joined = "SELECT count(*) AS n FROM people p JOIN other o ON p.id = o.id"
        os.rename(self.csv, self.path("other.csv"))
        self.assertEqual(list(db.sql(joined, self.path("other.csv"))), [{"n": 1000}])
        self.assertEqual(list(firn.sql("SELECT 1 AS one, 'x' AS t, NULL AS none, 1.5 AS r")), [{"one": 1, "t": "x", "none": None, "r": 1.5}])

    def test_parameters_have_types(self):
        query = "SELECT :a AS a, :b AS b, :c AS c, :d AS d, :e AS e"
        parameters = {"a": 7, ":b": 1.5, "c": "7", "d": b"\0x", "e": None}
        self.assertEqual(list(firn.sql(query, parameters=parameters)), [{"a": 7, "b": 1.5, "c": "7", "d": b"\0x", "e": None}])
        with self.assertRaisesRegex(ValueError, "has no value"):
            firn.sql("SELECT :a")
        with self.assertRaises(TypeError):
            firn.sql("SELECT :a", parameters={"a": []})
        with self.assertRaises(TypeError):
            firn.sql("SELECT :a", parameters="a")

    def test_a_result_is_read_again_and_survives_its_database(self):
        db = self.people()
        result = db.sql("SELECT id FROM people WHERE id < 3")
        with db.write() as transaction:
            transaction["people"].delete(where="id = 1")
        self.assertEqual(len(db.refresh()["people"]), 999)
        db.close()
        for _ in range(3):
            self.assertEqual([row["id"] for row in result], [0, 1, 2])
        self.assertEqual(pyarrow.schema(result).names, ["id"])

    def test_errors_have_a_position_and_advice(self):
        db = self.people()
        with self.assertRaisesRegex(ValueError, "SQL:1:8: no such column: nam; did you mean name") as caught:
            db.sql("SELECT nam FROM people")
        self.assertEqual((caught.exception.line, caught.exception.column), (1, 8))
        with self.assertRaisesRegex(ValueError, "no such table"):
            db.sql("SELECT * FROM peoples")
        with self.assertRaisesRegex(ValueError, "cannot change files"):
            db.sql("DELETE FROM people")
        for statements in ("SELECT 1; SELECT 2", "SELECT id FROM people; CREATE TEMP TABLE t AS SELECT 1; SELECT 2 -- again"):
            # Before the rows of the first one are read.
            with self.assertRaisesRegex(ValueError, "several statements return rows"):
                db.sql(statements)
        with self.assertRaisesRegex(ValueError, "several statements return rows"):
            db.sql("SELECT 1; CREATE TEMP TABLE t AS SELECT 2 AS x; SELECT * FROM t").to_arrow()
        with self.assertRaises(TypeError):
            db.sql(3)
        self.assertEqual(list(db.sql("CREATE TEMP TABLE t AS SELECT 1 AS x; SELECT * FROM t")), [{"x": 1}])


    def test_statements_open_no_files_if_this_is_not_wanted(self):
        db = self.people()
        statement = f"SELECT count(*) AS n FROM '{self.csv}'"
        self.assertEqual(list(db.sql(statement)), [{"n": 1000}])
        for run in (db.sql, firn.sql):
            with self.assertRaisesRegex(ValueError, "no such table: .*; files that a statement names are not opened here"):
                run(statement, open_files=False)
        self.assertEqual(list(db.sql("SELECT count(*) AS n FROM people", open_files=False)), [{"n": 1000}])
        self.assertEqual(list(firn.sql("SELECT count(*) AS n FROM people", self.csv, open_files=False)), [{"n": 1000}])


class Writing(Files):
    def test_all_rows_are_replaced(self):
        if pyarrow is None:
            self.skipTest("pyarrow is not installed")
        db = self.people()
        with db.write() as transaction:
            self.assertEqual(transaction["people"].replace([{"id": 1, "name": "x", "age": 2}]), 1)
        self.assertEqual(list(db["people"]), [{"id": 1, "name": "x", "age": 2}])
        with db.write() as transaction:
            transaction["people"].replace([])
            transaction["new"].replace([{"a": 1}], key="a")
        self.assertEqual((len(db["people"]), list(db["new"])), (0, [{"a": 1}]))

    def test_metadata(self):
        db = self.people()
        with db.write() as transaction:
            transaction.set_metadata("unit", "years", of="people.age")
            transaction.set_metadata("bytes", b"\xff\0")
            with self.assertRaises(TypeError):
                transaction.set_metadata("x", 3)
        self.assertEqual((db.metadata(), db.metadata("people.age"), db.metadata("people")), ({"bytes": b"\xff\0"}, {"unit": "years"}, {}))
        with db.write() as transaction:
            transaction.set_metadata("bytes", None)
        self.assertEqual(db.metadata(), {})
        with self.assertRaisesRegex(ValueError, "agee"):
            db.metadata("people.agee")

    @needs(pyarrow)
    def test_a_progress_function_cancels_a_write(self):
        db, calls = self.people(), []
        with self.assertRaises(firn.CancelledError):
            with db.write() as transaction:
                rows = pyarrow.table({"id": range(2000, 2010), "name": ["x"] * 10, "age": range(10)})
                transaction["people"].append(rows, progress=lambda done, total: calls.append((done, total)) or True)
        self.assertEqual((calls, len(db["people"])), ([(10, -1)], 1000))

    def test_wrong_names_and_keys_are_refused(self):
        if pyarrow is None:
            self.skipTest("pyarrow is not installed")
        db = self.people()
        for key in (["a", "a"], [["a"]], 3, b"a"):
            with self.assertRaises((TypeError, ValueError)), db.write() as transaction:
                transaction["new"].append([{"a": 1}], key=key)
        for data in ([{"a\0": 1}], {"a\0": [1]}, pyarrow.table({"a\0b": [1]})):
            with self.assertRaisesRegex(ValueError, "zero character"), db.write() as transaction:
                transaction["new"].append(data)
        with self.assertRaises(ValueError):
            db["people\0"]

    @needs(duckdb)
    def test_sums_of_duckdb_are_integers(self):
        db = self.people()
        with db.write() as transaction:
            transaction["sums"].append(duckdb.sql("SELECT sum(x)::HUGEINT AS s FROM range(10) r(x)"))
            transaction["sums"].append(duckdb.sql("SELECT sum(x)::HUGEINT AS s FROM range(3) r(x)"))
            transaction["great"].append(duckdb.sql("SELECT 100000000000000000000000::HUGEINT AS s"))
        self.assertEqual([row["s"] for row in db["sums"]], [45, 3])
        self.assertEqual([row["s"] for row in db["great"]], ["100000000000000000000000"])

    @needs(pyarrow)
    def test_far_dates_are_text(self):
        with firn.create(self.path("far.firn")) as db:
            with db.write() as transaction:
                transaction["t"].append(pyarrow.table({"d": pyarrow.array([300000000000, -70000000000000], pyarrow.timestamp("s"))}))
            self.assertEqual([row["d"] for row in db["t"]], ["+11476-08-15T05:20:00Z", "-2216242-04-21T19:33:20Z"])

    @needs(polars)
    @needs(pyarrow)
    def test_lazy_frames_have_columns_without_a_name(self):
        with firn.create(self.path("empty.firn")) as db:
            with db.write() as transaction:
                transaction["t"].append(pyarrow.table({"": [1, 2], "x": ["a", "b"]}))
            self.assertEqual(db["t"].to_lazy().filter(polars.col("x") == "b").collect().to_dicts(), [{"": 2, "x": "b"}])


class Arguments(Files):
    def test_wrong_arguments_are_errors(self):
        db = self.people()
        table = db["people"]
        for call in (
            lambda: table.scan(segments=[0]),
            lambda: table.scan(limit="3"),
            lambda: table.scan(limit=True),
            lambda: table.scan(where=3),
            lambda: table.scan(columns=[1]),
            lambda: table.scan(columns="id"),
            lambda: table.scan(threads="2"),
            lambda: table.query(limit=1.5),
            lambda: table.query(select="id"),
            lambda: table.row("1"),
            lambda: table[[1]],
            lambda: firn.diff(3, 4),
            lambda: firn.diff(table, table, tolerance="1"),
            lambda: firn.diff(table, table, key=3),
            lambda: firn.open(3),
            lambda: pickle.dumps(table),
            lambda: pickle.dumps(table.scan()),
            lambda: firn.hash(self.csv, progress=3),
        ):
            with self.assertRaises(TypeError):
                call()
        with self.assertRaises(ValueError):
            table.scan(threads=0)
        with self.assertRaisesRegex(KeyError, 'its type is "people"'):
            db["zz"]

    def test_errors_of_the_system_have_errno_and_file(self):
        def error(code, system):
            return SimpleNamespace(
                firn_error_name=lambda e: code,
                firn_error_message=lambda e: b"use --key or --to-x, not a--b",
                firn_error_file=lambda e: b"/f",
                firn_error_advice=lambda e: b"give --key-file or --force",
                firn_error_byte=lambda e: -1,
                firn_error_line=lambda e: -1,
                firn_error_column=lambda e: -1,
                firn_error_system_code=lambda e: system,
                firn_error_free=lambda e: None,
            )

        for code, system, kind, errno in (
            (b"inputOutput", 13, PermissionError, 13),
            (b"inputOutput", 5, OSError, 5),
            (b"noSpace", 0, OSError, 28),
            (b"inputOutput", 2, FileNotFoundError, 2),
        ):
            made = _errors.make_error(error(code, system), None)
            self.assertIsInstance(made, kind)
            self.assertEqual((made.errno, made.filename), (errno, "/f"))
            self.assertEqual(str(made), "/f: use key= or to_x=, not a--b; give encryption_key= or overwrite=True")

    @needs(pyarrow)
    def test_files_are_read_in_one_call(self):
        self.people()
        path = self.path("people.firn")
        self.assertEqual(firn.read_table(path, ["id"], "id < 5").num_rows, 5)
        with contextlib.suppress(ImportError):
            self.assertEqual(len(firn.read_pandas(path, where="id < 5")), 5)
        if polars is not None:
            self.assertEqual(firn.read_polars(path).height, 1000)
            self.assertEqual(firn.scan_polars(path).head(3).collect().height, 3)


class Interrupts(Files):
    def setUp(self):
        super().setUp()
        # The program that runs the tests can ignore or block the signal.
        self._before = signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT, signal.SIGALRM])
        self.csv.write_text("id,name\n" + "".join(f"{i},n{i * 7919 % 1000003}\n" for i in range(400_000)))

    def tearDown(self):
        signal.signal(signal.SIGINT, self._before)
        super().tearDown()

    def interrupted(self, body):
        """Sends a signal while `body` runs."""
        thread = threading.Timer(0.01, os.kill, [os.getpid(), signal.SIGINT])
        with self.assertRaises(KeyboardInterrupt):
            thread.start()
            # Until the signal is there.
            for _ in range(1000):
                body()
            thread.join()
        thread.join()

    def test_control_c_ends_long_operations(self):
        db = self.people()
        table = db["people"]
        self.interrupted(lambda: firn.convert(self.csv, self.path("other.firn"), overwrite=True))
        self.interrupted(lambda: db.hash())
        self.interrupted(lambda: firn.verify(db, full=True))
        self.interrupted(lambda: firn.diff(table, table))
        self.interrupted(lambda: db.sql("SELECT count(*) FROM people a JOIN people b ON a.id < b.id"))
        if pyarrow is not None:
            self.interrupted(lambda: table.query("id >= 0 SORT(name DESC)").to_arrow())
            self.interrupted(lambda: table.scan(where="name LIKE '*99*'").to_arrow())
            # A library that reads the stream itself reports its own error first.
            def read():
                with contextlib.suppress(pyarrow.ArrowInvalid):
                    pyarrow.table(table.query("id >= 0 SORT(name DESC)"))

            self.interrupted(read)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith(".")], [])
        self.assertEqual(len(table), 400_000)

    def test_another_exception_of_a_handler_is_raised(self):
        db = self.people()

        def handler(number, frame):
            raise TimeoutError("late")

        before = signal.signal(signal.SIGALRM, handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with self.assertRaisesRegex(TimeoutError, "late"):
                db.sql("SELECT count(*) FROM people a JOIN people b ON a.id < b.id")
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_progress_is_shown_if_asked_for(self):
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            firn.convert(self.csv, self.path("a.firn"))
            self.assertEqual(shown.getvalue(), "")
            from firn import _progress

            delay, _progress._DELAY = _progress._DELAY, 0.0
            try:
                firn.convert(self.csv, self.path("b.firn"), progress=True)
            finally:
                _progress._DELAY = delay
        self.assertRegex(shown.getvalue(), r"converting: \d+ %")
        calls = []
        with self.assertRaises(firn.CancelledError):
            firn.convert(self.csv, self.path("c.firn"), progress=lambda done, total: calls.append((done, total)) or True)
        self.assertEqual(calls, [(0, -1)])
        with self.assertRaisesRegex(ZeroDivisionError, "zero"):
            firn.convert(self.csv, self.path("c.firn"), progress=lambda done, total: 1 // 0)
        self.assertFalse(self.path("c.firn").exists())


if __name__ == "__main__":
    unittest.main()
