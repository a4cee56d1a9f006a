"""The coordinator's end of rings of shared memory (protocol P5.19), which also judges how the app uses its own end."""
from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import threading
import time
from typing import Optional

from .wire import Violation

PART_HEADER = 4096
WRITTEN, READ, READER_WAITS, WRITER_WAITS = 0, 128, 256, 384
# Longer than the 100 ms of P5.19: whoever is not woken by then is not woken at all.
WAKE_S = 2
# By then a thread that was started waits, but on a very busy machine, where less is judged.
STARTS_S = 0.001
SYS_FUTEX = {"x86_64": 202, "aarch64": 98}
FUTEX_WAIT, FUTEX_WAKE, ALL = 0, 1, (1 << 31) - 1


class Part:
    """One ring of the file: its two positions, its two waiting words, and its bytes."""

    def __init__(self, memory: mmap.mmap, at: int, capacity: int) -> None:
        self._memory, self._at, self._capacity = memory, at, capacity
        view = memoryview(memory)
        # Elements of these views are read and written in one piece.
        self._positions, self._words = view.cast("Q"), view.cast("I")

    def position(self, which: int) -> int:
        """`written` or `read`."""
        return self._positions[(self._at + which) // 8]

    def move(self, which: int, to: int) -> None:
        """Sets a position; what was written before it is seen first."""
        fence()
        self._positions[(self._at + which) // 8] = to
        fence()

    def is_waited(self, which: int) -> bool:
        """Whether a waiting word is set."""
        return self._words[(self._at + which) // 4] != 0

    def set_waiting(self, which: int, value: int) -> None:
        """Sets a waiting word."""
        self._words[(self._at + which) // 4] = value
        fence()

    def copy_in(self, position: int, data: bytes) -> None:
        """Bytes of the ring from a position on."""
        at, base = position % self._capacity, self._at + PART_HEADER
        first = min(len(data), self._capacity - at)
        self._memory[base + at:base + at + first] = data[:first]
        self._memory[base:base + len(data) - first] = data[first:]

    def copy_out(self, position: int, count: int) -> bytes:
        """So many bytes from a position on."""
        at, base = position % self._capacity, self._at + PART_HEADER
        first = min(count, self._capacity - at)
        return self._memory[base + at:base + at + first] + self._memory[base:base + count - first]

    def address(self, which: int) -> int:
        """Where a word lies in this process."""
        return ctypes.addressof(ctypes.c_uint32.from_buffer(self._memory, self._at + which))


def fence() -> None:
    """Orders what stands before it and behind it: taking a lock and giving it back does, with the processors that this kit runs on."""
    with _LOCK:
        pass


_LOCK = threading.Lock()


class Rings:
    """Both rings of a session. `write` and `read` move what they can and wait for nothing; each says whether the other side is to be woken."""

    def __init__(self, path: str, capacity: int) -> None:
        self.path, self.capacity = path, capacity
        with open(path, "w+b") as file:
            file.truncate(2 * (PART_HEADER + capacity))
            self._memory = mmap.mmap(file.fileno(), 0)
        self.out, self.inward = Part(self._memory, 0, capacity), Part(self._memory, PART_HEADER + capacity, capacity)
        self._waiter: Optional[Waiter] = None
        self._is_poked = False

    def write(self, data: bytes) -> int:
        """As many of the bytes as there is room for."""
        written, read = self._positions(self.out)
        count = min(len(data), self.capacity - (written - read))
        if count:
            self.out.copy_in(written, data[:count])
            self.out.move(WRITTEN, written + count)
        return count

    def is_awaited(self) -> bool:
        """Whether the app has read everything, and waits for more."""
        return self.out.is_waited(READER_WAITS)

    def must_wake_reader(self) -> bool:
        """Behind a write: whether the app waits for it. A byte is sent then."""
        if not self.out.is_waited(READER_WAITS):
            return False
        self.out.set_waiting(READER_WAITS, 0)
        return True

    def read(self) -> bytes:
        """All bytes that the app has written."""
        written, read = self._positions(self.inward)
        data = self.inward.copy_out(read, written - read)
        if data:
            self.inward.move(READ, written)
        if data and self.inward.is_waited(WRITER_WAITS):
            self.inward.set_waiting(WRITER_WAITS, 0)
            _futex(self.inward.address(WRITER_WAITS), FUTEX_WAKE, ALL, None)
        return data

    def begin_waiting(self) -> bool:
        """Says that this side waits for bytes. False if there are some by now."""
        self.inward.set_waiting(READER_WAITS, 1)
        written, read = self._positions(self.inward)
        return written == read

    def await_room(self) -> None:
        """Sees to it that somebody waits for room in the ring to the app, and that he was woken who waited before."""
        if self._waiter is not None:
            if self._waiter.is_alive():
                return
            was_left, self._waiter = self._waiter.was_left, None
            if was_left:
                raise Violation("P5.19", f"the app has set `writer waits` to 0 and woken nobody within {WAKE_S} s")
        self.out.set_waiting(WRITER_WAITS, 1)
        written, read = self._positions(self.out)
        if written - read == self.capacity:
            self._waiter = Waiter(self.out)
            self._waiter.start()
            time.sleep(STARTS_S)

    def check_room(self) -> None:
        """There is room again: a writer that waited for half of the ring has to be woken."""
        written, read = self._positions(self.out)
        if self._waiter is not None and written - read <= self.capacity // 2:
            self._waiter.join()
            if self._waiter.was_left or self.out.is_waited(WRITER_WAITS):
                raise Violation("P5.19", f"half of the ring is free, and the writer who waits for it was not woken within {WAKE_S} s")
            self._waiter = None

    def what_lies_unread(self) -> Optional[str]:
        """What one side has not noticed, if anything."""
        if self.inward.position(WRITTEN) != self.inward.position(READ):
            return "the app has written into its ring, and has not woken the reader who waits"
        if self.out.position(WRITTEN) != self.out.position(READ):
            return "the app does not read what lies in its ring"
        return None

    def poke(self, which: str, to: int) -> None:
        """What no coordinator may do: `written` of its own ring, or `read` of the app's, so many bytes behind (or before) what may be."""
        self._is_poked = True
        if which == "written":
            self.out.move(WRITTEN, self.out.position(READ) + (self.capacity + to if to > 0 else to))
        else:
            self.inward.move(READ, self.inward.position(WRITTEN) + to)

    def close(self) -> None:
        """Ends the thread that waits for the app, if there is one."""
        self.out.set_waiting(WRITER_WAITS, 0)
        _futex(self.out.address(WRITER_WAITS), FUTEX_WAKE, ALL, None)

    def _positions(self, part: Part) -> "tuple[int, int]":
        read, written = part.position(READ), part.position(WRITTEN)
        if self._is_poked:
            written = max(read, min(written, read + self.capacity))
        if not read <= written <= read + self.capacity:
            raise Violation("P5.19", f"read is {read}, written is {written}, and the ring has {self.capacity} bytes")
        return written, read


class Waiter(threading.Thread):
    """Waits on `writer waits` of the ring to the app as a writer does: on a futex that two processes share."""

    def __init__(self, part: Part) -> None:
        super().__init__(daemon=True)
        self._part, self.was_left = part, False

    def run(self) -> None:
        """Until the app wakes it, or until it should have been woken."""
        was_in_time = _futex(self._part.address(WRITER_WAITS), FUTEX_WAIT, 1, WAKE_S)
        self.was_left = not was_in_time and not self._part.is_waited(WRITER_WAITS)


class _Time(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def _futex(address: int, operation: int, value: int, seconds: Optional[int]) -> bool:
    """The system call. False if the time has run out."""
    number = SYS_FUTEX.get(platform.machine())
    if number is None or os.name != "posix":
        raise SystemExit(f"rings need a futex, and this kit does not know its number on {platform.machine()}: leave out the profile R")
    limit = None if seconds is None else ctypes.byref(_Time(seconds, 0))
    done = ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), ctypes.c_void_p(address), ctypes.c_int(operation), ctypes.c_uint32(value), limit, None, 0)
    return done == 0 or ctypes.get_errno() != errno.ETIMEDOUT
