"""The probe: its state and its plain methods (README). Nothing here knows frames or records."""
from __future__ import annotations

import os
import time
from typing import Any, Dict, List

from faults import has
from flows import Failed

MODULUS = 1_000_000_007
LIMIT = 1 << 63


def wrap(number: int) -> int:
    """A number of 64 bits with sign."""
    return (number + LIMIT) % (1 << 64) - LIMIT


def pattern(size: int) -> bytes:
    """Bytes as `Ship` and `Grow` make them."""
    return (bytes(range(251)) * (size // 251 + 1))[:size]


class Probe:
    """The state of the immortal."""

    def __init__(self, host: Any) -> None:
        self._host = host
        self.total = self.trail = self.seed = self.blob = 0
        self.keys: Dict[str, None] = {}
        self.pulses: List[List[Any]] = []

    def count(self, amount: int) -> int:
        """Counts an amount: the sum, and the order in which amounts came."""
        self.total = wrap(self.total + amount)
        self.trail = (self.trail * 31 + amount) % MODULUS
        return self.total

    # ---- chance, which follows from the log ----

    def random(self) -> int:
        """The next random number."""
        if has("random-from-the-machine"):
            return int.from_bytes(os.urandom(2), "big")
        return self._next() % 1_000_000

    def guid(self) -> str:
        """The next id."""
        return f"{self._next():016x}{self._next():016x}"

    def _next(self) -> int:
        mask = (1 << 64) - 1
        self.seed = self.seed + 0x9E3779B97F4A7C15 & mask
        mixed = self.seed
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ mixed >> shift) * factor & mask
        return mixed ^ mixed >> 31

    # ---- the methods ----

    def Add(self, amount: int) -> int:
        return self.count(amount)

    def Tick(self, amount: int) -> None:
        self.count(amount)

    def Send(self, to: str, amount: int) -> None:
        self._host.fork(to, "Add", [amount])

    def SendMany(self, to: str, first: int, count: int) -> None:
        for amount in range(first, first + count):
            self._host.fork(to, "Add", [amount])

    def Ship(self, to: str, size: int) -> None:
        self._host.fork(to, "Take", [pattern(size)])

    def Take(self, content: bytes) -> None:
        self.count(len(content))

    def Echo(self, content: bytes) -> bytes:
        return content

    def Total(self) -> int:
        return self.total

    def Trail(self) -> int:
        return self.trail

    def Peek(self) -> int:
        if has("query-changes-state"):
            self.count(1)
        return self.total

    def Refuse(self, why: str) -> None:
        self.count(1)
        raise Failed(["Conformance.Refused", f"{why} at {time.time()}" if has("machine-words-in-failure") else why, None])

    def Defaults(self, number: int, word: str, more: Any) -> str:
        return f"{number}/{word}/{'none' if more is None else more}"

    def Mirror(self, value: Any) -> Any:
        return value

    def Measure(self, shape: Any) -> int:
        return shape[1].get(1, 0)

    def Remember(self, key: str) -> int:
        self.keys[key] = None
        return len(self.keys)

    def Recall(self) -> List[str]:
        return sorted(self.keys, key=lambda key: key.encode())

    def Grow(self, size: int) -> None:
        self.blob += size

    # ---- images ----

    def save(self) -> List[Any]:
        """The state as data, equal on every replica."""
        keys = list(set(self.keys)) if has("set-order-in-image") else sorted(self.keys, key=lambda key: key.encode())
        extra = [time.time_ns()] if has("clock-in-image") else []
        return [self.total, self.trail, keys, pattern(self.blob), self.pulses, 0 if has("random-not-in-image") else self.seed] + extra

    def restore(self, rows: List[Any]) -> None:
        """The state of an image."""
        self.total, self.trail, keys, blob, self.pulses, self.seed = rows[:6]
        self.keys, self.blob = dict.fromkeys(keys), len(blob)
