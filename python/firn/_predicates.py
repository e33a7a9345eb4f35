"""Translation of the filters of other libraries to predicates of Firn.

A translation may match more rows than the filter, never fewer: the whole filter is applied to what the scan returns.
Parts that cannot be translated are left out.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import decimal
import itertools
import json
import operator
import re
from typing import Any, Callable, Mapping, Sequence

_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_TOKEN = re.compile(
    r"""\s*(?:(?P<open>\()|(?P<close>\))|(?P<op>==|!=|<=|>=|<|>)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<word>[^\s()"=<>!,{}\[\]]+))"""
)


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
    """Translates an expression of pyarrow.

    An expression has no other public form than its text, in which a column can look like a value, and a value like one of another
    type. The parts that the text seems to have are therefore put together again, with each type that the values can have: the
    translation is used only if one of the results is the same expression.
    """

    def __init__(self, expression: Any, schema: Any, kinds: Mapping[str, str]) -> None:
        """`kinds` are the kinds of the columns that have single values; `"day"` for dates without a time."""
        self._wanted = expression
        self._types = {
            field.name: field.type.value_type if hasattr(field.type, "index_type") else field.type
            for field in schema
            if field.name in kinds
        }
        self._kinds = kinds
        self._tokens: list[tuple[str, str]] = []
        # For each comparison in the order of the text, what it can be.
        self._choices: list[list[_Comparison]] = []
        # Whether the predicate matches exactly the rows of the expression.
        self.is_exact = True
        written, at = str(expression), 0
        while at < len(written):
            found = _TOKEN.match(written, at)
            if found is None:
                self._tokens = []
                break
            kind = found.lastgroup or ""
            self._tokens.append((kind, found[kind]))
            at = found.end()
        self._at = 0

    def predicate(self) -> str | None:
        """Returns a predicate that matches at least the rows of the expression; None for all rows."""
        found = None
        try:
            join = self._expression()
            if self._at == len(self._tokens):
                found = self._chosen(join)
        except (IndexError, ValueError, RecursionError):
            pass
        if found is None:
            self.is_exact = False
            return None
        text, self.is_exact = found.predicate, found.is_exact
        return text

    def _chosen(self, join: _Join) -> _Part | None:
        """Returns the translation of the choice of comparisons that is the expression."""
        uniform = ([of[min(i, len(of) - 1)] for of in self._choices] for i in range(max(map(len, self._choices), default=0)))
        for choice in itertools.islice(itertools.chain(uniform, itertools.product(*self._choices)), _MOST_CHOICES):
            if join([one.expression for one in choice], _both, _either).equals(self._wanted):
                return join([one.part for one in choice], _Part.both, _Part.either)
        return None

    def _next(self, kind: str | None = None) -> str:
        found, value = self._tokens[self._at]
        if kind is not None and found != kind:
            raise ValueError(value)
        self._at += 1
        return value

    def _expression(self) -> _Join:
        """Returns a function that joins one thing for each comparison as the expression does."""
        kind, value = self._tokens[self._at]
        if kind == "open":
            self._next()
            left = self._expression()
            kind, word = self._tokens[self._at]
            self._next()
            if kind == "close":
                return left
            if kind != "word" or word not in ("and", "or"):
                raise ValueError(word)
            right = self._expression()
            self._next("close")
            if word == "and":
                return lambda parts, both, either: both(left(parts, both, either), right(parts, both, either))
            return lambda parts, both, either: either(left(parts, both, either), right(parts, both, either))
        column = self._next("word")
        if column == "is_valid" and self._tokens[self._at][0] == "open":
            self._next()
            choices = self._validity(self._next("word"))
            self._next("close")
        else:
            operator = self._next("op")
            kind, value = self._tokens[self._at]
            self._next()
            choices = self._comparisons(column, operator, kind, value)
        if not choices:
            raise ValueError(value)
        number = len(self._choices)
        self._choices.append(choices)
        return lambda parts, both, either: parts[number]

    def _validity(self, column: str) -> list[_Comparison]:
        import pyarrow.compute

        written = name(column) if column in self._types else None
        part = _Part(None, False) if written is None else _Part(f"{written} != nil", True)
        return [_Comparison(pyarrow.compute.field(column).is_valid(), part)]

    def _comparisons(self, column: str, operator: str, kind: str, value: str) -> list[_Comparison]:
        import pyarrow.compute

        if kind not in ("text", "word") or column not in self._types:
            raise ValueError(column)
        compare, field, written = _OPERATORS[operator], pyarrow.compute.field(column), name(column)
        made = []
        for scalar in _scalars(self._types[column], kind, value):
            literal = _literal(self._types[column], self._kinds[column], scalar, value)
            part = _Part(None, False)
            if literal is not None and written is not None:
                comparison = f"{written} {operator} {literal}"
                if kind == "text" and operator in ("<", "<="):
                    # A row without a text is less than every text in Firn, and unknown in Arrow.
                    comparison = f"({comparison} AND {written} != nil)"
                # A row without a value is different from every value in Firn, and unknown in Arrow.
                part = _Part(comparison, operator != "!=")
            made.append(_Comparison(compare(field, scalar), part))
        return made


@dataclasses.dataclass(frozen=True)
class _Part:
    """A predicate that matches at least the rows of a part of an expression, None for all rows, and whether it matches these
    exactly."""

    predicate: str | None
    is_exact: bool

    def both(self, other: _Part) -> _Part:
        parts = [part for part in (self.predicate, other.predicate) if part is not None]
        return _Part(f"({' AND '.join(parts)})" if parts else None, self.is_exact and other.is_exact)

    def either(self, other: _Part) -> _Part:
        if self.predicate is None or other.predicate is None:
            return _Part(None, False)
        return _Part(f"({self.predicate} OR {other.predicate})", self.is_exact and other.is_exact)


@dataclasses.dataclass(frozen=True)
class _Comparison:
    """A comparison that a part of a text can be: as an expression of pyarrow, and its translation."""

    expression: Any
    part: _Part


_Join = Callable[[Sequence[Any], Callable[[Any, Any], Any], Callable[[Any, Any], Any]], Any]
_both, _either = operator.and_, operator.or_
_OPERATORS = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
# Longer filters with values of several types are left to pyarrow.
_MOST_CHOICES = 300
# Doubles are compared as integers and decimals are within these bounds.
_EXACT_INTEGERS, _EXACT_DIGITS = 2**53, 15


def _scalars(type: Any, kind: str, value: str) -> list[Any]:
    """Returns the scalars that a text in a comparison with a column of a type can be, the most frequent first."""
    import pyarrow

    if kind == "text":
        return [pyarrow.scalar(value[1:-1], other) for other in (pyarrow.string(), pyarrow.large_string())]
    made: list[Any] = []
    if value in ("true", "false"):
        made.append((value == "true", pyarrow.bool_()))
    elif _DATE.fullmatch(value):
        made.append((datetime.date.fromisoformat(value), pyarrow.date32()))
    elif _NUMBER.fullmatch(value):
        number, whole = decimal.Decimal(value), re.fullmatch(r"-?\d+", value) is not None
        # The type of the column, which engines give values; then those that Python's values have.
        if pyarrow.types.is_decimal(type):
            made += [(number, type), (number, None)]
        elif pyarrow.types.is_floating(type):
            made.append((float(value), type))
        elif pyarrow.types.is_integer(type) and whole:
            made.append((int(value), type))
        if whole:
            made += [(int(value), other) for other in (pyarrow.int64(), pyarrow.int32(), pyarrow.uint64())]
        made.append((float(value), pyarrow.float64()))
    scalars = []
    for plain, other in made:
        with contextlib.suppress(ValueError, OverflowError, pyarrow.ArrowException):
            scalar = pyarrow.scalar(plain, other)
            if not any(scalar.equals(known) for known in scalars):
                scalars.append(scalar)
    return scalars


def _literal(type: Any, kind: str, scalar: Any, written: str) -> str | None:
    """Returns a scalar in a predicate, None if Firn does not compare it with values of a kind as Arrow does with those of a type."""
    import pyarrow

    of, is_number = pyarrow.types, kind in ("int", "double", "decimal128")
    if of.is_string(scalar.type) or of.is_large_string(scalar.type):
        return text(scalar.as_py()) if kind == "string" and of.is_string(type) else None
    if of.is_date32(scalar.type):
        return day(scalar.as_py()) if kind == "day" and of.is_date32(type) else None
    if of.is_boolean(scalar.type):
        return written if kind == "bool" else None
    if of.is_decimal(type) and is_number:
        # Arrow compares a decimal and a double as doubles. Doubles stand for decimals of few digits.
        if of.is_floating(scalar.type):
            return written if kind == "double" and len(decimal.Decimal(written).as_tuple().digits) <= _EXACT_DIGITS else None
        return written if kind != "double" or len(decimal.Decimal(written).as_tuple().digits) <= _EXACT_DIGITS else None
    if (of.is_integer(type) or of.is_float64(type)) and is_number:
        is_exact = of.is_floating(type) == of.is_floating(scalar.type) or abs(scalar.as_py()) < _EXACT_INTEGERS
        return written if is_exact and not of.is_decimal(scalar.type) else None
    return None


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
