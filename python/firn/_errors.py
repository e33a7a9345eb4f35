"""The exceptions of the package."""

from __future__ import annotations

import os
import re
from typing import Any


class Error(Exception):
    """An error of Firn.

    Where Python has an exception for the case, the class raised is a subclass of both: a missing file raises
    `firn.NotFoundError`, which is also a `FileNotFoundError`.

    Attributes:
        code: the kind of failure, such as `"damaged"`.
        message: what failed and why, without the location.
        file: the file that the error concerns, or None.
        byte: the offset in the file, or None.
        line, column: the position in a text file or in a statement, from 1, or None.
        advice: what to do, or None.
    """

    code: str = "usage"
    file: str | None = None
    byte: int | None = None
    line: int | None = None
    column: int | None = None
    advice: str | None = None
    _message: str | None = None

    @property
    def message(self) -> str:
        return str(self) if self._message is None else self._message

    def __str__(self) -> str:
        return str(self.args[-1]) if self.args else ""


class DamagedError(Error):
    """The file is damaged."""


class FormatError(Error, ValueError):
    """The file is not a .firn file, or needs a newer version of Firn."""


class EncryptionError(Error, PermissionError):
    """The key is missing, wrong, or not needed."""


class NotFoundError(Error, FileNotFoundError):
    """A file or version does not exist."""


class UsageError(Error, ValueError):
    """A name, a predicate or another argument is wrong."""


class ReadError(Error, OSError):
    """The operating system could not read or write the file."""


class AccessError(ReadError, PermissionError):
    """The operating system does not permit to read or write the file."""


class FolderError(ReadError, IsADirectoryError):
    """The path is a folder, and not a file. `firn.open_folder` reads folders of .firn files."""


class CancelledError(Error):
    """A progress function cancelled the operation. Files are as before."""


class MemoryLimitError(Error, MemoryError):
    """The operation needs more memory than allowed."""


class SchemaError(Error, TypeError):
    """The columns or types of the data do not match those of the table."""


class RejectedError(Error, ValueError):
    """A value does not fit its column, or is null where it must not be."""


class ConflictError(RejectedError):
    """Rows are not as a changes file expects. Nothing was changed.

    Attributes:
        report: the report of the operation.
    """

    report: Any = None


class DuplicateKeyError(Error, ValueError):
    """Two rows have the same primary key."""


class LockedError(Error, TimeoutError):
    """Another transaction of the file is under way."""


class ExistsError(Error, FileExistsError):
    """The file exists already."""


class RowNotFoundError(Error, KeyError):
    """A table has no row with this key, or a file no type with this name."""


class ClosedError(Error, ValueError):
    """The database was closed."""


_CLASSES: dict[str, type[Error]] = {
    "usage": UsageError,
    "rejected": RejectedError,
    "schema": SchemaError,
    "duplicateKey": DuplicateKeyError,
    "damaged": DamagedError,
    "notThisFormat": FormatError,
    "unsupported": FormatError,
    "inputOutput": ReadError,
    "noSpace": ReadError,
    "interrupted": CancelledError,
    "locked": LockedError,
    "exists": ExistsError,
    "notFound": NotFoundError,
    "encrypted": EncryptionError,
    "wrongKey": EncryptionError,
    "notEncrypted": EncryptionError,
    "outOfMemory": MemoryLimitError,
}

# The code of errors that the package raises itself.
for _code, _kind in reversed(_CLASSES.items()):
    _kind.code = _code
RowNotFoundError.code = "notFound"

_ENOENT, _EEXIST, _EISDIR, _ENOSPC = 2, 17, 21, 28
# EPERM, EACCES, EROFS
_DENIED = (1, 13, 30)

# Flags of the command that have another name in Python.
_SPELLINGS = {"force": "overwrite=True", "key-file": "encryption_key=", "new-key-file": "new_encryption_key=", "output": "target"}
# Advice that shows a command line.
_ADVICE = {"name all files before the statements: firn sql a.firn b.firn 'SELECT …'": "pass all files to firn.sql"}
# A command in quotes is left as it is.
_FLAG = re.compile(r"'firn [^']*'|(?<![\w\"/-])--(?:param (?P<name>\w+)(?P<value>=…)?|(?P<flag>[a-z][a-z-]*)(?![\w./-]))")


def _python(text: str) -> str:
    """Returns a message in which flags of the command are arguments of Python."""

    def spelling(found: re.Match[str]) -> str:
        if found["name"] is not None:
            name = found["name"]
            return f'parameters={{"{name}": …}}' if found["value"] else f'"{name}" in parameters'
        if found["flag"] is None:
            return found[0]
        return _SPELLINGS.get(found["flag"], found["flag"].replace("-", "_") + "=")

    return _ADVICE.get(text) or _FLAG.sub(spelling, text)


def make_error(lib: Any, error: Any) -> Error:
    """Returns the exception for an error object of the library, and releases the object."""

    def text(value: bytes | None) -> str | None:
        return None if value is None else value.decode("utf-8", "replace")

    try:
        code = text(lib.firn_error_name(error)) or ""
        message = _python(text(lib.firn_error_message(error)) or "unknown error")
        file, advice = text(lib.firn_error_file(error)), text(lib.firn_error_advice(error))
        advice = None if advice is None else _python(advice)
        byte, line, column = lib.firn_error_byte(error), lib.firn_error_line(error), lib.firn_error_column(error)
        system = lib.firn_error_system_code(error)
    finally:
        lib.firn_error_free(error)
    kind = _CLASSES.get(code, Error)
    if file and code in ("notThisFormat", "inputOutput") and system in (0, _EISDIR) and os.path.isdir(file):
        kind, system = FolderError, _EISDIR
        message, advice = "it is a folder, not a file", "firn.open_folder reads folders of .firn files"
    elif code == "inputOutput" and system == _ENOENT:
        kind = NotFoundError
    elif code == "inputOutput" and system in _DENIED:
        kind = AccessError
    elif code == "noSpace" and not system:
        system = _ENOSPC
    elif code == "exists" and file is not None:
        system = _EEXIST
    shown = '""' if file == "" else file
    place = "" if file is None else f"{shown} at byte {byte}: " if byte >= 0 else f"{shown}: "
    if file is not None and line > 0:
        place = f"{shown}:{line}:{column}: " if column > 0 else f"{shown}:{line}: "
    whole = place + message + ("" if advice is None else f"; {advice}")
    made = kind(system, whole, file) if issubclass(kind, OSError) and system else kind(whole)
    made.code, made._message, made.file, made.advice = code, message, file, advice
    made.byte = byte if byte >= 0 else None
    made.line = line if line > 0 else None
    made.column = column if column > 0 else None
    return made
