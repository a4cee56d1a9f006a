"""The records of the log that an app is given (log-format L5), made from the JSON of scripts."""
from __future__ import annotations

import struct
import uuid
from typing import Any, Dict, NamedTuple

from . import runs
from .contract import Contract
from .wire import text, varint

RUN, IMPULSE_RUN, FIRST_START, PEER, TRIM, DIGEST, CHECKPOINT_MARK = 1, 2, 3, 4, 5, 6, 7
NONDET_RESULT, TIMER_FIRED, CLIENT_REQUEST, POLICY, QUARANTINE, UPGRADE, FORGET, BUILD, STATE_HASH = 8, 9, 10, 11, 12, 13, 14, 15, 17

INSTANCE_ID = uuid.UUID("8a1d3c52-6f7e-4b09-9c44-0102030405f6")
HEADER_BYTES = 8
MESSAGE_BYTES_MAX = 64 << 20


class Record(NamedTuple):
    """A record: its kind and its body."""

    kind: int
    body: bytes

    def encoded(self) -> bytes:
        """The bytes of the record with its header (L5)."""
        return struct.pack("<II", len(self.body), self.kind) + self.body


def peer_id(name: str) -> uuid.UUID:
    """The UUID of a peer in scripts, made of its name."""
    return uuid.uuid5(INSTANCE_ID, name)


def session_id(name: str) -> uuid.UUID:
    """The session of a caller outside: epoch 1 and a number, both big-endian (P10.2)."""
    return uuid.UUID(bytes=struct.pack(">QQ", 1, sum(name.encode())))


def first_start(name: str, created_us: int, version: int = 1) -> Record:
    """FirstStart (L5.5)."""
    return Record(FIRST_START, INSTANCE_ID.bytes + struct.pack("<QI", created_us, version) + text(name))


def peer(origin: int, name: str, epoch: int, instance_id: uuid.UUID) -> Record:
    """Peer (L5.4)."""
    return Record(PEER, struct.pack("<IH", origin, 0) + instance_id.bytes + struct.pack("<Q", epoch) + text(name))


def policy(forks: int = 0, window_us: int = 86_400_000_000, entries: int = 100_000, size: int = 64 << 20, limit: int = MESSAGE_BYTES_MAX) -> Record:
    """Policy (L5.9)."""
    return Record(POLICY, struct.pack("<BQQQ", forks, window_us, entries, size) + (b"" if limit == MESSAGE_BYTES_MAX else struct.pack("<I", limit)))


def mark(epoch: int, bound: int, replica: str) -> Record:
    """CheckpointMark (L5.8)."""
    return Record(CHECKPOINT_MARK, struct.pack("<QQ", epoch, bound) + text(replica))


def request(contract: Contract, step: Dict[str, Any]) -> Record:
    """ClientRequest (L5.9): {"request": n, "session": name, "method": …, "arguments": …, "key": …}."""
    key = step["key"].encode() if "key" in step else None
    content = contract.arguments(step["method"], step.get("arguments", []))
    message = runs.message(runs.REQUEST, contract.id_of(step["method"]), content, key=key)
    return Record(CLIENT_REQUEST, session_id(step.get("session", "a")).bytes + struct.pack("<QB", step["request"], key is not None) + message)


def plain(step: Dict[str, Any]) -> Record:
    """A record that needs nothing but what the step says."""
    if "record" in step:
        return Record(step["record"], bytes.fromhex(step["body"]))
    if "policy" in step:
        return policy(**step["policy"])
    if "quarantine" in step:
        action = {"setAside": 0, "retry": 1, "drop": 2}[step["quarantine"]]
        return Record(QUARANTINE, struct.pack("<QIB", step["lsn"], step.get("index", 0), action))
    if "trim" in step:
        return Record(TRIM, varint(len(step["trim"])) + b"".join(struct.pack("<IQ", *pair) for pair in step["trim"]))
    if "digest" in step:
        return Record(DIGEST, struct.pack("<Q", step["digest"]) + varint(0))
    if "build" in step:
        return Record(BUILD, struct.pack("<QI", 1, 1) + varint(0) + text("kit") + text("") + text("") + text("") + struct.pack("<Q", 0) + text("0"))
    if "stateHash" in step:
        return Record(STATE_HASH, struct.pack("<QQ", step["stateHash"], 1))
    raise ValueError(f"no record is made of {step}")
