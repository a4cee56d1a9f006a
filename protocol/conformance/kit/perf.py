"""How fast a probe executes prebuilt streams. The kit only hands bytes over and looks for the last report, so it is not what is measured."""
from __future__ import annotations

import struct
from typing import Any, Callable, Dict, List, NamedTuple

from . import frames, records, runs
from .conversation import Conversation, Setup
from .history import EPOCH, REPLICA, History
from .ledger import Ledger
from .records import Record
from .wire import crc64, frame

MESSAGES_A_RUN, RECORDS_A_FRAME = 500, 8
# A run of several messages has at most 262,144 bytes (P3.5); its header and the messages' lengths are among them.
RUN_BYTES_MAX = 250_000


class Figure(NamedTuple):
    """One measurement."""

    name: str
    value: float
    unit: str


class Stream:
    """Deliver frames behind each other, built before the clock runs."""

    def __init__(self, lsn: int, time_us: int) -> None:
        self._lsn, self._time_us = lsn, time_us
        self._frames: List[bytes] = []
        self._pending: List[bytes] = []
        self._first = self._lsn

    def add(self, record: Record) -> None:
        """One more record."""
        encoded = record.encoded()
        self._pending.append(encoded)
        self._lsn += len(encoded)
        if len(self._pending) == RECORDS_A_FRAME:
            self._close()

    def _close(self) -> None:
        if self._pending:
            self._frames.append(frames.deliver(self._first, self._time_us, 0, b"".join(self._pending)))
        self._pending, self._first = [], self._lsn

    def built(self) -> bytes:
        """The whole stream."""
        self._close()
        return b"".join(self._frames)

    @property
    def end(self) -> int:
        """The Lsn behind the last record."""
        return self._lsn


class Bench:
    """Measures one probe; each figure has a process of its own."""

    def __init__(self, setup: Setup, scale: float) -> None:
        self._setup, self._contract, self._scale = setup, setup.contract, scale

    def run(self) -> List[Figure]:
        """All figures."""
        found = [self._messages(f"executed, {size} B", "Take", [{"size": size}], False) for size in (16, 256, 1024)]
        found.append(self._messages("executed and forked on", "Send", ["bank3", 7], False))
        found.append(self._messages("called and answered", "Add", [1], True))
        return found + self._suspended() + self._image()

    def _begin(self) -> Conversation:
        history, ledger = History(self._contract, False), Ledger()
        for step in ({"start": True}, {"policy": {}}, {"peer": "bank2"}, {"peer": "bank3"}):
            history.append(step)
        talk = Conversation(self._setup, history, ledger)
        talk.open()
        talk.deliver(history.entries)
        talk.await_reported(history.end)
        talk.become_primary(history.end)
        self._history = history
        return talk

    def _stream(self, count: int, body: Callable[[int], List[bytes]], kind: int, origin: int) -> Stream:
        stream, first = Stream(self._history.end, self._history.time_us), 1
        while first <= count:
            messages = body(first)
            stream.add(Record(records.RUN, runs.run(kind, messages, first, origin)))
            first += len(messages)
        return stream

    def _messages(self, name: str, method: str, arguments: List[Any], is_call: bool) -> Figure:
        """Nanoseconds a message, from the first byte sent to the last report."""
        talk, count = self._begin(), int(200_000 * self._scale)
        known, content = self._contract.id_of(method), self._contract.arguments(method, arguments)
        kind = runs.CALL if is_call else runs.FORK
        one = runs.message(kind, known, content)
        many = min(MESSAGES_A_RUN, RUN_BYTES_MAX // len(one))
        plain = [one] * many

        def body(first: int) -> List[bytes]:
            return [runs.message(kind, known, content, first + i) for i in range(many)] if is_call else plain
        stream = self._stream(count, body, kind, 1)
        return Figure(name, self._time(talk, stream) / count * 1e9, "ns")

    def _time(self, talk: Conversation, stream: Stream) -> float:
        try:
            return talk.link.stream(stream.built(), frame(frames.PROCESSED, struct.pack("<Q", stream.end)))
        finally:
            talk.link.kill()

    def _suspended(self) -> List[Figure]:
        """Calls that are suspended and resumed, and the memory of those that wait."""
        talk, count = self._begin(), int(100_000 * self._scale)
        do, add = self._contract.id_of("Do"), self._contract.id_of("Add")
        content = self._contract.arguments("Do", [[{"Op": "Ask", "To": "bank3", "Number": 1}]])
        before = talk.link.memory_bytes
        begun = self._stream(count, lambda first: [runs.message(runs.FORK, do, content)] * MESSAGES_A_RUN, runs.FORK, 1)
        try:
            seconds = talk.link.stream(begun.built(), frame(frames.PROCESSED, struct.pack("<Q", begun.end)))
            memory = talk.link.memory_bytes - before
            self._history.end = begun.end
            ended = self._stream(count, lambda first: [runs.message(runs.RESULT, add, b"\x07", first + i) for i in range(MESSAGES_A_RUN)], runs.RESULT, 2)
            seconds += talk.link.stream(ended.built(), frame(frames.PROCESSED, struct.pack("<Q", ended.end)))
        finally:
            talk.link.kill()
        return [Figure("suspended and resumed", seconds / count * 1e9, "ns"), Figure("memory of a suspended call", memory / count, "B")]

    def _image(self) -> List[Figure]:
        """Bytes a second of an image that is written and restored."""
        talk, size = self._begin(), int(50_000_000 * self._scale)
        content = self._contract.arguments("Grow", [size])
        try:
            stream = Stream(self._history.end, self._history.time_us)
            stream.add(Record(records.RUN, runs.run(runs.FORK, [runs.message(runs.FORK, self._contract.id_of("Grow"), content)], 1, 1)))
            talk.link.stream(stream.built(), frame(frames.PROCESSED, struct.pack("<Q", stream.end)))
            self._history.end = stream.end
            taken = Stream(stream.end, self._history.time_us)
            taken.add(records.mark(EPOCH, 1, REPLICA))
            head = frame(frames.IMAGE_END, bytes(16))[:8]
            written = talk.link.collect(taken.built(), head)
        finally:
            talk.link.kill()
        return [Figure("image written", len(written[0]) / written[1] / 1e9, "GB/s"), self._restored(taken.end, written[0])]

    def _restored(self, position: int, image: bytes) -> Figure:
        talk = Conversation(self._setup, self._history, Ledger(), 0, None)
        try:
            talk.pump(lambda: talk.session.has_hello and not talk.session.owes_methods, "AppHello", "P5.1")
            version, checksum = talk.app.hello["imageVersion"], crc64(image)
            built = frames.welcome("probe", REPLICA, records.INSTANCE_ID, EPOCH, 1, 64 << 20, position, True, {}) + \
                frames.image(position, version, image, 1 << 20, checksum)
            stream = Stream(position, self._history.time_us)
            stream.add(records.policy())
            seconds = talk.link.stream(built + stream.built(), frame(frames.PROCESSED, struct.pack("<Q", stream.end)))
        finally:
            talk.link.kill()
        return Figure("image restored", len(image) / seconds / 1e9, "GB/s")


def table(figures: List[Figure]) -> str:
    """The figures for people."""
    return "\n".join(f"{figure.name:<28}{figure.value:>14,.2f} {figure.unit}" for figure in figures)


def as_json(figures: List[Figure]) -> List[Dict[str, Any]]:
    """The figures for machines."""
    return [figure._asdict() for figure in figures]

