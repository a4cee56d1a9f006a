"""What an app has said in the first play of a script. A replay must say it again, whatever the way in which the log is delivered."""
from __future__ import annotations

import bisect
from typing import Any, Dict, List, Tuple

from .app_side import REPLAYED, Output, Queue
from .wire import Violation

CITED = {"to": "P3.6", "session": "P10.6", "timers": "P5.14", "quarantine": "P5.16"}
UNLOGGED_AT = 20


class Ledger:
    """Outputs that follow from the log, by queue; how many of each there are at positions; and images by position."""

    def __init__(self) -> None:
        self.known: Dict[Queue, List[Output]] = {}
        self._positions: List[int] = [0]
        self._counts: List[Dict[Queue, int]] = [{}]
        self.images: Dict[int, bytes] = {}

    def note(self, position: int, counts: Dict[Queue, int]) -> None:
        """At this position exactly so many outputs of each queue have been made."""
        at = bisect.bisect_left(self._positions, position)
        if at < len(self._positions) and self._positions[at] == position:
            return
        self._positions.insert(at, position)
        self._counts.insert(at, dict(counts))

    def around(self, position: int) -> Tuple[Dict[Queue, int], Dict[Queue, int]]:
        """The counts at the last known position that is not behind this one, and at the first that is not before it."""
        at = bisect.bisect_left(self._positions, position)
        is_known = at < len(self._positions) and self._positions[at] == position
        lower = self._counts[at] if is_known else (self._counts[at - 1] if at else {})
        upper = self._counts[at] if at < len(self._counts) else {queue: len(outputs) for queue, outputs in self.known.items()}
        return lower, upper

    def take_image(self, position: int, content: bytes, what: str) -> None:
        """An image of a position; all images of one position are equal (P5.7)."""
        before = self.images.setdefault(position, content)
        if before != content:
            at = next((i for i, (a, b) in enumerate(zip(before, content)) if a != b), min(len(before), len(content)))
            raise Violation("P5.7", f"the image at {position} {what} differs from the first one at byte {at} "
                                    f"({len(before)} and {len(content)} bytes): …{before[max(0, at - 24):at + 24].hex()}… and …{content[max(0, at - 24):at + 24].hex()}…")


class Follower:
    """Compares what one session says with a ledger, from the position on where the session began."""

    def __init__(self, ledger: Ledger, begin: int, has_image: bool) -> None:
        self._ledger = ledger
        lower, upper = ledger.around(begin)
        if lower != upper and {q: n for q, n in lower.items() if n} != {q: n for q, n in upper.items() if n}:
            raise ValueError(f"the outputs at {begin} are not known")
        self.counts: Dict[Queue, int] = {queue: lower.get(queue, 0) for queue in set(lower) | set(ledger.known)}
        self.fresh: List[Output] = []
        self.waiting: Dict[int, int] = {}
        self._set_aside: Dict[Tuple[int, int], int] = {}
        for queue in ("timers", "quarantine"):
            for output in ledger.known.get((queue,), [])[:self.counts.get((queue,), 0)]:
                self._remember(output.what)
        # Behind an image the app says again what it keeps, before it executes a record (P5.14, P5.16).
        self._timers_owed = dict(self.waiting) if has_image else {}
        self._messages_owed = dict(self._set_aside) if has_image else {}

    def take(self, output: Output) -> bool:
        """One output. False if it does not follow from the log alone, so that only a script can say whether it is right."""
        if output.queue[0] not in REPLAYED:
            return False
        what = output.what
        if "timer" in what and self._timers_owed.get(what["timer"]) == what["due"]:
            del self._timers_owed[what["timer"]]
            return True
        if "setAside" in what and (what["lsn"], what["index"]) in self._messages_owed:
            del self._messages_owed[what["lsn"], what["index"]]
            return True
        if what.get("isUnlogged") and self._set_aside.get((what["lsn"], what["index"])) == what["setAside"]:
            return True
        self._remember(what)
        number = self.counts.get(output.queue, 0)
        self.counts[output.queue] = number + 1
        known = self._ledger.known.setdefault(output.queue, [])
        if number < len(known):
            self._compare(known[number], output, number)
        else:
            known.append(output)
            self.fresh.append(output)
        return True

    def _remember(self, what: Dict[str, Any]) -> None:
        if "timer" in what:
            self.waiting[what["timer"]] = what["due"]
        elif "dropped" in what:
            self.waiting.pop(what["dropped"], None)
        elif "setAside" in what:
            self._set_aside[what["lsn"], what["index"]] = what["setAside"]
        elif "released" in what:
            self._set_aside.pop((what["released"], what["index"]), None)

    def _compare(self, before: Output, now: Output, number: int) -> None:
        if _without_flag(before) != _without_flag(now):
            raise Violation(CITED[now.queue[0]], f"the replay says {now.what} as number {number + 1} of {' '.join(now.queue)}, and it was {before.what}")

    def report(self, position: int) -> None:
        """The app has reported a position: it has said exactly what rests on the records below (P5.6)."""
        if self._timers_owed:
            raise Violation("P5.14", f"behind the image no TimerSet was said for {sorted(self._timers_owed)}")
        if self._messages_owed:
            raise Violation("P5.16", f"behind the image no SetAside was said for {sorted(self._messages_owed)}")
        lower, upper = self._ledger.around(position)
        for queue in set(lower) | set(upper) | set(self.counts):
            count = self.counts.get(queue, 0)
            if count < lower.get(queue, 0):
                missing = self._ledger.known[queue][count].what
                raise Violation("P5.6", f"{position} is reported, and {missing}, which rests on records below, has not been said")
            if count > upper.get(queue, 0):
                raise Violation("P5.6", f"{position} is reported behind {self._ledger.known[queue][count - 1].what}, which rests on a later record")


def _without_flag(output: Output) -> bytes:
    """isUnlogged (P5.16) says what the process knows, so it is not compared."""
    raw = output.raw
    return raw[:UNLOGGED_AT] + b"\0" + raw[UNLOGGED_AT + 1:] if "setAside" in output.what else raw
