"""One session between the fake coordinator and an app: frames go out through one judge and come in through the other."""
from __future__ import annotations

from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple

from . import frames, records
from .app_side import AppSide, Output
from .contract import Contract
from .coordinator_side import CoordinatorSide
from .history import EPOCH, INSTANCE, REPLICA, Entry, History
from .ledger import Follower, Ledger
from .link import Closed, Link, Stall
from .session import Session
from .wire import Frame, Violation, crc64, read_frame

Shape = Callable[[bytes], Iterable[bytes]]


class Setup(NamedTuple):
    """How apps are started and fed in one play."""

    command: List[str]
    contract: Contract
    patience_s: float
    shape: Shape
    environment: Dict[str, str]
    is_held: bool = False
    # The bytes of each ring; 0: frames go through the socket.
    rings: int = 0


def whole(data: bytes) -> Iterable[bytes]:
    """A frame in one piece."""
    return [data]


def byte_by_byte(data: bytes) -> Iterable[bytes]:
    """A frame in single bytes; of a long one the end in one piece, because it holds nothing that a cut could find."""
    head, tail = data[:4096], data[4096:]
    return [head[i:i + 1] for i in range(len(head))] + ([tail] if tail else [])


class Conversation:
    """A session that begins at a position of the history, with the image of that position if there is one."""

    def __init__(self, setup: Setup, history: History, ledger: Ledger, begin: int = 0, image: Optional[bytes] = None,
                 options: Optional[Dict[int, bytes]] = None) -> None:
        self._setup, self._history, self._ledger, self._options = setup, history, ledger, options or {}
        self.others: List[Output] = []
        self.may_end = False
        self.image, self.image_lsn = b"", 0
        self._begin_session(begin, image)
        self.link = Link(setup.command, setup.environment, setup.patience_s, setup.rings > 0)
        self.app = AppSide(self.session, setup.contract, self.link.token)

    def _begin_session(self, begin: int, image: Optional[bytes]) -> None:
        self._begin, self._image = begin, image
        self.session = Session()
        self._coordinator = CoordinatorSide(self.session)
        self._said_ahead: List[Tuple[int, int]] = []
        self.follower = Follower(self._ledger, begin, image is not None)

    def begin_again(self, begin: int, image: Optional[bytes], options: Dict[int, bytes], ahead: bytes = b"") -> None:
        """Goodbye 5: the same process connects again, and another session begins (P5.24, P5.25), with `ahead` before its image."""
        self.may_end = True
        self.send(frames.goodbye(frames.AGAIN))
        self.link.pump(self.take, lambda: False, "the end of the app's channel")
        self.may_end, self._options = False, options
        self.link.accept_again()
        self._begin_session(begin, image)
        self.app = AppSide(self.session, self._setup.contract, self.link.token)
        self.open(ahead=ahead)

    def open(self, is_spoilt: bool = False, ahead: bytes = b"") -> None:
        """From AppHello to what stands before the first Deliver. A spoilt image has a wrong checksum."""
        self.await_hello()
        if self._setup.rings:
            path = self.link.begin_rings(self._setup.rings)
            self.send(frames.rings(self._setup.rings, path))
            self.link.use_rings()
        options = {**({2: self.app.hello["version"].to_bytes(4, "little")} if 2 in self.app.hello["options"] else {}), **self._options}
        self.send(frames.welcome(INSTANCE, REPLICA, records.INSTANCE_ID, EPOCH, 1, self._history.limit_at(self._begin), self._begin,
                                 self._image is not None, options))
        self.send(ahead)
        if self._image is not None:
            image = frames.image(self._begin, self.app.hello["imageVersion"], self._image, 65536, crc64(self._image) ^ is_spoilt)
            self.send_raw(image) if is_spoilt else self.send(image)

    def await_hello(self) -> None:
        """What an app says before it is answered."""
        self.pump(lambda: self.session.has_hello and not self.session.owes_methods, "AppHello", "P5.1")

    def send(self, data: bytes) -> None:
        """Frames of a coordinator that obeys the protocol."""
        at = 0
        while at < len(data):
            frame, at = read_frame(data, at, False)
            self._coordinator.take(frame)
        self.link.send(self._setup.shape(data))

    def send_unjudged(self, data: bytes, end: int) -> None:
        """Frames that may break a sentence; records up to `end` count as delivered."""
        try:
            self.send(data)
        except Violation:
            self.session.delivered = max(self.session.delivered, end)
            self.link.send(self._setup.shape(data))

    def send_raw(self, data: bytes) -> None:
        """Bytes that no coordinator may send."""
        self.link.send(self._setup.shape(data))

    def deliver(self, entries: List[Entry], mark: int = 0) -> None:
        """Delivers entries, one frame for each stretch of one page time, and says beforehand which policies follow."""
        ahead = self._history.policies_from(max(self.session.delivered, self._begin))
        if ahead and ahead != self._said_ahead:
            self.send(frames.policy_ahead(ahead))
            self._said_ahead = ahead
        at = 0
        while at < len(entries):
            end = at + 1
            while end < len(entries) and entries[end].lsn == entries[end - 1].end and entries[end].time_us == entries[at].time_us:
                end += 1
            stretch = entries[at:end]
            here = mark if mark and (mark <= stretch[-1].end or end == len(entries)) else 0
            mark = 0 if here else mark
            data = frames.deliver(stretch[0].lsn, stretch[0].time_us, here, b"".join(entry.record.encoded() for entry in stretch))
            if self.may_end:
                self.send_unjudged(data, stretch[-1].end)
            else:
                self.send(data)
            at = end

    def take(self, frame: Frame) -> None:
        """One frame of the app: judged, compared with what was said before, and kept if only the script can judge it."""
        for output in self.app.take(frame):
            if "processed" in output.what or "image" in output.what and not self.session.is_view and 3 not in self._options:
                self.follower.report(self.session.reported)
            if "image" in output.what:
                self.image, self.image_lsn = output.raw, output.what["image"]
                # What a view shows, and what another version makes of a state, is no checkpoint of this log.
                if not self.session.is_view and 3 not in self._options:
                    self._ledger.take_image(output.what["image"], output.raw, "of this play")
            if "processed" not in output.what and not self.follower.take(output):
                self.others.append(output)

    def pump(self, is_done: Callable[[], bool], awaited: str, sentence: Optional[str] = None) -> None:
        """Until something has happened; the end of the app's side is an error unless it was asked for."""
        if self._setup.is_held:
            self.link.stop()
            self.link.go_on()
        self.link.pump(self.take, is_done, awaited, sentence)
        if self.link.is_closed and not self.may_end and not is_done():
            goodbye = None if self.app.goodbye is None else f"Goodbye {self.app.goodbye[0]} {self.app.goodbye[1]}"
            raise Closed(goodbye, self.link.said())

    def await_reported(self, position: int) -> None:
        """Until everything below a position is reported, and every image that was asked for has come."""
        def is_done() -> bool:
            is_due = any(self.session.due(asked) is not None for asked in self.session.asked)
            return self.session.reported >= position and not is_due and not self.session.exact and not self.session.is_in_image
        try:
            self.pump(is_done, f"Processed({position})", "P5.6")
        except Stall as stall:
            if self.session.reported < position or self.session.exact:
                raise
            raise Stall(f"the image that a mark asked for did not come: {stall}", "P5.8") from None
        self._ledger.note(position, self.follower.counts)

    def become_primary(self, position: int) -> None:
        """BecomePrimary and its answer (P5.10)."""
        self.send(frames.frame(frames.BECOME_PRIMARY, position.to_bytes(8, "little")))
        self.pump(lambda: self.session.is_primary_ready, "PrimaryReady", "P5.10")

    def await_end(self) -> Tuple[Optional[Tuple[int, str]], int]:
        """Until the app's channel and process have ended: its Goodbye and its exit code."""
        self.may_end = True
        self.link.pump(self.take, lambda: False, "the end of the app's channel")
        return self.app.goodbye, self.link.exit_code()

    def end(self) -> int:
        """Goodbye 0 from the coordinator; the app's exit code."""
        self.send(frames.goodbye(frames.CLEAN))
        return self.await_end()[1]
