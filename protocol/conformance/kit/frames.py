"""The frames of the app channel (protocol P2.4, P5): those of the coordinator written, those of the app read."""
from __future__ import annotations

import json
import struct
import uuid
from typing import Any, Dict, List, Tuple

from .wire import Reader, Violation, frame, sized, text, varint

APP_HELLO, APP_WELCOME, HEARTBEAT, GOODBYE, CONTRACT, BUILD_METHODS = 0x01, 0x02, 0x03, 0x04, 0x09, 0x0A
RUN, DESTINATION, PROCESSED, IMAGE_BEGIN, IMAGE_CHUNK, IMAGE_END = 0x10, 0x11, 0x12, 0x13, 0x14, 0x15
PRIMARY_READY, WAITING, CHECKPOINT_WANTED, TIMER_SET, TIMER_DROPPED, TASK_RESULT = 0x16, 0x17, 0x18, 0x19, 0x1A, 0x1B
SET_ASIDE, RELEASED, QUERY_ANSWER, EXECUTING = 0x1C, 0x1D, 0x1E, 0x1F
DELIVER, BECOME_PRIMARY, IMPULSE_LOGGED, POLICY_AHEAD, QUERY, RINGS = 0x20, 0x21, 0x22, 0x23, 0x24, 0x25
LOOK, GO, CONVERT, SEEN, CONVERTED = 0x26, 0x27, 0x28, 0x29, 0x2A

NAMES = {
    APP_HELLO: "AppHello", APP_WELCOME: "AppWelcome", HEARTBEAT: "Heartbeat", GOODBYE: "Goodbye", CONTRACT: "Contract",
    BUILD_METHODS: "BuildMethods", RUN: "Run", DESTINATION: "Destination", PROCESSED: "Processed", IMAGE_BEGIN: "ImageBegin",
    IMAGE_CHUNK: "ImageChunk", IMAGE_END: "ImageEnd", PRIMARY_READY: "PrimaryReady", WAITING: "Waiting",
    CHECKPOINT_WANTED: "CheckpointWanted", TIMER_SET: "TimerSet", TIMER_DROPPED: "TimerDropped", TASK_RESULT: "TaskResult",
    SET_ASIDE: "SetAside", RELEASED: "Released", QUERY_ANSWER: "QueryAnswer", EXECUTING: "Executing", DELIVER: "Deliver",
    BECOME_PRIMARY: "BecomePrimary", IMPULSE_LOGGED: "ImpulseLogged", POLICY_AHEAD: "PolicyAhead", QUERY: "Query", RINGS: "Rings",
    LOOK: "Look", GO: "Go", CONVERT: "Convert", SEEN: "Seen", CONVERTED: "Converted",
}
FROM_APP = frozenset((APP_HELLO, HEARTBEAT, GOODBYE, CONTRACT, BUILD_METHODS, RUN, DESTINATION, PROCESSED, IMAGE_BEGIN, IMAGE_CHUNK, IMAGE_END,
                      PRIMARY_READY, WAITING, CHECKPOINT_WANTED, TIMER_SET, TIMER_DROPPED, TASK_RESULT, SET_ASIDE, RELEASED, QUERY_ANSWER, EXECUTING, SEEN, CONVERTED))
IMAGE_CHUNK_BYTES_MAX = 1 << 20
CLEAN, REFUSED, PROTOCOL_VIOLATION, DIVERGENCE, APP_FAILED, AGAIN = range(6)


def options(values: Dict[int, bytes]) -> bytes:
    """The options that a hello or a welcome ends in (P2.7)."""
    return varint(len(values)) + b"".join(varint(kind) + sized(value) for kind, value in sorted(values.items()))


def welcome(instance: str, replica: str, instance_id: uuid.UUID, epoch: int, session: int, limit: int, position: int,
            has_image: bool, more: Dict[int, bytes]) -> bytes:
    """AppWelcome (P5.3)."""
    return frame(APP_WELCOME, struct.pack("<H", 1) + text(instance) + struct.pack("<H", 0) + text(replica) + instance_id.bytes
                 + struct.pack("<QQIQB", epoch, session, limit, position, has_image) + options(more))


def rings(capacity: int, path: str) -> bytes:
    """Rings (P5.19)."""
    return frame(RINGS, struct.pack("<I", capacity) + text(path))


def image(position: int, version: int, content: bytes, chunk: int, checksum: int) -> bytes:
    """The three frames of an image (P5.7)."""
    chunks = b"".join(frame(IMAGE_CHUNK, content[i:i + chunk]) for i in range(0, len(content), chunk))
    return frame(IMAGE_BEGIN, struct.pack("<QI", position, version)) + chunks + frame(IMAGE_END, struct.pack("<QQ", len(content), checksum))


def deliver(first: int, time_us: int, mark: int, records: bytes) -> bytes:
    """Deliver (P5.4)."""
    return frame(DELIVER, struct.pack("<QqQ", first, time_us, mark) + records)


def policy_ahead(changes: List[Tuple[int, int]]) -> bytes:
    """PolicyAhead (P5.17)."""
    return frame(POLICY_AHEAD, varint(len(changes)) + b"".join(struct.pack("<QB", lsn, policy) for lsn, policy in changes))


def query(number: int, lsn: int, method: int, arguments: bytes) -> bytes:
    """Query (P5.18)."""
    return frame(QUERY, struct.pack("<QQII", number, lsn, 0, method) + arguments)


def goodbye(code: int, why: str = "") -> bytes:
    """Goodbye (P5.12)."""
    return frame(GOODBYE, bytes([code]) + text(why))


def read_options(reader: Reader) -> Dict[int, bytes]:
    """The options of a hello or a welcome (P2.7)."""
    count, before, found = reader.varint(), -1, {}
    if count > 16:
        raise Violation("P2.7", f"{count} options")
    for _ in range(count):
        kind = reader.varint()
        if kind <= before:
            raise Violation("P2.7", "the types of options do not ascend")
        before = kind
        found[kind] = reader.sized(256)
    if sum(map(len, found.values())) > 1024:
        raise Violation("P2.7", "options of more than 1,024 bytes")
    return found


def read_hello(payload: bytes) -> Dict[str, Any]:
    """AppHello (P5.1)."""
    reader = Reader(payload, "AppHello")
    hello: Dict[str, Any] = {"min": reader.number("H"), "max": reader.number("H"), "token": reader.sized(32)}
    if len(hello["token"]) != 32:
        raise Violation("P5.1", f"a token of {len(hello['token'])} bytes")
    hello["version"], hello["imageVersion"] = reader.number("I"), reader.number("I")
    if not hello["version"]:
        raise Violation("P5.1", "app version 0")
    for name, most in (("binding", 64), ("runtime", 128), ("culture", 64), ("cpu", 64)):
        hello[name] = reader.text(most)
    hello["contractHash"], hello["process"] = reader.number("Q"), reader.number("I")
    hello["options"] = read_options(reader)
    reader.end()
    if len(hello["options"].get(1, bytes(16))) != 16:
        raise Violation("P5.1", "the build of option 1 has not 16 bytes")
    return hello


def look(lsn: int, index: int, flags: int) -> bytes:
    """Look (P5.24)."""
    return frame(LOOK, struct.pack("<QIB", lsn, index, flags))


def convert(lsn: int, before: int, after: int, use: int) -> bytes:
    """Convert (P5.25)."""
    return frame(CONVERT, struct.pack("<QIIB", lsn, before, after, use))


def read_seen(payload: bytes) -> Dict[str, Any]:
    """Seen (P5.24)."""
    reader = Reader(payload, "Seen")
    lsn, index, reason, rows, before = reader.number("Q"), reader.number("I"), reader.number("B"), reader.varint(), -1
    for _ in range(rows):
        method = reader.number("I")
        reader.take(16)
        if method <= before:
            raise Violation("P5.24", "the rows of Seen do not ascend")
        before = method
    reader.end()
    if reason > 1 or rows > 4096:
        raise Violation("P5.24", f"Seen with reason {reason}, or {rows} rows")
    return {"seen": lsn, "index": index, "goes_on": reason == 1}


def read_converted(payload: bytes) -> Dict[str, Any]:
    """Converted (P5.25)."""
    reader = Reader(payload, "Converted")
    lsn, use, length, checksum, why = reader.number("Q"), reader.number("B"), reader.number("Q"), reader.number("Q"), reader.text(2048)
    reader.end()
    if use > 3 or (why or use == 3) and (length or checksum):
        raise Violation("P5.25", f"Converted of use {use} with {length} bytes of image and the reason {why!r}")
    return {"converted": lsn, "use": use, "isRefused": bool(why), "hasImage": length > 0}


def read_set_aside(payload: bytes) -> Dict[str, Any]:
    """SetAside (P5.16)."""
    reader = Reader(payload, "SetAside")
    found: Dict[str, Any] = {"decision": reader.number("Q"), "lsn": reader.number("Q"), "index": reader.number("I"), "isUnlogged": reader.number("B"),
                             "time": reader.number("q"), "shard": reader.number("H"), "caller": reader.name(), "kind": reader.number("B"),
                             "method": reader.number("I"), "tries": reader.number("I"), "argumentBytes": reader.number("Q"), "why": reader.text(1024)}
    reader.end()
    if not found["decision"] or found["kind"] not in (1, 5) or found["isUnlogged"] > 1:
        raise Violation("P5.16", f"decision {found['decision']}, kind {found['kind']}, isUnlogged {found['isUnlogged']}")
    return found


def read_json(payload: bytes, sentence: str, most: int) -> None:
    """A frame that is JSON to its end (P5.21, P5.23)."""
    if not 1 <= len(payload) <= most:
        raise Violation(sentence, f"{len(payload)} bytes")
    try:
        json.loads(payload.decode())
    except ValueError:
        raise Violation(sentence, "this is no JSON") from None
