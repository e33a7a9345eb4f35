"""Tests of wrong use: rows that raise, paths that are no files, interrupts. FIRN_LIBRARY is the path of libfirn."""

import contextlib
import gc
import os
import pickle
import signal
import tempfile
import threading
import unittest
import weakref
from pathlib import Path

import firn

try:
    import pyarrow
except ImportError:
    pyarrow = None


class Misuse(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        csv = self.folder / "people.csv"
        csv.write_text("id,name\n" + "".join(f"{i},n{i % 7}\n" for i in range(20_000)))
        self.path = self.folder / "people.firn"
        firn.convert(csv, self.path, key="id")


@unittest.skipIf(pyarrow is None, "no pyarrow")
class Rows(Misuse):
    def test_the_exception_of_code_that_makes_rows_is_raised(self):
        schema = pyarrow.schema([("id", pyarrow.int64()), ("name", pyarrow.string())])

        def batches(error):
            for i in range(3):
                yield pyarrow.record_batch([[100_000 + i], ["x"]], schema=schema)
            raise error

        db = firn.open(self.path)
        before = db.hash()
        for error in (KeyboardInterrupt(), SystemExit(3), ValueError("on purpose"), firn.DamagedError("damaged"), MemoryError()):
            for method in ("append", "upsert", "replace"):
                reader = pyarrow.RecordBatchReader.from_batches(schema, batches(error))
                with self.assertRaises(type(error)) as caught, db.write() as transaction:
                    getattr(transaction["people"], method)(reader)
                self.assertIs(caught.exception, error)
                self.assertEqual((firn.open(self.path).hash(), len(db.log())), (before, 1))
        with self.assertRaisesRegex(ValueError, "failed before"), db.write() as transaction:
            with self.assertRaises(KeyboardInterrupt):
                reader = pyarrow.RecordBatchReader.from_batches(schema, batches(KeyboardInterrupt()))
                transaction["people"].append(reader)
        self.assertEqual(firn.open(self.path).hash(), before)

    def test_the_exception_of_a_folder_is_raised(self):
        folder = firn.open_folder(self.path)
        scan = folder.scan()

        def raising(*arguments):
            raise KeyboardInterrupt

        scan._works = [type("Work", (), {"batches": raising})()]
        with self.assertRaises(KeyboardInterrupt):
            scan.to_arrow()
        folder.scan = lambda: scan
        with self.assertRaises(KeyboardInterrupt):
            folder.to_arrow()
        with self.assertRaises(KeyboardInterrupt), firn.open(self.path).write() as transaction:
            transaction["people"].append(scan)

    def test_values_without_an_arrow_type_name_their_column(self):
        db = firn.open(self.path)
        for data, kind in (
            ([{"id": 2**80}], ValueError),
            ([{"id": object()}], ValueError),
            ({"id": ["x", 1]}, (ValueError, TypeError)),
            ({"id": 1}, TypeError),
        ):
            with self.assertRaisesRegex(kind, '^column "id": '), db.write() as transaction:
                transaction["people"].append(data)
        with self.assertRaisesRegex(TypeError, "row 2 is of type int"), db.write() as transaction:
            transaction["people"].append([{"id": 1}, 2])
        with self.assertRaisesRegex(TypeError, "name of a column must be a str"), db.write() as transaction:
            transaction["people"].append([{1: 2}])

    def test_values_are_never_left_out(self):
        for column, error in (
            (pyarrow.array([[("a", 1), ("a", 2)]], pyarrow.map_(pyarrow.string(), pyarrow.int64())), "a key that follows again"),
            (pyarrow.array([{}], pyarrow.struct([])), '"x" is a struct without fields'),
            (pyarrow.array([{"b": 1, "a": {}}], pyarrow.struct([("b", pyarrow.int64()), ("a", pyarrow.struct([]))])), '"x.a" is a struct'),
            (pyarrow.array([[{}]], pyarrow.list_(pyarrow.struct([]))), "without fields"),
            (pyarrow.array([86_400_001], pyarrow.int64()).view(pyarrow.date64()), "dates have a time"),
        ):
            db = firn.create(self.folder / f"{len(os.listdir(self.folder))}.firn")
            with self.assertRaisesRegex(ValueError, error), db.write() as transaction:
                transaction["t"].append(pyarrow.table({"y": [1], "x": column}))
            self.assertFalse(os.path.exists(db.path))

    def test_metadata_that_are_not_text(self):
        db = firn.create(self.folder / "m.firn")
        values = {"b": b"\xff\0", "t": "text", "e": ""}
        with db.write() as transaction:
            transaction["t"].append([{"x": 1}])
            for owner in (None, "t", "t.x"):
                for key, value in values.items():
                    transaction.set_metadata(f"{key}{owner}", value, of=owner)
        schema = db["t"].to_arrow().schema
        for metadata in (schema.metadata, schema.field("x").metadata):
            for part in (part for pair in metadata.items() for part in pair):
                part.decode()
        firn.convert(db, self.folder / "m.arrow")
        firn.convert(self.folder / "m.arrow", self.folder / "back.firn")
        with firn.create(self.folder / "copy.firn") as copy, copy.write() as transaction:
            transaction["t"].append(db["t"])
        for name in ("back.firn", "copy.firn"):
            for owner in (None, "t", "t.x"):
                expected = {f"{key}{owner}": value for key, value in values.items()}
                if name == "back.firn" or owner == "t.x":
                    self.assertEqual(firn.open(self.folder / name).metadata(owner), expected)
        try:
            import polars
        except ImportError:
            return
        self.assertEqual(polars.DataFrame(db["t"]).rows(), [(1,)])
        self.assertEqual(polars.read_ipc(self.folder / "m.arrow").rows(), [(1,)])

    def test_objects_with_a_wrong_stream_are_errors(self):
        class Rows:
            def __init__(self, stream):
                self.stream = stream

            def __arrow_c_stream__(self, requested_schema=None):
                return self.stream

        for stream in (None, 3, object(), pyarrow.array([1]).__arrow_c_array__()[1]):
            with self.assertRaises((TypeError, ValueError)), firn.open(self.path).write() as transaction:
                transaction["people"].append(Rows(stream))
        used = Rows(pyarrow.table({"id": [100_000], "name": ["x"]}).__arrow_c_stream__())
        with self.assertRaisesRegex(ValueError, "released before"), firn.open(self.path).write() as transaction:
            transaction["people"].append(used)
            transaction["people"].append(used)
        self.assertEqual(len(firn.open(self.path).log()), 1)


class Interrupts(Misuse):
    def test_long_changes_are_cancelled(self):
        table = {"id": list(range(300_000)), "x": [i / 7 for i in range(300_000)]}
        if pyarrow is None:
            self.skipTest("no pyarrow")
        with firn.create(self.folder / "a.firn") as db, db.write() as transaction:
            transaction["t"].append(table, key="id")
        firn.convert(self.folder / "a.firn", self.folder / "b.firn", where="id < 3")
        firn.write_changes(self.folder / "a.firn", self.folder / "b.firn", self.folder / "c.firn", key="id")
        path, calls = self.folder / "a.firn", []
        before = firn.hash(path)["hash"]

        def cancel(done, total):
            calls.append(done)
            return len(calls) > 1

        with self.assertRaises(firn.CancelledError):
            firn.patch(path, self.folder / "c.firn", progress=cancel)

        def interrupt():
            with contextlib.suppress(RuntimeError), firn.open(path).write() as transaction:
                change(transaction["t"])
                raise RuntimeError

        # Programs in the background ignore the signal.
        former = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, former)

        for change in (lambda t: t.upsert(table), lambda t: t.delete(where="id >= 0"), lambda t: t.replace(table)):
            thread = threading.Timer(0.05, os.kill, [os.getpid(), signal.SIGINT])
            with self.assertRaises(KeyboardInterrupt):
                thread.start()
                # Until the signal is there.
                for _ in range(1000):
                    interrupt()
            thread.join()
        self.assertEqual((firn.hash(path)["hash"], len(firn.open(path).log())), (before, 1))


    @unittest.skipIf(pyarrow is None, "no pyarrow")
    def test_an_interrupt_releases_what_it_ends(self):
        def handler(number, frame):
            raise KeyboardInterrupt

        former = signal.signal(signal.SIGINT, handler)
        self.addCleanup(signal.signal, signal.SIGINT, former)
        with firn.create(self.folder / "long.firn") as db, db.write() as transaction:
            transaction["people"].append({"id": list(range(300_000)), "name": [f"n{i % 97}" for i in range(300_000)]})
        alive = []

        def use():
            db = firn.open(self.folder / "long.firn")
            alive.append(weakref.ref(db))
            for _ in range(1000):
                db["people"].query("id >= 0 SORT(name DESC, id DESC)").to_arrow()

        for _ in range(20):
            thread = threading.Timer(0.02, os.kill, [os.getpid(), signal.SIGINT])
            try:
                thread.start()
                use()
            except KeyboardInterrupt:
                pass
            thread.join()
        gc.collect()
        self.assertEqual([found() for found in alive], [None] * 20)


class Paths(Misuse):
    def test_a_folder_is_not_a_file(self):
        folder = os.fspath(self.folder)
        for use in (
            lambda: firn.open(folder),
            lambda: firn.verify(folder),
            lambda: firn.compact(folder),
            lambda: firn.patch(self.path, folder),
            lambda: firn.read_table(folder),
            lambda: firn.scan_polars(folder),
        ):
            with self.assertRaisesRegex(IsADirectoryError, "firn.open_folder") as caught:
                use()
            self.assertIsInstance(caught.exception, firn.FolderError)
            self.assertEqual((caught.exception.errno, caught.exception.filename), (21, folder))
        for use in (lambda: firn.create(folder), lambda: firn.convert(self.path, self.folder, to="csv", overwrite=True)):
            with self.assertRaises(FileExistsError):
                use()

    def test_names_with_a_zero_character_are_not_cut(self):
        path = os.fspath(self.path)
        for name in (path + "\0", path.encode() + b"\0x", os.fsencode(path) + b"\0"):
            for use in (firn.open, firn.create, firn.hash, firn.verify, firn.open_folder, lambda p: firn.convert(p, "x.firn")):
                with self.assertRaisesRegex(ValueError, "zero character"):
                    use(name)
        self.assertEqual(len(firn.open(path.encode())["people"]), 20_000)

    def test_a_version_in_a_path(self):
        path = os.fspath(self.path)
        with self.assertRaisesRegex(FileNotFoundError, "version='1'") as caught:
            firn.open(path + "@1")
        self.assertEqual((caught.exception.filename, caught.exception.errno), (path + "@1", 2))
        with self.assertRaisesRegex(FileNotFoundError, "cannot open"):
            firn.open(path + "x@1")
        os.link(path, path + "@1")
        self.assertEqual(firn.open(path + "@1").version, 1)

    def test_wrong_paths_are_errors(self):
        with self.assertRaisesRegex(FileNotFoundError, '^"": '):
            firn.open("")
        for path in (3, None, object()):
            for use in (firn.open, firn.create, firn.open_folder, firn.hash):
                with self.assertRaisesRegex(TypeError, "must be a path"):
                    use(path)
        with self.assertRaises(ValueError):
            firn.open("\ud800")

    def test_errors_have_all_attributes_and_can_be_pickled(self):
        db = firn.open(self.path)
        for use in (
            lambda: firn.open(self.folder),
            lambda: firn.open(self.folder / "none"),
            lambda: firn.create(self.path),
            lambda: firn.open_folder(self.folder / "none"),
            lambda: db["none"],
            lambda: db["people"].scan(where="x"),
            lambda: firn.sql("SELECT"),
            lambda: db.close() or db.log(),
        ):
            with self.assertRaises(firn.Error) as caught:
                use()
            error = caught.exception
            again = pickle.loads(pickle.dumps(error))
            for one in (error, again):
                self.assertTrue(one.code and one.message and str(one), repr(error))
                self.assertEqual((one.code, one.message, one.file, one.byte), (error.code, error.message, error.file, error.byte))
                self.assertEqual((one.line, one.column, one.advice), (error.line, error.column, error.advice))

    @unittest.skipIf(pyarrow is None, "no pyarrow")
    def test_a_type_that_no_file_of_a_folder_has(self):
        with self.assertRaisesRegex(ValueError, 'no file has the type "dogs"; the types are "people"'):
            firn.open_folder(self.path, type="dogs")

    def test_very_long_predicates_are_answered_or_refused(self):
        people, n = firn.open(self.path)["people"], 60_000
        for predicate, count in (
            (" AND ".join(["id < 9"] * n), 9),
            (" AND ".join(f"id > {i}" for i in range(15_000)), 5_000),
            (" OR ".join(["id = 1"] * n), 1),
            (f"id IN {{{','.join(map(str, range(n)))}}}", 20_000),
        ):
            self.assertEqual(sum(1 for _ in people.scan(["id"], where=predicate)), count)
        for predicate in ("(" * n, "NOT " * n + "id = 1", "!" * n, ".".join(["id"] * n), "id = " + "+".join(["1"] * n), "{" * n):
            with self.assertRaises(ValueError):
                people.scan(where=predicate)

    def test_advice_is_that_of_the_package(self):
        from firn._errors import _python

        for text, expected in (
            ("write --param age=…", 'write parameters={"age": …}'),
            ("omit --param age", 'omit "age" in parameters'),
            ("'firn diff OLD NEW --changes FILE' writes it; or use --force", "'firn diff OLD NEW --changes FILE' writes it; or use overwrite=True"),
        ):
            self.assertEqual(_python(text), expected)
        with self.assertRaisesRegex(TypeError, 'parameter "a" cannot be a list'):
            firn.sql("SELECT :a", parameters={"a": [1]})
        with self.assertRaisesRegex(ValueError, 'parameter "a" is 1180591620717411303424'):
            firn.sql("SELECT :a", parameters={"a": 2**70})


if __name__ == "__main__":
    unittest.main()
