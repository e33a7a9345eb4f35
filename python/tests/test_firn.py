"""Tests of the package: python3 -m unittest discover -s python/tests

FIRN_SAMPLE is the file that Tests/CInterface makes; without it, the same file is made through pyarrow. FIRN_FIXTURES is the
folder of golden files.
"""

from __future__ import annotations

import datetime
import decimal
import errno
import gc
import itertools
import os
import pickle
import random
import sys
import tempfile
import threading
import unittest
import warnings
import weakref
from pathlib import Path

import firn
from firn import _database, _predicates

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


def setUpModule():
    global SAMPLE
    if SAMPLE:
        return
    import pyarrow

    folder = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(folder.cleanup)
    SAMPLE = str(Path(folder.name, "sample.firn"))

    def field(name, kind, optional=False):
        return pyarrow.field(name, kind, nullable=optional)

    texts = pyarrow.list_(field("item", pyarrow.string()))
    person = pyarrow.schema([
        field("id", pyarrow.int64()), field("name", pyarrow.string()), field("height", pyarrow.float64(), True), field("tags", texts),
    ])
    number = pyarrow.schema([field("n", pyarrow.int64()), field("half", pyarrow.float64()), field("name", pyarrow.string())])
    db, count = firn.create(SAMPLE), 70000
    ada, bo = {"id": 1, "name": "Ada", "height": 1.5, "tags": []}, {"id": 2, "name": "Bo", "height": None, "tags": ["a", "b"]}
    columns = {"n": range(count), "half": [i / 2 for i in range(count)], "name": [f"name {i % 10}" for i in range(count)]}
    with db.write() as transaction:
        transaction["Person"].append(pyarrow.Table.from_pylist([ada], schema=person), key="id")
    db.tag("first")
    with db.write() as transaction:
        transaction["Person"].append(pyarrow.Table.from_pylist([bo], schema=person))
        transaction["Number"].append(pyarrow.table(columns, schema=number))


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
            # Without a newer version, the tables stay.
            new = first["Person"]
            self.assertIs(first.refresh()["Person"], new)
            self.assertEqual(len(first.refresh(1)["Person"]), 1)
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
                (lambda: firn.open(folder), IsADirectoryError),
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
        for row in (-1, 2**64, -(2**64), 2**200):
            with self.assertRaises(KeyError):
                self.people.row(row)

    @needs("pyarrow")
    def test_rows_by_key_equal_those_of_iteration(self):
        import pyarrow

        days = [datetime.date(1, 1, 1), datetime.date(1969, 12, 31), None, datetime.date(9999, 12, 31)]
        columns = {
            "key": pyarrow.array(["a\0b", "é", "", "x" * 5000]),
            "bool": [True, False, None, True],
            "int": [-(2**63), 2**63 - 1, None, 0],
            "float": pyarrow.array([0.1, float("nan"), None, float("-inf")], pyarrow.float32()),
            "double": [0.1, float("nan"), None, -0.0],
            "text": ["", "a\0é\U0001f600", None, "y" * 70000],
            "data": [b"", b"\0\xff", None, b"z" * 70000],
            "day": pyarrow.array(days, pyarrow.date32()),
            "days": [days, [], None, days[:1]],
            "time": pyarrow.array([-1, 1_500_000_000_123_456_789, None, 0], pyarrow.timestamp("ns")),
            "early": pyarrow.array([-62_167_219_200, 253_402_300_799, None, -62_135_596_801], pyarrow.timestamp("s")),
            "decimal": [decimal.Decimal("1.50"), decimal.Decimal("-0.01"), None, decimal.Decimal("7.00")],
            "texts": [["a", None], [], None, ["b" * 3000]],
        }
        with tempfile.TemporaryDirectory() as folder, firn.create(f"{folder}/kinds.firn") as db:
            with db.write() as transaction:
                transaction["Kinds"].append(pyarrow.table(columns), key="key")
            rows = list(db["Kinds"])
            for row in rows:
                self.assertEqual(repr(db["Kinds"][row["key"]]), repr(row))
            self.assertEqual([row["key"] for row in rows], columns["key"].to_pylist())

    @needs("pyarrow")
    def test_rows_of_which_no_value_is_special_equal_those_of_iteration(self):
        import pyarrow

        times = [datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), None, datetime.datetime(1969, 12, 31, 23)]
        columns = {
            "key": [1, 2, 3, 4],
            "bool": [True, False, None, True],
            "float": pyarrow.array([0.1, float("nan"), None, float("-inf")], pyarrow.float32()),
            "double": [0.1, float("nan"), None, -0.0],
            "text": ["", "a\0é\U0001f600", None, "y" * 70000],
            "data": [b"", b"\0\xff", None, b"z" * 70000],
            "day": pyarrow.array([datetime.date(1, 1, 1), datetime.date(1969, 12, 31), None, datetime.date(9999, 12, 31)]),
            "time": pyarrow.array(times, pyarrow.timestamp("us")),
        }
        # Columns of a kind that is JSON in each row, beside and between the others.
        more = {"decimal": [decimal.Decimal("1.50"), None, None, decimal.Decimal("7.00")], "flag": [False, True, None, False]}
        with tempfile.TemporaryDirectory() as folder, firn.create(f"{folder}/kinds.firn") as db:
            with db.write() as transaction:
                transaction["Usual"].append(pyarrow.table(columns), key="key")
                transaction["Mixed"].append(pyarrow.table({**more, **columns}), key="key")
            for table in db.values():
                for row in table:
                    self.assertEqual(repr(table[row["key"]]), repr(row))

    def test_iteration(self):
        self.assertEqual([row["name"] for row in self.people], ["Ada", "Bo"])
        self.assertEqual(sum(row["n"] for row in self.numbers), 70000 * 69999 // 2)
        rows = list(self.numbers.scan(["name", "n"], where="n > 69997"))
        self.assertEqual(rows, [{"name": "name 8", "n": 69998}, {"name": "name 9", "n": 69999}])
        self.assertEqual([row["n"] for row in self.numbers.scan(["n"], limit=2)], [0, 1])
        self.assertEqual(list(self.numbers.scan(limit=0)), [])
        self.assertEqual(sum(1 for _ in self.numbers.scan([], segments=range(1, 2))), 70000 - 65536)
        self.assertEqual(list(self.numbers.scan(segments=range(5, 9))), [])
        self.assertEqual(list(self.numbers.scan(segments=range(2**40, 2**41))), [])
        self.assertEqual(sum(1 for _ in self.numbers.scan([], where="n < 9", limit=2**70)), 9)

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
        self.assertIn("<td>69998</td>", self.numbers.scan(["n"], where="n > 69997")._repr_html_())

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

    @unittest.skipIf("san-" in os.environ.get("LD_PRELOAD", ""), "a sanitizer keeps memory that was released")
    def test_dropped_streams_do_not_accumulate(self):
        def pages() -> int:
            return int(Path("/proc/self/statm").read_text().split()[1]) if sys.platform == "linux" else 0

        scan = self.numbers.scan(["n"], limit=10)
        before = 0
        for i in range(600):
            if i == 200:
                before = pages()
            scan.__arrow_c_stream__()
            firn.open(SAMPLE)["Person"].__arrow_c_schema__()
            if i % 100 == 0:
                scan.to_arrow()
        self.assertLess(pages() - before, 2000)

    @needs("pyarrow")
    def test_parts_of_lazy_frames_take_over_each_others_memory(self):
        import pyarrow
        from firn import _lazy

        batches = 20
        count = batches * 65_536
        texts = pyarrow.array([str(i * 7919 % count) for i in range(count)])
        with tempfile.TemporaryDirectory() as folder, firn.create(f"{folder}/parts.firn") as db:
            with db.write() as transaction:
                transaction["rows"].append({"text": texts})
            scan = db["rows"].scan(views=True)
            for threads in (1, 2, 64):
                rows, parts, addresses, chunk = 0, 0, set(), None
                for part in _lazy._parts(scan.to_reader(), _lazy._part_rows(threads)):
                    self.assertTrue(part.column(0).cast(pyarrow.string()).combine_chunks().equals(texts[rows : rows + len(part)]))
                    rows, parts = rows + len(part), parts + 1
                    for chunk in part.column(0).chunks:
                        addresses.add(chunk.buffers()[1].address)
                    part = chunk = None
                self.assertEqual((rows, parts), (count, -(-batches // min(threads, 8)) + (batches % min(threads, 8) == 0)))
                # All in memory at once would be one for each batch.
                if threads < 64:
                    self.assertLess(len(addresses), batches * 2 // 3)

    @needs("duckdb", "polars")
    def test_filters_are_pushed_and_never_lost(self):
        import duckdb
        import polars
        import pyarrow

        count, chosen = 3000, random.Random(1).choices(range(5), k=3000)
        plain = pyarrow.table({
            "i": [None if n % 17 == 0 else n % 50 for n in range(count)],
            "f": [None if n % 13 == 0 else float("nan") if n % 11 == 0 else n / 8 for n in range(count)],
            "t": [None if n % 7 == 0 else ["a", "b'c", 'd"e', "", "and (x"][chosen[n]] for n in range(count)],
            "d": [datetime.date(2020, 1, 1) + datetime.timedelta(n % 90) for n in range(count)],
            "b": [None if n % 3 == 0 else n % 2 == 0 for n in range(count)],
            "odd name": list(range(count)),
        })
        with tempfile.TemporaryDirectory() as folder:
            db = firn.create(Path(folder, "filters.firn"))
            with db.write() as transaction:
                transaction["rows"].append(plain)
            stored, lazy = db["rows"].to_dataset(), db["rows"].to_lazy()
            coded = db["rows"].to_dataset(dictionaries=True)
            relation = db["rows"].to_duckdb()  # noqa: F841 - DuckDB finds it by name
            self.assertEqual([str(kind) for kind in relation.types[:3]], ["BIGINT", "DOUBLE", "VARCHAR"])
            connection = duckdb.connect()
            self.assertEqual(db["rows"].to_duckdb(connection).aggregate("count(*)").fetchall(), [(count,)])
            self.assertEqual(str(coded.schema.field("t").type), "dictionary<values=string, indices=int32, ordered=0>")
            for where in (
                "i > 10", "i >= 10 AND i < 20 AND t = 'a'", "f > 100", "f <= 100.5", "f <> 5", "i <> 5", "t = 'b''c'",
                "t = 'd\"e' OR i = 3", "t = 'and (x'", "t <> 'a'", "t > 'a' AND t < 'c'", "t IS NULL", "t IS NOT NULL AND b",
                "d = DATE '2020-02-01'", "d BETWEEN DATE '2020-01-05' AND DATE '2020-01-09' AND i IN (1, 2, 3)", "NOT b",
                "\"odd name\" < 100 AND i + 1 > 3", "t LIKE 'b%'", "i = 1 OR f < 3 OR d > DATE '2020-03-20'",
            ):
                query = "SELECT count(*), sum(\"odd name\"), min(t) FROM {} WHERE " + where
                expected = duckdb.sql(query.format("plain")).fetchall()
                for dataset in ("stored", "coded", "relation"):
                    self.assertEqual(duckdb.sql(query.format(dataset)).fetchall(), expected, where)
            frame, c = polars.DataFrame(plain), polars.col
            for filter in (
                c("i") > 10, (c("i") >= 10) & (c("t") == "a"), c("f") > 100, c("f") <= 100.5, c("f") != 5, c("i") != 5,
                c("t") == "b'c", (c("t") == 'd"e') | (c("i") == 3), c("t").is_null(), c("d") > datetime.date(2020, 2, 1),
                c("b"), ~c("b"), (c("odd name") < 100) & (c("i") + 1 > 3), c("f").is_nan(), c("i").is_in([1, 2]),
            ):
                expected = frame.filter(filter).select("odd name")
                self.assertTrue(lazy.filter(filter).select("odd name").collect().equals(expected), str(filter))
                expected = frame.filter(filter).head(7)
                self.assertTrue(lazy.filter(filter).head(7).collect().equals(expected), str(filter))
            self.assertEqual(lazy.head(5).collect().height, 5)
            self.assertEqual(stored.count_rows(), count)
            self.assertEqual(stored.head(3).num_rows, 3)
            self.assertEqual(stored.to_table(columns=["i"]).column_names, ["i"])
            self.assertEqual(stored.count_rows(pyarrow.compute.field("i") == 3), plain["i"].to_pylist().count(3))

    @needs("polars")
    def test_limits_and_filters_of_lazy_frames_apply_in_their_order(self):
        import polars

        chance, c = random.Random(7), polars.col
        count = 70_000
        frame = polars.DataFrame({
            "g": [n % 2 for n in range(count)],
            "a": [None if n % 17 == 0 else n * 7919 % 1000 for n in range(count)],
            "t": [None if n % 7 == 0 else "abc"[n % 3] for n in range(count)],
        })
        # The last ones have no form as a predicate.
        filters = [c("g") == 1, c("a") > 500, (c("a") < 900) & (c("t") == "b"), c("t") < "c", c("a") % 3 == 1, c("t").is_null()]
        steps = [
            *(lambda lazy, filter=filter: lazy.filter(filter) for filter in filters * 2),
            *(lambda lazy, rows=rows: lazy.head(rows) for rows in (0, 1, 5, 300, 66_000, 10**9)),
            lambda lazy: lazy.slice(0, 40), lambda lazy: lazy.slice(3, 50), lambda lazy: lazy.tail(30),
            lambda lazy: lazy.with_columns(x=c("a") + 1), lambda lazy: lazy.with_columns(a=c("a") * 2),
            lambda lazy: lazy.select("t", "a", "g"), lambda lazy: lazy.with_row_index(f"n{len(lazy.collect_schema())}"),
        ]
        chains = [[steps[14], steps[0]], [steps[0], steps[14]], [steps[0], steps[14], steps[3]], [steps[14], steps[4]]]
        chains += [chance.choices(steps, k=chance.randint(2, 5)) for _ in range(150)]
        with tempfile.TemporaryDirectory() as folder:
            db = firn.create(Path(folder, "limits.firn"))
            with db.write() as transaction:
                transaction["rows"].append(frame)
            sources = [db["rows"].to_lazy(), firn.open_folder(folder).to_lazy()]
            for number, chain in enumerate(chains):
                found, expected = sources[number % 2], frame.lazy()
                for step in chain:
                    found, expected = step(found), step(expected)
                expected = expected.collect()
                for engine in ("in-memory", "streaming"):
                    self.assertTrue(found.collect(engine=engine).equals(expected), found.explain())

    def test_texts_of_any_length_are_views_if_a_scan_wants_them(self):
        import pyarrow

        chance = random.Random(2)
        texts = [None if n % 11 == 0 else "é" * (n % 3) + "".join(chance.choices("abcdef", k=n % 17)) for n in range(5000)]
        with tempfile.TemporaryDirectory() as folder:
            db = firn.create(Path(folder, "views.firn"))
            with db.write() as transaction:
                transaction["rows"].append(pyarrow.table({"t": texts, "last": [t or "" for t in texts], "l": [[t] for t in texts]}))
            table = db["rows"]
            for options in ({}, {"limit": 1}, {"where": "t ENDSWITH 'f'"}, {"where": "last = ''"}, {"columns": ["last"]}):
                plain, viewed = table.scan(**options).to_arrow(), table.scan(views=True, **options).to_arrow()
                viewed.validate(full=True)
                self.assertTrue(viewed.cast(plain.schema).equals(plain))
            self.assertEqual(str(table.scan(views=True).to_arrow().schema.field("l").type), "list<element: string>")

    def test_texts_that_repeat_are_dictionaries_if_a_scan_wants_them(self):
        import pyarrow

        count, chosen = 70_000, random.Random(1).choices(range(5), k=70_000)
        # Segments with few texts, with a different one in each row, and with others and nulls.
        parts = [
            [f"first {code}" for code in chosen], [f"text {n}" for n in range(count)],
            [None if n % 7 == 0 else f"last {code}" for n, code in enumerate(chosen)],
        ]
        with tempfile.TemporaryDirectory() as folder:
            db = firn.create(Path(folder, "texts.firn"))
            for i, part in enumerate(parts):
                with db.write() as transaction:
                    transaction["rows"].append(pyarrow.table({
                        "n": range(i * count, (i + 1) * count), "t": pyarrow.array(part, pyarrow.string()),
                        "u": [f"unique {n}" for n in range(count)], "same": ["x"] * count,
                    }))
            table = db["rows"]
            for options in (
                {}, {"limit": 100}, {"columns": ["t"]}, {"columns": ["u", "t"], "segments": range(1, 3)}, {"where": "n < 0"},
                {"where": "n >= 3 AND n < 70003 AND n != 77"}, {"where": "n IN {66000, 69999, 209999}", "columns": ["same", "t"]},
                {"where": "t ENDSWITH '3'", "threads": 1},
            ):
                with self.subTest(str(options)):
                    plain, scan = table.scan(**options).to_arrow(), table.scan(dictionaries=True, **options)
                    found = scan.to_arrow()
                    found.validate(full=True)
                    for name in found.column_names:
                        kind = found.schema.field(name).type
                        self.assertEqual(pyarrow.types.is_dictionary(kind), name in ("t", "same"), name)
                        self.assertEqual(pyarrow.schema(scan).field(name).type, kind)
                    self.assertTrue(found.cast(plain.schema).equals(plain))
                    self.assertEqual([row.get("t") for row in itertools.islice(scan, 100)], plain.slice(0, 100)["t"].to_pylist())
                    viewed = table.scan(views=True, **options).to_arrow()
                    viewed.validate(full=True)
                    for name in viewed.column_names:
                        expected = pyarrow.int64() if name == "n" else pyarrow.string_view()
                        self.assertEqual(viewed.schema.field(name).type, expected, name)
                    self.assertTrue(viewed.cast(plain.schema).equals(plain))
                    both = table.scan(views=True, dictionaries=True, **options).to_arrow()
                    self.assertTrue(both.cast(plain.schema).equals(plain))
            values = [value for part in parts for value in part]
            with db.write() as transaction:
                transaction["viewed"].append(table.scan(views=True))
            self.assertTrue(db["viewed"].to_arrow().cast(table.to_arrow().schema).equals(table.to_arrow()))
            self.assertEqual(table.scan(["t"], dictionaries=True).to_arrow()["t"].to_pylist(), values)
            with db.write() as transaction:
                transaction["copy"].append(table.scan(dictionaries=True))
            self.assertTrue(db["copy"].to_arrow().cast(table.to_arrow().schema).equals(table.to_arrow()))

    @unittest.skipUnless(os.path.exists("/proc/self/smaps"), "the system does not report the pages of mappings")
    def test_a_scan_of_a_large_file_keeps_few_of_its_pages(self):
        import pyarrow

        with tempfile.TemporaryDirectory() as folder:
            path, count, columns = os.path.realpath(Path(folder, "large.firn")), 4_000_000, 4
            with firn.create(path) as db, db.write() as transaction:
                data = [pyarrow.py_buffer(os.urandom(8 * count)) for _ in range(columns)]
                arrays = [pyarrow.Array.from_buffers(pyarrow.int64(), count, [None, bytes]) for bytes in data]
                transaction["rows"].append(pyarrow.table(arrays, names=list("abcd")))
            self.assertGreater(os.path.getsize(path), 8 * count * columns)

            def resident():
                total, inside = 0, False
                for line in Path("/proc/self/smaps").read_text().splitlines():
                    name, *rest = line.split()
                    if not name.endswith(":"):
                        inside = line.endswith(path)
                    elif name == "Rss:" and inside:
                        total += int(rest[0]) * 1024
                return total

            table = firn.open(path)["rows"]
            for _ in range(2):
                held, most, start = [], 0, 0
                for batch in table.to_reader():
                    held.append((start, batch.column(0)))
                    start += len(batch)
                    most = max(most, resident())
                # 64 MB, a quarter of them until the next question, and the segments that the threads read.
                self.assertLess(most, 100 << 20)
                for start, values in held:
                    self.assertTrue(values.equals(arrays[0].slice(start, len(values))), start)

    def test_damaged_files_are_exceptions(self):
        import pyarrow

        with tempfile.TemporaryDirectory() as folder:
            # FIRN_LONG tries each kilobyte.
            parts = 10**9 if os.environ.get("FIRN_LONG") else 8
            for name in ("plain.firn", "collections.firn", "alone.firn"):
                whole = (FIXTURES / name).read_bytes()
                for at in range(0, len(whole), max(1024, len(whole) // parts)):
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
        self.assertEqual((self.numbers.columns, self.numbers.shape), (["n", "half", "name"], (70000, 3)))
        self.assertEqual([row["n"] for row in self.numbers.head(3)], [0, 1, 2])
        self.assertEqual((self.numbers.head().to_pandas().shape, len(self.numbers.head(0).to_pandas())), ((5, 3), 0))

    @needs("pandas")
    def test_the_types_of_pandas_that_the_documentation_restores(self):
        import pandas
        import pyarrow

        index = pandas.Index(["r", "q"], name="key")
        columns = {"i": pandas.array([1, None], dtype="Int64"), "b": pandas.array([None, True], dtype="boolean")}
        frame = pandas.DataFrame(columns, index=index)
        with tempfile.TemporaryDirectory() as folder, firn.create(Path(folder, "frame.firn")) as db:
            with db.write() as transaction:
                transaction["t"].append(frame)
            types = {pyarrow.int64(): pandas.Int64Dtype(), pyarrow.bool_(): pandas.BooleanDtype()}
            pandas.testing.assert_frame_equal(db["t"].to_pandas(types_mapper=types.get).set_index("key"), frame)

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


@needs("pyarrow")
class Writing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name, "new.firn")
        self.db = firn.create(self.path)

    def people(self):
        return [{"id": 1, "name": "Ada", "score": 1.5}, {"id": 2, "name": "Bo", "score": None}]

    def test_a_file_is_made_by_its_first_commit(self):
        self.assertFalse(self.path.exists())
        with self.db.write() as transaction:
            self.assertEqual(transaction["people"].append(self.people(), key="id"), 2)
        self.assertEqual((self.db.types, self.db.version), (["people"], 1))
        self.assertEqual(self.db["people"].schema.key, ("id",))
        self.assertEqual(list(firn.open(self.path)["people"]), self.people())
        with self.assertRaises(FileExistsError):
            firn.create(self.path)

    def test_appends_upserts_and_deletes(self):
        with self.db.write() as transaction:
            people = transaction["people"]
            people.append(self.people(), key=["id"])
            people.upsert([{"id": 2, "score": 2}, {"id": 3, "score": 3}])
            self.assertEqual(people.delete(keys=[1, 99]), 1)
            self.assertEqual((people.append([]), people.upsert(iter(())), people.delete(keys=[])), (0, 0, 0))
        self.assertEqual(list(self.db["people"]), [
            {"id": 2, "name": "Bo", "score": 2.0}, {"id": 3, "name": None, "score": 3.0},
        ])
        with self.db.write() as transaction:
            self.assertEqual(transaction["people"].delete(where="score > 2"), 1)
            self.assertEqual(transaction["people"].append({"id": [7], "score": [7.5]}), 1)
            self.assertEqual(transaction["people"].append([{"id": 8}, {"id": 9, "name": "Nine"}]), 2)
        self.assertEqual([row["id"] for row in self.db["people"]], [2, 7, 8, 9])
        self.assertEqual(self.db["people"][9]["name"], "Nine")

    def test_an_exception_aborts(self):
        with self.db.write() as transaction:
            transaction["people"].append(self.people(), key="id")
        for use, kind in (
            (lambda people: people.append(self.people()), firn.DuplicateKeyError),
            (lambda people: people.append([{"id": "x"}]), firn.SchemaError),
            (lambda people: people.append([{"id": 5, "nmae": "x"}]), firn.SchemaError),
            (lambda people: people.append([{"id": 1.5}]), firn.SchemaError),
            (lambda people: people.upsert([{"id": 1}, {"id": 2, "name": "x"}]), ValueError),
            (lambda people: people.append(5), TypeError),
            (lambda people: people.append([1]), TypeError),
            (lambda people: people.delete(), TypeError),
            (lambda people: people.delete(where="x > 1"), ValueError),
            (lambda people: [people.append([{"id": 8}]), 1 / 0], ZeroDivisionError),
        ):
            with self.assertRaises(kind), self.db.write() as transaction:
                transaction["people"].append([{"id": 4}])
                use(transaction["people"])
            self.assertFalse(transaction.is_open)
            self.assertEqual(len(firn.open(self.path)["people"]), 2)
        with self.assertRaises(KeyError), self.db.write() as transaction:
            transaction["nobody"].upsert([{"id": 1}])
        transaction = self.db.write()
        with self.assertRaises(firn.SchemaError):
            transaction["people"].append([{"id": "x"}])
        with self.assertRaises(firn.UsageError):
            transaction.commit()
        with self.assertRaises(firn.ClosedError):
            transaction.commit()

    def test_one_transaction_at_a_time(self):
        with self.db.write() as transaction:
            transaction["people"].append(self.people(), key="id")
            with self.assertRaises(RuntimeError):
                self.db.write()
            # The file does not exist before the first commit.
        other = firn.open(self.path)
        with self.db.write(), self.assertRaises(TimeoutError):
            other.write(timeout=0.01)
        with other.write() as transaction:
            transaction["people"].append([{"id": 3}])
        self.assertEqual((len(self.db["people"]), len(self.db.refresh()["people"]), len(other["people"])), (2, 3, 3))

    def test_frames_streams_slices_and_many_rows(self):
        import pyarrow

        count = 5000
        table = pyarrow.table({
            "id": pyarrow.array(range(count)),
            "small": pyarrow.array([None if i % 7 == 0 else i % 100 for i in range(count)], pyarrow.int8()),
            "text": [None if i % 11 == 0 else f"text {i}" for i in range(count)],
            "code": pyarrow.array([f"code {i % 10}" for i in range(count)]).dictionary_encode(),
            "flag": [None if i % 5 == 0 else i % 2 == 0 for i in range(count)],
            "time": pyarrow.array([i * 1000 for i in range(count)], pyarrow.timestamp("ms")),
            "list": [None if i % 13 == 0 else list(range(i % 4)) for i in range(count)],
            "object": [{"a": i, "b": [f"{i}"]} for i in range(count)],
            "views": pyarrow.array([f"a longer text, not inline {i % 100}" for i in range(count)], pyarrow.string_view()),
            "fixed": pyarrow.array([[i, i + 1] for i in range(count)], pyarrow.list_(pyarrow.int32(), 2)),
        })
        sources = {
            "whole": table,
            "slice": table.slice(1234, 3001),
            "batches": pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=999)),
            "own": self.db,
        }
        with self.db.write() as transaction:
            for name, source in sources.items():
                if name != "own":
                    transaction[name].append(source, key="id")
        with self.db.write() as transaction:
            transaction["own"].append(self.db["whole"].scan(where="id < 3000"))
        plain = table.to_pylist()
        for name, expected in (("whole", plain), ("slice", plain[1234:4235]), ("batches", plain), ("own", plain[:3000])):
            self.assertEqual(self.db[name].to_arrow().to_pylist(), expected, name)
        self.assertEqual(self.db["whole"][4321]["text"], "text 4321")
        with self.assertRaises(firn.DuplicateKeyError), self.db.write() as transaction:
            transaction["whole"].append(table)

    def test_all_types_of_pyarrow_also_in_slices(self):
        import random

        import pyarrow

        folder = Path(__file__).parents[2] / "Tools/bench"
        if not (folder / "compared.py").exists():
            self.skipTest("the makers of tables are not here")
        sys.path.insert(0, str(folder))
        self.addCleanup(sys.path.remove, str(folder))
        import compared

        count = 400
        fields, arrays = [], []
        for name, (kind, values) in compared.common_types(count, random.Random(1))[1].items():
            values = compared.maybe(random.Random(2), values, True)
            if isinstance(kind, pyarrow.BaseExtensionType):
                array = pyarrow.ExtensionArray.from_storage(kind, pyarrow.array(values, kind.storage_type))
            elif isinstance(kind, pyarrow.DictionaryType):
                array = pyarrow.array(values, kind.value_type).dictionary_encode()
            else:
                array = pyarrow.array(values, kind)
            fields.append(pyarrow.field(name, array.type))
            arrays.append(array)
        flat = pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))
        nested = pyarrow.Table.from_pylist(compared.nested_rows(count), schema=pyarrow.schema(compared.nested_fields()))
        # Maps whose keys are not texts become lists of entries.
        nested = nested.drop_columns(["mi"])
        for name, table in (("flat", flat), ("nested", nested)):
            for part, rows in (("whole", table), ("slice", table.slice(13, 300)), ("bytes", table.slice(16, 1))):
                with self.db.write() as transaction:
                    transaction[f"{name} {part}"].append(rows)
                read, given = self.db[f"{name} {part}"].to_arrow().to_pydict(), rows.to_pydict()
                for column in given:
                    self.assertEqual(str(read[column]), str(given[column]), f"{name} {part} {column}")

    @needs("pandas", "polars", "duckdb")
    def test_other_libraries(self):
        import duckdb
        import pandas
        import polars

        with self.db.write() as transaction:
            transaction["pandas"].append(pandas.DataFrame({"n": [1, 2], "t": ["a", None]}))
            transaction["polars"].append(polars.DataFrame({"n": [1, 2], "t": ["a", None]}))
            transaction["duckdb"].append(duckdb.sql("SELECT * FROM (VALUES (1, 'a'), (2, NULL)) AS v(n, t)"))
        for name in ("pandas", "polars", "duckdb"):
            self.assertEqual([(row["n"], row["t"]) for row in self.db[name]], [(1, "a"), (2, None)], name)

    def test_all_types_of_the_golden_files_survive(self):
        for path in sorted(FIXTURES.glob("*.firn")):
            if path.name == "encrypted.firn":
                continue
            with firn.open(path) as source, self.db.write() as transaction:
                for name, table in source.items():
                    transaction[f"{path.stem} {name}"].append(table)
            with firn.open(path) as source:
                for name, table in source.items():
                    copy = self.db[f"{path.stem} {name}"]
                    read = table.to_arrow()
                    read.validate(full=True)
                    same = copy.to_arrow().equals(read)
                    # pyarrow never finds NaN equal.
                    same = same or repr(copy.to_arrow().to_pylist()) == repr(read.to_pylist())
                    self.assertTrue(same, f"{path}: {name}")
                    self.assertEqual((read.num_rows, sum(1 for _ in table)), (len(table), len(table)))
                    if not any(column.kind == "link" for column in table.schema):
                        self.assertEqual(copy.schema.columns, table.schema.columns)

    def test_differences(self):
        with self.db.write() as transaction:
            transaction["people"].append(self.people() + [{"id": 3, "name": "Cy", "score": 3.0}], key="id")
        old = self.db["people"]
        with self.db.write() as transaction:
            transaction["people"].upsert([{"id": 1, "score": 1.25}])
            transaction["people"].append([{"id": 9, "name": "New"}])
            transaction["people"].delete(keys=[3])
        found = firn.diff(old, self.db["people"])
        self.assertEqual((found.added, found.removed, found.changed, found.unchanged, bool(found)), (1, 1, 1, 1, True))
        expected = [
            firn.Change("removed", (3,), {"id": 3, "name": "Cy", "score": 3.0}, None),
            firn.Change("changed", (1,), {"score": 1.5}, {"score": 1.25}),
            firn.Change("added", (9,), None, {"id": 9, "name": "New", "score": None}),
        ]
        self.assertEqual(sorted(found, key=repr), sorted(expected, key=repr))
        self.assertEqual(firn.diff(old, self.db["people"], ignore="score").changed, 0)
        self.assertEqual(firn.diff(old, self.db["people"], tolerance=1).changed, 0)
        self.assertEqual(firn.diff(old, self.db["people"], key=["name"]).unchanged, 1)
        self.assertFalse(firn.diff(old, old))
        with self.assertRaises(firn.UsageError):
            firn.diff(old, old, key="none")
        with self.assertRaises(firn.UsageError):
            with firn.open(SAMPLE) as db:
                firn.diff(db["Number"], db["Number"])

    def test_maps_and_dates_as_dicts(self):
        import pyarrow

        maps = [{"$date": "x"}, {"$map": 1}, {"a": 1, "$b": 2}, {}, None, {"$row": 5}, {"k": 7}]
        times = [datetime.datetime(2024, 1, 31, 10, 0, 0, n, tzinfo=datetime.timezone.utc) for n in (0, 5, 123456, 0, 0, 0, 0)]
        table = pyarrow.table({
            "texts": pyarrow.array([None if m is None else {k: str(v) for k, v in m.items()} for m in maps],
                                   pyarrow.map_(pyarrow.string(), pyarrow.string())),
            "time": times,
            "day": [time.date() for time in times],
            "bytes": [b"\x00\xff"] * 7,
            "nan": [float("nan"), float("inf"), -float("inf"), 1.5, None, -0.0, 1e300],
        })
        with self.db.write() as transaction:
            transaction["rows"].append(table)
        rows = list(self.db["rows"])
        self.assertEqual([row["texts"] for row in rows], [None if m is None else {k: str(v) for k, v in m.items()} for m in maps])
        self.assertEqual([row["time"] for row in rows], times)
        self.assertEqual({type(row["day"]) for row in rows}, {datetime.date})
        self.assertEqual(rows[0]["bytes"], b"\x00\xff")
        self.assertEqual(str([row["nan"] for row in rows]), "[nan, inf, -inf, 1.5, None, -0.0, 1e+300]")

    def test_nulls_do_not_match_comparisons_of_texts_in_a_dataset(self):
        import pyarrow.dataset

        rows = pyarrow.table({"s": ["a", None, "b", "", None], "n": [1, 2, None, 4, 5]})
        with self.db.write() as transaction:
            transaction["t"].append(rows)
        dataset, s, n = self.db["t"].to_dataset(), pyarrow.dataset.field("s"), pyarrow.dataset.field("n")
        for condition in [s < "b", s <= "a", s > "", s == "a", s != "a", (s < "b") | (n > 4), (s < "b") & (n > 1), ~(s < "b"), n < 3]:
            with self.subTest(str(condition)):
                self.assertEqual(dataset.to_table(filter=condition).to_pylist(), rows.filter(condition).to_pylist())

    def test_parameters_of_sql_equal_the_values_of_their_columns(self):
        import pyarrow

        utc, moment, decimals = datetime.timezone.utc, datetime.datetime(2024, 1, 2, 3, 4, 5, 600000), decimal.Decimal
        zone = datetime.timezone(datetime.timedelta(hours=5))
        columns = {
            "day": pyarrow.array([datetime.date(2024, 1, 2), datetime.date(2024, 5, 2), None]),
            "at": pyarrow.array([moment, datetime.datetime(2024, 1, 2), datetime.datetime(1969, 12, 31, 23, 59, 59, 1)]),
            "zoned": pyarrow.array([moment, moment.replace(microsecond=0), None], pyarrow.timestamp("us", "UTC")),
            "price": pyarrow.array([decimals("1.10"), decimals(2), None], pyarrow.decimal128(10, 2)),
            "long": pyarrow.array([decimals("12345678901234567890.10"), decimals(2), decimals("-0.01")], pyarrow.decimal128(30, 2)),
            "unsigned": pyarrow.array([1, 2**64 - 1, 2**63], pyarrow.uint64()),
        }
        operators = {"=": lambda a, b: a == b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b}
        values = {
            "day": [datetime.date(2024, 1, 2), datetime.date(2024, 2, 1)],
            "at": [moment, datetime.datetime(2024, 1, 2), moment.replace(microsecond=600001), columns["at"][2].as_py()],
            "zoned": [moment.replace(tzinfo=utc), moment.replace(tzinfo=utc, microsecond=0).astimezone(zone)],
            "price": [decimals("1.1"), decimals("1.100"), decimals(2), decimals("1.11")],
            "long": [decimals(text) for text in ("12345678901234567890.1", "12345678901234567890.11", "2", "-0.01", "1E+3")],
            "unsigned": [decimals(1), decimals(2**64 - 1), decimals(2**63)],
        }
        columns["n"] = pyarrow.array(range(3))
        with self.db.write() as transaction:
            transaction["t"].append(pyarrow.table(columns))
        for name, given in values.items():
            for value, (operator, holds) in itertools.product(given, operators.items()):
                expected = [n for n, one in enumerate(columns[name].to_pylist()) if one is not None and holds(one, value)]
                found = self.db.sql(f"SELECT n FROM t WHERE {name} {operator} ? ORDER BY n", parameters=[value])
                self.assertEqual([row["n"] for row in found], expected, (name, operator, value))
        # A number also in expressions.
        self.assertEqual(len(self.db.sql("SELECT 1 FROM t WHERE price * 2 > ?", parameters=[decimals("2.5")]).to_arrow()), 1)
        for value in (datetime.time(1, 2), datetime.timedelta(1), [1], object()):
            with self.assertRaisesRegex(TypeError, 'parameter "1" cannot be a'):
                self.db.sql("SELECT ?", parameters=[value])

    @needs("numpy", "pandas", "polars")
    def test_rows_are_deleted_by_keys_of_any_library(self):
        import numpy
        import pandas
        import polars
        import pyarrow

        with self.db.write() as transaction:
            transaction["t"].append({"id": list(range(20)), "v": ["a"] * 20}, key="id")
            transaction["pairs"].append({"a": [1], "b": [2]}, key=["a", "b"])
        keys = [
            numpy.array([0]), pandas.Series([1]), pandas.Index([2]), polars.Series([3]), pyarrow.array([4]), pyarrow.chunked_array([[5]]),
            (key for key in [6]), range(7, 8), {8: None}.keys(), [9], (10,), {11}, polars.DataFrame({"id": [12]}),
            pandas.DataFrame({"id": [13]}), pyarrow.table({"id": [14]}), {"id": [15]}, [{"id": 16}], iter([{"id": 17}]),
            pyarrow.array([{"id": 18}]), numpy.array([19], dtype="int8"),
        ]
        with self.db.write() as transaction:
            for number, key in enumerate(keys):
                self.assertEqual(transaction["t"].delete(keys=key), 1, number)
            for nothing in ([], numpy.array([]), iter([]), pyarrow.array([], pyarrow.int64()), [100], numpy.array([0])):
                self.assertEqual(transaction["t"].delete(keys=nothing), 0)
            for wrong in (numpy.zeros((2, 2)), 5, "5"):
                with self.assertRaises(TypeError):
                    transaction["t"].delete(keys=wrong)
            with self.assertRaisesRegex(TypeError, "2 columns"):
                transaction["pairs"].delete(keys=[1])
            with self.assertRaisesRegex(TypeError, "collect()"), warnings.catch_warnings():
                warnings.simplefilter("error")
                transaction["new"].append(polars.DataFrame({"a": [1]}).lazy())
        self.assertEqual(len(self.db["t"]), 0)
        for given in ({"where": "id > 1"}, {"keys": [1]}, {"keys": [{"id": 1}]}, {"keys": pyarrow.table({"id": [1]})}):
            with self.assertRaises(KeyError), self.db.write() as transaction:
                transaction["none"].delete(**given)

    @needs("numpy", "pandas")
    def test_times_of_numpy_and_pandas_are_parameters_of_sql(self):
        import numpy
        import pandas

        for value, expected in (
            (numpy.datetime64("2024-01-02T03:04:05.600000000"), "2024-01-02 03:04:05.6"),
            (numpy.datetime64("2024-01-02T03:04:05.123456789"), "2024-01-02 03:04:05.123456789"),
            (numpy.datetime64("2024-01-02T03"), "2024-01-02 03:00:00"), (numpy.datetime64("2024-01-02"), "2024-01-02"),
            (numpy.datetime64("2024"), "2024-01-01"), (numpy.datetime64("NaT"), None), (pandas.NaT, None),
            (pandas.Timestamp("2024-01-02T03:04:05.000000120+02:00"), "2024-01-02 01:04:05.00000012"),
            ("2024-01-02T03:04:05.60", "2024-01-02T03:04:05.60"), (numpy.int8(3), 3), (numpy.bool_(True), 1), (numpy.str_("a"), "a"),
        ):
            self.assertEqual([row["v"] for row in firn.sql("SELECT ? AS v", parameters=[value])], [expected], repr(value))
        for value in (numpy.timedelta64(3, "s"), numpy.array([1, 2])):
            with self.assertRaises(TypeError):
                firn.sql("SELECT ?", parameters=[value])

    def test_filters_of_a_dataset_are_those_of_pyarrow_whatever_the_names_of_columns(self):
        import pyarrow.compute
        import pyarrow.dataset

        chance, field, decimals = random.Random(3), pyarrow.compute.field, decimal.Decimal
        numbers = ["x", "2022", "7", "FieldPath(0)", "is_valid", "and", "odd name", 'a"b', "`"]
        texts, days, bools = ["s", '"41"', "41", "(x > 3)"], ["2024-01-02", "d"], ["true", "b"]
        rows = pyarrow.table({
            **{name: [chance.choice([None, *range(10)]) for _ in range(200)] for name in numbers},
            **{name: [chance.choice([None, "A", "B", "41", ""]) for _ in range(200)] for name in texts},
            **{name: [chance.choice([None, datetime.date(2024, 1, 2), datetime.date(2023, 5, 6)]) for _ in range(200)] for name in days},
            **{name: [chance.choice([None, True, False]) for _ in range(200)] for name in bools},
            "f": [chance.choice([None, 0.1 + 0.2, 0.3, 7.0, float("nan")]) for _ in range(200)],
        })
        decimal_types = [pyarrow.decimal128(*digits) for digits in ((10, 2), (30, 2), (38, 2))]
        for i, kind in enumerate(decimal_types):
            prices = [chance.choice([None, decimals("1.10"), decimals("5.00"), decimals(7), decimals("-3.25")]) for _ in range(200)]
            rows = rows.append_column(f"price{i}", pyarrow.array(prices, kind))
        with self.db.write() as transaction:
            transaction["t"].append(rows)
        operators = ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]
        whole = [2022, 3, pyarrow.scalar(7, pyarrow.int32()), 3.5, 7.0]
        prices = [pyarrow.scalar(decimals("5.00"), kind) for kind in decimal_types] + [decimals("1.10")]

        def condition():
            column, given = chance.choice([
                (chance.choice(numbers), [*whole, field(chance.choice(numbers)), field(chance.randrange(9))]),
                (chance.choice(texts), ["A", "41", b"A", field(chance.choice(texts)), pyarrow.scalar("B", pyarrow.large_string())]),
                (chance.choice(days), [datetime.date(2024, 1, 2), field(chance.choice(days))]),
                (chance.choice(bools), [True, False, field(chance.choice(bools))]),
                ("f", [0.1 + 0.2, 0.3, 1]),
                (f"price{chance.randrange(3)}", prices),
                (chance.randrange(9), whole),
            ])
            found = getattr(field(column), chance.choice(operators))(chance.choice(given))
            return chance.choice([found] * 8 + [field(column).is_valid(), ~found, field(column).is_null()])

        plain, table = pyarrow.dataset.dataset(rows), self.db["t"]
        datasets = [table.to_dataset(), table.to_dataset(dictionaries=True), firn.open_folder(self.db.path).to_dataset()]
        pushed = 0
        for number in range(600):
            filter, columns = condition(), chance.choice([None, chance.sample(rows.column_names, 2), ["x"], []])
            for _ in range(chance.randrange(3)):
                other = condition()
                filter = filter & other if chance.random() < 0.5 else filter | other
            with self.subTest(str(filter)):
                expected = plain.to_table(columns=columns, filter=filter)
                found = datasets[number % 3].to_table(columns=columns, filter=filter)
                self.assertEqual(found.num_rows, expected.num_rows)
                self.assertEqual(str(found.to_pylist()), str(expected.to_pylist()))
            pushed += _predicates.ArrowFilter(filter, rows.schema, table.column_kinds).predicate() is not None
        self.assertGreater(pushed, 100)

    def test_filters_of_several_types_of_values_are_predicates(self):
        import pyarrow.compute

        field, price = pyarrow.compute.field, pyarrow.decimal128(12, 2)
        names = {"day": pyarrow.date32(), "price": price, "x": pyarrow.float64(), "i": pyarrow.int32(), "t": pyarrow.string()}
        kinds = {"day": "day", "price": "double", "x": "double", "i": "int", "t": "string"}

        def translated(filter):
            made = _predicates.ArrowFilter(filter, pyarrow.schema(list(names.items())), kinds)
            return made.predicate(), made.is_exact

        def cents(text):
            return pyarrow.scalar(decimal.Decimal(text), price)

        # As an engine gives them, of the types of the columns.
        filter = (field("day") >= datetime.date(2024, 1, 1)) & (field("day") < datetime.date(2025, 1, 1))
        filter = filter & (field("price") >= cents("0.05")) & (field("price") <= cents("0.07")) & (field("price") < cents("24.00"))
        filter = filter & (field("i") < pyarrow.scalar(5, pyarrow.int32())) & (field("x") > 5.0) & (field("x") < 9.5)
        found, is_exact = translated(filter)
        self.assertEqual((found.strip("(").split(")")[0], found.count(" AND "), is_exact), (
            "`day` >= 2024-01-01@00:00:00 AND `day` < 2025-01-01@00:00:00", 7, True
        ))
        # As a user writes them.
        self.assertEqual(
            translated((field("i") > 5) & (field("x") > 5) & (field("x") < 7.5) | (field("price") == decimal.Decimal("5.00"))),
            ("(((`i` > 5 AND `x` > 5) AND `x` < 7.5) OR `price` == 5.00)", True),
        )
        # Partly, and not at all.
        self.assertEqual(translated((field("t") != "a") & (field("x") < field("i"))), (None, False))
        self.assertEqual(translated((field("t") != "a") & (field("i") > 3)), ('(`t` != "a" AND `i` > 3)', False))
        for filter in (field("t") == b"a", field("i") == field("5"), field(3) > 1, field("x") > 2**53 + 1, field("i") > 2.0**60):
            self.assertEqual(translated(filter), (None, False))

    def test_a_commit_without_changes_makes_no_version(self):
        import pyarrow

        with self.db.write():
            pass
        self.assertEqual((self.db.version, self.path.exists()), (1, True))
        with self.db.write() as transaction:
            transaction["t"].append([{"id": 1}], key="id")
            transaction.set_metadata("k", "v")
        version = self.db.version
        empty = pyarrow.table({"id": pyarrow.array([], pyarrow.int64())})
        for change in (
            lambda t: None, lambda t: t["t"].append([]), lambda t: t["t"].append(empty), lambda t: t["t"].upsert(empty),
            lambda t: t["t"].delete(keys=[5]), lambda t: t["t"].delete(where="id > 5"), lambda t: t.set_metadata("k", "v"),
        ):
            with self.db.write() as transaction:
                change(transaction)
            self.assertEqual((self.db.version, len(self.db.log())), (version, version))
        with self.db.write() as transaction:
            transaction["u"].append(empty)
        self.assertEqual((self.db.version, self.db.types), (version + 1, ["t", "u"]))

    def test_many_entries_of_metadata_are_set_in_order(self):
        with self.db.write() as transaction:
            transaction["t"].append([{"id": 1}], key="id")
            transaction.set_metadata("first", "1")
            transaction.set_metadata("gone", "1")
            for i in range(20_000):
                transaction.set_metadata(f"key {i}", str(i))
            transaction.set_metadata("first", "2")
            transaction.set_metadata("gone", None)
            transaction.set_metadata("large", "x" * (2 << 20), of="t")
            transaction.set_metadata("large", None, of="t")
            transaction.set_metadata("unit", "m", of="t.id")
            with self.assertRaisesRegex(ValueError, "no column"):
                transaction.set_metadata("unit", "m", of="t.none")
            transaction.abort()
        with self.db.write() as transaction:
            transaction["t"].append([{"id": 1}], key="id")
            transaction.set_metadata("first", "1")
            transaction.set_metadata("gone", "1")
            for i in range(20_000):
                transaction.set_metadata(f"key {i}", str(i))
            transaction.set_metadata("first", "2")
            transaction.set_metadata("gone", None)
            transaction.set_metadata("unit", "m", of="t.id")
        found = self.db.metadata()
        self.assertEqual((list(found)[:2], len(found), found["first"]), (["first", "key 0"], 20_001, "2"))
        self.assertEqual((self.db.metadata("t"), self.db.metadata("t.id")), ({}, {"unit": "m"}))
        with self.db.write() as transaction:
            transaction.set_metadata("gone", "again")
            transaction.set_metadata("key 7", None)
        self.assertEqual((list(self.db.metadata())[-1], len(self.db.metadata())), ("gone", 20_001))

    def test_refresh_reports_a_file_that_was_replaced(self):
        with self.db.write() as transaction:
            transaction["t"].append([{"id": 1}])
        old = firn.open(self.path)
        self.assertEqual(old.refresh().version, 1)
        firn.compact(self.path)
        for db in (old, self.db):
            with self.assertRaisesRegex(OSError, "was replaced or removed while it was open; open the file again"):
                db.refresh()
            self.assertEqual(list(db["t"]), [{"id": 1}])
        self.assertEqual(len(firn.open(self.path).refresh()["t"]), 1)
        os.remove(self.path)
        with self.assertRaises(firn.ReadError):
            old.refresh()

    def test_a_commit_to_a_file_that_has_replaced_another_one_is_read(self):
        with self.db.write() as transaction:
            transaction["t"].append([{"id": 0}], key="id")
        for i in range(1, 12):
            with self.db.write() as transaction:
                transaction["t"].append([{"id": i}])
        reader = firn.open(self.path)
        self.assertEqual(reader.version, 12)
        self.db.close()
        firn.compact(self.path)
        # The versions of the new file begin again.
        for i, version in ((100, 2), (101, 3)):
            with reader.write() as transaction:
                transaction["t"].append([{"id": i}])
            self.assertEqual((reader.version, i in reader["t"], len(reader["t"])), (version, True, 11 + version))
            self.assertIs(reader["t"], reader["t"])

    def test_names_that_are_repeated_in_sort_and_distinct_take_no_time(self):
        import pyarrow

        with self.db.write() as transaction:
            transaction["t"].append(pyarrow.table({"a": [2, 1, 2, 1], "b": [1, 2, 3, 2]}))
        many = ", ".join(["a", "b"] * 20_000)
        found = self.db["t"].query(f"TRUEPREDICATE SORT({many.replace(',', ' ASC,')} DESC) DISTINCT({many})")
        self.assertEqual(found.to_arrow().to_pydict(), {"a": [1, 2, 2], "b": [2, 1, 3]})

    def test_errors_of_keys_have_the_value(self):
        with self.db.write() as transaction:
            transaction["t"].append([{"id": 1}], key="id")
        for key, shown in [("x", '"x"'), ("y" * 99, '"' + "y" * 60 + '…"'), (b"ab", "of 2 bytes"), (True, "true"), (1.5, "1.5")]:
            with self.assertRaisesRegex(ValueError, f"the value {shown} for column \"id\" is not int"):
                self.db["t"][key]

    @unittest.skipUnless(hasattr(os, "geteuid") and os.geteuid() == 0, "only root mounts disks")
    def test_a_full_disk_does_not_leave_the_file_long(self):
        import pyarrow

        disk = self.path.with_name("disk")
        disk.mkdir()
        if os.system(f"mount -t tmpfs -o size=2m tmpfs '{disk}' 2>/dev/null") != 0:
            self.skipTest("no tmpfs can be mounted here")
        try:
            path, many = disk / "a.firn", pyarrow.array([int.from_bytes(os.urandom(7), "little") for _ in range(500_000)])
            new = firn.create(path)
            with self.assertRaises(OSError), new.write() as transaction:
                transaction["t"].append(pyarrow.table({"n": many}))
            new.close()
            gc.collect()
            self.assertFalse(path.exists())
            new = firn.create(path)
            for _ in range(2):
                with new.write() as transaction:
                    transaction["t"].append(pyarrow.table({"n": [1, 2]}))
                for db in (new, firn.open(path)):
                    length = os.path.getsize(path)
                    with self.assertRaises(OSError) as caught, db.write() as transaction:
                        transaction["t"].append(pyarrow.table({"n": many}))
                    self.assertEqual(caught.exception.errno, errno.ENOSPC)
                    self.assertLessEqual(os.path.getsize(path), length)
                    with db.write() as transaction:
                        transaction["t"].append(pyarrow.table({"n": [3]}))
            self.assertEqual(len(new.refresh()["t"]), 8)
            self.assertTrue(firn.verify(path))
        finally:
            new = db = transaction = None
            gc.collect()
            os.system(f"umount -l '{disk}'")

    def test_datasets_are_filtered_sorted_and_joined(self):
        import pyarrow.dataset

        rows = pyarrow.table({"k": [3, 1, 2, 4], "v": ["c", "a", "b", "d"]})
        others = pyarrow.table({"k": [1, 2, 5], "w": [10, 20, 50]})
        with self.db.write() as transaction:
            transaction["t"].append(rows)
            transaction["other"].append(others)
        dataset, other, field = self.db["t"].to_dataset(), self.db["other"].to_dataset(), pyarrow.dataset.field
        self.assertEqual(dataset.sort_by("k").to_table()["v"].to_pylist(), list("abcd"))
        expected = rows.join(others, "k", join_type="inner").sort_by("k")
        for right in (other, pyarrow.dataset.dataset(others)):
            self.assertEqual(dataset.join(right, "k", join_type="inner").sort_by("k").to_table(), expected)
        found = dataset.sort_by("k").join_asof(pyarrow.dataset.dataset(others), on="k", by=[], tolerance=0)
        self.assertEqual(found.to_table()["w"].to_pylist(), [10, 20, None, None])
        some = dataset.filter(field("k") > 1)
        self.assertEqual(some.filter(field("v") != "c").to_table()["k"].to_pylist(), [2, 4])
        self.assertEqual(some.to_table(filter=field("v") != "c", columns=["v"]).to_pydict(), {"v": ["b", "d"]})
        self.assertEqual((some.count_rows(), dataset.count_rows(), some.head(1)["k"].to_pylist()), (3, 4, [3]))
        self.assertEqual(dataset.take([3, 0])["k"].to_pylist(), [4, 3])
        self.assertEqual(str(dataset.partition_expression), "true")

    def test_functions_of_arrow_that_read_a_dataset_by_themselves_have_its_rows(self):
        import pyarrow.acero
        import pyarrow.dataset

        rows = pyarrow.table({"k": list(range(70_000)), "v": [f"v{n % 5 if n < 66_000 else n % 7}" for n in range(70_000)]})
        with self.db.write() as transaction:
            transaction["t"].append(rows)
        table, field = self.db["t"], pyarrow.dataset.field
        few = pyarrow.dataset.dataset(pyarrow.table({"k": [69_999, 1], "w": [1, 2]}))

        def read(dataset):
            scan = pyarrow.acero.Declaration("scan", pyarrow.acero.ScanNodeOptions(dataset)).to_table()
            joined = few.join(dataset, "k", join_type="inner").sort_by("k").to_table()
            return (
                sorted(pyarrow.dataset.Scanner.from_dataset(dataset, columns=["k"]).to_table()["k"].to_pylist()),
                pyarrow.dataset.Scanner.from_dataset(dataset, filter=field("v") == "v3").count_rows(),
                # More than Arrow has threads for files.
                pyarrow.dataset.UnionDataset(dataset.schema, [dataset] * 20).count_rows(),
                pyarrow.dataset.dataset([dataset, pyarrow.dataset.dataset(pyarrow.table({"new": [1]}))]).count_rows(),
                (scan.num_rows, joined.column("v").cast("string").to_pylist()),
            )

        for filter in (None, field("k") > 65_000, field("k") * 2 > 9):
            plain = pyarrow.dataset.dataset(rows)
            made = [table.to_dataset(), table.to_dataset(dictionaries=True), firn.open_folder(self.path).to_dataset()]
            if filter is not None:
                plain, *made = (dataset.filter(filter) for dataset in [plain, *made])
                # A union of pyarrow leaves out the filters of its parts.
                plain = pyarrow.dataset.dataset(plain.to_table())
            for dataset in made:
                self.assertEqual(read(dataset), read(plain), (dataset, filter))
                self.assertEqual(dataset.replace_schema(dataset.schema).count_rows(), plain.count_rows())
        # No cycle keeps the table, and with it the file.
        gc.disable()
        try:
            kept = weakref.ref(firn.open(self.path)["t"].to_dataset().filter(field("k") > 1)._table)
            self.assertIsNone(kept())
        finally:
            gc.enable()

    def test_numbers_in_each_layout_of_arrow(self):
        import pyarrow

        day, count = datetime.date(2020, 1, 1), 70_000
        decimals = [decimal.Decimal(n * 37 % 100_000) / 100 for n in range(count)]
        plain = {
            **{f"i{bits}": pyarrow.array([n % 100 - 50 for n in range(count)], f"int{bits}") for bits in (8, 16, 32, 64)},
            **{f"u{bits}": pyarrow.array([n % 200 for n in range(count)], f"uint{bits}") for bits in (8, 16, 32)},
            "f": pyarrow.array([n / 7 for n in range(count)], pyarrow.float32()),
            "d": pyarrow.array([day + datetime.timedelta(n % 900 - 400) for n in range(count)]),
            **{f"t{unit}": pyarrow.array([(n - 500) * 10**9 for n in range(count)], pyarrow.timestamp("ns")).cast(pyarrow.timestamp(unit))
               for unit in ("s", "ms", "us", "ns")},
            "fraction": pyarrow.array([n * 1_500 for n in range(count)], pyarrow.timestamp("ms")),
            "early": pyarrow.array([-9_000_000_000 * 10**9, *range(count - 1)], pyarrow.timestamp("ns")),
            "m": pyarrow.array(decimals, pyarrow.decimal128(15, 2)),
            "long": pyarrow.array([decimal.Decimal("12345678901234567.89"), *decimals[1:]], pyarrow.decimal128(25, 2)),
        }
        nulls = {f"{name} or none": pyarrow.concat_arrays([pyarrow.nulls(1, array.type), array.slice(1)]) for name, array in plain.items()}
        # The first value is null, the others are as before.
        rows = pyarrow.table({**plain, **nulls})
        with self.db.write() as transaction:
            transaction["t"].append(rows)
            transaction["t"].append(rows.slice(5, 3))
        table, expected = self.db["t"], pyarrow.concat_tables([rows, rows.slice(5, 3)])
        for where, chosen in [(None, expected), ("i64 = 3", expected.filter(pyarrow.compute.field("i64") == 3)),
                              ("i64 > -40", expected.filter(pyarrow.compute.field("i64") > -40))]:
            found = table.scan(where=where).to_arrow()
            found.validate(full=True)
            for name in rows.column_names:
                self.assertEqual(found.schema.field(name).type, rows.schema.field(name).type, name)
                self.assertTrue(found[name].equals(chosen[name]), f"{name} {where}")

    @needs("pyarrow")
    def test_a_row_by_key_makes_few_calls_in_each_thread(self):
        with tempfile.TemporaryDirectory() as folder, firn.create(f"{folder}/calls.firn") as db:
            with db.write() as transaction:
                transaction["rows"].append({"id": list(range(300)), "v": [str(i) * (i * 5) for i in range(300)]}, key="id")
            table, wrong = db["rows"], []

            def read(seed):
                chance = random.Random(seed)
                for key in chance.choices(range(300), k=300):
                    # Some rows are longer than the room that is kept for the next call.
                    if table[key] != {"id": key, "v": str(key) * (key * 5)}:
                        wrong.append(key)

            threads = [threading.Thread(target=read, args=(seed,)) for seed in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])
            for key in (-1, 300, 2**63, None):
                with self.assertRaises((KeyError, ValueError)):
                    table[key]
            calls, row = [], table[6]
            sys.setprofile(lambda frame, event, argument: calls.append(event) if event == "call" else None)
            try:
                row = table[7]
            finally:
                sys.setprofile(None)
            self.assertEqual(row["id"], 7)
            self.assertLessEqual(len(calls), 5)

    @needs("pyarrow")
    def test_a_small_commit_makes_few_calls(self):
        import pyarrow

        with tempfile.TemporaryDirectory() as folder, firn.create(f"{folder}/calls.firn") as db:
            rows = [pyarrow.table({"id": [i], "v": ["x"]}) for i in range(3)]
            calls = []

            def commit(i):
                with db.write() as transaction:
                    transaction["rows"].append(rows[i], **({"key": "id"} if i == 0 else {}))

            commit(0)
            commit(1)
            sys.setprofile(lambda frame, event, argument: calls.append(event) if event == "call" else None)
            try:
                commit(2)
            finally:
                sys.setprofile(None)
            # With a generator for each call of the library, and one for progress that nobody watches, there were 55.
            self.assertLessEqual(len(calls), 48)
            self.assertEqual(len(db["rows"]), 3)

    def test_a_transaction_is_used_by_one_call_at_a_time(self):
        import pyarrow

        schema = pyarrow.schema([("a", pyarrow.int64())])
        for use in ["commit", "abort", "append"]:
            transaction, seen = self.db.write(), []

            def batches():
                yield pyarrow.record_batch([[1]], schema=schema)
                try:
                    transaction["t"].append([{"a": 2}]) if use == "append" else getattr(transaction, use)()
                except RuntimeError as error:
                    seen.append(str(error))
                yield pyarrow.record_batch([[3]], schema=schema)

            with transaction:
                transaction["t"].append(pyarrow.RecordBatchReader.from_batches(schema, batches()))
            self.assertEqual(seen, ["the transaction is used by another call: wait until it returns"])
        self.assertEqual([row["a"] for row in self.db["t"]], [1, 3] * 3)

    def test_a_tag_names_the_version_of_its_database(self):
        with self.db.write() as transaction:
            transaction["n"].append([{"n": 1}])
        old = firn.open(self.path)
        with self.db.write() as transaction:
            transaction["n"].append([{"n": 2}])
        old.tag("old")
        self.assertEqual(len(firn.open(self.path, version="old")["n"]), 1)

    def test_changes_by_key_need_the_columns_of_the_key(self):
        with self.db.write() as transaction:
            transaction["t"].append([{"id": 1, "a": 1}], key="id")
        for change in ["upsert", "delete"]:
            with self.assertRaisesRegex(firn.SchemaError, "no column \"id\""), self.db.write() as transaction:
                writer = transaction["t"]
                writer.upsert([{"a": 5}]) if change == "upsert" else writer.delete(keys=[{"a": 5}])
        self.assertEqual(list(self.db["t"]), [{"id": 1, "a": 1}])

    def test_tags_and_versions(self):
        for i in range(3):
            with self.db.write() as transaction:
                transaction["n"].append([{"n": i}])
        self.db.tag("two", 2)
        self.assertEqual([version["tags"] for version in self.db.log() if version["version"] == 2], [["two"]])
        self.assertEqual(len(firn.open(self.path, version="two")["n"]), 2)
        self.db.untag("two")
        with self.assertRaises(FileNotFoundError):
            self.db.untag("two")

    def test_keys_are_found_by_the_values_of_python_that_were_written(self):
        import pyarrow

        decimals, days, seconds = decimal.Decimal, datetime.timedelta(days=-1), datetime.timedelta(seconds=1)
        times, prices = [datetime.time(1, 2), datetime.time(1, 2, 3)], [decimals("1.10"), decimals(2)]
        for name, values, equal, others in (
            ("unsigned", pyarrow.array([1, 2**63, 2**64 - 1], pyarrow.uint64()), [decimals(2**63)], [2**63 + 1, 2**64, -1, 2**200, 1.0]),
            ("int", pyarrow.array([1, -(2**63)]), [decimals(1)], ["1", 1.0, object(), 2**63, b"1", [1], None, decimals("1.5"), True]),
            ("short", pyarrow.array(prices, pyarrow.decimal128(10, 2)), [1.1, decimals("1.1"), 2], [decimals("1.11"), "2"]),
            ("long", pyarrow.array([decimals("12345678901234567890.10")], pyarrow.decimal128(30, 2)), [], [decimals("1.1"), 1.5]),
            ("longer", pyarrow.array(prices, pyarrow.decimal128(38, 2)), [decimals("1.1"), "1.10"], [decimals("1.101")]),
            ("seconds", pyarrow.array(times, pyarrow.time32("s")), ["01:02:00"], [datetime.time(1, 2, 0, 1)]),
            ("micros", pyarrow.array([*times, datetime.time(1, 2, 3, 4)]), [], [datetime.time(1)]),
            ("nanos", pyarrow.array(times, pyarrow.time64("ns")), [], [datetime.time(1, 2, 0, 1), 5]),
            ("duration", pyarrow.array([days, seconds]), [1_000_000], [datetime.timedelta(0)]),
            ("long duration", pyarrow.array([days, seconds], pyarrow.duration("s")), [1], [datetime.timedelta(microseconds=1)]),
            ("text", pyarrow.array(["1", "a"]), [], [1, 1.0, None, b"a"]),
        ):
            with self.db.write() as transaction:
                transaction[name].append(pyarrow.table({"k": values}), key="k")
            table = self.db[name]
            for key in values.to_pylist() + equal:
                self.assertTrue(key in table and table[key], (name, key))
            with self.db.write() as transaction:
                self.assertEqual(transaction[name].delete(keys=values.to_pylist()), len(values))
                transaction.abort()
            for key in others:
                self.assertNotIn(key, table)
                with self.assertRaises((KeyError, ValueError, TypeError)):
                    table[key]
        with self.assertRaises(ValueError):
            (1, 2) in self.db["int"]

    def test_the_time_of_a_version_finds_the_version(self):
        zone = datetime.timezone(datetime.timedelta(hours=-3, minutes=-30))
        for i in range(7):
            with self.db.write() as transaction:
                transaction["t"].append([{"id": i}])
        versions = self.db.log()
        self.assertEqual(len(versions), 7)
        for entry in versions:
            time = entry["time"]
            # A version of the same microsecond may follow.
            expected = max(other["version"] for other in versions if other["time"] <= time)
            given = [time, time.astimezone(zone), time.replace(tzinfo=None)]
            if time.microsecond:
                given += [time.isoformat(), str(time), time.astimezone(zone).isoformat(), time.isoformat().replace("+00:00", "Z")]
            for version in given:
                with firn.open(self.path, version=version) as db:
                    self.assertEqual((db.version, db.time), (expected, versions[7 - expected]["time"]))
                    self.assertEqual(db.refresh(version).version, expected)
            self.assertEqual(len(firn.read_table(self.path, version=time)), expected)
            self.assertEqual(len(firn.open_folder(self.path, version=time)), expected)
        first = versions[-1]["time"]
        with self.assertRaises(FileNotFoundError):
            firn.open(self.path, version=first - datetime.timedelta(microseconds=1))
        self.assertEqual(firn.open(self.path, version=versions[0]["time"].date()).version, 7)
        text = "2024-01-02T03:04:05.123456789"
        for given, expected in ((text, text), (f"{text[:-2]}Z", f"{text[:-2]}99Z"), (text[:-10], text[:-10])):
            self.assertEqual(_database.version_text(given), expected)
        self.db.tag("first", first)
        self.assertEqual(firn.open(self.path, version="first").version, 1)

    def test_results_without_rows_and_in_notebooks(self):
        with self.db.write() as transaction:
            transaction["t"].append({"id": list(range(10)), "v": ["<a>"] * 10}, key="id")
        table = self.db["t"]
        for given in ({}, {"query": "id > 1 SORT(id ASC)"}, {"aggregates": "count"}, {"group_by": ["v"], "aggregates": "count"}):
            some, none = table.query(**given).to_arrow(), table.query(**given, limit=0).to_arrow()
            self.assertTrue(some.num_rows > 0 and none.num_rows == 0 and none.schema == some.schema, given)
        with self.assertRaises(ValueError):
            table.query(limit=-1)
        for result in (self.db.sql("SELECT v AS w FROM t"), table.query("id = 1")):
            html = result._repr_html_()
            self.assertTrue("&lt;a&gt;" in html and ": string</th>" in html and "<a>" not in html, html)

    def test_scanners_have_the_methods_of_those_of_pyarrow(self):
        import pyarrow.dataset

        with self.db.write() as transaction:
            transaction["t"].append({"id": list(range(10)), "v": ["a"] * 10})
        dataset, few = self.db["t"].to_dataset(), pyarrow.dataset.field("id") > 6
        for columns, filter in ((["id"], None), (["v", "id"], few), ([], None), (None, few)):
            given = {"columns": columns, "filter": filter}
            plain = pyarrow.dataset.dataset(dataset.to_table()).scanner(**given, batch_size=4)
            found = dataset.scanner(**given, batch_size=4)
            self.assertEqual(found.projected_schema, plain.projected_schema)
            self.assertTrue(all(batch.num_rows <= 4 for batch in found.to_batches()))
            again = [dataset.scanner(**given, batch_size=4) for _ in range(4)]
            rows = [one.record_batch.num_rows for one in again[0].scan_batches()]
            self.assertEqual((sum(rows), max(rows) <= 4), (plain.count_rows(), True))
            self.assertEqual(again[1].take(pyarrow.array([2, 0])), plain.take(pyarrow.array([2, 0])))
            self.assertEqual(again[2].to_reader().read_all().num_rows, plain.count_rows())
            self.assertEqual(again[3].head(2).num_rows, 2)
        with self.assertRaises(ValueError):
            dataset.scanner(["id"], batch_size=0)

    def test_encrypted_files(self):
        other = self.path.with_name("other.firn")
        with firn.create(other, key=os.urandom(64)).write() as transaction:
            transaction["t"].append([{"id": 1}])
        with self.assertRaisesRegex(firn.EncryptionError, "pass the key with key= ") as caught:
            firn.open(other, key=os.urandom(64))
        self.assertNotIn("encryption_key", caught.exception.advice)
        path, key = self.path.with_name("secret.firn"), os.urandom(64)
        with firn.create(path, key=key) as db, db.write() as transaction:
            transaction["n"].append([{"n": 1}])
        self.assertEqual(firn.open(path, key=key.hex())["n"].to_arrow()["n"].to_pylist(), [1])
        with self.assertRaises(PermissionError):
            firn.open(path, key=os.urandom(64))


if __name__ == "__main__":
    unittest.main()
