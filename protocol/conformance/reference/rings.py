"""The app's end of rings of shared memory (protocol P5.19). A socket beside them wakes, and tells of the end."""
from __future__ import annotations

import ctypes
import mmap
import os
import platform
import select
import socket
import threading

from encoding import Malformed
from faults import has

HEADER, LEAST, MOST = 4096, 1 << 16, 1 << 26
WAIT, WAKE, PRIVATE, ALL = 0, 1, 128, (1 << 31) - 1
ROOM_S = 0.1


class Timespec(ctypes.Structure):
    """`struct timespec`."""

    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def futex(address: int, operation: int, value: int) -> bool:
    """The system call; a wait ends after 100 ms at the latest. False if it ended so."""
    number = {"x86_64": 202, "aarch64": 98}[platform.machine()]
    limit = ctypes.byref(Timespec(0, int(ROOM_S * 1e9)))
    library = ctypes.CDLL(None, use_errno=True)
    result = library.syscall(ctypes.c_long(number), ctypes.c_void_p(address), ctypes.c_int(operation), ctypes.c_uint32(value), limit, None, 0)
    return result >= 0 or ctypes.get_errno() != 110


class Ring:
    """One of the two parts of the file."""

    def __init__(self, memory: mmap.mmap, start: int, capacity: int) -> None:
        self.memory, self.start, self.capacity = memory, start, capacity
        view = memoryview(memory)
        self.longs, self.ints = view.cast("Q"), view.cast("I")
        self.written_at, self.read_at = start // 8, (start + 128) // 8
        self.reader_at, self.writer_at = (start + 256) // 4, (start + 384) // 4
        self.lock = threading.Lock()

    def fence(self) -> None:
        """A full fence, as far as a language without one can have it."""
        self.lock.acquire()
        self.lock.release()

    def span(self) -> "tuple[int, int]":
        """read and written, checked."""
        read, written = self.longs[self.read_at], self.longs[self.written_at]
        if not read <= written <= read + self.capacity and not has("ring-positions-not-checked"):
            raise Malformed("P5.19")
        return read, written

    def address(self) -> int:
        """Of `writer waits`."""
        return ctypes.addressof(ctypes.c_uint32.from_buffer(self.memory, self.start + 384))


class RingChannel:
    """In place of the socket: `sendall` and `recv` go through the rings."""

    def __init__(self, waker: socket.socket, capacity: int, path: str) -> None:
        if (not LEAST <= capacity <= MOST or capacity & capacity - 1) and not has("ring-size-not-checked"):
            raise Malformed("P5.19")
        with open(path, "r+b") as file:
            if os.fstat(file.fileno()).st_size != 2 * (HEADER + capacity):
                raise Malformed("P5.19")
            memory = mmap.mmap(file.fileno(), 0)
        self._waker, self._in, self._out = waker, Ring(memory, 0, capacity), Ring(memory, HEADER + capacity, capacity)
        self._is_over = False

    def sendall(self, data: bytes) -> None:
        """Writes everything; OSError if the reader has gone."""
        ring, at = self._out, 0
        while at < len(data):
            read, written = ring.span()
            count = min(len(data) - at, ring.capacity - (written - read))
            if has("ring-overrun") and len(data) > ring.capacity:
                ring.longs[ring.written_at] = written + len(data)
                return
            if not count:
                self._await_room(read)
                continue
            place = written % ring.capacity
            for offset, piece in ((place, data[at:at + min(count, ring.capacity - place)]), (0, data[at + min(count, ring.capacity - place):at + count])):
                base = ring.start + HEADER + offset
                ring.memory[base:base + len(piece)] = piece
            at += count
            ring.fence()
            ring.longs[ring.written_at] = written + count
            ring.fence()
            if ring.ints[ring.reader_at] and not has("ring-reader-not-woken"):
                ring.ints[ring.reader_at] = 0
                self._waker.send(b"\0")

    def _await_room(self, read: int) -> None:
        ring = self._out
        ring.ints[ring.writer_at] = 1
        ring.fence()
        if ring.longs[ring.read_at] == read and not futex(ring.address(), WAIT, 1):
            self._waker.send(b"\0")

    def recv(self, most: int) -> bytes:
        """What has come; nothing at the end."""
        while True:
            data = self._read(most)
            if data or self._is_over:
                return data
            ring = self._in
            ring.ints[ring.reader_at] = 0 if has("ring-reader-says-nothing") else 1
            ring.fence()
            if ring.span()[0] != ring.span()[1]:
                continue
            select.select([self._waker], [], [])
            try:
                self._is_over = not self._waker.recv(most)
            except OSError:
                self._is_over = True
            if self._is_over and has("ring-end-before-bytes"):
                return b""

    def _read(self, most: int) -> bytes:
        ring = self._in
        read, written = ring.span()
        count = max(0, min(written - read, most))
        place, base = read % ring.capacity, ring.start + HEADER
        first = min(count, ring.capacity - place)
        data = ring.memory[base + place:base + place + first] + ring.memory[base:base + count - first]
        if not count:
            return b""
        ring.longs[ring.read_at] = read + count
        ring.fence()
        is_roomy = written - read - count <= ring.capacity // 2
        if is_roomy and ring.ints[ring.writer_at] and not has("ring-writer-not-woken"):
            ring.ints[ring.writer_at] = 0
            futex(ring.address(), WAKE | (PRIVATE if has("ring-futex-private") else 0), ALL)
        return data
