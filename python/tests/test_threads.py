"""Tests of threads and processes that share objects. FIRN_LIBRARY is the path of libfirn."""

import gc
import os
import threading
import unittest
import weakref

import firn
from test_misuse import Misuse, pyarrow


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

    @unittest.skipIf(pyarrow is None, "no pyarrow")
    def test_a_thread_reads_what_it_has_committed(self):
        db, stop = firn.open(self.path), threading.Event()

        def read():
            last = 0
            while not stop.is_set():
                number = int(db["people"][0]["name"].strip("n"))
                self.assertGreaterEqual(number, last)
                last = number

        def write():
            try:
                for i in range(1, 150):
                    with db.write() as transaction:
                        transaction["people"].delete(where="id = 0")
                        transaction["people"].append(pyarrow.table({"id": [0], "name": [f"n{i}"]}))
                    self.assertEqual(db["people"][0]["name"], f"n{i}")
            finally:
                stop.set()

        self.assertEqual(self.run_together(read, read, read, read, write), [])

    @unittest.skipIf(pyarrow is None, "no pyarrow")
    def test_a_version_that_is_pinned_late_does_not_replace_a_newer_one(self):
        db = firn.open(self.path)

        def commit(name):
            with db.write() as transaction:
                transaction["people"].upsert([{"id": 0, "name": name}])

        def late(version):
            made = pin(version)
            if then := work.pop() if work else None:
                then()
            return made

        pin, db._pin, name = db._pin, late, lambda: db["people"][0]["name"]
        commit("second")
        work = [lambda: commit("third")]
        name()
        self.assertEqual(name(), "third")
        work = [lambda: commit("fourth")]
        db.refresh()
        self.assertEqual((name(), db.version, len(db.log())), ("fourth", 4, 4))
        # A version that was asked for stays.
        commit("fifth")
        work = [lambda: db.refresh(2)]
        name()
        self.assertEqual((name(), db.version), ("second", 2))
        commit("sixth")
        self.assertEqual((name(), db.refresh()["people"][0]["name"]), ("second", "sixth"))

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


class Errors(Misuse):
    def test_an_error_keeps_nothing_open(self):
        db = firn.open(self.path)
        other = self.folder / "other.firn"
        firn.convert(self.path, other, where="id < 9")
        firn.write_changes(self.path, other, self.folder / "changes.firn", key="id")
        firn.patch(self.path, self.folder / "changes.firn")

        def failing(use):
            mine = firn.open(self.path)
            alive.append(weakref.ref(mine))
            try:
                use(mine, mine.write())
            except Exception:
                return True

        def raising(done, total):
            raise ZeroDivisionError

        alive = []
        uses = [
            lambda db, transaction: db["people"].scan(where="x"),
            lambda db, transaction: db["people"][0.5],
            lambda db, transaction: db["none"],
            lambda db, transaction: db.metadata("none"),
            lambda db, transaction: db.refresh("none"),
            lambda db, transaction: db.hash(progress=raising),
            lambda db, transaction: transaction["people"].delete(where="x"),
            lambda db, transaction: transaction["people"].upsert(db["people"].scan(["name"])),
            lambda db, transaction: transaction.abort() or firn.patch(self.path, self.folder / "changes.firn"),
        ]
        if pyarrow is not None:

            def rows(error):
                yield pyarrow.record_batch({"id": [1]})
                raise error

            def reader(error):
                return pyarrow.RecordBatchReader.from_batches(pyarrow.schema([("id", pyarrow.int64())]), rows(error))

            uses += [
                lambda db, transaction: transaction["people"].append(reader(ValueError())),
                lambda db, transaction: transaction["people"].append({"id": 1}),
                lambda db, transaction: db.sql("SELECT x FROM people"),
            ]
        gc.disable()
        try:
            for i, use in enumerate(uses):
                self.assertTrue(failing(use), i)
                self.assertIsNone(alive.pop()(), i)
                # The transaction that was dropped has ended.
                db.write(timeout=0).abort()
        finally:
            gc.enable()


if __name__ == "__main__":
    unittest.main()
