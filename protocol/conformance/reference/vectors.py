"""`app.py vectors FILE`: what the reference app reads in each vector (README), printed as the vectors have it."""
from __future__ import annotations

import json
import struct
import uuid
from typing import Any, Callable, Dict, List, Optional

from encoding import Cursor, Malformed, Tagged, Undecodable, crc32c, crc64, unpack
from values import Contract

HEADER = struct.Struct("<IBBHII")
FRAME_TYPES = frozenset((*range(0x01, 0x0B), *range(0x10, 0x2B), 0x30, 0x31))
RUN_BYTES_MAX = 256 * 1024
Entry = Dict[str, Any]


def print_vectors(path: str) -> int:
    """One line for each entry of a file."""
    with open(path, encoding="utf-8") as file:
        for entry in json.load(file):
            print(json.dumps(_read(entry)))
    return 0


def _read(entry: Entry) -> Dict[str, Any]:
    context = entry.get("context", {})
    read = READERS.get(entry["structure"]) or VALUES.get(entry["structure"])
    if read is None or context.get("link") or context.get("lenient"):
        return {"skip": "it is none of an app's business"}
    data = bytes.fromhex(entry["hex"]) + bytes(context.get("zeros", 0)) + bytes.fromhex(context.get("tail", ""))
    try:
        return {"expect": read(data, context)}
    except (Malformed, Undecodable) as error:
        return {"error": error.args[0]}


def _frame(data: bytes, context: Entry) -> Entry:
    if len(data) < HEADER.size:
        raise Malformed("P2.3")
    length, kind, flags, reserved, payload_crc, header_crc = HEADER.unpack_from(data)
    if crc32c(data[:12]) != header_crc:
        raise Malformed("P2.1")
    if flags or reserved:
        raise Malformed("P1.6")
    if kind not in FRAME_TYPES:
        raise Malformed("P2.4")
    if payload_crc:
        raise Malformed("P2.5")
    if length > context["payloadBytesMax"]:
        raise Malformed("P2.3")
    return {"type": kind, "payload": data[16:16 + length].hex(), "consumed": 16 + length}


def _channel_hash(data: bytes, context: Entry) -> Entry:
    value, last, at = 0, 0, 0
    for piece in context["pieces"]:
        if piece["kind"] != last:
            value, last = crc64(bytes([piece["kind"]]), value), piece["kind"]
        value = crc64(data[at:at + piece["bytes"]], value)
        at += piece["bytes"]
    return {"hash": f"{value:016x}", "lastKind": last}


def _method_id(_: bytes, context: Entry) -> Entry:
    value = 0x811C9DC5
    for byte in f"{context['interface']}.{context['method']}".encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return {"id": value | 0x80000000}


def _run(data: bytes, context: Entry) -> Entry:
    reader = Cursor(data, "P3.1")
    kind, flags, shard, peer, first, count, extension, digest = (reader.fixed(form) for form in "BBHIQIIQ")
    if not 1 <= kind <= 8:
        raise Malformed("P3.2")
    if flags & ~1 or (flags and kind not in (5, 6)):
        raise Malformed("P1.6")
    if count < 1 or extension > len(data) - reader.at:
        raise Malformed("P3.1")
    if first + count - 1 > (1 << 63) - 1:
        raise Malformed("P3.8")
    if len(data) > RUN_BYTES_MAX and count > 1:
        raise Malformed("P3.5")
    blocks, messages = Cursor(reader.take(extension), "P3.7"), []
    shown = []
    while blocks.at < extension:
        shown.append({"type": str(blocks.varint()), "version": str(blocks.varint()), "content": blocks.sized().hex()})
    while reader.at < len(data):
        messages.append(_message(kind, bool(flags), reader, context.get("messageBytesMax", 64 << 20)))
    if len(messages) != count:
        raise Malformed("P3.1")
    return {"kind": kind, "keyed": bool(flags), "shard": shard, "peer": peer, "first": str(first), "count": count, "hash": f"{digest:016x}",
            "extensions": shown, "messages": messages}


def _message(kind: int, is_keyed: bool, reader: Cursor, limit: int) -> Entry:
    length = reader.varint()
    if length > limit:
        raise Malformed("P3.4")
    body = Cursor(reader.take(length), "P3.1")
    method = body.varint()
    if method > 0xFFFFFFFF:
        raise Malformed("P3.4")
    if not method:
        raise Malformed("P4.5")
    call = body.varint() if kind in (2, 3, 4, 7, 8) else 0
    key = body.sized(128) if is_keyed else b""
    if is_keyed and not key:
        raise Malformed("P3.3")
    return {"method": method, "call": str(call), "key": key.hex(), "arguments": body.rest().hex()}


def _stack(data: bytes, _: Entry) -> Entry:
    reader = Cursor(data)
    found = {"fromEnd": reader.varint(), "stack": reader.string(8192)}
    reader.end()
    if found["fromEnd"] > 0xFFFFFFFF:
        raise Malformed("P3.7")
    return found


def _uuid(reader: Cursor) -> str:
    return str(uuid.UUID(bytes=reader.take(16)))


def _fields(*fields: Any, surplus: str = "P2.6") -> Callable[[bytes, Entry], Entry]:
    """A reader of fields: (name, letter of struct) for numbers (of 64 bits as text), (name, function) for others."""
    def read(data: bytes, _: Entry) -> Entry:
        reader, found = Cursor(data, surplus), {}
        for name, kind in fields:
            value = kind(reader) if callable(kind) else reader.fixed(kind)
            found[name] = str(value) if kind in ("Q", "q") else value
        reader.end()
        return found
    return read


def _record(*fields: Any) -> Callable[[bytes, Entry], Entry]:
    read = _fields(*fields, surplus="L5.10")

    def checked(data: bytes, context: Entry) -> Entry:
        try:
            return read(data, context)
        except Malformed:
            raise Malformed("L5.10") from None
    return checked


def _at_least(form: str, least: int) -> Callable[[Cursor], Any]:
    def read(reader: Cursor) -> Any:
        value = reader.fixed(form)
        if value < least:
            raise Malformed("L5.10")
        return str(value) if form in "Qq" else value
    return read


def _status(reader: Cursor) -> bool:
    value = reader.fixed("B")
    if value > 1:
        raise Malformed("L5.10")
    return bool(value)


def _policy(data: bytes, context: Entry) -> Entry:
    limit = [("messageBytesMax", "I")] if len(data) > 25 else []
    found = _record(("forks", "B"), ("windowUs", "Q"), ("entriesMax", "Q"), ("bytesMax", "Q"), *limit)(data, context)
    if found["forks"] > 2 or not 1 <= found.get("messageBytesMax", 1) <= 1 << 30 or found.get("messageBytesMax") == 64 << 20:
        raise Malformed("L5.10")
    return found


def _request(data: bytes, context: Entry) -> Entry:
    found = _record(("session", _uuid), ("request", "Q"), ("keyed", _status), ("message", lambda reader: reader.rest()))(data, context)
    message = found["message"]
    try:
        reader = Cursor(message, "L5.10")
        _message(6, found["keyed"], reader, len(message))
        reader.end()
    except Malformed:
        raise Malformed("L5.10") from None
    return {**found, "message": message.hex()}


def _quarantine(data: bytes, context: Entry) -> Entry:
    found = _record(("record", "Q"), ("index", "I"), ("action", "B"))(data, context)
    if found["action"] > 2:
        raise Malformed("L5.10")
    return found


def _welcome(data: bytes, _: Entry) -> Entry:
    reader = Cursor(data)
    found: Entry = {"version": reader.fixed("H"), "instance": reader.name(), "shard": reader.fixed("H"), "replica": reader.name(), "uuid": _uuid(reader)}
    for name, form in (("epoch", "Q"), ("session", "Q"), ("messageBytesMax", "I"), ("checkpoint", "Q"), ("hasImage", "B")):
        found[name] = str(reader.fixed(form)) if form == "Q" else reader.fixed(form)
    if found["hasImage"] > 1:
        raise Malformed("P1.6")
    if not 1 <= found["messageBytesMax"] <= 1 << 30:
        raise Malformed("P2.3")
    found["hasImage"] = bool(found["hasImage"])
    options = _options(reader)
    reader.end()
    if options.get(1, b"\0") not in (b"\0", b"\1") or len(options.get(2, bytes(4))) != 4 or options.get(2) == bytes(4):
        raise Malformed("P5.24")
    image = options.get(3)
    if image is not None and (len(image) != 4 or image == bytes(4) or not found["hasImage"]):
        raise Malformed("P5.25")
    return {**found, "options": " ".join(f"{kind}={value.hex()}" for kind, value in options.items())}


def _options(reader: Cursor) -> Dict[int, bytes]:
    count, before, found = reader.varint(), -1, {}
    if count > 16:
        raise Malformed("P2.7")
    for _ in range(count):
        kind = reader.varint()
        if kind <= before:
            raise Malformed("P2.7")
        before, found[kind] = kind, reader.sized(256)
    if sum(map(len, found.values())) > 1024:
        raise Malformed("P2.7")
    return found


def _ahead(data: bytes, _: Entry) -> Entry:
    reader = Cursor(data)
    count = reader.varint()
    if count > 1024:
        raise Malformed("P5.17")
    found = [{"position": str(reader.fixed("Q")), "forks": reader.fixed("B")} for _ in range(count)]
    reader.end()
    places = [int(change["position"]) for change in found]
    if any(change["forks"] > 2 for change in found) or places != sorted(set(places)):
        raise Malformed("P5.17")
    return {"changes": found}


def _goodbye(data: bytes, context: Entry) -> Entry:
    found = _fields(("code", "B"), ("why", lambda reader: reader.string(1024)))(data, context)
    if found["code"] > 5:
        raise Malformed("P5.12")
    return found


def _position(reader: Cursor) -> str:
    value = reader.fixed("Q")
    if value >= 1 << 62:
        raise Malformed("L2.1")
    return str(value)


def _records(data: bytes, context: Entry) -> Entry:
    lsn, at, found = int(context["first"]), 0, []
    while at < len(data):
        if len(data) - at < 8:
            raise Malformed("L5.10")
        size, word = struct.unpack_from("<II", data, at)
        body = data[at + 8:at + 8 + size]
        if not (1 <= word <= 15 or word == 17):
            raise Malformed("L5.1")
        if len(body) != size:
            raise Malformed("L5.10")
        if word in (1, 2):
            kind = _run(body, {"messageBytesMax": 1 << 30})["kind"]
            if kind not in ((1, 2, 3, 4) if word == 1 else (5,)):
                raise Malformed(f"L5.{1 + word}")
        found.append({"lsn": str(lsn), "kind": word, "body": body.hex()})
        at, lsn = at + 8 + size, lsn + 8 + size
    return {"records": found}


def _deliver(data: bytes, _: Entry) -> Entry:
    reader = Cursor(data)
    first, time_us, mark = _position(reader), reader.fixed("q"), _position(reader)
    return {"first": first, "timeUs": str(time_us), "mark": mark, **_records(reader.rest(), {"first": first})}


def _query(data: bytes, context: Entry) -> Entry:
    reader = Cursor(data)
    found = {"query": str(reader.fixed("Q")), "position": _position(reader), "patienceMs": reader.fixed("I"), "method": reader.fixed("I"),
             "arguments": reader.rest().hex()}
    if found["query"] == "0" or not found["method"] or len(found["arguments"]) // 2 > context.get("messageBytesMax", 64 << 20):
        raise Malformed("P5.18")
    return found


def _chunk(data: bytes, _: Entry) -> Entry:
    if not 1 <= len(data) <= 1 << 20:
        raise Malformed("P5.7")
    return {"bytes": data.hex()}


def _show(item: Any) -> str:
    """Diagnostic notation as the vectors have it."""
    if item is None or isinstance(item, bool):
        return {None: "null", True: "true", False: "false"}[item]
    if isinstance(item, int):
        return str(item)
    if isinstance(item, float):
        return f"float'{struct.pack('>d', item).hex()}'"
    if isinstance(item, bytes):
        return f"h'{item.hex()}'"
    if isinstance(item, str):
        return f"t'{item.encode().hex()}'"
    if isinstance(item, Tagged):
        return f"{item[0]}({_show(item[1])})"
    if isinstance(item, dict):
        return "{" + ", ".join(f"{_show(key)}: {_show(value)}" for key, value in item.items()) + "}"
    return "[" + ", ".join(map(_show, item)) + "]"


def _failure(data: bytes, _: Entry) -> Entry:
    item, chain = unpack(data)[0], []
    if item is None:
        raise Undecodable("WrongType")
    while item is not None:
        if not isinstance(item, list) or len(item) != 3 or not isinstance(item[0], str) or not isinstance(item[1], str):
            raise Undecodable("WrongType")
        if len(chain) == 16:
            raise Undecodable("TooDeep")
        chain.append({"type": item[0], "message": item[1]})
        item = item[2]
    return {"chain": chain}


def _value(kind: str, show: Callable[[Any], str]) -> Callable[[bytes, Entry], Entry]:
    def read(data: bytes, _: Entry) -> Entry:
        return {"value": show(CONTRACT.read(kind, unpack(data)[0]))}
    return read


def _decimal(item: List[int]) -> str:
    digits = (item[2] & 0xFFFFFFFF) << 64 | (item[1] & 0xFFFFFFFF) << 32 | item[0] & 0xFFFFFFFF
    scale, sign = item[3] >> 16 & 0xFF, "-" if item[3] < 0 else ""
    text = str(digits).rjust(scale + 1, "0")
    return sign + (text if not scale else f"{text[:-scale]}.{text[-scale:]}")


CONTRACT = Contract()
READERS: Dict[str, Optional[Callable[[bytes, Entry], Entry]]] = {
    "varint": lambda data, context: {"value": str(Cursor(data).varint())}, "records": _records, "Deliver": _deliver, "Query": _query,
    "frame": _frame, "channelHash": _channel_hash, "methodId": _method_id, "run": _run, "failureStack": _stack,
    "crc32c": lambda data, context: {"crc": f"{crc32c(data, int(context.get('seed', '0'), 16)):08x}"},
    "crc64nvme": lambda data, context: {"hash": f"{crc64(data, int(context.get('seed', '0'), 16)):016x}"},
    "failure": _failure, "AppWelcome": _welcome, "PolicyAhead": _ahead, "Goodbye": _goodbye, "ImageChunk": _chunk, "Heartbeat": _fields(),
    "BecomePrimary": _fields(("position", _position)), "ImageBegin": _fields(("position", "Q"), ("imageVersion", "I")),
    "ImageEnd": _fields(("length", "Q"), ("hash", lambda reader: f"{reader.fixed('Q'):016x}")), "ImpulseLogged": _fields(("destination", "I"), ("ticket", "Q")),
    "Peer": _record(("origin", _at_least("I", 1)), ("shard", "H"), ("uuid", _uuid), ("epoch", "Q"), ("name", lambda reader: reader.name())),
    "Forget": _record(("origin", _at_least("I", 1)), ("uuid", _uuid)),
    "FirstStart": _record(("uuid", _uuid), ("createdUs", "Q"), ("appVersion", _at_least("I", 1)), ("name", lambda reader: reader.name())),
    "CheckpointMark": _record(("epoch", "Q"), ("boundBytes", "Q"), ("replica", lambda reader: reader.name())),
    "NondetResult": _record(("task", "Q"), ("failed", _status), ("result", lambda reader: reader.rest().hex())),
    "TimerFired": _record(("timer", "Q"), ("dueUs", "q")), "ClientRequest": _request, "Policy": _policy, "Quarantine": _quarantine,
}
NUMBERS = {"int64": "int64", "uint64": "uint64", "int32": "int32", "uint32": "uint32", "int16": "int16", "uint16": "uint16", "sbyte": "int8", "byte": "uint8",
           "char": "char", "timeSpan": "timespan", "dateOnly": "date", "timeOnly": "time"}
VALUES: Dict[str, Callable[[bytes, Entry], Entry]] = {
    **{name: _value(kind, str) for name, kind in NUMBERS.items()},
    "boolean": _value("bool", lambda item: str(item).lower()), "string": _value("text", str), "bytes": _value("bytes", bytes.hex),
    "double": _value("float64", lambda item: struct.pack(">d", item).hex()), "single": _value("float32", lambda item: struct.pack(">d", item).hex()),
    "guid": _value("guid", lambda item: str(uuid.UUID(bytes=item[1]))), "decimal": _value("decimal", _decimal),
    "dateTime": _value("datetime", lambda item: f"{item[0]} {item[1]}"), "dateTimeOffset": _value("datetimeoffset", lambda item: f"{item[0]} {item[1]}"),
}
