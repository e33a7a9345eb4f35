"""Work on whole files: conversion, compaction, verification, hashes, changes."""

from __future__ import annotations

import json
import os
from ctypes import POINTER, Structure, byref, c_char_p, c_size_t, c_void_p, cast, sizeof
from typing import Any, Iterator, Mapping

from ._errors import ConflictError
from ._library import ProgressFunction, call, encode, lib, names, take_text
from ._progress import Progress, watching


class RunOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("options", POINTER(c_char_p)),
        ("option_count", c_size_t),
        ("key", c_char_p),
        ("key_bytes", c_size_t),
        ("new_key", c_char_p),
        ("new_key_bytes", c_size_t),
        ("progress", ProgressFunction),
        ("context", c_void_p),
    ]


class Report(Mapping[str, Any]):
    """What an operation did: a mapping of the names and values that the command prints with --json.

    Attributes:
        remarks: notices for people, such as what was changed to fit the target format.
        ok: whether there was nothing to complain about: no rejected rows, no defects, no conflicts.
    """

    def __init__(self, text: bytes) -> None:
        report = json.loads(text)
        self._values: dict[str, Any] = report["result"] or {}
        self._values.pop("v", None)
        self.ok: bool = report["code"] == 0
        self.remarks: list[str] = report["remarks"]

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        return f"<firn.Report {self._values}>"


# The options whose values are lists of names: a comma in a name is escaped.
_NAMES = {"key", "columns", "ignore", "keep", "json-column", "null", "dates"}


def _word(name: str, value: Any) -> str:
    if isinstance(value, os.PathLike):
        value = os.fsdecode(value)
    if not isinstance(value, (str, int, float)):
        raise TypeError(f"{name.replace('-', '_')} must be a str, a number or a bool, not {type(value).__name__}")
    text = str(value)
    if name in _NAMES:
        text = text.replace("\\", "\\\\").replace(",", "\\,")
    return f"{name}={text}"


def option_words(options: Mapping[str, Any]) -> list[str]:
    """Returns options of Python as those of the library: underscores become hyphens, True a switch, a list several values."""
    words = []
    for name, value in options.items():
        name = name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(name)
        elif isinstance(value, Mapping):
            # Null words and date patterns of one column: {"age": "-1"}.
            words += [_word(name, f"{column}={part}") for column, part in value.items()]
        elif isinstance(value, (list, tuple)):
            words += [_word(name, part) for part in value]
        else:
            words.append(_word(name, value))
    return words


def key_bytes(key: bytes | str | None, name: str = "key") -> bytes | None:
    """Returns a key for C."""
    if key is None:
        return None
    if isinstance(key, str):
        return key.encode("ascii", "replace")
    if isinstance(key, (bytes, bytearray, memoryview)):
        return bytes(key)
    raise TypeError(f"{name} must be bytes or a str of hexadecimal digits")


def path_bytes(path: Any, name: str = "path", pinned: bool = False) -> bytes:
    """Returns the path of a file for C; with `pinned`, that of the version of a database."""
    from ._database import Database

    if isinstance(path, Database):
        path = f"{path.path}@{path.version}" if pinned else path.path
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"{name} must be a path, not {type(path).__name__}")
    path = os.fspath(path)
    text = path if isinstance(path, bytes) else path.encode("utf-8", "surrogateescape")
    if b"\0" in text:
        raise ValueError(f"{name} contains a zero character")
    return text


def run_options(
    options: Mapping[str, Any], key: bytes | str | None, new_key: bytes | str | None, function: Any
) -> tuple[RunOptions, Any]:
    """Returns the options of a call, and what they refer to."""
    made = RunOptions(size=sizeof(RunOptions), progress=function)
    words, made.option_count = names(option_words(options))
    made.options = cast(words, POINTER(c_char_p))
    made.key, made.new_key = key_bytes(key), key_bytes(new_key, "new_key")
    made.key_bytes = 0 if made.key is None else len(key_bytes(key) or b"")
    made.new_key_bytes = 0 if made.new_key is None else len(key_bytes(new_key, "new_key") or b"")
    return made, words


def _run(
    function: Any,
    operands: list[Any],
    what: str,
    progress: Progress,
    options: Mapping[str, Any],
    key: bytes | str | None = None,
    new_key: bytes | str | None = None,
) -> Report:
    text, length = c_void_p(), c_size_t()
    with watching(progress, what) as watch:
        made, _kept = run_options(options, key, new_key, watch)
        call(function, *operands, byref(made), byref(text), byref(length))
    return Report(take_text(text, length.value))


def convert(
    source: Any,
    target: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    key: Any = None,
    encryption_key: bytes | str | None = None,
    new_encryption_key: bytes | str | None = None,
    progress: Progress = None,
    **options: Any,
) -> Report:
    """Converts files of any format: .firn, CSV, TSV, JSON, NDJSON, Parquet, Arrow, SQLite; .realm files are read only.

        firn.convert("people.csv", "people.firn", key="id", null=["NA", "-"])
        firn.convert("data/*.parquet", "all.firn")
        firn.convert("people.firn", "people.parquet", where="age > 30", columns=["id", "name"])

    Args:
        source: a path, a folder, a pattern, or a list of them, which become one table; or a database, at its version.
        target: the file that is written; its extension is its format, unless `to` is given.
        overwrite: whether a file that exists is replaced.
        key: the primary key: a column, or a list of columns.
        encryption_key: the key of an encrypted source.
        new_encryption_key: encrypts the target.
        progress: True and False show progress or not; None shows it in terminals and notebooks; or a function of the
            done part and the total (-1 if unknown), which cancels if it returns a true value.
        options: the flags of `firn convert`, with underscores for hyphens: `null=["NA"]`, `header=…`, `rejects="bad.csv"`.

    Returns:
        A report with `rows`, `rejected`, `bytesIn`, `bytesOut`.

    Raises:
        FileExistsError: the target exists, and `overwrite` is False.
        ValueError: an option is wrong, or the rows do not fit the target.
    """
    sources = list(source) if isinstance(source, (list, tuple)) else [source]
    array, count = _paths(sources)
    options = {**options, "key": key, "force": overwrite}
    return _run(
        lib.firn_convert,
        [array, count, path_bytes(target, "target")],
        "converting",
        progress,
        options,
        encryption_key,
        new_encryption_key,
    )


def _paths(values: list[Any]) -> tuple[Any, int]:
    paths = [path_bytes(value, "source", pinned=True) for value in values]
    return (c_char_p * (len(paths) + 1))(*paths, None), len(paths)


def compact(
    path: Any,
    target: str | os.PathLike[str] | None = None,
    *,
    profile: str | None = None,
    keep: Any = None,
    in_place: bool = False,
    overwrite: bool = False,
    encryption_key: bytes | str | None = None,
    new_encryption_key: bytes | str | None = None,
    progress: Progress = None,
    **options: Any,
) -> Report:
    """Writes a file again without dead space and old versions.

    Args:
        path: the .firn file.
        target: the new file; None replaces the file.
        profile: `"fast"`, `"default"` or `"small"`.
        keep: the number of newest versions to keep, or tags; None keeps all tagged ones.
        in_place: shortens the file itself, while others use it.

    Returns:
        A report with `bytesBefore`, `bytesAfter` and `columns`.
    """
    options = {**options, "profile": profile, "keep": keep, "in-place": in_place, "force": overwrite}
    operands = [path_bytes(path), None if target is None else path_bytes(target, "target")]
    return _run(lib.firn_compact, operands, "compacting", progress, options, encryption_key, new_encryption_key)


def verify(
    path: Any, *, full: bool = False, encryption_key: bytes | str | None = None, progress: Progress = None
) -> Report:
    """Checks a .firn file. The report is true if the file is intact; it has `intact`, `summary` and `defects`.

    Args:
        full: decodes every value, and does not only check hashes.
    """
    return _run(lib.firn_verify, [path_bytes(path)], "verifying", progress, {"full": full}, encryption_key)


def hash(
    path: Any,
    *,
    key: Any = None,
    each_column: bool = False,
    encryption_key: bytes | str | None = None,
    progress: Progress = None,
    **options: Any,
) -> Report:
    """Computes the content hash of a file of any format: the same for the same rows, however they are stored.

    Returns:
        A report with `hash`, `rows` and `types`.
    """
    options = {**options, "key": key, "each-column": each_column}
    return _run(lib.firn_hash, [path_bytes(path, pinned=True)], "hashing", progress, options, encryption_key)


def write_changes(
    old: Any,
    new: Any,
    target: str | os.PathLike[str],
    *,
    key: Any = None,
    ignore: Any = None,
    overwrite: bool = False,
    encryption_key: bytes | str | None = None,
    progress: Progress = None,
    **options: Any,
) -> Report:
    """Writes the differences between two files, or two versions (`"people.firn@3"`), to a changes file for `patch`."""
    options = {**options, "key": key, "ignore": ignore, "force": overwrite}
    operands = [path_bytes(old, "old", True), path_bytes(new, "new", True), path_bytes(target, "target")]
    return _run(lib.firn_write_changes, operands, "comparing", progress, options, encryption_key)


def patch(
    path: Any,
    changes: str | os.PathLike[str],
    *,
    reverse: bool = False,
    check: bool = False,
    encryption_key: bytes | str | None = None,
    progress: Progress = None,
    **options: Any,
) -> Report:
    """Applies a changes file to a .firn file, in one commit.

    Args:
        changes: a file that `write_changes` or `firn diff --changes` wrote.
        reverse: applies it in reverse, from new to old.
        check: only checks whether it applies; the report is false if it does not.

    Raises:
        firn.ConflictError: rows are not as the changes expect; nothing was changed.
    """
    options = {**options, "reverse": reverse, "check": check}
    operands = [path_bytes(path), path_bytes(changes, "changes")]
    report = _run(lib.firn_patch, operands, "applying", progress, options, encryption_key)
    if not report.ok and not check:
        rows = report.get("rows") or []
        first = f": {rows[0]['key']} {rows[0]['what']}" if rows else ""
        error = ConflictError(f"{os.fsdecode(operands[0])}: {report.get('conflicts', 0)} rows are not as the changes expect{first}")
        error.report = report
        try:
            raise error
        finally:
            # See call.
            del error
    return report
