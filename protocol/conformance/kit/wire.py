"""Bytes: the conventions of protocol P1 and the frames of protocol P2."""
from __future__ import annotations

import struct
from typing import List, NamedTuple, Tuple

HEADER_BYTES = 16
HELLO_BYTES_MAX = 4096
PAYLOAD_BYTES_MAX = (1 << 30) + 65536


class Violation(Exception):
    """Something that a sentence of the documents forbids; the sentence is cited."""

    def __init__(self, sentence: str, what: str) -> None:
        super().__init__(f"{sentence}: {what}")
        self.sentence = sentence
        self.what = what


def _table(polynomial: int) -> List[int]:
    table = []
    for byte in range(256):
        state = byte
        for _ in range(8):
            state = (state >> 1) ^ (polynomial if state & 1 else 0)
        table.append(state)
    return table


_CRC32C = _table(0x82F63B78)
_CRC64 = _table(0x9A6C9329AC4BC9B5)


def crc32c(data: bytes, seed: int = 0) -> int:
    """CRC-32C (P1.8)."""
    state, table = seed ^ 0xFFFFFFFF, _CRC32C
    for byte in data:
        state = table[(state ^ byte) & 0xFF] ^ (state >> 8)
    return state ^ 0xFFFFFFFF


def crc64(data: bytes, seed: int = 0) -> int:
    """CRC-64/NVME, the channel hash (P1.9)."""
    state, table = seed ^ 0xFFFFFFFFFFFFFFFF, _CRC64
    for byte in data:
        state = table[(state ^ byte) & 0xFF] ^ (state >> 8)
    return state ^ 0xFFFFFFFFFFFFFFFF


def varint(value: int) -> bytes:
    """Unsigned LEB128 in its shortest form (P1.2)."""
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def sized(value: bytes) -> bytes:
    """`bytes` of P1.3: a count and so many bytes."""
    return varint(len(value)) + value


def text(value: str) -> bytes:
    """`string` of P1.3."""
    return sized(value.encode())


class Reader:
    """Reads the fields of one payload; whatever is malformed is a violation that cites the sentence."""

    def __init__(self, data: bytes, where: str, surplus: str = "P2.6") -> None:
        self._data, self._at, self._where, self._surplus = data, 0, where, surplus

    @property
    def left(self) -> int:
        """Bytes that have not been read."""
        return len(self._data) - self._at

    @property
    def at(self) -> int:
        """The position of the next byte."""
        return self._at

    def take(self, count: int) -> bytes:
        """So many bytes as they stand."""
        if count > self.left:
            raise Violation(self._surplus, f"{self._where} ends {count - self.left} bytes too early")
        self._at += count
        return self._data[self._at - count:self._at]

    def rest(self) -> bytes:
        """What is left, as it stands."""
        return self.take(self.left)

    def number(self, form: str) -> int:
        """One integer of fixed width, by its letter in `struct`."""
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]

    def varint(self) -> int:
        """A varint in its shortest form (P1.2)."""
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift > 63:
                raise Violation("P1.2", f"a varint in {self._where} has more than 10 bytes")
        if value >> 64 or (byte == 0 and shift):
            raise Violation("P1.2", f"a varint in {self._where} is not in its shortest form, or does not fit 64 bits")
        return value

    def sized(self, most: int) -> bytes:
        """Bytes with their count in front, at most so many (P1.3)."""
        count = self.varint()
        if count > most:
            raise Violation("P1.3", f"{count} bytes in {self._where}, where {most} are allowed")
        return self.take(count)

    def text(self, most: int) -> str:
        """UTF-8 text of at most so many bytes (P1.3)."""
        try:
            return self.sized(most).decode()
        except UnicodeDecodeError:
            raise Violation("P1.3", f"a text in {self._where} is not UTF-8") from None

    def name(self) -> str:
        """The name of an instance or a replica (P1.5)."""
        name = self.text(63)
        if not is_name(name):
            raise Violation("P1.5", f"{name!r} in {self._where} is no name")
        return name

    def end(self) -> None:
        """Nothing may stand behind the last field (P2.6)."""
        if self.left:
            raise Violation(self._surplus, f"{self.left} bytes stand behind the last field of {self._where}")


def is_name(name: str) -> bool:
    """Whether a text is the name of an instance or a replica (P1.5)."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    return 1 <= len(name) <= 63 and name[0] in letters and all(c in letters + "_-" for c in name)


class Frame(NamedTuple):
    """One frame of an app channel."""

    type: int
    payload: bytes


def frame(kind: int, payload: bytes = b"") -> bytes:
    """A frame of an app channel (P2): no flags, no payloadCrc, seed 0."""
    header = struct.pack("<IBBHI", len(payload), kind, 0, 0, 0)
    return header + struct.pack("<I", crc32c(header)) + payload


def read_frame(data: bytes, start: int, is_first: bool) -> Tuple[Frame, int]:
    """The frame that begins at `start`, and where it ends; (Frame(0), start) if it is not whole yet."""
    if len(data) - start < HEADER_BYTES:
        return Frame(0, b""), start
    length, kind, flags, reserved, payload_crc, header_crc = struct.unpack_from("<IBBHII", data, start)
    if crc32c(bytes(data[start:start + 12])) != header_crc:
        raise Violation("P2.1", "headerCrc is wrong")
    if flags or reserved:
        raise Violation("P1.6", "flags or a reserved field of a frame is not 0")
    if payload_crc:
        raise Violation("P2.5", "payloadCrc is not 0 on an app channel")
    if length > (HELLO_BYTES_MAX if is_first else PAYLOAD_BYTES_MAX):
        raise Violation("P2.3", f"a payload of {length} bytes")
    end = start + HEADER_BYTES + length
    if len(data) < end:
        return Frame(0, b""), start
    return Frame(kind, bytes(data[start + HEADER_BYTES:end])), end
