"""Views (protocol P5.24): where one stops, and what it keeps. And what an app of one version does where another takes its place (P5.25)."""
from __future__ import annotations

import os
import struct
from typing import Any, Optional

from encoding import Cursor, Malformed, crc64, string, varint
from faults import has
from messages import Stopped

RUNS = (1, 2)
EXECUTED = (1, 2, 3, 8, 9, 10, 12, 13, 14)


class Again(Exception):
    """The session has ended, and another one follows in this process."""


def app_version() -> int:
    """The version that the environment says, or that of the code."""
    return int(os.environ.get("AMBROSIA_APP_VERSION", "1")) if not has("version-of-environment-ignored") else 1


class View:
    """Where a view stops, and what it was given and has not executed."""

    def __init__(self) -> None:
        self.lsn = self.index_wanted = self.flags = 0
        self.is_looking = self.is_stopped = False
        self.index = self.since = self.whole_end = self.mark = 0
        self.rest = b""

    def look(self, lsn: int, index: int, flags: int) -> None:
        """Look."""
        self.lsn, self.index_wanted, self.flags, self.is_looking, self.since = lsn, index, flags, True, 0

    def stops(self, lsn: int, index: int, kind: int) -> bool:
        """Whether this is the place; `kind` is that of the record that follows, 0 if there is none yet."""
        if not self.is_looking:
            return False
        if self.flags & 4:
            return kind in EXECUTED and self.since > 0 and not (has("next-is-a-record") and index)
        if has("look-index-ignored") and index:
            return False
        return (lsn, index) >= (self.lsn + has("stops-late"), self.index_wanted)

    def resume(self) -> int:
        """How many messages of the run that follows are executed already."""
        first, self.index = self.index, 0
        return first

    def count(self, kind: int, end: int) -> None:
        """A record is executed whole."""
        self.since += kind in EXECUTED and kind not in RUNS
        self.whole_end = end


class Looking:
    """The part of a session that is about views and versions."""

    view: Optional[View]
    out: Any
    executed: int
    _from: int
    _refusal: str
    _is_started: bool
    _has_image: bool
    _execute: Any
    _send_image: Any
    _image_now: Any

    def _stop(self, rest: bytes, mark: int) -> None:
        """Keeps what is not executed, and says where the view stands (P5.24)."""
        view = self.view
        assert view is not None
        view.rest, view.mark, view.is_looking, view.is_stopped = rest, mark, False, True
        index = 0 if has("seen-without-index") else view.index
        self.out.frame(0x29, struct.pack("<QIB", self.executed, index, 0) + varint(0))
        if not view.flags & 1 or has("seen-without-image"):
            return
        if self._is_started:
            self._send_image(view.whole_end or self.executed)
        else:
            self.out.frame(0x17, struct.pack("<Q", self.executed) + string("no state"))

    def _look(self, payload: bytes) -> None:
        reader, view = Cursor(payload, "P5.24"), self.view
        lsn, index, flags = reader.fixed("Q"), reader.fixed("I"), reader.fixed("B")
        reader.end()
        if view is None or flags > 15:
            raise Malformed("P5.24")
        view.look(lsn, index, flags)
        if not self._has_image:
            self.look_again()

    def look_again(self) -> None:
        """Stops at once if the view stands at the place, or beyond."""
        view = self.view
        if view is not None and view.stops(self.executed, view.index, 0):
            self._stop(view.rest, view.mark)

    def _go(self, payload: bytes) -> None:
        view = self.view
        if payload or view is None or (not view.is_stopped and not has("go-at-any-time")):
            raise Malformed("P5.24")
        view.is_stopped = False
        rest, view.rest = view.rest, b""
        if rest:
            self._execute(rest, view.mark)

    # ---- versions ----

    def _convert(self, payload: bytes) -> None:
        reader = Cursor(payload, "P5.25")
        lsn, before, after, use = reader.fixed("Q"), reader.fixed("I"), reader.fixed("I"), reader.fixed("B")
        reader.end()
        expected = (self._from or app_version(), app_version())
        is_known = use == 3 and not self._from or use in (0, 1) and bool(self._from)
        is_behind = lsn < self.executed and (lsn or use == 1) and not has("conversion-at-any-place")
        if is_behind or (not is_known or (before, after) != expected) and not has("any-conversion-taken"):
            raise Malformed("P5.25")
        if self._refusal and not has("conversion-that-fails-ends"):
            self.out.frame(0x2A, struct.pack("<QBQQ", self.executed, use, 0, 0) + string(self._refusal))
            return
        if self._refusal:
            raise Stopped(4, self._refusal)
        image = self._image_now() if use == 0 else b""
        if use != 1:
            self.out.frame(0x2A, struct.pack("<QBQQ", self.executed, use, len(image), crc64(image) if image else 0) + string(""))
        if use != 0 and not has("converted-without-image"):
            self._send_image()

    def _upgrade(self, reader: Cursor) -> None:
        reader.fixed("I")
        if reader.fixed("I") != app_version() and self.view is None and not has("other-upgrade-taken"):
            raise Malformed("P5.25")
        reader.rest()
