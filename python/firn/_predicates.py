"""Translation of the filters of other libraries to predicates of Firn.

A translation may match more rows than the filter, never fewer: the whole filter is applied to what the scan returns.
Parts that cannot be translated are left out.
"""

from __future__ import annotations

import datetime
import json
import re
from typing import Any

_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TOKEN = re.compile(
    r"""\s*(?:(?P<open>\()|(?P<close>\))|(?P<op>==|!=|<=|>=|<|>)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>[^\s()"=<>!,{}\[\]]+))"""
)
_INTEGERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}


def name(column: str) -> str | None:
    """Returns the name of a column in a predicate; None if it cannot be written."""
    return None if "`" in column else f"`{column}`"


def day(value: datetime.date) -> str:
    """Returns a day in a predicate."""
    return f"{value.isoformat()}@00:00:00"


def text(value: str) -> str | None:
    """Returns a text in a predicate; None if it has characters that need an escape."""
    return None if any(c in "\"'\\" or ord(c) < 32 for c in value) else f'"{value}"'


class ArrowFilter:
    """Reads the text of a pyarrow expression, which is the only form of it that can be read without another library."""

    def __init__(self, expression: str, schema: Any) -> None:
        self._types = {
            field.name: str(field.type.value_type if hasattr(field.type, "index_type") else field.type) for field in schema
        }
        self._tokens: list[tuple[str, str]] = []
        # Whether the predicate matches exactly the rows of the expression.
        self.is_exact = True
        at = 0
        while at < len(expression):
            found = _TOKEN.match(expression, at)
            if found is None:
                self._tokens = []
                break
            kind = found.lastgroup or ""
            self._tokens.append((kind, found[kind]))
            at = found.end()
        self._at = 0

    def predicate(self) -> str | None:
        """Returns a predicate that matches at least the rows of the expression; None for all rows."""
        try:
            found = self._expression()
            if self._at == len(self._tokens) and found is not None:
                return found
        except (IndexError, ValueError):
            pass
        self.is_exact = False
        return None

    def _next(self, kind: str | None = None) -> str:
        found, value = self._tokens[self._at]
        if kind is not None and found != kind:
            raise ValueError(value)
        self._at += 1
        return value

    def _expression(self) -> str | None:
        kind, value = self._tokens[self._at]
        if kind == "open":
            self._next()
            left = self._expression()
            kind, word = self._tokens[self._at]
            if kind == "close":
                self._next()
                return left
            if kind != "word" or word not in ("and", "or", "and_kleene", "or_kleene"):
                raise ValueError(word)
            self._next()
            right = self._expression()
            self._next("close")
            if word.startswith("and"):
                parts = [part for part in (left, right) if part is not None]
                self.is_exact = self.is_exact and len(parts) == 2
                return f"({' AND '.join(parts)})" if parts else None
            return f"({left} OR {right})" if left is not None and right is not None else None
        column = self._next("word")
        if column == "is_valid" and self._tokens[self._at][0] == "open":
            self._next()
            inner = self._next("word")
            self._next("close")
            written = name(inner)
            return f"{written} != nil" if inner in self._types and written else None
        if column not in self._types:
            raise ValueError(column)
        operator = self._next("op")
        kind, value = self._tokens[self._at]
        if kind not in ("text", "word"):
            raise ValueError(value)
        self._next()
        literal, written = self._literal(self._types[column], kind, value), name(column)
        # A row without a value is different from every value in Firn, and unknown in Arrow.
        self.is_exact = self.is_exact and operator != "!="
        if literal is None or written is None:
            return None
        comparison = f"{written} {operator} {literal}"
        # A row without a text is less than every text in Firn, and unknown in Arrow.
        return f"({comparison} AND {written} != nil)" if kind == "text" and operator in ("<", "<=") else comparison

    def _literal(self, type_name: str, kind: str, value: str) -> str | None:
        if kind == "text":
            return text(value[1:-1]) if type_name == "string" else None
        if type_name in _INTEGERS or type_name == "double" or type_name.startswith("decimal"):
            return value if _NUMBER.fullmatch(value) else None
        if type_name == "date32[day]":
            return f"{value}@00:00:00" if _DATE.fullmatch(value) else None
        return value if type_name == "bool" and value in ("true", "false") else None


_POLARS = {"Gt": ">", "GtEq": ">=", "Lt": "<", "LtEq": "<=", "Eq": "==", "NotEq": "!="}
_EPOCH = datetime.date(1970, 1, 1)


def polars_predicate(expression: Any, kinds: dict[str, str]) -> tuple[str | None, bool]:
    """Returns a predicate that matches at least the rows of a Polars expression, None for all rows, and whether it matches
    exactly these.

    `kinds` are the kinds of the columns that single values have.
    """
    try:
        tree = json.loads(expression.meta.serialize(format="json"))
        return _polars(tree, kinds), _is_exact(tree, kinds)
    except Exception:  # noqa: BLE001 - the form is not stable; Polars applies a filter that is not exact
        return None, False


def _is_exact(tree: Any, kinds: dict[str, str]) -> bool:
    node = tree["BinaryExpr"]
    if node["op"] in ("And", "LogicalAnd", "Or", "LogicalOr"):
        return all(_is_exact(node[side], kinds) for side in ("left", "right"))
    # A row without a value is different from every value in Firn, and a row without a text is less than every text.
    operator, kind = node["op"], kinds[node["left"]["Column"]]
    return operator != "NotEq" and (kind != "string" or operator in ("Eq", "Gt", "GtEq")) and _polars(tree, kinds) is not None


def _polars(tree: Any, kinds: dict[str, str]) -> str | None:
    node = tree["BinaryExpr"]
    if node["op"] in ("And", "LogicalAnd"):
        parts = []
        for side in ("left", "right"):
            try:
                part = _polars(node[side], kinds)
            except (KeyError, TypeError):
                part = None
            if part is not None:
                parts.append(part)
        return f"({' AND '.join(parts)})" if parts else None
    if node["op"] in ("Or", "LogicalOr"):
        left, right = _polars(node["left"], kinds), _polars(node["right"], kinds)
        return f"({left} OR {right})" if left is not None and right is not None else None
    operator, column, scalar = _POLARS[node["op"]], node["left"]["Column"], node["right"]["Literal"]
    (kind, value), written = next(iter(next(iter(scalar.values())).items())), name(column)
    if written is None:
        return None
    literal = None
    if kinds[column] in ("int", "double", "float"):
        # In Polars, NaN is greater than every number.
        if kinds[column] != "int" and operator not in ("<", "<=", "=="):
            return None
        if kind.startswith(("Int", "UInt")) or (kind == "Float64" and value == value and abs(value) < 1e300):
            literal = repr(value)
    elif kinds[column] == "string" and kind == "String":
        literal = text(value)
    elif kinds[column] == "day" and kind == "Date":
        literal = day(_EPOCH + datetime.timedelta(days=value))
    elif kinds[column] == "bool" and kind == "Boolean":
        literal = "true" if value else "false"
    return None if literal is None else f"{written} {operator} {literal}"
