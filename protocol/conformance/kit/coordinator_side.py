"""The judge of what a coordinator says to its app (protocol P5.3 to P5.25). The fake one and the real one go through it alike."""
from __future__ import annotations

import struct
from typing import Dict

from . import frames, records, runs
from .session import Asked, Session
from .wire import Frame, Reader, Violation, crc64

LOG_RECORDS = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17}


class CoordinatorSide:
    """Follows the coordinator's frames, notes in the session what an app has to do, and cites what no coordinator may send."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._image = bytearray()
        self._in_image = False
        self._numbers: Dict[int, int] = {}
        self._record_end = 0

    def take(self, frame: Frame) -> None:
        """One frame of the coordinator."""
        take = {
            frames.APP_WELCOME: self._welcome, frames.HEARTBEAT: self._empty, frames.GOODBYE: self._goodbye, frames.IMAGE_BEGIN: self._image_begin,
            frames.IMAGE_CHUNK: self._image_chunk, frames.IMAGE_END: self._image_end, frames.DELIVER: self._deliver,
            frames.BECOME_PRIMARY: self._become_primary, frames.IMPULSE_LOGGED: self._sized(12), frames.POLICY_AHEAD: self._any,
            frames.QUERY: self._query, frames.RINGS: self._rings,
            frames.LOOK: self._look, frames.GO: self._go, frames.CONVERT: self._convert}.get(frame.type)
        if take is None:
            raise Violation("P2.4", f"a coordinator sends no frame of type 0x{frame.type:02X}")
        if not self._session.is_welcomed and frame.type not in (frames.APP_WELCOME, frames.GOODBYE, frames.RINGS, frames.HEARTBEAT):
            raise Violation("P5.3", f"{frames.NAMES[frame.type]} before AppWelcome")
        take(frame.payload)

    def _welcome(self, payload: bytes) -> None:
        session, reader = self._session, Reader(payload, "AppWelcome")
        if reader.number("H") != 1:
            raise Violation("P5.3", "a version other than 1")
        session.instance = reader.name()
        reader.number("H")
        session.replica = reader.name()
        reader.take(16)
        session.epoch, _, session.limit, position, has_image = (reader.number(form) for form in "QQIQB")
        session.is_view = frames.read_options(reader).get(1) == b"\1"
        session.begin = session.delivered = session.reported = self._record_end = position
        session.is_welcomed = True
        self._in_image = bool(has_image)
        if has_image > 1:
            raise Violation("P5.3", f"hasImage is {has_image}")

    def _empty(self, payload: bytes) -> None:
        if payload:
            raise Violation("P2.6", "a frame without fields has bytes")

    def _any(self, payload: bytes) -> None:
        pass

    def _rings(self, payload: bytes) -> None:
        reader = Reader(payload, "Rings")
        capacity = reader.number("I")
        reader.text(1024)
        reader.end()
        if self._session.is_welcomed or not 1 << 16 <= capacity <= 1 << 26 or capacity & capacity - 1:
            raise Violation("P5.19", f"rings of {capacity} bytes, or behind AppWelcome")

    def _look(self, payload: bytes) -> None:
        lsn, index, flags = struct.unpack("<QIB", payload)
        if not self._session.is_view or flags > 15 or flags & 4 and (lsn or index):
            raise Violation("P5.24", f"Look with flags {flags}, or to an app that is no view's")
        self._session.is_looking = True
        self._session.images_owed = flags & 1

    def _go(self, payload: bytes) -> None:
        self._empty(payload)
        if not self._session.is_stopped:
            raise Violation("P5.24", "Go to an app that has not stopped")
        self._session.is_stopped = False

    def _convert(self, payload: bytes) -> None:
        _, before, after, use = struct.unpack("<QIIB", payload)
        if use > 3 or not before or (after != before if use == 3 else after <= before):
            raise Violation("P5.25", f"Convert from {before} to {after} for use {use}")
        self._session.conversions.append(use)
        self._session.images_owed += use in (1, 3)

    def _sized(self, size: int):
        def check(payload: bytes) -> None:
            if len(payload) != size:
                raise Violation("P2.6", f"{len(payload)} bytes where {size} belong")
        return check

    def _goodbye(self, payload: bytes) -> None:
        reader = Reader(payload, "Goodbye")
        reader.number("B")
        reader.text(1024)
        reader.end()
        self._session.is_over = True

    def _image_begin(self, payload: bytes) -> None:
        if not self._in_image:
            raise Violation("P5.7", "an image that AppWelcome has not announced")
        position, _ = struct.unpack("<QI", payload)
        if position != self._session.begin:
            raise Violation("P5.7", f"the image is of {position}, and delivery begins at {self._session.begin}")

    def _image_chunk(self, payload: bytes) -> None:
        if not 1 <= len(payload) <= frames.IMAGE_CHUNK_BYTES_MAX:
            raise Violation("P5.7", f"a chunk of {len(payload)} bytes")
        self._image += payload

    def _image_end(self, payload: bytes) -> None:
        length, checksum = struct.unpack("<QQ", payload)
        if length != len(self._image) or checksum != crc64(bytes(self._image)):
            raise Violation("P5.7", "ImageEnd does not fit the image")
        self._in_image = False

    def _deliver(self, payload: bytes) -> None:
        session = self._session
        if self._in_image:
            raise Violation("P5.3", "Deliver before the end of the image")
        if session.is_stopped:
            raise Violation("P5.24", "Deliver to an app that has stopped")
        first, time_us, mark = struct.unpack_from("<QqQ", payload)
        if first < self._record_end:
            raise Violation("P5.4", f"records from {first} on, when those below {self._record_end} were delivered")
        if time_us < session.page_time_us:
            raise Violation("P5.4", "the time of pages falls")
        session.page_time_us = time_us
        at, lsn = 24, first
        while at < len(payload):
            length, kind = struct.unpack_from("<IB", payload, at)
            body = payload[at + records.HEADER_BYTES:at + records.HEADER_BYTES + length]
            if len(body) != length:
                raise Violation("P5.4", f"the record at {lsn} is not whole")
            at += records.HEADER_BYTES + length
            end = lsn + records.HEADER_BYTES + length
            if mark and mark <= lsn:
                session.exact.append(mark)
                mark = 0
            self._record(kind, body, lsn, end)
            session.boundaries.append(end)
            session.largest_record = max(session.largest_record, end - lsn)
            lsn = end
        if mark:
            session.exact.append(mark)
        session.delivered = self._record_end = lsn

    def _record(self, kind: int, body: bytes, lsn: int, end: int) -> None:
        session = self._session
        if kind == records.RUN:
            origin, first, count = struct.unpack_from("<IQI", body, 4)
            if first != self._numbers.get(origin, first):
                raise Violation("P3.8", f"the run at {lsn} begins with number {first}, not {self._numbers[origin]}")
            self._numbers[origin] = first + count
            if body[0] not in (runs.FORK, runs.CALL, runs.RESULT, runs.FAILURE):
                raise Violation("P3.2", f"a Run record of kind {body[0]}")
        elif kind == records.PEER:
            reader = Reader(body, "Peer")
            origin = reader.number("I")
            reader.take(26)
            session.origins[origin] = reader.name()
        elif kind == records.CHECKPOINT_MARK:
            self._mark(body, lsn, end)
        elif kind == records.FORGET:
            origin = struct.unpack_from("<I", body)[0]
            self._numbers.pop(origin, None)
            session.origins.pop(origin, None)
            session.exact.append(end)

    def _mark(self, body: bytes, lsn: int, end: int) -> None:
        session, reader = self._session, Reader(body, "CheckpointMark")
        epoch, bound, replica = reader.number("Q"), reader.number("Q"), reader.name()
        if session.is_view or epoch < session.epoch or (session.primary_at is not None and replica != session.replica):
            return
        latest = lsn + bound if bound else None
        session.asked.append(Asked(lsn, end, latest, session.page_time_us))

    def _become_primary(self, payload: bytes) -> None:
        if len(payload) != 8 or self._session.primary_at is not None:
            raise Violation("P5.10", "BecomePrimary comes once, with a position")
        self._session.primary_at = struct.unpack("<Q", payload)[0]

    def _query(self, payload: bytes) -> None:
        number, lsn, _, method = struct.unpack_from("<QQII", payload)
        if not number or not method:
            raise Violation("P5.18", f"query {number} of method {method}")
        self._session.queries.add(number)
