"""Rows of firn_get: slots of eight bytes, a state for each, and the bytes that slots refer to."""

from __future__ import annotations

import datetime
import struct
from typing import Any, Callable

from ._schema import Column, Schema
from ._values import Link, as_day, decode

_JSON, _PART = 3, 0xFFFFFFFF
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
    return _EPOCH + datetime.timedelta(microseconds=slot)


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


class PackedRows:
    """Decodes rows of a table."""

    def __init__(self, schema: Schema) -> None:
        columns = list(schema)
        formats = ("d" if c.collection is None and c.kind in ("float", "double") else "q" for c in columns)
        self._unpack = struct.Struct(f"={''.join(formats)}{len(columns)}s").unpack_from
        conversions = ((i, _conversion(column)) for i, column in enumerate(columns))
        self._conversions = [(i, convert) for i, convert in conversions if convert is not None]
        self._days = [i for i, column in enumerate(columns) if column.is_day]
        self._names = schema.names

    def row(self, row: Any) -> dict[str, Any]:
        """Returns the row in an array of characters of ctypes."""
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
