"""The judge of what an app says (protocol P5), frame by frame, whatever made it say so."""
from __future__ import annotations

import struct
from typing import Any, Dict, List, NamedTuple, Optional, Set, Tuple

from . import cbor, frames, runs
from .contract import Contract
from .session import Session
from .wire import Frame, Reader, Violation, crc64

DESTINATIONS_MAX = 1 << 20
TIMERS_MAX = 1 << 20
REPORT_BYTES = 1 << 20
Queue = Tuple[str, ...]


class Output(NamedTuple):
    """One thing that an app has said. Things of one queue have an order; those of two queues have none (README, Matching)."""

    queue: Queue
    what: Dict[str, Any]
    raw: bytes


# What follows from the log alone, so that every replay says it again.
REPLAYED = frozenset(("to", "session", "timers", "quarantine"))


class AppSide:
    """Follows the app's frames, cites every sentence that one of them breaks, and gives out what the app has said."""

    def __init__(self, session: Session, contract: Optional[Contract], token: Optional[bytes] = None) -> None:
        self._session, self._contract, self._token = session, contract, token
        self._destinations: Dict[int, str] = {}
        self._tickets: Dict[int, int] = {}
        self._calls: Set[int] = set()
        self._last_call: Dict[int, int] = {}
        self._first_call: Optional[int] = None
        self._timers: Dict[int, int] = {}
        self._image: Optional[Tuple[int, bytearray]] = None
        self._waiting_said: Set[int] = set()
        self._hello: Dict[str, Any] = {}
        self.goodbye: Optional[Tuple[int, str]] = None

    @property
    def hello(self) -> Dict[str, Any]:
        """What AppHello said."""
        return self._hello

    @property
    def timers(self) -> Dict[int, int]:
        """The timers that wait, with their due times."""
        return dict(self._timers)

    def expect_calls_from(self, first: int) -> None:
        """The call id that the app must use next (P3.9)."""
        self._first_call = first

    def take(self, frame: Frame) -> List[Output]:
        """One frame of the app."""
        if frame.type not in frames.FROM_APP:
            raise Violation("P2.4", f"an app sends no frame of type 0x{frame.type:02X}")
        if self.goodbye is not None:
            raise Violation("P5.12", f"{frames.NAMES[frame.type]} behind Goodbye")
        if not self._session.has_hello and frame.type not in (frames.APP_HELLO, frames.GOODBYE):
            raise Violation("P5.1", f"{frames.NAMES[frame.type]} before AppHello")
        if not self._session.is_welcomed and frame.type not in (frames.APP_HELLO, frames.GOODBYE, frames.BUILD_METHODS, frames.HEARTBEAT):
            raise Violation("P5.3", f"{frames.NAMES[frame.type]} before AppWelcome")
        return getattr(self, "_" + frames.NAMES[frame.type])(frame.payload) or []

    # ---- the conversation ----

    def _AppHello(self, payload: bytes) -> None:
        if self._session.has_hello:
            raise Violation("P2.4", "a second AppHello")
        self._hello = frames.read_hello(payload)
        self._session.has_hello = True
        self._session.owes_methods = 1 in self._hello["options"]
        if self._token is not None and self._hello["token"] != self._token:
            raise Violation("P5.1", "another token than that of the file")
        if not self._hello["min"] <= 1 <= self._hello["max"]:
            raise Violation("P5.1", "the range of versions does not contain 1")

    def _BuildMethods(self, payload: bytes) -> None:
        if self._session.is_welcomed or not self._session.owes_methods:
            raise Violation("P5.23", "BuildMethods stands behind an AppHello with option 1 and nowhere else")
        self._session.owes_methods = False
        frames.read_json(payload, "P5.23", 4 << 20)

    def _Contract(self, payload: bytes) -> None:
        frames.read_json(payload, "P5.21", 1 << 20)

    def _Heartbeat(self, payload: bytes) -> None:
        _empty(payload)

    def _Goodbye(self, payload: bytes) -> None:
        reader = Reader(payload, "Goodbye")
        self.goodbye = (reader.number("B"), reader.text(1024))
        reader.end()
        if self.goodbye[0] > 5:
            raise Violation("P5.12", f"code {self.goodbye[0]}")

    def _Executing(self, payload: bytes) -> None:
        reader = Reader(payload, "Executing")
        lsn = reader.number("Q")
        reader.number("I")
        reader.end()
        if lsn > self._session.delivered:
            raise Violation("P5.20", f"{lsn} is behind what was delivered")

    def _CheckpointWanted(self, payload: bytes) -> List[Output]:
        _empty(payload)
        return [Output(("wanted",), {"wanted": True}, b"")]

    def _PrimaryReady(self, payload: bytes) -> List[Output]:
        reader = Reader(payload, "PrimaryReady")
        lsn = reader.number("Q")
        reader.end()
        if lsn != self._session.primary_at or self._session.is_primary_ready:
            raise Violation("P5.10", f"PrimaryReady({lsn}) answers no BecomePrimary")
        self._session.is_primary_ready = True
        return [Output(("primary",), {"primaryReady": True}, b"")]

    def _Seen(self, payload: bytes) -> List[Output]:
        what = frames.read_seen(payload)
        if what.pop("goes_on"):  # the user of a debugger goes on; the app stands as before
            if not self._session.is_stopped:
                raise Violation("P5.24", "a developer who goes on where nothing has stopped")
            return [Output(("goes on",), what, payload)]
        if not self._session.is_looking:
            raise Violation("P5.24", "Seen without Look")
        self._session.is_looking, self._session.is_stopped = False, True
        return [Output(("seen",), what, payload)]

    def _Converted(self, payload: bytes) -> List[Output]:
        what = frames.read_converted(payload)
        if what["use"] not in self._session.conversions or what["use"] == 1 and not what["isRefused"]:
            raise Violation("P5.25", f"Converted of use {what['use']}, for which nothing has asked")
        self._session.conversions.remove(what["use"])
        if what["isRefused"]:
            self._session.images_owed = 0
        return [Output(("converted",), what, payload)]

    # ---- positions and images ----

    def _Processed(self, payload: bytes) -> List[Output]:
        reader = Reader(payload, "Processed")
        lsn = reader.number("Q")
        reader.end()
        self._report(lsn, "Processed")
        for asked in self._session.asked:
            due = self._session.due(asked)
            if due is not None and lsn > due:
                raise Violation("P5.8", f"the mark at {asked.mark} asked for an image at {due} at the latest, and {lsn} is reported without one")
        return [Output(("processed",), {"processed": lsn}, b"")]

    def _report(self, lsn: int, what: str) -> None:
        session = self._session
        if lsn < session.reported:
            raise Violation("P5.6", f"{what}({lsn}) behind {session.reported}: positions never fall")
        if session.exact and lsn > session.exact[0]:
            raise Violation("P5.6", f"{what}({lsn}), and {session.exact[0]} had to be reported exactly")
        if lsn > session.delivered and not (session.exact and lsn == session.exact[0]):
            raise Violation("P5.6", f"{what}({lsn}), when {session.delivered} is the end of what was delivered")
        if lsn - session.reported > REPORT_BYTES + session.largest_record + 4096:
            raise Violation("P5.6", f"more than a MiB was executed between the reports of {session.reported} and {lsn}")
        while session.exact and session.exact[0] == lsn:
            session.exact.popleft()
        session.reported = lsn
        if self._first_call is not None and self._calls:
            missing = set(range(self._first_call, max(self._calls) + 1)) - self._calls
            if missing or min(self._calls) != self._first_call:
                raise Violation("P3.9", f"call ids are {sorted(self._calls)[:8]}… and begin with {self._first_call} here, without gaps")

    def _ImageBegin(self, payload: bytes) -> None:
        reader = Reader(payload, "ImageBegin")
        lsn, _ = reader.number("Q"), reader.number("I")
        reader.end()
        answered = [asked for asked in self._session.asked if asked.earliest <= lsn]
        if self._image is not None:
            raise Violation("P5.7", "an image begins in another one")
        if self._session.images_owed:
            # It is no checkpoint, and no mark is answered by it.
            self._session.images_owed -= 1
            if 1 in self._session.conversions:
                self._session.conversions.remove(1)
            self._image = (lsn, bytearray())
            self._session.is_in_image = True
            return
        if not answered:
            raise Violation("P5.8", f"an image at {lsn}, for which no mark has asked")
        if lsn not in self._session.boundaries:
            raise Violation("P5.8", f"an image at {lsn}, which is no record boundary")
        for asked in answered:
            due = self._session.due(asked)
            if due is not None and lsn > due:
                raise Violation("P5.8", f"an image at {lsn}, when {due} was the last boundary for the mark at {asked.mark}")
        self._report(lsn, "ImageBegin")
        self._session.asked = self._session.asked[len(answered):]
        self._image = (lsn, bytearray())
        self._session.is_in_image = True

    def _ImageChunk(self, payload: bytes) -> None:
        if self._image is None:
            raise Violation("P5.7", "ImageChunk without ImageBegin")
        if not 1 <= len(payload) <= frames.IMAGE_CHUNK_BYTES_MAX:
            raise Violation("P5.7", f"a chunk of {len(payload)} bytes")
        self._image[1].extend(payload)

    def _ImageEnd(self, payload: bytes) -> List[Output]:
        if self._image is None:
            raise Violation("P5.7", "ImageEnd without ImageBegin")
        reader = Reader(payload, "ImageEnd")
        length, checksum = reader.number("Q"), reader.number("Q")
        reader.end()
        lsn, content = self._image[0], bytes(self._image[1])
        self._image = None
        self._session.is_in_image = False
        if length != len(content) or checksum != crc64(content):
            raise Violation("P5.7", "ImageEnd does not fit the bytes of the chunks")
        _check_format(content)
        return [Output(("image",), {"image": lsn}, content)]

    def _Waiting(self, payload: bytes) -> List[Output]:
        reader = Reader(payload, "Waiting")
        mark = reader.number("Q")
        reader.text(1024)
        reader.end()
        if self._session.is_view and self._session.images_owed:
            self._session.images_owed = 0
            return [Output(("waiting",), {"waiting": mark}, b"")]
        if mark in self._waiting_said:
            raise Violation("P5.8", f"Waiting a second time for the mark at {mark}")
        if mark not in [asked.mark for asked in self._session.asked]:
            raise Violation("P5.8", f"Waiting for the mark at {mark}, which does not ask for a checkpoint")
        self._waiting_said.add(mark)
        # The checkpoint may still come, at a boundary where nothing is suspended.
        self._session.asked = [asked._replace(latest=None) if asked.mark <= mark else asked for asked in self._session.asked]
        return [Output(("waiting",), {"waiting": mark}, b"")]

    # ---- what the app emits ----

    def _Destination(self, payload: bytes) -> None:
        reader = Reader(payload, "Destination")
        index, shard, name = reader.number("I"), reader.number("H"), reader.name()
        reader.end()
        if index >= DESTINATIONS_MAX or index in self._destinations or shard:
            raise Violation("P5.5", f"index {index}, shard {shard}: an index below 2^20 is declared once")
        self._destinations[index] = name

    def _Run(self, payload: bytes) -> List[Output]:
        run = runs.read(payload)
        if self._session.is_stopped:
            raise Violation("P5.24", "a run of an app that has stopped")
        if run.kind in (runs.ANSWER, runs.CLIENT_FAILURE):
            return [self._answer(run, message) for message in run.messages]
        if run.peer not in self._destinations:
            raise Violation("P5.13", f"a run to the index {run.peer}, which was not declared")
        if run.shard or run.hash or (run.first and run.kind != runs.IMPULSE):
            raise Violation("P3", "shard, first and hash of an app's run are 0")
        for message in run.messages:
            if len(message.raw) > self._session.limit + 10:
                raise Violation("P3.4", f"a message of {len(message.raw)} bytes, when {self._session.limit} are the limit")
        if run.kind == runs.IMPULSE:
            return self._impulses(run)
        return [self._message(run.peer, message) for message in run.messages]

    def _message(self, index: int, message: runs.Message) -> Output:
        to = self._destinations[index]
        what: Dict[str, Any] = {"to": to}
        if message.kind == runs.CALL:
            if message.id in self._calls or message.id <= self._last_call.get(index, 0):
                raise Violation("P3.9", f"call id {message.id} is used again, or stands behind a higher one")
            self._calls.add(message.id)
            self._last_call[index] = message.id
        name = {runs.FORK: "fork", runs.CALL: "call", runs.RESULT: "result", runs.FAILURE: "failure"}[message.kind]
        what[name] = self._method(message.method)
        if message.id:
            what["id"] = message.id
        self._content(message, what, message.kind == runs.FAILURE, message.kind == runs.RESULT)
        return Output(("to", to), what, bytes([message.kind]) + message.raw)

    def _impulses(self, run: runs.Run) -> List[Output]:
        if self._session.primary_at is None:
            raise Violation("P5.10", "impulses before BecomePrimary")
        if run.first != self._tickets.get(run.peer, 0) + 1:
            raise Violation("P5.9", f"tickets from {run.first} on, and {self._tickets.get(run.peer, 0) + 1} is next")
        self._tickets[run.peer] = run.first + len(run.messages) - 1
        out = []
        for message in run.messages:
            what = {"to": self._destinations[run.peer], "impulse": self._method(message.method)}
            if message.key is not None:
                what["key"] = message.key.decode()
            self._content(message, what, False, False)
            out.append(Output(("impulse", what["to"]), what, message.raw))
        return out

    def _answer(self, run: runs.Run, message: runs.Message) -> Output:
        if run.shard or run.peer:
            raise Violation("P10.6", "peer and shard of an answer to a caller outside are 0")
        session = struct.pack(">QQ", run.hash, run.first).hex()
        what: Dict[str, Any] = {"session": session, "request": message.id}
        what["failed" if run.kind == runs.CLIENT_FAILURE else "answer"] = self._method(message.method)
        self._content(message, what, run.kind == runs.CLIENT_FAILURE, run.kind == runs.ANSWER)
        return Output(("session", session), what, bytes([message.kind]) + message.raw)

    def _content(self, message: runs.Message, what: Dict[str, Any], is_failure: bool, is_value: bool) -> None:
        if is_failure:
            what["is"] = runs.read_failure(message.content)
        elif self._contract is None:
            what["hex"] = message.content.hex()
        elif is_value:
            what["value"] = self._contract.read_value(message.method, message.content)
        else:
            what["arguments"] = self._contract.read_arguments(message.method, message.content)

    def _method(self, number: int) -> Any:
        known = self._contract.find(number) if self._contract else None
        return known.name if known else number

    # ---- timers, tasks, quarantine, queries ----

    def _TimerSet(self, payload: bytes) -> List[Output]:
        reader = Reader(payload, "TimerSet")
        timer, due = reader.number("Q"), reader.number("q")
        reader.end()
        self._timers[timer] = due
        if not timer or len(self._timers) > TIMERS_MAX:
            raise Violation("P5.14", f"timer {timer}, {len(self._timers)} wait")
        return [Output(("timers",), {"timer": timer, "due": due}, payload)]

    def _TimerDropped(self, payload: bytes) -> List[Output]:
        reader = Reader(payload, "TimerDropped")
        timer = reader.number("Q")
        reader.end()
        if not timer:
            raise Violation("P5.14", "timer 0")
        self._timers.pop(timer, None)
        return [Output(("timers",), {"dropped": timer}, payload)]

    def _TaskResult(self, payload: bytes) -> List[Output]:
        reader = Reader(payload, "TaskResult")
        task, status, content = reader.number("Q"), reader.number("B"), reader.rest()
        if self._session.primary_at is None or not task or status > 1:
            raise Violation("P5.15", f"task {task}, status {status}, or before BecomePrimary")
        what: Dict[str, Any] = {"task": task}
        if status:
            what["failure"] = runs.read_failure(content)
        else:
            what["value"] = cbor.sequence(content)
        return [Output(("task",), what, payload)]

    def _SetAside(self, payload: bytes) -> List[Output]:
        found = frames.read_set_aside(payload)
        if found["isUnlogged"] and self._session.primary_at is None:
            raise Violation("P5.16", "isUnlogged before BecomePrimary")
        what = {"setAside": found["decision"], "lsn": found["lsn"], "index": found["index"], "caller": found["caller"], "kind": found["kind"],
                "method": self._method(found["method"]), "tries": found["tries"], "argumentBytes": found["argumentBytes"],
                "isUnlogged": bool(found["isUnlogged"])}
        return [Output(("quarantine",), what, payload)]

    def _Released(self, payload: bytes) -> List[Output]:
        reader = Reader(payload, "Released")
        what = {"released": reader.number("Q"), "index": reader.number("I")}
        reader.end()
        return [Output(("quarantine",), what, payload)]

    def _QueryAnswer(self, payload: bytes) -> List[Output]:
        reader = Reader(payload, "QueryAnswer")
        query, status, lsn, content = reader.number("Q"), reader.number("B"), reader.number("Q"), reader.rest()
        if query not in self._session.queries:
            raise Violation("P5.18", f"an answer to the query {query}, which does not wait for one")
        if status > 1 or lsn > max(self._session.delivered, self._session.begin):
            raise Violation("P5.18", f"status {status}, position {lsn}")
        self._session.queries.discard(query)
        what: Dict[str, Any] = {"query": query, "lsn": lsn}
        if status:
            what["is"] = runs.read_failure(content)
        else:
            what["bytes"] = content.hex()
        return [Output(("query",), what, payload)]


def _empty(payload: bytes) -> None:
    if payload:
        raise Violation("P2.6", "a frame without fields has bytes")


def _check_format(content: bytes) -> None:
    """An image begins with the name and the version of its format (I1.1)."""
    if not content or content[0] >> 5 != 4:
        raise Violation("I1.1", "an image is a CBOR array that begins with the name of its format")
    at = 1 if content[0] & 31 < 24 else 1 + (1 << (content[0] & 31) - 24)
    name, at = cbor.decode(content, at)
    version, _ = cbor.decode(content, at)
    if not isinstance(name, str) or not isinstance(version, int) or version < 0:
        raise Violation("I1.1", f"an image whose format is {name!r}, {version!r}")
    if name == "ambrosia":
        cbor.decode(content)
