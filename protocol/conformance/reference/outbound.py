"""What the app emits: frames, and runs that are collected until something else has to be said."""
from __future__ import annotations

import struct
from typing import Dict, List, Tuple

from encoding import frame, string, varint
from faults import has

FORK, CALL, RESULT, FAILURE, IMPULSE, REQUEST, ANSWER, CLIENT_FAILURE = range(1, 9)
RUN_BYTES = 200_000


class Outbound:
    """The stream to the coordinator. A run is open for one destination and kind at a time; every frame closes it."""

    def __init__(self) -> None:
        self.bytes = bytearray()
        self.limit = 64 << 20
        self.cause = 0
        self._indices: Dict[str, int] = {}
        self._tickets: Dict[int, int] = {}
        self._open: Tuple[int, ...] = ()
        self._messages: List[bytes] = []
        self._size = 0
        self._causes = (0, 0)
        self._held: List[Tuple[Tuple[int, ...], bytes]] = []

    def frame(self, kind: int, payload: bytes = b"") -> None:
        """A frame that is no run."""
        self.close_run()
        self.bytes += frame(kind, payload)

    def index(self, name: str) -> int:
        """The index of a destination, declared at its first use (P5.5)."""
        if name not in self._indices:
            self._indices[name] = len(self._indices)
            if not has("destination-undeclared"):
                self.frame(0x11, struct.pack("<IH", self._indices[name], 0) + string(name))
        return self._indices[name]

    def fits(self, body: bytes) -> bool:
        """Whether a message is not above the limit in force (P3.4)."""
        return len(body) <= self.limit or has("limit-ignored")

    def message(self, kind: int, to: str, body: bytes, key: bool = False) -> None:
        """A message on a channel."""
        index = self.index(to)
        if has("two-messages-swapped") and kind == FORK and to != "greeter" and not self._held:
            self._held.append(((kind, index, 0, 0, key), body))
            return
        self._append((kind, index, 0, 0, key), body)
        while self._held:
            self._append(*self._held.pop())

    def answer(self, kind: int, session: Tuple[int, int], body: bytes) -> None:
        """An answer to a caller outside (P10.6)."""
        self._append((kind, 0, session[0], session[1], False), body)

    def _append(self, run: Tuple[int, ...], body: bytes) -> None:
        whole = varint(len(body)) + body
        most = RUN_BYTES * (4 if has("run-larger-than-allowed") else 1)
        if self._open != run or self._size + len(whole) > most:
            self.close_run()
            self._open = run
            self._causes = (self.cause, self.cause)
        self._messages.append(whole)
        self._size += len(whole)
        self._causes = (self._causes[0], self.cause)

    def close_run(self) -> None:
        """Sends the run that is open."""
        if not self._messages:
            return
        (kind, index, epoch, first, key), messages = self._open, self._messages
        self._open, self._messages, self._size = (), [], 0
        if kind == IMPULSE:
            first = self._tickets.get(index, 0) + 1
            self._tickets[index] = first + len(messages) - 1 + has("ticket-gap")
        hash_ = 99 if has("hash-field-set") and kind == FORK else epoch
        blocks = b""
        if self._causes[0] and kind in (FORK, CALL, RESULT, FAILURE):
            content = struct.pack("<QQ", *(reversed(self._causes) if has("cause-reversed") and self._causes[0] != self._causes[1] else self._causes))
            blocks = varint(5) + varint(1) + varint(len(content)) + content
        count = len(messages) + (has("count-wrong") and kind == FORK)
        header = struct.pack("<BBHIQIIQ", kind, key, 0, index, first, count, len(blocks), hash_)
        self.bytes += frame(0x10, header + blocks + b"".join(messages))

    def take(self) -> bytes:
        """Everything that was emitted, to be sent."""
        self.close_run()
        data = bytes(self.bytes)
        self.bytes.clear()
        return data
