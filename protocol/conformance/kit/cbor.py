"""CBOR in its deterministic encoding (RFC 8949 §4.2.1), as far as Ambrosia uses it."""
from __future__ import annotations

import struct
from typing import Any, List, Tuple

from .wire import Violation

NESTING_MAX = 128


class Tag:
    """A tagged item."""

    def __init__(self, number: int, item: Any) -> None:
        self.number, self.item = number, item

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tag) and (self.number, self.item) == (other.number, other.item)

    def __repr__(self) -> str:
        return f"{self.number}({self.item!r})"


class Map(list):
    """A map as the list of its pairs, in the order in which they stand."""


class Float(float):
    """A float, so that 1.0 and 1 stay two things."""


def head(major: int, value: int) -> bytes:
    """The head of an item in its shortest form."""
    if value < 24:
        return bytes([major << 5 | value])
    for info, form in ((24, ">B"), (25, ">H"), (26, ">I"), (27, ">Q")):
        if value < 1 << 8 * struct.calcsize(form):
            return bytes([major << 5 | info]) + struct.pack(form, value)
    raise ValueError(value)


def _float(value: float) -> bytes:
    for first, form in ((0xF9, ">e"), (0xFA, ">f"), (0xFB, ">d")):
        try:
            packed = struct.pack(form, value)
        except OverflowError:
            continue
        if struct.pack(">d", struct.unpack(form, packed)[0]) == struct.pack(">d", value):
            return bytes([first]) + packed
    return b"\xfb" + struct.pack(">d", value)


def encode(value: Any) -> bytes:
    """One item. A dict is written in the order of its encoded keys, a Map as it stands."""
    if value is None:
        return b"\xf6"
    if isinstance(value, bool):
        return b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, float):
        return _float(value)
    if isinstance(value, (bytes, bytearray)):
        return head(2, len(value)) + bytes(value)
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, Map):
        return head(5, len(value)) + b"".join(encode(k) + encode(v) for k, v in value)
    if isinstance(value, (list, tuple)):
        return head(4, len(value)) + b"".join(map(encode, value))
    if isinstance(value, dict):
        pairs = sorted((encode(k), encode(v)) for k, v in value.items())
        return head(5, len(pairs)) + b"".join(k + v for k, v in pairs)
    if isinstance(value, Tag):
        return head(6, value.number) + encode(value.item)
    raise TypeError(type(value))


def _argument(data: bytes, at: int) -> Tuple[int, int, int]:
    """Major type, argument and the position behind the head; a head that is not the shortest is refused."""
    if at >= len(data):
        raise Violation("P4.1", "a CBOR item ends too early")
    major, info = data[at] >> 5, data[at] & 31
    if info < 24:
        return major, info, at + 1
    if info > 27:
        raise Violation("P4.1", "a CBOR item has an indefinite length or a reserved head")
    size = 1 << (info - 24)
    if at + 1 + size > len(data):
        raise Violation("P4.1", "a CBOR item ends too early")
    value = int.from_bytes(data[at + 1:at + 1 + size], "big")
    least = 24 if size == 1 else 1 << (4 * size)
    if major != 7 and value < least:
        raise Violation("P4.1", "the head of a CBOR item is not in its shortest form")
    return major, value, at + 1 + size


def decode(data: bytes, at: int = 0, depth: int = 0) -> Tuple[Any, int]:
    """The item at `at`, and the position behind it. What is not deterministic is a violation of P4.1."""
    if depth > NESTING_MAX:
        raise Violation("P4.1", "CBOR items are nested too deep")
    start = at
    major, value, at = _argument(data, at)
    if major == 0:
        return value, at
    if major == 1:
        return -1 - value, at
    if major in (2, 3):
        if at + value > len(data):
            raise Violation("P4.1", "a CBOR string ends too early")
        raw = data[at:at + value]
        if major == 2:
            return raw, at + value
        try:
            return raw.decode(), at + value
        except UnicodeDecodeError:
            raise Violation("P4.1", "a CBOR text is not UTF-8") from None
    if major == 4:
        items: List[Any] = []
        for _ in range(value):
            item, at = decode(data, at, depth + 1)
            items.append(item)
        return items, at
    if major == 5:
        return _map(data, at, value, depth)
    if major == 6:
        item, at = decode(data, at, depth + 1)
        return Tag(value, item), at
    return _simple(data, start, value, at)


def _map(data: bytes, at: int, count: int, depth: int) -> Tuple[Any, int]:
    pairs, before = Map(), b""
    for i in range(count):
        key_at = at
        key, at = decode(data, at, depth + 1)
        if i and data[key_at:at] <= before:
            raise Violation("P4.1", "the keys of a CBOR map are not in order, or one stands twice")
        before = data[key_at:at]
        item, at = decode(data, at, depth + 1)
        pairs.append((key, item))
    return pairs, at


def _simple(data: bytes, start: int, value: int, at: int) -> Tuple[Any, int]:
    info = data[start] & 31
    if info in (20, 21):
        return info == 21, at
    if info == 22:
        return None, at
    if info in (25, 26, 27):
        form = {25: ">e", 26: ">f", 27: ">d"}[info]
        number = Float(struct.unpack(form, data[start + 1:at])[0])
        if number == number and _float(number) != data[start:at]:
            raise Violation("P4.1", "a CBOR float is not in its shortest form")
        return number, at
    raise Violation("P4.1", f"a simple value {value} has no meaning here")


def sequence(data: bytes) -> List[Any]:
    """All items of a CBOR sequence (P4.1)."""
    items, at = [], 0
    while at < len(data):
        item, at = decode(data, at)
        items.append(item)
    return items
