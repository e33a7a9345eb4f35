"""The schema of a table."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Iterator

_COLLECTIONS = {"list": "list<{}>", "set": "set<{}>", "map": "map<string, {}>"}

# The code of Firn for dates that are written without a time.
_DAY = 5


def _is_day(column: dict[str, Any]) -> bool:
    logical = dict(column.get("attributes", ())).get("logical-type")
    return logical == "date" or (logical is None and column.get("notation", (0,))[0] == _DAY)


@dataclass(frozen=True)
class Column:
    """A column of a type.

    Attributes:
        name: the name.
        kind: the kind of a value, such as `"int"` or `"string"`.
        optional: whether a row can have no value.
        collection: `"list"`, `"set"` or `"map"`; None for single values.
        target: the type of linked or embedded objects, or None.
        null_elements: whether elements of the collection can be null.
        is_day: whether the dates are days without a time.
        logical_type: the type that the values had in another format, such as `"time(us)"` of texts, or None.
    """

    name: str
    kind: str
    optional: bool = False
    collection: str | None = None
    target: str | None = None
    null_elements: bool = False
    is_day: bool = False
    logical_type: str | None = field(default=None, repr=False)

    @property
    def type(self) -> str:
        """The type in Firn's notation, such as `list<double>` or `int?`."""
        scalar = self.kind if self.target is None else f"link<{self.target}>" if self.kind == "link" else self.target
        if self.null_elements:
            scalar += "?"
        return _COLLECTIONS.get(self.collection or "", "{}").format(scalar) + ("?" if self.optional else "")


@dataclass(frozen=True)
class Schema:
    """The columns of a type, in their order."""

    name: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    embedded: dict[str, "Schema"] = field(default_factory=dict, compare=False, repr=False)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __str__(self) -> str:
        lines = [self.name]
        for column in self.columns:
            lines.append(f"  {column.name}: {column.type}" + (" (key)" if column.name in self.key else ""))
        return "\n".join(lines)

    @classmethod
    def parse(cls, text: bytes) -> "Schema":
        """Reads the JSON of the library."""
        types = json.loads(text)["types"]
        made = []
        for entry in types:
            columns = tuple(
                Column(
                    column["name"],
                    column["kind"],
                    column.get("optional", False),
                    column.get("collection"),
                    column.get("target"),
                    column.get("nullElements", False),
                    _is_day(column),
                    dict(column.get("attributes", ())).get("logical-type"),
                )
                for column in entry["columns"]
            )
            made.append(cls(entry["name"], columns, tuple(columns[i].name for i in entry.get("key", ()))))
        return cls(made[0].name, made[0].columns, made[0].key, {schema.name: schema for schema in made[1:]})
