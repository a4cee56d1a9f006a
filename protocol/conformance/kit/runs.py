"""Runs and messages (protocol P3), and failures (P4.4)."""
from __future__ import annotations

import struct
from typing import Any, List, NamedTuple, Optional

from . import cbor
from .wire import Reader, Violation, sized, varint

FORK, CALL, RESULT, FAILURE, IMPULSE, REQUEST, ANSWER, CLIENT_FAILURE = range(1, 9)
KINDS = {"fork": FORK, "call": CALL, "result": RESULT, "failure": FAILURE, "impulse": IMPULSE}
HEADER_BYTES = 32
RUN_BYTES_MAX = 256 * 1024
FAILURE_BYTES_MAX = 64 * 1024
FAILURE_DEPTH_MAX = 16
KEY_BYTES_MAX = 128


class Message(NamedTuple):
    """One message of a run; `id` is a call id or a request's number, 0 where the kind has none."""

    kind: int
    method: int
    id: int
    key: Optional[bytes]
    content: bytes
    raw: bytes


class Run(NamedTuple):
    """A run as it stands in a frame."""

    kind: int
    is_keyed: bool
    shard: int
    peer: int
    first: int
    hash: int
    messages: List[Message]


def message(kind: int, method: int, content: bytes, id_: int = 0, key: Optional[bytes] = None) -> bytes:
    """The bytes of a message, its length in front (P3.3)."""
    body = varint(method) + (b"" if kind in (FORK, IMPULSE, REQUEST) else varint(id_)) + (b"" if key is None else sized(key)) + content
    return sized(body)


def run(kind: int, messages: List[bytes], first: int = 0, peer: int = 0, hash_: int = 0, is_keyed: bool = False, blocks: bytes = b"") -> bytes:
    """A run of messages (P3), with extension blocks as they are given."""
    return struct.pack("<BBHIQIIQ", kind, is_keyed, 0, peer, first, len(messages), len(blocks), hash_) + blocks + b"".join(messages)


def read(payload: bytes) -> Run:
    """A run as an app sends it; what P3 forbids is a violation."""
    if len(payload) < HEADER_BYTES:
        raise Violation("P3.1", "a run is shorter than its header")
    kind, flags, shard, peer, first, count, extension, hash_ = struct.unpack_from("<BBHIQIIQ", payload)
    if kind not in (FORK, CALL, RESULT, FAILURE, IMPULSE, ANSWER, CLIENT_FAILURE):
        raise Violation("P3.2", f"an app sends no run of kind {kind}")
    if flags & ~1 or (flags and kind != IMPULSE):
        raise Violation("P1.6", f"flags {flags} of a run of kind {kind}")
    if not count:
        raise Violation("P3.1", "a run without messages")
    if extension > len(payload) - HEADER_BYTES:
        raise Violation("P3.1", "extension blocks are longer than their run")
    if len(payload) > RUN_BYTES_MAX and count > 1:
        raise Violation("P3.5", f"a run of {len(payload)} bytes with {count} messages")
    _blocks(payload[HEADER_BYTES:HEADER_BYTES + extension])
    reader = Reader(payload[HEADER_BYTES + extension:], "a run", "P3.1")
    messages = []
    while reader.left:
        messages.append(_message(kind, bool(flags & 1), reader))
    if len(messages) != count:
        raise Violation("P3.1", f"a run states {count} messages and has {len(messages)}")
    return Run(kind, bool(flags & 1), shard, peer, first, hash_, messages)


def _message(kind: int, is_keyed: bool, reader: Reader) -> Message:
    length = reader.varint()
    raw = reader.take(length)
    body = Reader(raw, "a message", "P3.1")
    method = body.varint()
    if method == 0 or method > 0xFFFFFFFF:
        raise Violation("P3.4", f"method {method}")
    id_ = 0 if kind in (FORK, IMPULSE) else body.varint()
    if kind in (CALL, RESULT, FAILURE) and not id_:
        raise Violation("P3.9", "call id 0")
    key = body.sized(KEY_BYTES_MAX) if is_keyed else None
    if key == b"":
        raise Violation("P3.3", "a key of 0 bytes")
    return Message(kind, method, id_, key, body.rest(), varint(length) + raw)


def _blocks(data: bytes) -> None:
    reader = Reader(data, "an extension block", "P3.7")
    seen = set()
    while reader.left:
        kind, version, content = reader.varint(), reader.varint(), Reader(reader.sized(len(data)), "an extension block", "P3.7")
        if (kind, version) in seen and kind != 2:
            raise Violation("P3.7", f"two extension blocks of type {kind}")
        seen.add((kind, version))
        if (kind, version) == (2, 1):
            content.varint()
            content.text(8192)
            content.end()
        if (kind, version) == (5, 1):
            first, last = content.number("Q"), content.number("Q")
            content.end()
            if first > last:
                raise Violation("P3.7", "the cause of a run ends before it begins")


def failure(chain: Any) -> bytes:
    """A failure from the JSON of a script: [type, message, inner or null], or {"hex": …}."""
    return bytes.fromhex(chain["hex"]) if isinstance(chain, dict) else cbor.encode(chain)


def read_failure(data: bytes) -> Any:
    """A failure as [type, message, inner or null] (P4.4)."""
    if len(data) > FAILURE_BYTES_MAX:
        raise Violation("P4.4", f"a failure of {len(data)} bytes")
    item, end = cbor.decode(data)
    if end != len(data):
        raise Violation("P4.4", "something stands behind a failure")
    level, depth = item, 0
    while level is not None:
        depth += 1
        is_whole = isinstance(level, list) and len(level) == 3 and isinstance(level[0], str) and isinstance(level[1], str)
        if not is_whole or depth > FAILURE_DEPTH_MAX:
            raise Violation("P4.4", f"{level!r} is no failure of at most 16 levels")
        level = level[2]
    return item
