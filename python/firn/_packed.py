"""Rows of firn_get: slots of eight bytes, a state for each, and the bytes that slots refer to."""

from __future__ import annotations

import datetime
import struct
from typing import Any, Callable

from ._schema import Column, Schema
from ._values import Link, as_day, decode

# The states of slots, FIRN_SLOT_… of firn.h.
_VALUE, _BYTES, _JSON = 1, 2, 3
_PART = 0xFFFFFFFF
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_EPOCH_ORDINAL = datetime.date(1970, 1, 1).toordinal()
_DAY = 86_400_000_000

# A function of a slot and the row.
_Convert = Callable[[int, Any], Any]


def _bytes(slot: int, row: Any) -> bytes:
    start = slot & _PART
    return row[start : start + (slot >> 32)]


def _text(slot: int, row: Any) -> str:
    start = slot & _PART
    return row[start : start + (slot >> 32)].decode("utf-8")


def _json(slot: int, row: Any) -> Any:
    text = _bytes(slot, row)
    return decode(text) if text else None


def _time(slot: int, row: Any) -> datetime.datetime:
    return _EPOCH + datetime.timedelta(0, 0, slot)


def _day(slot: int, row: Any) -> datetime.date:
    if slot % _DAY:
        return _time(slot, row)
    return datetime.date.fromordinal(_EPOCH_ORDINAL + slot // _DAY)


_CONVERSIONS: dict[str, _Convert] = {
    "bool": lambda slot, row: slot != 0,
    "string": _text,
    "data": _bytes,
    "link": lambda slot, row: Link(slot),
    "date": _time,
}


def _conversion(column: Column) -> _Convert | None:
    if column.collection is not None:
        return _json
    if column.kind in ("int", "float", "double"):
        return None
    return _day if column.is_day else _CONVERSIONS.get(column.kind, _json)


def _format(column: Column, is_usual: bool) -> str:
    if column.collection is None and column.kind in ("float", "double"):
        return "d"
    return "?7x" if is_usual and column.collection is None and column.kind == "bool" else "q"


# The states of slots with the results of these. Rows with JSON are left to the other way.
_STATES: dict[_Convert | None, int] = {_text: _BYTES, _bytes: _BYTES}


class PackedRows:
    """Decodes rows of a table."""

    def __init__(self, schema: Schema) -> None:
        columns = list(schema)
        self._unpack = _struct(columns, False)
        conversions = ((i, _conversion(column)) for i, column in enumerate(columns))
        self._conversions = [(i, convert) for i, convert in conversions if convert is not None]
        self._days = [i for i, column in enumerate(columns) if column.is_day]
        self._names = schema.names
        # A row of which each slot has what the kind of its column says, as most have: its slots are converted without a call for each.
        self._unpack_usual = _struct(columns, True)
        self._usual = bytes(_STATES.get(_conversion(column), _VALUE) for column in columns)
        self._texts = [i for i, convert in self._conversions if convert is _text]
        self._others = [
            (i, convert) for i, convert in self._conversions if convert is not _text and columns[i].kind != "bool"
        ]

    def row(self, room: Any) -> dict[str, Any]:
        """Returns the row in an array of characters of ctypes."""
        row = room.raw
        *values, states = self._unpack_usual(row)
        if states != self._usual:
            return self._unusual(row)
        for i in self._texts:
            slot = values[i]
            start = slot & _PART
            values[i] = row[start : start + (slot >> 32)].decode("utf-8")
        for i, convert in self._others:
            values[i] = convert(values[i], row)
        return dict(zip(self._names, values))

    def _unusual(self, row: bytes) -> dict[str, Any]:
        *values, states = self._unpack(row)
        for i, convert in self._conversions:
            # Dates that are out of the range of slots are JSON, too.
            values[i] = convert(values[i], row) if states[i] != _JSON else _json(values[i], row)
        if _JSON in states:
            for i in self._days:
                values[i] = as_day(values[i])
        if 0 in states:
            for i, state in enumerate(states):
                if state == 0:
                    values[i] = None
        return dict(zip(self._names, values))


def _struct(columns: list[Column], is_usual: bool) -> Callable[[bytes], tuple[Any, ...]]:
    formats = "".join(_format(column, is_usual) for column in columns)
    return struct.Struct(f"={formats}{len(columns)}s").unpack_from
