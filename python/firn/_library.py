"""The functions of libfirn, called through ctypes.

ctypes releases the interpreter's lock during each call, so other threads run while rows are decoded.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
import weakref
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Iterator, NoReturn, Sequence

from ._errors import make_error

ABI_VERSION = 2
_INTERRUPTED = 11
# FIRN_SCAN_DICTIONARIES of firn.h.
SCAN_DICTIONARIES = 1
# FIRN_SCAN_VIEWS of firn.h.
SCAN_VIEWS = 2

# int32 (void *context, int64 done, int64 total)
ProgressFunction = ctypes.CFUNCTYPE(c_int32, c_void_p, c_int64, c_int64)


class ScanOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("columns", POINTER(c_char_p)),
        ("column_count", c_size_t),
        ("where", c_char_p),
        ("limit", c_int64),
        ("first_segment", c_int64),
        ("segment_count", c_int64),
        ("threads", c_int32),
        ("flags", c_int64),
    ]


class QueryOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("query", c_char_p),
        ("select", POINTER(c_char_p)),
        ("select_count", c_size_t),
        ("group_by", POINTER(c_char_p)),
        ("group_by_count", c_size_t),
        ("aggregates", c_char_p),
        ("limit", c_int64),
        ("offset", c_int64),
        ("threads", c_int32),
    ]


class KeyValue(Structure):
    _fields_ = [
        ("kind", c_int32),
        ("integer", c_int64),
        ("real", c_double),
        ("bytes", c_char_p),
        ("length", c_size_t),
    ]


_OUT = POINTER(c_void_p)
_NAMES = POINTER(c_char_p)

# The result and the arguments of each function. Functions with the result int32 take the address of an error last.
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "firn_version": (c_char_p, []),
    "firn_abi_version": (c_int32, []),
    "firn_free": (None, [c_void_p]),
    "firn_error_code": (c_int32, [c_void_p]),
    "firn_error_name": (c_char_p, [c_void_p]),
    "firn_error_message": (c_char_p, [c_void_p]),
    "firn_error_file": (c_char_p, [c_void_p]),
    "firn_error_line": (c_int64, [c_void_p]),
    "firn_error_column": (c_int64, [c_void_p]),
    "firn_error_byte": (c_int64, [c_void_p]),
    "firn_error_advice": (c_char_p, [c_void_p]),
    "firn_error_system_code": (c_int32, [c_void_p]),
    "firn_error_free": (None, [c_void_p]),
    "firn_open": (c_int32, [c_char_p, c_char_p, c_size_t, _OUT, _OUT]),
    "firn_database_path": (c_char_p, [c_void_p]),
    "firn_database_notice": (c_char_p, [c_void_p]),
    "firn_database_check": (c_int32, [c_void_p, c_void_p]),
    "firn_database_close": (None, [c_void_p]),
    "firn_snapshot_open": (c_int32, [c_void_p, c_char_p, _OUT, _OUT]),
    "firn_snapshot_version": (c_uint64, [c_void_p]),
    "firn_snapshot_time": (c_int64, [c_void_p]),
    "firn_snapshot_type_count": (c_size_t, [c_void_p]),
    "firn_snapshot_type_name": (c_char_p, [c_void_p, c_size_t]),
    "firn_snapshot_free": (None, [c_void_p]),
    "firn_table_open": (c_int32, [c_void_p, c_char_p, _OUT, _OUT]),
    "firn_table_name": (c_char_p, [c_void_p]),
    "firn_table_row_count": (c_int64, [c_void_p]),
    "firn_table_segment_count": (c_int64, [c_void_p]),
    "firn_table_schema_text": (c_char_p, [c_void_p]),
    "firn_table_schema": (c_int32, [c_void_p, _NAMES, c_size_t, c_void_p, _OUT]),
    "firn_table_free": (None, [c_void_p]),
    "firn_scan": (c_int32, [c_void_p, POINTER(ScanOptions), c_void_p, _OUT]),
    "firn_find": (c_int32, [c_void_p, POINTER(KeyValue), c_size_t, POINTER(c_int64), _OUT]),
    "firn_get": (c_int32, [c_void_p, POINTER(KeyValue), c_size_t, c_void_p, c_size_t, POINTER(c_size_t), _OUT]),
    "firn_row_text": (c_int32, [c_void_p, c_int64, _NAMES, c_size_t, _OUT, POINTER(c_size_t), _OUT]),
    "firn_cursor_open": (c_int32, [c_void_p, POINTER(ScanOptions), _OUT, _OUT]),
    "firn_cursor_next": (c_int32, [c_void_p, _OUT, POINTER(c_size_t), _OUT]),
    "firn_cursor_free": (None, [c_void_p]),
    "firn_query": (c_int32, [c_void_p, POINTER(QueryOptions), c_void_p, _OUT]),
    "firn_diff": (c_int32, [c_void_p, c_void_p, c_void_p, c_void_p, _OUT, _OUT]),
    "firn_open_writable": (c_int32, [c_char_p, c_char_p, c_size_t, c_int32, _OUT, _OUT]),
    "firn_begin": (c_int32, [c_void_p, c_double, _OUT, _OUT]),
    "firn_append": (c_int32, [c_void_p, c_char_p, c_void_p, _NAMES, c_size_t, POINTER(c_int64), _OUT]),
    "firn_upsert": (c_int32, [c_void_p, c_char_p, c_void_p, POINTER(c_int64), _OUT]),
    "firn_delete_keys": (c_int32, [c_void_p, c_char_p, c_void_p, POINTER(c_int64), _OUT]),
    "firn_delete_where": (c_int32, [c_void_p, c_char_p, c_char_p, POINTER(c_int64), _OUT]),
    "firn_commit": (c_int32, [c_void_p, POINTER(c_uint64), _OUT]),
    "firn_transaction_free": (None, [c_void_p]),
    "firn_tag": (c_int32, [c_void_p, c_char_p, c_char_p, _OUT]),
    "firn_replace": (c_int32, [c_void_p, c_char_p, c_void_p, _NAMES, c_size_t, POINTER(c_int64), _OUT]),
    "firn_transaction_watch": (None, [c_void_p, ProgressFunction, c_void_p]),
    "firn_set_metadata": (c_int32, [c_void_p, c_char_p, c_char_p, c_char_p, c_size_t, _OUT]),
    "firn_metadata_text": (c_int32, [c_void_p, c_char_p, _OUT, POINTER(c_size_t), _OUT]),
    "firn_snapshot_hash": (c_int32, [c_void_p, ProgressFunction, c_void_p, c_char_p, _OUT]),
    "firn_table_hash": (c_int32, [c_void_p, _NAMES, c_size_t, ProgressFunction, c_void_p, c_char_p, _OUT]),
    "firn_sql": (c_int32, [c_char_p, c_void_p, c_void_p, _OUT]),
    "firn_convert": (c_int32, [_NAMES, c_size_t, c_char_p, c_void_p, _OUT, POINTER(c_size_t), _OUT]),
    "firn_compact": (c_int32, [c_char_p, c_char_p, c_void_p, _OUT, POINTER(c_size_t), _OUT]),
    "firn_verify": (c_int32, [c_char_p, c_void_p, _OUT, POINTER(c_size_t), _OUT]),
    "firn_hash": (c_int32, [c_char_p, c_void_p, _OUT, POINTER(c_size_t), _OUT]),
    "firn_write_changes": (c_int32, [c_char_p, c_char_p, c_char_p, c_void_p, _OUT, POINTER(c_size_t), _OUT]),
    "firn_patch": (c_int32, [c_char_p, c_char_p, c_void_p, _OUT, POINTER(c_size_t), _OUT]),
    "firn_set_interrupt": (None, [c_void_p]),
    "firn_untag": (c_int32, [c_void_p, c_char_p, _OUT]),
    "firn_log_text": (c_int32, [c_void_p, _OUT, POINTER(c_size_t), _OUT]),
    "firn_stream_new": (c_void_p, []),
    "firn_schema_new": (c_void_p, []),
    "firn_stream_free": (None, [c_void_p]),
    "firn_schema_free": (None, [c_void_p]),
    "firn_python_begin": (None, [c_void_p]),
    "firn_python_signals": (None, [c_void_p] * 7),
    "firn_stream_capsule_free": (None, [c_void_p]),
    "firn_schema_capsule_free": (None, [c_void_p]),
}


def _candidates() -> list[str]:
    name = "libfirn.dylib" if sys.platform == "darwin" else "libfirn.so"
    beside = Path(__file__).with_name(name)
    return [path for path in (os.environ.get("FIRN_LIBRARY"), str(beside)) if path]


def _load() -> ctypes.CDLL:
    for path in _candidates():
        if os.path.exists(path):
            library = ctypes.CDLL(path)
            break
    else:
        raise ImportError(
            "libfirn is missing: " + " and ".join(_candidates()) + " do not exist; install the wheel, or set "
            "FIRN_LIBRARY to the path of the library"
        )
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(library, name, None)
        if function is None:
            raise ImportError(f"{path} is not the library of this package: it has no {name}")
        function.restype = result
        function.argtypes = arguments
    if library.firn_abi_version() < ABI_VERSION:
        raise ImportError("libfirn is older than this package")
    return library


lib = _load()

_get_pointer = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [c_void_p, c_char_p, c_void_p]
# Capsules keep the addresses of these names.
_STREAM, _SCHEMA = b"arrow_array_stream", b"arrow_schema"
_free_stream = ctypes.cast(lib.firn_stream_capsule_free, c_void_p).value
_free_schema = ctypes.cast(lib.firn_schema_capsule_free, c_void_p).value
lib.firn_python_begin(ctypes.cast(ctypes.pythonapi.PyCapsule_GetPointer, c_void_p).value)

# Called with the interpreter's lock; raises what a handler of a signal raised while the library was waited for.
_raise_interrupt = ctypes.PYFUNCTYPE(c_int32)(("firn_python_raise", lib))


def _handle_signals() -> None:
    functions = (
        "PyGILState_Ensure",
        "PyGILState_Release",
        "PyErr_CheckSignals",
        "PyErr_Fetch",
        "PyErr_Restore",
        "PyErr_SetInterrupt",
    )
    addresses = (ctypes.cast(getattr(ctypes.pythonapi, name), c_void_p).value for name in functions)
    lib.firn_python_signals(*addresses, c_void_p.in_dll(ctypes.pythonapi, "PyExc_KeyboardInterrupt").value)


# Only the main thread handles signals.
if threading.current_thread() is threading.main_thread():
    _handle_signals()


def call(function: Any, *arguments: Any) -> None:
    """Calls a function that can fail, and raises its error."""
    error = c_void_p()
    code = function(*arguments, byref(error))
    if code:
        fail(code, error)


def fail(code: int, error: c_void_p) -> NoReturn:
    """Raises the error of a function that returned a code other than 0."""
    made = make_error(lib, error)
    try:
        if code == _INTERRUPTED and made.message == "interrupted":
            _raise_interrupt()
        raise made
    finally:
        # The traceback refers to this frame: the error would keep files open until the garbage collector runs.
        del made


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Reads a stream through another library, whose error takes the place of an exception such as KeyboardInterrupt."""
    try:
        yield
    except Exception:
        _raise_interrupt()
        raise


def names(values: Sequence[str] | None) -> tuple[Any, int]:
    """Returns a list of names for C."""
    if values is None:
        return None, 0
    if isinstance(values, (str, bytes)):
        raise TypeError(f"expected a list of names, not the {type(values).__name__} {values!r}")
    encoded = [encode(value) for value in values]
    # One more, so that an empty list is not NULL, which means all.
    return (c_char_p * (len(encoded) + 1))(*encoded, None), len(encoded)


def encode(text: str) -> bytes:
    """Returns a text for C, which ends at a zero character."""
    if not isinstance(text, str):
        raise TypeError(f"expected a str, not {type(text).__name__}")
    if "\0" in text:
        raise ValueError("a name or predicate contains a zero character")
    return text.encode("utf-8", "surrogateescape")


def take_text(pointer: c_void_p, length: int) -> bytes:
    """Returns text that the library made, and releases it."""
    try:
        return ctypes.string_at(pointer.value, length)  # type: ignore[arg-type]
    finally:
        lib.firn_free(pointer)


class Handle:
    """An object of the library, which a call stores in `handle`. It is released with the last reference to this one: a call of
    another thread keeps it until it returns. This object is made before that call, so an interrupt during the call loses nothing.
    """

    def __init__(self, release: Any) -> None:
        self.handle = c_void_p()
        self._finalizer = weakref.finalize(self, release, self.handle)
        self._finalizer.atexit = False

    @property
    def identity(self) -> object:
        """What no other object has, and what does not keep this one."""
        return self._finalizer

    def release(self) -> None:
        """Releases the object now."""
        self._finalizer()


def texts(cursor: Handle) -> Iterator[bytes]:
    """Iterates over the texts of a cursor, and releases it."""
    try:
        text, length = c_void_p(), c_size_t()
        while True:
            call(lib.firn_cursor_next, cursor.handle, byref(text), byref(length))
            if not text:
                return
            yield take_text(text, length.value)
    finally:
        cursor.release()


def stream_capsule(fill: Any) -> Any:
    """Returns a capsule with the stream that `fill` writes to an address."""
    stream = lib.firn_stream_new()
    try:
        fill(stream)
        return _new_capsule(stream, _STREAM, _free_stream)
    except BaseException:
        lib.firn_stream_free(stream)
        raise


def stream_address(capsule: Any) -> int:
    """Returns the address of the stream in a capsule of another library."""
    return _get_pointer(capsule, _STREAM)


def schema_capsule(fill: Any) -> Any:
    """Returns a capsule with the schema that `fill` writes to an address."""
    schema = lib.firn_schema_new()
    try:
        fill(schema)
        return _new_capsule(schema, _SCHEMA, _free_schema)
    except BaseException:
        lib.firn_schema_free(schema)
        raise
