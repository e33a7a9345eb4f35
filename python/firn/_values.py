"""Conversion between rows of the library, which are JSON, and values of Python."""

from __future__ import annotations

import base64
import datetime
import decimal
import json
import re
import struct
import uuid
from typing import Any, Callable

from ._library import KeyValue

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


class ObjectId(str):
    """A 12-byte object id, as 24 hexadecimal digits."""


class Link(int):
    """The row id of a linked row."""


def _date(text: str) -> Any:
    # datetime has six digits of a second and the years 1 to 9999; more are cut, other years stay text.
    head, point, fraction = text.rstrip("Z").partition(".")
    try:
        value = datetime.datetime.fromisoformat(head).replace(tzinfo=datetime.timezone.utc)
    except ValueError:
        return text
    return value.replace(microsecond=int(fraction[:6].ljust(6, "0"))) if point else value


def _hex_double(bits: str) -> float:
    return float(struct.unpack(">d", bytes.fromhex(bits))[0])


def _float(value: Any) -> float:
    return float(struct.unpack(">f", bytes.fromhex(value))[0]) if isinstance(value, str) else float(value)


def _time(value: list[int]) -> Any:
    try:
        return _EPOCH + datetime.timedelta(seconds=value[0], microseconds=value[1] // 1000)
    except OverflowError:
        return _far(*value)


def _far(seconds: int, nanoseconds: int) -> str:
    """Returns a date outside of the years 1 to 9999 as text, with the years of the Gregorian calendar."""
    if nanoseconds < 0:
        seconds, nanoseconds = seconds - 1, nanoseconds + 1_000_000_000
    days, second = divmod(seconds, 86_400)
    # A cycle of 400 years has 146,097 days: the same day of a cycle that datetime knows.
    cycles, day = divmod(days, 146_097)
    date = datetime.date(1970, 1, 1) + datetime.timedelta(days=day)
    year = date.year + 400 * cycles
    shown = f"{year:04}" if 0 <= year <= 9999 else f"{year:+05}"
    time = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
    fraction = f".{nanoseconds:09}".rstrip("0") if nanoseconds else ""
    return f"{shown}-{date.month:02}-{date.day:02}T{time}{fraction}Z"


_TAGS: dict[str, Callable[[Any], Any]] = {
    "$date": _date,
    "$time": _time,
    "$numberDecimal": decimal.Decimal,
    "$uuid": uuid.UUID,
    "$oid": ObjectId,
    "$binary": base64.b64decode,
    "$float": _float,
    "$double": _hex_double,
    "$row": Link,
    "$set": lambda values: values,
}


def _object(pairs: list[tuple[str, Any]]) -> Any:
    if len(pairs) == 1:
        convert = _TAGS.get(pairs[0][0])
        if convert is not None:
            return convert(pairs[0][1])
    return dict(pairs)


def _converted(value: Any) -> Any:
    """Converts from the outermost value to the innermost: a map within "$map" is as it is, whatever its key."""
    if isinstance(value, list):
        return [_converted(part) for part in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1:
        ((key, inner),) = value.items()
        if key == "$map":
            return {name: _converted(part) for name, part in inner.items()}
        if key in _TAGS:
            return _TAGS[key](_converted(inner))
    return {name: _converted(part) for name, part in value.items()}


def as_day(value: Any) -> Any:
    """Returns a date without its time, if it has none."""
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date()
    return [as_day(part) for part in value] if isinstance(value, list) else value


_decoder = json.JSONDecoder(object_pairs_hook=_object)


def decode(text: bytes) -> Any:
    """Returns the values of a JSON text of the library."""
    if b'"$map"' in text:
        return _converted(json.loads(text))
    return _decoder.decode(text.decode("utf-8"))


_NULL, _BOOL, _INT, _DOUBLE, _TEXT, _BINARY = range(6)


def _utc(value: datetime.datetime) -> str:
    if value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return value.isoformat() + "Z"


def _plain(value: Any) -> Any:
    """Returns a scalar of NumPy or pyarrow as a value of Python; a time of NumPy, which can have more digits than those of Python, is
    text."""
    if hasattr(value, "as_py"):
        return value.as_py()
    if not hasattr(value, "item") or getattr(value, "shape", ()) != ():
        return value
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind != "M":
        # The number of a duration would lose its unit.
        return value if kind == "m" else value.item()
    if value != value:
        return None
    text = str(value)
    if "T" not in text:
        return datetime.date.fromisoformat(str(value.astype("datetime64[D]")))
    return text if text.count(":") == 2 else str(value.astype("datetime64[s]"))


_DATE_TIME = re.compile(r"(\d{4,}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?")


def sql_value(value: Any) -> Any:
    """Returns the value of a parameter as SQL has values of its type, which differ from those of keys: a date is text without T and
    zone, and a decimal that a number represents is a number.

    Raises:
        TypeError: SQL has no single form for values of this type.
    """
    is_text = isinstance(value, str)
    value = _plain(value)
    if isinstance(value, datetime.datetime):
        if value != value:
            # NaT of pandas.
            return None
        return _sql_time(_utc(value)[:-1])
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, decimal.Decimal):
        return _sql_decimal(value)
    if isinstance(value, datetime.time):
        raise TypeError("a time of day is text with the digits of its column: pass a str such as '03:04:05.000000'")
    if isinstance(value, datetime.timedelta):
        raise TypeError("a duration is a number of the unit of its column: pass an int")
    return _sql_time(value) if isinstance(value, str) and not is_text else value


def _sql_time(text: str) -> str:
    found = _DATE_TIME.fullmatch(text)
    return text if found is None else f"{found[1]} {found[2]}{(found[3] or '').rstrip('0').rstrip('.')}"


# A double represents each decimal of so many digits.
_DOUBLE_DIGITS = 15


def _sql_decimal(value: decimal.Decimal) -> Any:
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int) or len(digits) > _DOUBLE_DIGITS or abs(value.adjusted()) > 300:
        return str(value)
    return int(value) if exponent == 0 else float(value)


# The digits of a fraction of a second of each unit.
_UNITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
# Decimals of 128 bits have 34 digits.
_MOST_DECIMAL = 10**34


def column_value(value: Any, kind: str, logical: str | None) -> Any:
    """Returns a value for a key of a column, which has times of day as texts, durations and short decimals as numbers, and unsigned
    integers as decimals.

    Raises:
        KeyError: no value of the column equals it.
    """
    if type(value) in (str, float, bytes):
        return value
    given, unit = _plain(value), "" if logical is None else logical.partition("(")[2][:-1]
    if isinstance(given, int) and not -(2**63) <= given < 2**63 and kind == "decimal128" and abs(given) < _MOST_DECIMAL:
        return decimal.Decimal(given)
    if isinstance(given, decimal.Decimal) and given.is_finite():
        if kind in ("double", "float"):
            return _equal(float(given), decimal.Decimal(repr(float(given))) == given, value)
        if kind == "int":
            return _equal(int(given), given == given.to_integral_value(), value)
        if kind == "string" and unit and (logical or "").startswith("decimal"):
            text = f"{given:.{int(unit.partition(',')[2])}f}"
            return _equal(text, decimal.Decimal(text) == given, value)
    if isinstance(given, datetime.time) and (logical or "").startswith("time(") and given.tzinfo is None:
        fraction = f"{given.microsecond:06}000"
        text = given.strftime("%H:%M:%S") + f".{fraction[: _UNITS[unit]]}".rstrip(".")
        return _equal(text, int("0" + fraction[_UNITS[unit] :]) == 0, value)
    if (logical or "").startswith("duration(") and not isinstance(given, int):
        if isinstance(given, datetime.timedelta):
            nanoseconds = given // datetime.timedelta(microseconds=1) * 1000
        elif hasattr(given, "astype") and given == given:
            nanoseconds = int(given.astype("timedelta64[ns]").astype("int64"))
        else:
            return given
        number, rest = divmod(nanoseconds, 10 ** (9 - _UNITS[unit]))
        return _equal(number, rest == 0, value)
    return given


def _equal(found: Any, is_equal: bool, value: Any) -> Any:
    if not is_equal:
        raise KeyError(value)
    return found


def key_values(values: tuple[Any, ...]) -> Any:
    """Returns the values of a key for C, which keep the bytes that they refer to."""
    if len(values) == 1:
        (value,) = values
        kind = type(value)
        if kind is int and -(2**63) <= value < 2**63:
            return KeyValue(_INT, value)
        if kind is str:
            data = value.encode("utf-8", "surrogatepass")
            return KeyValue(_TEXT, 0, 0.0, data, len(data))
    out = (KeyValue * len(values))()
    for slot, value in zip(out, values):
        data = None
        if value is None:
            slot.kind = _NULL
        elif isinstance(value, bool):
            slot.kind, slot.integer = _BOOL, value
        elif isinstance(value, int):
            if not -(2**63) <= value < 2**63:
                raise KeyError(value)
            slot.kind, slot.integer = _INT, value
        elif isinstance(value, float):
            slot.kind, slot.real = _DOUBLE, value
        elif isinstance(value, str):
            slot.kind, data = _TEXT, value.encode("utf-8", "surrogatepass")
        elif isinstance(value, (bytes, bytearray, memoryview)):
            slot.kind, data = _BINARY, bytes(value)
        elif isinstance(value, (uuid.UUID, decimal.Decimal)):
            slot.kind, data = _TEXT, str(value).encode()
        elif isinstance(value, datetime.datetime):
            slot.kind, data = _TEXT, _utc(value).encode()
        elif isinstance(value, datetime.date):
            slot.kind, data = _TEXT, f"{value.isoformat()}T00:00:00Z".encode()
        elif (plain := _plain(value)) is not value:
            return key_values(tuple(plain if part is value else part for part in values))
        else:
            raise TypeError(f"a key cannot be a {type(value).__name__}")
        if data is not None:
            slot.bytes, slot.length = data, len(data)
    return out
