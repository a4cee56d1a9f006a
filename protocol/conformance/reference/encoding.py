"""Bytes of the reference app: conventions, frames, CBOR. It shares no code with the kit that judges it."""
from __future__ import annotations

import struct
from typing import Any, List, Tuple

from faults import has


class Malformed(Exception):
    """Input that breaks a sentence; the sentence is the first argument."""


def _table(polynomial: int) -> Tuple[int, ...]:
    rows = []
    for row in range(256):
        for _ in range(8):
            row = (row >> 1) ^ (polynomial if row & 1 else 0)
        rows.append(row)
    return tuple(rows)


_T32, _T64 = _table(0x82F63B78), _table(0x9A6C9329AC4BC9B5)


def crc32c(data: bytes, seed: int = 0) -> int:
    """CRC-32C (P1.8)."""
    value = ~seed & 0xFFFFFFFF
    for byte in data:
        value = _T32[(value ^ byte) & 255] ^ (value >> 8)
    return ~value & 0xFFFFFFFF


def crc64(data: bytes, seed: int = 0) -> int:
    """CRC-64/NVME (P1.9)."""
    value = ~seed & 0xFFFFFFFFFFFFFFFF
    for byte in data:
        value = _T64[(value ^ byte) & 255] ^ (value >> 8)
    return ~value & 0xFFFFFFFFFFFFFFFF


def varint(value: int) -> bytes:
    """A varint in its shortest form (P1.2)."""
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    last = bytes([value])
    return out + (bytes([value | 128, 0]) if has("long-varint") and value else last)


def string(value: str) -> bytes:
    """A text with its length (P1.3)."""
    encoded = value.encode()
    return varint(len(encoded)) + encoded


class Cursor:
    """Reads fields one behind another."""

    def __init__(self, data: bytes, surplus: str = "P2.6") -> None:
        self.data, self.at, self.surplus = data, 0, surplus

    def take(self, count: int) -> bytes:
        """So many bytes."""
        if self.at + count > len(self.data):
            raise Malformed(self.surplus)
        self.at += count
        return self.data[self.at - count:self.at]

    def fixed(self, form: str) -> int:
        """An integer of fixed width."""
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    def varint(self) -> int:
        """A varint; only the shortest form is taken (P1.2)."""
        value = 0
        for place in range(10):
            byte = self.take(1)[0]
            value |= (byte & 127) << 7 * place
            if byte < 128:
                if value >> 64 or place and not byte and not has("unshortest-varint-accepted"):
                    raise Malformed("P1.2")
                return value
        raise Malformed("P1.2")

    def sized(self, most: int = 1 << 30) -> bytes:
        """Bytes with their length (P1.3)."""
        count = self.varint()
        if count > most:
            raise Malformed("P1.3")
        return self.take(count)

    def string(self, most: int = 1 << 20) -> str:
        """A text with its length (P1.3)."""
        try:
            return self.sized(most).decode()
        except UnicodeDecodeError:
            raise Malformed("P1.3") from None

    def name(self) -> str:
        """The name of an instance (P1.5)."""
        name = self.string(63)
        allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        if not name or name[0] not in allowed or any(c not in allowed + "-_" for c in name):
            raise Malformed("P1.5")
        return name

    def rest(self) -> bytes:
        """All that is left."""
        return self.take(len(self.data) - self.at)

    def end(self) -> None:
        """Nothing more may stand here (P2.6)."""
        if self.at != len(self.data) and not has("surplus-byte-accepted"):
            raise Malformed(self.surplus)


def frame(kind: int, payload: bytes) -> bytes:
    """A frame of an app channel (P2)."""
    header = struct.pack("<IBBHI", len(payload), kind, 0, 0, 7 if has("payload-crc-set") and kind == 0x12 else 0)
    return header + struct.pack("<I", crc32c(header) ^ (has("wrong-header-crc") and kind == 0x10)) + payload


# ---- CBOR ----

class Undecodable(Exception):
    """A CBOR item that is none, or not the one that is expected: WrongType, OutOfRange, NotDeterministic, …"""


class Tagged(tuple):
    """(number, item)."""


def _head(major: int, value: int) -> bytes:
    if value < 24:
        if has("unshortest-cbor") and major == 0:
            return bytes([0x18, value])
        return bytes([major << 5 | value])
    for info, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
        if value < 1 << 8 * size:
            return bytes([major << 5 | info]) + value.to_bytes(size, "big")
    raise Undecodable("OutOfRange")


def pack(value: Any) -> bytes:
    """A value as one item in the deterministic encoding (RFC 8949 §4.2.1)."""
    if value is None or value is True or value is False:
        return {None: b"\xf6", True: b"\xf5", False: b"\xf4"}[value]
    if isinstance(value, int):
        return _head(0, value) if value >= 0 else _head(1, ~value)
    if isinstance(value, str):
        return _head(3, len(value.encode())) + value.encode()
    if isinstance(value, bytes):
        return _head(2, len(value)) + value
    if isinstance(value, Tagged):
        return _head(6, value[0]) + pack(value[1])
    if isinstance(value, (list, tuple)):
        return _head(4, len(value)) + b"".join(pack(item) for item in value)
    if isinstance(value, dict):
        rows = [(pack(k), pack(v)) for k, v in value.items()]
        rows = sorted(rows, reverse=has("map-keys-unsorted"))
        return _head(5, len(rows)) + b"".join(k + v for k, v in rows)
    for first, form in ((b"\xf9", ">e"), (b"\xfa", ">f"), (b"\xfb", ">d")):
        try:
            packed = struct.pack(form, value)
        except OverflowError:
            continue
        if struct.pack(">d", *struct.unpack(form, packed)) == struct.pack(">d", value) and not (has("long-float") and form != ">d"):
            return first + packed
    raise Undecodable("WrongType")


def unpack(data: bytes, at: int = 0, depth: int = 0) -> Tuple[Any, int]:
    """One item and the place behind it; floats as float, maps as dict, tags as Tagged."""
    if at >= len(data):
        raise Undecodable("Truncated")
    if depth > 64:
        raise Undecodable("TooDeep")
    major, info = data[at] >> 5, data[at] & 31
    at += 1
    value = info
    if info > 27:
        raise Undecodable("NotDeterministic" if info == 31 else "Malformed")
    if info > 23:
        size = 1 << info - 24
        if at + size > len(data):
            raise Undecodable("Truncated")
        value = int.from_bytes(data[at:at + size], "big")
        at += size
        if major < 7 and value < (24 if size == 1 else 1 << 4 * size) and not has("unshortest-cbor-accepted"):
            raise Undecodable("NotDeterministic")
    if major in (0, 1):
        return (value if major == 0 else ~value), at
    if major in (2, 3):
        if at + value > len(data):
            raise Undecodable("Truncated")
        return (data[at:at + value] if major == 2 else _text(data[at:at + value])), at + value
    if major in (4, 5):
        return _items(data, at, value, major == 5, depth)
    if major == 6:
        item, at = unpack(data, at, depth + 1)
        return Tagged((value, item)), at
    if info in (20, 21, 22):
        return {20: False, 21: True, 22: None}[info], at
    if info in (25, 26, 27):
        return _float(data, at, info), at
    raise Undecodable("WrongType")


def _float(data: bytes, at: int, info: int) -> float:
    value = struct.unpack({25: ">e", 26: ">f", 27: ">d"}[info], data[at - (1 << info - 24):at])[0]
    for form in (">e", ">f")[:info - 25]:
        try:
            narrow = struct.unpack(form, struct.pack(form, value))[0]
        except OverflowError:
            continue
        if struct.pack(">d", narrow) == struct.pack(">d", value) and not has("unshortest-cbor-accepted"):
            raise Undecodable("NotDeterministic")
    return value


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Undecodable("NotUtf8") from None


def _items(data: bytes, at: int, count: int, is_map: bool, depth: int) -> Tuple[Any, int]:
    items: List[Any] = []
    if count > len(data):
        raise Undecodable("Truncated")
    for _ in range(count * (2 if is_map else 1)):
        item, at = unpack(data, at, depth + 1)
        items.append(item)
    if not is_map:
        return items, at
    keys = [tuple(k) if isinstance(k, list) else k for k in items[::2]]
    return dict(zip(keys, items[1::2])), at


def sequence(data: bytes) -> List[Any]:
    """All items of a sequence (P4.1)."""
    items, at = [], 0
    while at < len(data):
        item, at = unpack(data, at)
        items.append(item)
    return items
