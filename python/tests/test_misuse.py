"""Tests of wrong use: threads that share objects, rows that raise, paths that are no files. FIRN_LIBRARY is the path of libfirn."""

import os
import pickle
import tempfile
import threading
import unittest
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


class Threads(Misuse):
    def run_together(self, *bodies):
        """Runs functions at the same time; returns the errors that they raised."""
        errors = []

        def guarded(body):
            try:
                body()
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=guarded, args=(body,)) for body in bodies]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return errors

    def test_a_database_is_closed_while_others_use_it(self):
        def use(db):
            db["people"][5]
            db.metadata(), db.log(), db.version, db.hash()
            db.refresh()["people"].hash()

        for _ in range(60):
            db = firn.open(self.path)
            errors = self.run_together(lambda: use(db), lambda: use(db), db.close)
            for error in errors:
                self.assertIsInstance(error, firn.ClosedError)
            self.assertTrue(db.closed)

    def test_a_database_moves_while_others_read_it(self):
        with firn.open(self.path).write() as transaction:
            transaction["people"].delete(where="id >= 10")
        db = firn.open(self.path)
        lengths = {1: 20_000, 2: 10}

        def read():
            for _ in range(300):
                self.assertIn(len(db["people"]), lengths.values())

        def move():
            for i in range(300):
                db.refresh(1 + i % 2)

        self.assertEqual(self.run_together(read, read, move), [])
        for version, length in lengths.items():
            self.assertEqual(len(db.refresh(version)["people"]), length)

    def test_a_commit_is_no_error_if_the_database_is_closed(self):
        db = firn.open(self.path)
        with db.write() as transaction:
            transaction["people"].delete(where="id = 1")
            db.close()
        self.assertEqual(len(firn.open(self.path)["people"]), 19_999)

    @unittest.skipIf(pyarrow is None, "no pyarrow")
    def test_threads_share_a_reader(self):
        reader, counts = firn.open(self.path)["people"].scan(threads=2).to_reader(), []

        def read():
            for batch in iter(reader.read_next_batch, None):
                counts.append(batch.num_rows)

        for error in self.run_together(read, read, read, read):
            self.assertIsInstance(error, StopIteration)
        self.assertEqual(sum(counts), 20_000)

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_objects_of_another_process_are_shown(self):
        db = firn.open(self.path)
        child = os.fork()
        if child == 0:
            is_shown = "of another process" in repr(db) and "of another process" in db._repr_html_()
            os._exit(0 if is_shown else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


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
