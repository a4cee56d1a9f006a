"""The app's side of an app channel (protocol P5): frames in, records executed, positions and images out."""
from __future__ import annotations

import struct
import uuid
from typing import Any, List, Optional, Tuple

from encoding import Cursor, Malformed, crc64, pack
from faults import has
from flows import Differs
from handlers import Handlers
from messages import Message, Stopped
from outbound import CALL, FAILURE, FORK, IMPULSE, REQUEST, RESULT, Outbound
from views import Again, Looking, View

WAIT_US = 10_000_000
CHUNK_BYTES = 1 << 16
READ, KNOWN_KINDS = 1 << 20, (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17)


class Session(Looking):
    """One session. `take` is given whole frames; `idle` is called when none is left in what was received."""

    def __init__(self) -> None:
        self.out = Outbound()
        self.handlers = Handlers(self.out)
        self.executed = self.reported = self._position = 0
        self._is_welcomed = self._is_started = self._has_image = False
        self._image = bytearray()
        self._image_at: Optional[int] = None
        self._duty: Optional[List[Any]] = None
        self._frame_time = 0
        self._index = 0
        self.rings: Optional[Tuple[int, str]] = None
        self.view, self._from, self._refusal = None, 0, ""

    def take(self, kind: int, payload: bytes) -> None:
        """One frame of the coordinator."""
        take = {0x02: self._welcome, 0x03: self._heartbeat, 0x04: self._goodbye, 0x13: self._image_begin, 0x14: self._image_chunk, 0x15: self._image_end,
                0x20: self._deliver, 0x21: self._become_primary, 0x22: self._impulse_logged, 0x23: self._policy_ahead, 0x24: self._query,
                0x25: self._rings, 0x26: self._look, 0x27: self._go, 0x28: self._convert}.get(kind)
        is_early = kind in (0x02, 0x03, 0x04, 0x25)
        if take is None or (not self._is_welcomed and not is_early) or (self._is_welcomed and kind in (0x02, 0x25) and not has("rings-at-any-time")):
            if has("unknown-frame-skipped"):
                return
            raise Malformed("P2.4")
        take(payload)

    def idle(self) -> None:
        """The input has run dry: everything is on its way, and reported (P5.6)."""
        is_in_record = self.view is not None and self.view.index
        if self.executed > self.reported and not is_in_record and not has("never-reports-when-dry"):
            self._report(self.executed)

    # ---- beginning and end ----

    def _welcome(self, payload: bytes) -> None:
        reader = Cursor(payload)
        if reader.fixed("H") != 1:
            raise Malformed("P5.3")
        self.handlers.name = reader.name()
        reader.fixed("H")
        self._replica = reader.name()
        instance = reader.take(16)
        self._epoch, _, self.out.limit, self.executed, has_image = (reader.fixed(form) for form in "QQIQB")
        options = {reader.varint(): reader.sized(256) for _ in range(reader.varint())}
        reader.end()
        self.view = View() if options.get(1) == b"\1" else None
        self._from = int.from_bytes(options.get(3, b""), "little")
        if has_image > 1:
            raise Malformed("P5.3")
        self.reported, self._has_image, self._is_welcomed = self.executed, bool(has_image), True
        self.handlers.probe.seed = int.from_bytes(instance[:8], "big")
        self.out.frame(0x09, self.handlers.contract.manifest)

    def _rings(self, payload: bytes) -> None:
        reader = Cursor(payload)
        self.rings = (reader.fixed("I"), reader.string(1024))
        reader.end()

    def _heartbeat(self, payload: bytes) -> None:
        Cursor(payload).end()

    def _goodbye(self, payload: bytes) -> None:
        reader = Cursor(payload)
        code = reader.fixed("B")
        reader.string(1024)
        reader.end()
        if code == 5 and (self.view is not None or self._from) and not has("again-is-the-end"):
            raise Again()
        raise SystemExit({0: 0, 1: 2}.get(code, 74))

    # ---- images ----

    def _image_begin(self, payload: bytes) -> None:
        reader = Cursor(payload)
        self._image_at = reader.fixed("Q")
        reader.fixed("I")
        reader.end()
        if not self._has_image or self._image_at != self.executed:
            raise Malformed("P5.7")

    def _image_chunk(self, payload: bytes) -> None:
        if self._image_at is None or not 1 <= len(payload) <= 1 << 20:
            raise Malformed("P5.7")
        self._image += payload

    def _image_end(self, payload: bytes) -> None:
        reader = Cursor(payload)
        length, digest = reader.fixed("Q"), reader.fixed("Q")
        reader.end()
        if self._image_at is None or length != len(self._image) or (digest != crc64(bytes(self._image)) and not has("image-crc-ignored")):
            raise Malformed("P5.7")
        try:
            self.handlers.probe.restore(self.handlers.world.restore(self.handlers, bytes(self._image)))
        except (ValueError, Differs) as why:
            if self._from:
                self._refusal = str(why)
                return
            raise Stopped(1, str(why)) from None
        self._has_image, self._is_started = False, True
        self.look_again()
        world = self.handlers.world
        for number in world.timers if not has("timers-not-said-behind-image") else ():
            self.handlers.say_timer(number)
        for place in world.aside if not has("messages-not-said-behind-image") else ():
            self.handlers.say_set_aside(place, False)

    def _image_now(self) -> bytes:
        return self.handlers.world.save(self.handlers.probe.save())

    def _send_image(self, whole: Optional[int] = None) -> None:
        """Takes the checkpoint at this record boundary (P5.7)."""
        image = self._image_now()
        self._duty = None
        at = (self.executed if whole is None else whole) - (has("image-at-another-place") and 8)
        self.out.frame(0x13, struct.pack("<QI", at, 1))
        for begin in range(0, len(image), CHUNK_BYTES):
            self.out.frame(0x14, image[begin:begin + CHUNK_BYTES])
        self.out.frame(0x15, struct.pack("<QQ", len(image), crc64(image) ^ has("image-crc-wrong")))
        self.reported = max(self.reported, self.executed)

    # ---- records ----

    def _deliver(self, payload: bytes) -> None:
        reader = Cursor(payload, "P5.4")
        lsn, self._frame_time, mark = reader.fixed("Q"), reader.fixed("q"), reader.fixed("Q")
        if self._has_image or lsn < self.executed and not has("repeated-records-accepted"):
            raise Malformed("P5.4")
        if self.view is not None and self.view.is_stopped and not has("executes-while-stopped"):
            raise Malformed("P5.24")
        if has("report-before-output") and self.handlers.is_primary and reader.at < len(payload):
            self._report(lsn + len(payload) - 24)
        self.executed = lsn
        self._execute(payload[reader.at:], mark)

    def _execute(self, records: bytes, mark: int) -> None:
        reader = Cursor(records, "P5.4")
        while reader.at < len(records):
            mark = self._reach(mark)
            if self.view is not None and self.view.stops(self.executed, self.view.index, records[reader.at + 4]):
                self._stop(records[reader.at:], mark)
                return
            begin = reader.at
            size, kind, flags = reader.fixed("I"), reader.fixed("B"), reader.take(3)
            if any(flags) and not has("reserved-bits-ignored"):
                raise Malformed("P1.6")
            body = reader.take(size)
            self.handlers.pass_time(self._frame_time)
            self.handlers.trim_by_size()
            self.out.cause = self.handlers.lsn = self.executed
            self._index = 0
            self._record(kind, body)
            if self.view is not None:
                if self.view.index:
                    self._stop(records[begin:], mark)
                    return
                self.view.count(kind, self.executed + 8 + size)
            self.executed += 8 + size
            if kind == 14 and not has("forget-not-reported"):
                self._report(self.executed)
                self.handlers.forget(*self._forgotten)
            self._look_after_duty()
            if has("impulses-before-primary") and self.handlers.probe.pulses:
                self.handlers.send_pulses()
            if self.executed - self.reported >= READ and not has("reports-too-seldom"):
                self._report(self.executed)
        if mark:
            self._report(mark) if not has("mark-not-exact") else self._report(self.executed)
        self.out.cause = 0
        if self.view is not None and self.view.stops(self.executed, 0, 0):
            self._stop(b"", 0)

    def _reach(self, mark: int) -> int:
        """Reports a mark exactly, before the first record that is not below it (P5.6)."""
        if mark and mark <= self.executed and not has("mark-answered-late"):
            self._report(self.executed if has("mark-not-exact") else mark)
            return 0
        return mark

    def _report(self, lsn: int) -> None:
        self.out.frame(0x12, struct.pack("<Q", lsn))
        self.reported = max(self.reported, lsn)

    def _record(self, kind: int, body: bytes) -> None:
        take = {1: self._run, 2: self._run, 3: self._first_start, 4: self._peer, 7: self._mark, 8: self._task, 9: self._timer, 10: self._request,
                11: self._policy, 12: self._quarantine, 13: self._upgrade, 14: self._forget}.get(kind)
        if kind not in KNOWN_KINDS and not has("unknown-record-skipped"):
            raise Stopped(2, f"a record of kind {kind} at {self.executed}, which this app does not know (P5.4)")
        if take is None:
            return
        if not self._is_started and kind in (1, 2, 8, 9, 10, 12) and not has("executes-before-first-start"):
            raise Malformed("P5.4")
        reader = Cursor(body, "L5.10")
        take(reader)
        reader.end()

    def _first_start(self, reader: Cursor) -> None:
        reader.rest()
        if not self._is_started:
            self.handlers.fork("greeter", "Add", [1])
        self._is_started = True

    def _peer(self, reader: Cursor) -> None:
        origin = reader.fixed("I")
        reader.take(26)
        origins, name = self.handlers.world.origins, reader.name()
        while len(origins) < origin:
            origins.append(None)
        origins[origin - 1] = name

    def _origin(self, origin: int) -> str:
        if not origin:
            return self.handlers.name
        origins = self.handlers.world.origins
        if origin > len(origins) or origins[origin - 1] is None:
            raise Malformed("P5.4")
        return origins[origin - 1] or ""

    def _run(self, reader: Cursor) -> None:
        kind, flags, _, origin, first, count, extension, _ = (reader.fixed(form) for form in "BBHIQIIQ")
        if kind not in (FORK, CALL, RESULT, FAILURE, IMPULSE) and not has("unknown-run-kind-skipped"):
            raise Malformed("P3.2")
        if flags & ~1 or not count:
            raise Malformed("P3.1")
        reader.surplus = "P3.1"
        if extension > len(reader.data) - reader.at:
            raise Malformed("P3.1")
        reader.take(extension if not has("blocks-not-skipped") else 0)
        caller, index = self._origin(origin), 0
        first_index = 0 if self.view is None else self.view.resume()
        while reader.at < len(reader.data):
            if self.view is not None and index > first_index and self.view.stops(self.executed, index, 1):
                self.view.index = index
                reader.rest()
                return
            message = Cursor(reader.sized(), "P3.1")
            if self.view is not None:
                self.view.since += index >= first_index
            if index < first_index:
                pass
            elif kind in (RESULT, FAILURE):
                self.handlers.take_answer(kind, caller, message)
            else:
                self._message(kind, caller, index, bool(flags & 1), message)
            index += 1
        if index != count and not has("count-not-checked"):
            raise Malformed("P3.1")

    def _message(self, kind: int, caller: str, index: int, is_keyed: bool, reader: Cursor) -> None:
        method = reader.varint()
        call = reader.varint() if kind == CALL else 0
        key = reader.sized(128) if is_keyed else None
        if not method and not has("method-0-accepted"):
            raise Malformed("P4.5")
        if kind == CALL and not call:
            raise Malformed("P3.9")
        if key == b"":
            raise Malformed("P3.3")
        message = Message((self.executed, index), kind, caller, method, reader.rest())
        message.call, message.key, self._index = call, key, index
        self.handlers.take_request(message) if key is not None else self.handlers.execute(message)

    def _request(self, reader: Cursor) -> None:
        epoch, number = struct.unpack(">QQ", reader.take(16))
        request, is_keyed = reader.fixed("Q"), reader.fixed("B")
        reader = Cursor(reader.rest(), "L5.10")
        inner = Cursor(reader.sized(), "L5.10")
        method = inner.varint()
        key = inner.sized(128) if is_keyed else None
        message = Message((self.executed, 0), REQUEST, self.handlers.name, method, inner.rest())
        message.key = key
        message.asker = [epoch, number, request] if request else None
        self.handlers.take_request(message)

    def _task(self, reader: Cursor) -> None:
        self.handlers.take_task(reader.fixed("Q"), reader.fixed("B"), reader.rest())

    def _timer(self, reader: Cursor) -> None:
        timer, due = reader.fixed("Q"), reader.fixed("q")
        self.handlers.pass_time(due)
        self.handlers.fire(timer, due)

    def _policy(self, reader: Cursor) -> None:
        world = self.handlers.world
        world.policy, *world.window_limits = (reader.fixed(form) for form in "BQQQ")
        if world.policy > 2:
            raise Malformed("L5.10")
        limit = reader.fixed("I") if reader.at < len(reader.data) else 64 << 20
        if not has("limit-of-policy-ignored"):
            self.out.limit = limit

    def _quarantine(self, reader: Cursor) -> None:
        place = (reader.fixed("Q"), reader.fixed("I"))
        self.handlers.quarantine(place, reader.fixed("B"))

    def _forget(self, reader: Cursor) -> None:
        self._forgotten = (reader.fixed("I"), str(uuid.UUID(bytes=reader.take(16))))

    # ---- checkpoints ----

    def _mark(self, reader: Cursor) -> None:
        epoch, bound, replica = reader.fixed("Q"), reader.fixed("Q"), reader.name()
        is_ours = replica == self._replica or has("mark-of-another-answered")
        if self.view is not None and not has("view-takes-checkpoints"):
            return
        if epoch < self._epoch and not has("old-mark-answered") or (self.handlers.is_primary and not is_ours) or has("mark-ignored"):
            return
        latest = self.executed + bound if bound else None
        if self._duty and self._duty[1] is not None:
            latest = self._duty[1] if latest is None else min(latest, self._duty[1])
        self._duty = [self.executed, latest, self._frame_time, False]

    def _look_after_duty(self) -> None:
        """Takes the checkpoint that a mark asks for, at the first boundary that will do, or says that it waits (P5.8)."""
        if self._duty is None:
            return
        mark, latest, since, is_said = self._duty
        if not self.handlers.world.flows or (latest is not None and self.executed >= latest and not has("never-while-suspended")):
            if has("image-one-record-late") and self.executed - mark < 60:
                return
            self._send_image()
        elif self._frame_time - since > WAIT_US and not is_said and not has("never-says-waiting"):
            self._duty[3] = True
            self.out.frame(0x17, struct.pack("<Q", mark) + b"\x11a flow is waiting")

    # ---- the rest of the conversation ----

    def _become_primary(self, payload: bytes) -> None:
        reader = Cursor(payload)
        lsn = reader.fixed("Q")
        reader.end()
        if self.handlers.is_primary or self.view is not None and not has("view-becomes-primary"):
            raise Malformed("P5.10")
        self.handlers.is_primary = True
        if has("ready-with-own-position"):
            lsn = self.executed
        self.out.frame(0x16, struct.pack("<Q", lsn))
        world = self.handlers.world
        for decision, place in sorted((row[0], place) for place, row in world.aside.items() if row[0] > world.met):
            self.handlers.say_set_aside(place, True)
        for task in sorted(world.tasks) if not has("tasks-not-begun-again") else ():
            self.handlers.run_task(task)
        self.handlers.send_pulses()

    def _impulse_logged(self, payload: bytes) -> None:
        reader = Cursor(payload)
        reader.fixed("I")
        reader.fixed("Q")
        reader.end()

    def _policy_ahead(self, payload: bytes) -> None:
        reader = Cursor(payload, "P5.17")
        count = reader.varint()
        if count > 1024:
            raise Malformed("P5.17")
        self.handlers.ahead = [(reader.fixed("Q"), reader.fixed("B")) for _ in range(count)]
        if any(policy > 2 for _, policy in self.handlers.ahead):
            raise Malformed("P5.17")
        reader.end()

    def _query(self, payload: bytes) -> None:
        reader = Cursor(payload, "P5.18")
        query, lsn, _, method = (reader.fixed(form) for form in "QQII")
        known, arguments = self.handlers.contract.methods.get(method), reader.rest()
        if not query or not method:
            raise Malformed("P5.18")
        place = max(lsn, self.executed) if not has("query-states-another-place") else lsn + 4096
        if known is None or not known.is_query:
            failure = ["Ambrosia.NoMethod", f"Method 0x{method:X} is not in the contract.", None]
            self.out.frame(0x1E, struct.pack("<QBQ", query, 1, place) + pack(failure))
            return
        value = getattr(self.handlers.probe, known.name)(*self.handlers.contract.read_arguments(known, arguments))
        for _ in range(2 if has("query-answered-twice") else 1):
            self.out.frame(0x1E, struct.pack("<QBQ", query, 0, place) + self.handlers.contract.write_result(known, value))

    def say_executing(self) -> None:
        """For which message the app ends (P5.20)."""
        self.out.frame(0x1F, struct.pack("<QI", self.executed, self._index))

