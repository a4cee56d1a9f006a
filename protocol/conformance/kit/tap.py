"""Stands between a real coordinator and a real app, hands every byte on, and judges both directions."""
from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import tempfile
from typing import Callable, Dict, List, Optional

from . import frames
from .app_side import AppSide
from .coordinator_side import CoordinatorSide
from .session import Session
from .wire import Frame, Violation, read_frame

# Views and changes of versions (P5.24, P5.25): a session that has one of these is handed on and judged no longer.
NOT_JUDGED = frozenset(range(0x26, 0x2B)) | {frames.RINGS}
CHUNK_BYTES, UNSENT_BYTES_MAX = 1 << 18, 1 << 23
COORDINATOR_GONE = 74  # the exit code of P5.13


def coordinator_is_gone(parent: str) -> bool:
    """Whether the coordinator with this process id has ended. One that nobody has waited for is gone, too."""
    if not parent.isdigit() or os.getppid() == int(parent):
        return False
    try:
        with open(f"/proc/{parent}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] in ("Z", "X")
    except OSError as error:
        return isinstance(error, (FileNotFoundError, ProcessLookupError)) and os.path.exists("/proc/self/stat")


class Direction:
    """The bytes of one side: handed on as the other side takes them, and judged as soon as a frame is whole.

    Neither side waits for the other: an app that is writing reads nothing, so whoever waited for it with its own bytes would wait for ever.
    """

    def __init__(self, side: str, source: socket.socket, target: socket.socket, judge: Callable[[Frame], object]) -> None:
        self.side, self.source, self.target, self._judge = side, source, target, judge
        self._received, self._is_first, self._unsent = bytearray(), True, bytearray()
        self._is_over = self._is_gone = False

    @property
    def is_done(self) -> bool:
        """Nothing comes any more, and everything was handed on."""
        return self._is_over and not self._unsent

    @property
    def wants_more(self) -> bool:
        """Whether the source may be read."""
        return not self._is_over and len(self._unsent) < UNSENT_BYTES_MAX

    @property
    def has_unsent(self) -> bool:
        """Whether the target is to take something."""
        return bool(self._unsent)

    def receive(self, is_judged: bool) -> None:
        """What has come. Frames are judged before they are handed on, so that no answer can overtake its question."""
        try:
            data = self.source.recv(CHUNK_BYTES)
        except OSError:
            data = b""
        self._is_over = not data
        try:
            if is_judged:
                self._received += data
                self._judge_frames()
        finally:
            self._unsent += b"" if self._is_gone else data
            self.hand_on()

    def hand_on(self) -> None:
        """As much as the target takes now."""
        try:
            del self._unsent[:self.target.send(self._unsent, socket.MSG_DONTWAIT) if self._unsent else 0]
        except BlockingIOError:
            pass
        except OSError:
            self._is_gone = True
            self._unsent.clear()

    def close(self) -> None:
        """The end of this side, handed on."""
        try:
            self.target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def _judge_frames(self) -> None:
        at = 0
        try:
            while True:
                frame, end = read_frame(self._received, at, self._is_first)
                if end == at:
                    return
                at, self._is_first = end, False
                if frame.type in NOT_JUDGED:
                    raise NotJudged()
                self._judge(frame)
        finally:
            del self._received[:at]


class NotJudged(Exception):
    """The session has frames that this kit does not know."""


class Tap:
    """One session between a coordinator and an app."""

    def __init__(self, command: List[str], environment: Dict[str, str], report: Optional[str]) -> None:
        self._command, self._environment, self._report = command, environment, report
        self.rejections = 0

    def run(self) -> int:
        """Hands everything on until the session has ended; the exit code of the app."""
        address = self._environment["AMBROSIA_APP"]
        if not address.startswith("unix:"):
            raise SystemExit(f"tap: the address is {address!r}; the tap needs unix:, so start the coordinator without --app-rings and --app-port")
        with tempfile.TemporaryDirectory(prefix="ambrosia-tap-") as folder:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(os.path.join(folder, "app.sock"))
            listener.listen(1)
            told = {**self._environment, "AMBROSIA_APP": "unix:" + os.path.join(folder, "app.sock"), "AMBROSIA_PARENT": str(os.getpid())}
            app = subprocess.Popen(self._command, env=told)
            try:
                while not select.select([listener], [], [], 0.1)[0]:
                    if app.poll() is not None:
                        return app.returncode
                coordinator = socket.socket(socket.AF_UNIX)
                coordinator.connect(address[len("unix:"):])
                # The app sees that the tap lives, so the tap looks at its own coordinator in the app's place (P5.0).
                if coordinator_is_gone(self._environment.get("AMBROSIA_PARENT", "")):
                    print("tap: the coordinator that started this tap is gone, and another one answers here", flush=True)
                    return COORDINATOR_GONE
                self._converse(listener.accept()[0], coordinator)
                return app.wait()
            finally:
                if app.poll() is None:
                    app.kill()
                    app.wait()

    def _converse(self, app: socket.socket, coordinator: socket.socket) -> None:
        session = Session()
        app_side, coordinator_side = AppSide(session, None), CoordinatorSide(session)
        directions = [Direction("coordinator", coordinator, app, coordinator_side.take), Direction("app", app, coordinator, app_side.take)]
        is_judged = True
        while directions:
            readable, writable, _ = select.select([one.source for one in directions if one.wants_more], [one.target for one in directions if one.has_unsent], [])
            # The coordinator's side first: what the app says may rest on it.
            for direction in list(directions):
                if direction.target in writable:
                    direction.hand_on()
                try:
                    if direction.source in readable:
                        direction.receive(is_judged)
                except Violation as violation:
                    self._reject(direction.side, violation)
                    is_judged = False
                except NotJudged:
                    is_judged = False
                if direction.is_done:
                    directions.remove(direction)
                    direction.close()
                    if direction.side == "app":
                        return

    def _reject(self, side: str, violation: Violation) -> None:
        self.rejections += 1
        line = json.dumps({"side": side, "sentence": violation.sentence, "what": violation.what})
        print(f"tap: the {side} breaks {violation.sentence}: {violation.what}", flush=True)
        if self._report is not None:
            with open(self._report, "a", encoding="utf-8") as file:
                file.write(line + "\n")

