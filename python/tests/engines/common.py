"""The data of the tests of engines, and the answers of the command.

FIRN_COMMAND is the command; without it, the answers are those of the package.
"""

from __future__ import annotations

import datetime
import decimal
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import pyarrow

import firn

COMMAND = os.environ.get("FIRN_COMMAND")
COUNT = 150_000
UTC = datetime.timezone.utc


def rows(count: int, start: int = 0) -> pyarrow.Table:
    """Returns rows with all kinds of columns, and nulls."""
    every = range(start, start + count)

    def some(step, make):
        return [None if i % step == 0 else make(i) for i in every]

    cents = decimal.Decimal("0.01")
    long = pyarrow.decimal128(30, 4)
    return pyarrow.table({
        "id": pyarrow.array(every, pyarrow.int64()),
        "city": pyarrow.array(some(7, lambda i: f"city {i % 50}"), pyarrow.string()),
        "price": pyarrow.array(some(11, lambda i: i % 1000 / 4), pyarrow.float64()),
        "small": pyarrow.array(some(13, lambda i: i % 100), pyarrow.int16()),
        "flag": pyarrow.array(some(5, lambda i: i % 2 == 0), pyarrow.bool_()),
        "day": pyarrow.array([datetime.date(2024, 1, 1) + datetime.timedelta(i % 300) for i in every], pyarrow.date32()),
        "at": pyarrow.array([datetime.datetime(2024, 1, 1, tzinfo=UTC) + datetime.timedelta(seconds=i, microseconds=i % 7)
                             for i in every], pyarrow.timestamp("us", "UTC")),
        "cost": pyarrow.array(some(17, lambda i: i * cents), pyarrow.decimal128(12, 2)),
        "large": pyarrow.array([decimal.Decimal(i) * 10**20 for i in every], long),
        "numbers": pyarrow.array(some(19, lambda i: list(range(i % 4))), pyarrow.list_(pyarrow.int64())),
        "words": pyarrow.array(some(23, lambda i: [("a", f"{i % 9}"), ("b", None)]), pyarrow.map_(pyarrow.string(), pyarrow.string())),
        "place": pyarrow.array(some(29, lambda i: {"x": i, "name": f"p{i % 3}"}),
                               pyarrow.struct([("x", pyarrow.int64()), ("name", pyarrow.string())])),
    })  # fmt: skip


def answer(path, where: str | None = None, group: str = "city") -> dict:
    """Returns the rows and the sum of id of each group, as `firn query` prints them, or as the package finds them."""
    if COMMAND is None:
        query = firn.open(path)["rows"].query(where, group_by=[group], aggregates="count, sum(id) as total")
        return {row[group]: (row["count"], row["total"]) for row in query}
    command = [COMMAND, "query", str(path), "--group-by", group, "--agg", "count, sum(id) as total", "--format", "ndjson", "--quiet"]
    if where is not None:
        command.insert(3, where)
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = [json.loads(line) for line in text.splitlines()]
    return {row.get(group): (row["count"], row["total"]) for row in found}


# The filters that each engine applies, as predicates of Firn. In Firn, texts without a value are less than every text.
FILTERS = [
    ("id < 1000", "id < 1000"),
    ("city < 'city 2'", "city < 'city 2' AND city != nil"),
    ("city <> 'city 2'", "city != 'city 2' AND city != nil"),
    ("city IN ('city 1', 'city 3')", "city IN {'city 1', 'city 3'}"),
    ("city LIKE 'city 1%'", "city BEGINSWITH 'city 1'"),
    ("price > 100.5 AND id < 90000", "price > 100.5 AND id < 90000"),
    ("price IS NULL", "price == nil"),
    ("NOT (small = 5)", "small != 5 AND small != nil"),
    ("flag", "flag == true"),
    ("day > DATE '2024-06-01'", "day > 2024-06-01@00:00:00"),
    ("cost = 12.34", "cost == 12.34"),
    ("id % 3 = 0 AND id < 3000", None),
]


class Case(unittest.TestCase):
    """A folder with one file `rows.firn` of several segments."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = Path(cls.temporary.name)
        cls.path = str(cls.folder / "rows.firn")
        cls.plain = rows(COUNT)
        with firn.create(cls.path) as db, db.write() as transaction:
            transaction["rows"].append(cls.plain, key="id")

    def new(self, name: str) -> str:
        """Returns the path of a folder that does not exist yet."""
        return str(Path(tempfile.mkdtemp(dir=self.folder), name))

    def assert_same_rows(self, found: pyarrow.Table, expected: pyarrow.Table) -> None:
        """Compares all values, in the order of id."""
        self.assertEqual(sorted(found.column_names), sorted(expected.column_names))
        found, expected = found.sort_by("id"), expected.sort_by("id")
        self.assertEqual(found.num_rows, expected.num_rows)
        for name in expected.column_names:
            self.assertEqual(found[name].to_pylist(), expected[name].to_pylist(), name)

    def hidden(self, folder: str) -> list[str]:
        """Returns the files and folders of unfinished jobs."""
        return [name for name in os.listdir(os.path.dirname(folder)) if name.startswith(".")]

    def damaged(self) -> str:
        """Returns the path of a copy with a damaged segment."""
        path = Path(self.new("damaged.firn"))
        data = bytearray(Path(self.path).read_bytes())
        # The largest part of a file is segments.
        for at in range(len(data) // 4, len(data) // 2, 97):
            data[at] ^= 0xFF
        path.write_bytes(data)
        return str(path)

    def commit_beside(self, path: str, times: int = 3) -> None:
        """Changes the file in other versions."""
        with firn.open(path) as db:
            for i in range(times):
                with db.write() as transaction:
                    transaction["rows"].delete(where=f"id < {(i + 1) * 1000}")
