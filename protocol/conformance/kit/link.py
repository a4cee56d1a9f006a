"""One app process and its socket: started, fed with pieces of bytes, read frame by frame, and ended."""
from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from typing import Callable, Dict, Iterable, List, Optional, Tuple

from .rings import Rings
from .wire import Frame, Violation, read_frame

READ_BYTES = 1 << 18
# How often a writer without room looks whether there is some: what must wake it is judged beside that.
LOOK_S = 0.005
IMAGE_CHUNK = 0x14


class Stall(Exception):
    """The app did not do in time what it had to do. The sentence is the one that asks it, where it is always the same."""

    def __init__(self, what: str, sentence: Optional[str] = None) -> None:
        super().__init__(what)
        self.sentence = sentence


class Link:
    """An app process and its app channel. Everything happens on the caller's thread."""

    def __init__(self, command: List[str], environment: Dict[str, str], patience_s: float, has_rings: bool = False) -> None:
        self._patience_s = patience_s
        self._rings: Optional[Rings] = None
        self._folder = tempfile.mkdtemp(prefix="ambrosia-kit-")
        self.token = os.urandom(32)
        self._received, self._is_first = bytearray(), True
        self._pieces: List[bytes] = []
        self.is_closed = False
        self.has_wakes = True
        with open(os.path.join(self._folder, "token"), "wb") as file:
            file.write(self.token)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(os.path.join(self._folder, "app.sock"))
        self._listener.listen(1)
        told = {"AMBROSIA_APP": ("ring:" if has_rings else "unix:") + os.path.join(self._folder, "app.sock"), "AMBROSIA_TOKEN": os.path.join(self._folder, "token"),
                "AMBROSIA_PARENT": str(os.getpid())}
        self._errors = open(os.path.join(self._folder, "stderr"), "w+b")
        self._process = subprocess.Popen(command, env={**os.environ, **environment, **told}, stdin=subprocess.DEVNULL, stdout=self._errors, stderr=self._errors)
        try:
            self._socket = self._accept()
        except BaseException:
            self.kill()
            raise

    def accept_again(self) -> None:
        """Another connection of the same process (P5.24, P5.25)."""
        self._socket.close()
        if self._rings is not None:
            self._rings.close()
            self._rings = None
        self._received, self._is_first, self.is_closed = bytearray(), True, False
        self._socket = self._accept()

    def _accept(self) -> socket.socket:
        listener = self._listener
        until = time.monotonic() + self._patience_s
        while not select.select([listener], [], [], 0.05)[0]:
            if self._process.poll() is not None:
                raise Violation("P5.0", f"the app ended with {self._process.returncode} and did not connect: {self.said()}")
            if time.monotonic() > until:
                raise Stall("the app did not connect", "P5.0")
        accepted = listener.accept()[0]
        accepted.setblocking(False)
        return accepted

    def send(self, pieces: Iterable[bytes]) -> None:
        """Hands over bytes; each piece goes out by a call of its own while frames are awaited."""
        self._pieces.extend(pieces)

    def pump(self, take: Callable[[Frame], None], is_done: Callable[[], bool], awaited: str, sentence: Optional[str] = None) -> None:
        """Sends and receives until `is_done`, which is asked behind each frame, or until the app has ended its side."""
        until = time.monotonic() + self._patience_s
        while not self._take_frames(take, is_done) and not self.is_closed:
            left = until - time.monotonic()
            if left <= 0:
                raise self._stall(awaited, sentence)
            if self._move_rings(left) if self._rings is not None else self._move_socket(left):
                until = time.monotonic() + self._patience_s

    def begin_rings(self, capacity: int) -> str:
        """Makes the file of the rings. Frames go through them as soon as what was sent before has gone out."""
        path = os.path.join(self._folder, "rings")
        self._rings_to_come = Rings(path, capacity)
        return path

    def use_rings(self) -> None:
        """From here on every frame goes through the rings."""
        while self._pieces:
            self._write()
        self._rings = self._rings_to_come

    def _stall(self, awaited: str, sentence: Optional[str]) -> Stall:
        unread = None if self._rings is None else self._rings.what_lies_unread()
        if unread is not None:
            return Stall(f"{awaited} did not come within {self._patience_s:g} s: {unread}", "P5.19")
        return Stall(f"{awaited} did not come within {self._patience_s:g} s", sentence)

    def _move_socket(self, most_s: float) -> bool:
        readable, writable, _ = select.select([self._socket], [self._socket] if self._pieces else [], [], most_s)
        if writable:
            self._write()
        return bool(readable) and self._read()

    def _move_rings(self, most_s: float) -> bool:
        """Moves what can be moved; where nothing can, waits for a byte, for the end of the connection, or for room. True if something came."""
        assert self._rings is not None
        rings, did_write = self._rings, False
        rings.check_room()
        while self._pieces:
            count = rings.write(self._pieces[0])
            did_write = did_write or count > 0
            self._pieces[:1] = [self._pieces[0][count:]] if count < len(self._pieces[0]) else []
            if not count:
                # The reader is woken when this side waits for him already: so it shows whether he wakes it.
                rings.await_room()
                break
        if did_write and self.has_wakes and rings.must_wake_reader():
            self._send_byte()
        came = rings.read()
        self._received += came
        if came or did_write:
            return bool(came)
        if rings.begin_waiting() and select.select([self._socket], [], [], LOOK_S if self._pieces else most_s)[0] and not self._take_bytes():
            self._received += rings.read()
            self.is_closed = True
        return False

    def _send_byte(self) -> None:
        try:
            self._socket.send(b"\0")
        except OSError:
            pass

    def _take_bytes(self) -> bool:
        """The bytes that only wake. False at the end of the connection."""
        try:
            return bool(self._socket.recv(READ_BYTES))
        except BlockingIOError:
            return True
        except OSError:
            return False

    def wake_no_more(self) -> None:
        """From here on bytes go into the ring, and the app that waits for them is not woken, as where a coordinator dies behind a write."""
        until = time.monotonic() + self._patience_s
        while self._rings is not None and not self._rings.is_awaited() and time.monotonic() < until:
            time.sleep(LOOK_S)
        self.has_wakes = False

    def poke(self, which: str, to: int) -> None:
        """Moves a position to where it may not be, and wakes the app."""
        assert self._rings is not None
        self._rings.poke(which, to)
        self._send_byte()

    def stream(self, data: bytes, tail: bytes) -> float:
        """Sends a prebuilt stream and reads, unparsed, until what comes ends with `tail`; the seconds that it took."""
        view, sent, end = memoryview(data), 0, b""
        begin = time.perf_counter()
        until = begin + self._patience_s
        while not end.endswith(tail):
            readable, writable, _ = select.select([self._socket], [self._socket] if sent < len(data) else [], [], 1)
            came = b""
            try:
                if writable:
                    sent += self._socket.send(view[sent:sent + READ_BYTES])
                if readable:
                    came = self._socket.recv(READ_BYTES)
            except (BrokenPipeError, ConnectionResetError):
                readable = [self._socket]
            end = (end + came)[-len(tail):]
            if readable and not came:
                raise Stall(f"the app ended in the stream of {len(data)} bytes; it said: {self.said()}")
            if time.perf_counter() > until:
                raise Stall(f"the stream of {len(data)} bytes was not executed to its end within {self._patience_s:g} s")
        return time.perf_counter() - begin

    def collect(self, data: bytes, last: bytes) -> Tuple[bytes, float]:
        """Sends bytes and reads until a frame begins with `last`; the chunks of the image in between, and the seconds that it took."""
        self._socket.setblocking(True)
        begin = time.perf_counter()
        self._socket.sendall(data)
        received, chunks, at = bytearray(), [], 0
        seconds = 0.0
        while not seconds:
            received += self._socket.recv(READ_BYTES)
            seconds = time.perf_counter() - begin if last in received[-64:] else 0.0
        self._socket.setblocking(False)
        while at < len(received):
            frame, end = read_frame(received, at, False)
            if end == at:
                break
            if frame.type == IMAGE_CHUNK:
                chunks.append(frame.payload)
            at = end
        return b"".join(chunks), seconds

    @property
    def memory_bytes(self) -> int:
        """The memory that the process has in use."""
        with open(f"/proc/{self._process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def _take_frames(self, take: Callable[[Frame], None], is_done: Callable[[], bool]) -> bool:
        at = 0
        try:
            while not is_done():
                frame, end = read_frame(self._received, at, self._is_first)
                if end == at:
                    return False
                at, self._is_first = end, False
                take(frame)
            return not self._pieces
        finally:
            del self._received[:at]

    def _write(self) -> None:
        try:
            sent = self._socket.send(self._pieces[0])
        except BlockingIOError:
            return
        except OSError:
            self._pieces.clear()
            return
        if sent == len(self._pieces[0]):
            self._pieces.pop(0)
        else:
            self._pieces[0] = self._pieces[0][sent:]

    def _read(self) -> bool:
        try:
            data = self._socket.recv(READ_BYTES)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        self.is_closed = self.is_closed or not data
        self._received += data
        return bool(data)

    def close_output(self) -> None:
        """The end of the coordinator's side."""
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def exit_code(self) -> int:
        """The exit code, as a shell shows it, of an app whose channel has ended."""
        try:
            code = self._process.wait(self._patience_s)
        except subprocess.TimeoutExpired:
            raise Stall("the process did not end behind its app channel", "P5.13") from None
        return code if code >= 0 else 128 - code

    def said(self) -> str:
        """The last lines that the app wrote to its standard output and error."""
        self._errors.seek(0)
        return self._errors.read()[-2000:].decode(errors="replace").strip()

    def stop(self) -> None:
        """Holds the process for a moment, as a busy machine does."""
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Lets a process that was held go on."""
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Ends the process as a crash does, and removes what belongs to it."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if hasattr(self, "_socket"):
            self._socket.close()
        if self._rings is not None:
            self._rings.close()
        self._listener.close()
        self._errors.close()
        shutil.rmtree(self._folder, ignore_errors=True)


class Closed(Exception):
    """The app has ended its side although nothing asked it to."""

    def __init__(self, goodbye: Optional[str], said: str) -> None:
        super().__init__(f"the app ended its side: {goodbye or 'without a Goodbye'}; it said: {said}")
