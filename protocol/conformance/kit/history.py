"""The log of a script: what is in it, record by record, each at its Lsn. Variations deliver this log in other ways."""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from . import records, runs
from .contract import Contract
from .records import Record
from .wire import crc64

INSTANCE, REPLICA, OTHER_REPLICA, EPOCH = "probe", "r1", "r2", 1
BEGIN_US = 1_700_000_000_000_000
PAGE_BYTES, PAGE_HEADER_BYTES = 4096, 64


class Entry(NamedTuple):
    """A record of the log, with the time of its page."""

    lsn: int
    record: Record
    time_us: int

    @property
    def end(self) -> int:
        """The Lsn behind its last byte."""
        return self.lsn + records.HEADER_BYTES + len(self.record.body)


class Sender:
    """An origin of the log: its id, and its channel to the instance so far."""

    def __init__(self, origin: int) -> None:
        self.origin, self.next, self.hash, self.kind, self.next_impulse = origin, 1, 0, 0, 1


class History:
    """Appends what a script's inputs say. Behind each of them it puts a mark, so that a replica may be asked for an image there."""

    def __init__(self, contract: Contract, has_marks: bool) -> None:
        self._contract, self._has_marks = contract, has_marks
        self.entries: List[Entry] = []
        self.end = PAGE_HEADER_BYTES
        self.time_us = BEGIN_US
        self._senders: Dict[str, Sender] = {"self": Sender(0)}
        self._origins = 0
        self._forgotten: Dict[str, int] = {}
        self.limits: List[Tuple[int, int]] = []
        self.policies: List[Tuple[int, int]] = []

    def next_page(self) -> None:
        """The next record begins a page."""
        if self.entries:
            self.end = (self.end + PAGE_BYTES - 1) // PAGE_BYTES * PAGE_BYTES + PAGE_HEADER_BYTES

    def pass_time(self, time_us: int) -> None:
        """Pages from here on have at least this time."""
        if time_us > self.time_us:
            self.time_us = time_us
            self.next_page()

    def append(self, step: Dict[str, Any]) -> int:
        """Appends the record of one input and the mark behind it, and gives the record's Lsn."""
        lsn = self._put(self._record(step))
        if self._has_marks and "mark" not in step and step.get("mark behind", True):
            self._put(records.mark(EPOCH, 1, OTHER_REPLICA))
        return lsn

    def _put(self, record: Record) -> int:
        entry = Entry(self.end, record, self.time_us)
        self.entries.append(entry)
        self.end = entry.end
        if record.kind == records.POLICY:
            limit = int.from_bytes(record.body[25:29], "little") if len(record.body) > 25 else records.MESSAGE_BYTES_MAX
            self.limits.append((entry.lsn, limit))
            self.policies.append((entry.lsn, record.body[0]))
        return entry.lsn

    def limit_at(self, position: int) -> int:
        """The message limit in force at a position (log-format L5.13)."""
        return next((limit for lsn, limit in reversed(self.limits) if lsn < position), records.MESSAGE_BYTES_MAX)

    def policies_from(self, position: int) -> List[Tuple[int, int]]:
        """What PolicyAhead says to an app that begins at a position: policies up to the first 0, without repetitions (P5.17)."""
        before = next((policy for lsn, policy in reversed(self.policies) if lsn < position), 0)
        found: List[Tuple[int, int]] = []
        for lsn, policy in self.policies:
            if lsn >= position and policy != before:
                found.append((lsn, policy))
                before = policy
                if not policy:
                    break
        return found

    def _record(self, step: Dict[str, Any]) -> Record:
        for kind in runs.KINDS:
            if kind in step:
                return self._run(kind, step)
        if "start" in step:
            return records.first_start(INSTANCE, self.time_us)
        if "peer" in step:
            return self._peer(step["peer"], step.get("epoch", 1))
        if "request" in step:
            return records.request(self._contract, step)
        if "mark" in step:
            said = step["mark"]
            return records.mark(said.get("epoch", EPOCH), said.get("bound", 0), {"self": REPLICA, "other": OTHER_REPLICA}[said.get("replica", "self")])
        if "timer" in step:
            return Record(records.TIMER_FIRED, step["timer"].to_bytes(8, "little") + step["due"].to_bytes(8, "little", signed=True))
        if "task" in step:
            return self._task(step)
        if "forget" in step:
            return self._forget(step["forget"])
        return records.plain(step)

    def _task(self, step: Dict[str, Any]) -> Record:
        is_failure = "is" in step
        content = runs.failure(step["is"]) if is_failure else self._contract.value("Total", step["value"])
        return Record(records.NONDET_RESULT, step["task"].to_bytes(8, "little") + bytes([is_failure]) + content)

    def _sender(self, name: str) -> Sender:
        if name not in self._senders:
            self._put(self._peer(name, 1))
        return self._senders[name]

    def _peer(self, name: str, epoch: int) -> Record:
        if name not in self._senders:
            self._origins += 1
            self._senders[name] = Sender(self._origins)
        sender = self._senders[name]
        sender.next_impulse = 1
        return records.peer(sender.origin, name, epoch, records.peer_id(f"{name}/{self._forgotten.get(name, 0)}"))

    def _forget(self, name: str) -> Record:
        sender = self._senders.pop(name)
        instance_id = records.peer_id(f"{name}/{self._forgotten.get(name, 0)}")
        self._forgotten[name] = self._forgotten.get(name, 0) + 1
        return Record(records.FORGET, sender.origin.to_bytes(4, "little") + instance_id.bytes)

    def _run(self, kind: str, step: Dict[str, Any]) -> Record:
        number, sender = runs.KINDS[kind], self._sender(step[kind])
        messages = [self._message(kind, item) for item in step.get("messages", [step])]
        blocks = bytes.fromhex(step.get("blocks", ""))
        if kind == "impulse":
            first, sender.next_impulse = sender.next_impulse, sender.next_impulse + len(messages)
            return Record(records.IMPULSE_RUN, runs.run(number, messages, first, sender.origin, 1, "key" in step.get("messages", [step])[0], blocks))
        first, sender.next = sender.next, sender.next + len(messages)
        for raw in messages:
            if sender.kind != number:
                sender.hash = crc64(bytes([number]), sender.hash)
            sender.hash, sender.kind = crc64(raw, sender.hash), number
        return Record(records.RUN, runs.run(number, messages, first, sender.origin, sender.hash, blocks=blocks))

    def _message(self, kind: str, item: Dict[str, Any]) -> bytes:
        method, contract = item["method"], self._contract
        if kind == "failure":
            content = runs.failure(item["is"])
        elif kind == "result":
            content = contract.value(method, item.get("value"))
        else:
            content = contract.arguments(method, item.get("arguments", []))
        key: Optional[bytes] = item["key"].encode() if kind == "impulse" and "key" in item else None
        return runs.message(runs.KINDS[kind], contract.id_of(method), content, item.get("id", 0), key)
