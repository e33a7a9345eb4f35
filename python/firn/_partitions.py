"""Columns that are names of folders, such as `year=2024/part-0.firn`, and predicates over them."""

from __future__ import annotations

import datetime
import re
import tempfile
from pathlib import Path
from typing import Any, Iterable, Sequence
from urllib.parse import unquote

from ._errors import UsageError

# The name of a folder of rows that have no value in the column.
_NULL = "__HIVE_DEFAULT_PARTITION__"
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def _pairs(path: str) -> list[tuple[str, str | None]]:
    pairs = []
    for folder in path.split("/")[:-1]:
        name, mark, value = folder.partition("=")
        if mark and name:
            value = unquote(value)
            pairs.append((unquote(name), None if value == _NULL else value))
    return pairs


def _typed(texts: list[str | None]) -> tuple[str, list[Any]]:
    """Returns the kind of a column and its values: whole numbers, days, or texts."""
    given = [text for text in texts if text is not None]
    if all(_INTEGER.fullmatch(text) and -(2**63) <= int(text) < 2**63 for text in given):
        return "int", [None if text is None else int(text) for text in texts]
    try:
        if all(_DAY.fullmatch(text) for text in given):
            return "day", [None if text is None else datetime.date.fromisoformat(text) for text in texts]
    except ValueError:
        pass
    return "string", list(texts)


class Partitions:
    """The columns that the folders of all paths have in common, in the same order. There are none if the names differ."""

    def __init__(self, paths: Sequence[str], taken: Iterable[str] = ()) -> None:
        """Reads the names of folders. A column of the files, in `taken`, has precedence."""
        pairs = [_pairs(path) for path in paths]
        names = [name for name, _ in pairs[0]] if pairs else []
        if len(set(names)) != len(names) or any([name for name, _ in found] != names for found in pairs):
            names = []
        self.kinds: dict[str, str] = {}
        self.values: list[dict[str, Any]] = [{} for _ in paths]
        for i, name in enumerate(names):
            if name in taken:
                continue
            self.kinds[name], values = _typed([found[i][1] for found in pairs])
            for row, value in zip(self.values, values):
                row[name] = value

    def arrow(self, name: str) -> Any:
        """Returns the Arrow field of a column."""
        import pyarrow

        types = {"int": pyarrow.int64(), "day": pyarrow.date32(), "string": pyarrow.string()}
        return pyarrow.field(name, types[self.kinds[name]], any(row[name] is None for row in self.values))

    def matching(self, where: str) -> list[bool]:
        """Returns which files a predicate over these columns matches, by the rules of Firn's query language."""
        import pyarrow

        from ._database import Database

        columns = {name: [row[name] for row in self.values] for name in self.kinds}
        fields = [pyarrow.field(name, self.arrow(name).type) for name in self.kinds]
        position = "#"
        while position in columns:
            position += "#"
        columns[position] = list(range(len(self.values)))
        table = pyarrow.table(columns, schema=pyarrow.schema([*fields, pyarrow.field(position, pyarrow.int64())]))
        with tempfile.TemporaryDirectory() as folder:
            with Database(str(Path(folder, "folders.firn")), _create=True) as db:
                with db.write() as transaction:
                    transaction["folders"].append(table)
                found = {row[position] for row in db["folders"].scan([position], where)}
        return [i in found for i in range(len(self.values))]


_TOKEN = re.compile(
    r"""\s+|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`|[^\W\d][\w.]*|[\d@.:][\w@.:+-]*|&&|\|\||.""", re.DOTALL
)


def _conjuncts(where: str) -> list[list[str]]:
    """Returns the parts of a predicate that AND joins at its outermost level, as lists of tokens."""
    tokens = _TOKEN.findall(where)
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token in "([{") - (token in ")]}") if len(token) == 1 else 0
        if depth == 0 and (token.upper() in ("OR", "||")):
            return [tokens]
        if depth == 0 and (token.upper() in ("AND", "&&")):
            parts.append([])
        else:
            parts[-1].append(token)
    if len(parts) > 1:
        return [nested for part in parts for nested in _conjuncts("".join(part))]
    stripped = [token for token in tokens if not token.isspace()]
    if len(stripped) > 2 and stripped[0] == "(" and stripped[-1] == ")" and _is_one_group(stripped):
        return _conjuncts("".join(tokens).strip()[1:-1])
    return parts


def _is_one_group(tokens: list[str]) -> bool:
    depth = 0
    for i, token in enumerate(tokens):
        depth += (token == "(") - (token == ")")
        if depth == 0:
            return i == len(tokens) - 1
    return False


_WORDS = {
    "and", "or", "not", "in", "between", "beginswith", "endswith", "contains", "like", "nil", "null", "true", "false",
    "any", "all", "none", "some", "truepredicate", "falsepredicate",
}  # fmt: skip


def split(where: str, names: Iterable[str]) -> tuple[str | None, str | None]:
    """Divides a predicate into the part over the columns of folders and the part over columns of files.

    Raises:
        firn.UsageError: the parts are joined by OR.
    """
    known, ours, others = set(names), [], []
    for tokens in _conjuncts(where):
        text = "".join(tokens).strip()
        # BEGINSWITH[c] ignores case: c is not a name.
        names_of = [token for before, token in zip(["", *tokens], tokens) if before != "[" and _is_name(token)]
        used = {token[1:-1] if token[0] == "`" else token.split(".")[0] for token in names_of}
        if not used & known:
            others.append(f"({text})")
        elif used <= known:
            ours.append(f"({text})")
        else:
            column = sorted(used & known)[0]
            raise UsageError(f'"{column}" is the name of a folder: join "{text}" with conditions on other columns by AND')
    return " AND ".join(ours) or None, " AND ".join(others) or None


def _is_name(token: str) -> bool:
    return token[0] == "`" or ((token[0].isalpha() or token[0] == "_") and token.lower() not in _WORDS)
