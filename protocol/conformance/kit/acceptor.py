"""The instance's side of a client link (protocol P7, P10): accepts a caller outside, judges what it sends, and answers."""
from __future__ import annotations

import hashlib
import hmac
import os
import select
import socket
import struct
import time
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple

from . import runs
from .contract import Contract
from .records import INSTANCE_ID, session_id
from .wire import HELLO_BYTES_MAX, Reader, Violation, crc32c, text, varint

HEARTBEAT, GOODBYE, CLIENT_HELLO, CLIENT_WELCOME, RUN, QUERY_ANSWER, QUERY, CLIENT_LOGGED = 0x03, 0x04, 0x07, 0x08, 0x10, 0x1E, 0x24, 0x31
REQUESTS, LIMIT = 1024, 64 << 20
HEARTBEAT_S = 0.9
NAME = "r1"


class Message(NamedTuple):
    """What a caller sent: a request, an impulse or a query, with its number."""

    what: Dict[str, Any]
    number: int


class Connection:
    """One connection of a caller. What it sends is judged; what no caller may send is a Violation."""

    def __init__(self, accepted: socket.socket, address: str, secret: bytes, contract: Contract, shape: Callable[[bytes], Iterable[bytes]]) -> None:
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket, self._address, self._secret, self._contract, self._shape = accepted, address, secret, contract, shape
        self._received, self._seed, self._sent_at = bytearray(), 0, time.monotonic()
        self._number = self._queries = 0
        self._under_way: Dict[int, bool] = {}
        self.requests, self.is_welcomed, self.is_over, self.heartbeats = REQUESTS, False, False, 0
        self.messages: List[Message] = []

    def fileno(self) -> int:
        """For `select`."""
        return self._socket.fileno()

    # ---- how it begins ----

    def authenticate(self, until: float, wrong: Optional[str]) -> bool:
        """P7.1 and P7.2. With a wrong proof the caller has to go before it has proved anything; False then."""
        first = self._take(40, until)
        if first[:8] != b"AMBRLINK":
            raise Violation("P7.1", f"a link begins with AMBRLINK, not with {first[:8]!r}")
        nonces = first[8:] + os.urandom(32)
        address = "127.0.0.1:1" if wrong == "address" else self._address
        secret = bytes(32) if wrong == "secret" else self._secret

        def proof(side: bytes) -> bytes:
            return hmac.new(secret, side + nonces + address.encode(), hashlib.sha256).digest()
        self._send_all(nonces[32:] + proof(b"acceptor"))
        if wrong is not None:
            if self._receive_some(until):
                raise Violation("P7.1", "the caller goes on, and the acceptor's proof was wrong")
            return False
        if not hmac.compare_digest(self._take(32, until, "P7.2"), proof(b"dialler")):
            raise Violation("P7.2", "the caller's proof is wrong")
        self._seed = crc32c(nonces)
        return True

    def hello(self, until: float, instance: str) -> None:
        """ClientHello (P10.1)."""
        found = self._next(until)
        if found is None:
            raise Violation("P10.1", "the caller has ended the connection without a hello")
        kind, payload = found
        if kind != CLIENT_HELLO:
            raise Violation("P10.1", f"the first frame of a client link has type 0x{kind:02X}")
        reader = Reader(payload, "ClientHello")
        least, most, shard, name, wanted = reader.number("H"), reader.number("H"), reader.number("H"), reader.name(), reader.take(16)
        reader.name()
        limit, use, options = reader.number("I"), reader.number("B"), reader.varint()
        for _ in range(options):
            reader.varint()
            reader.sized(256)
        reader.end()
        if not least <= 1 <= most or shard or name != instance or wanted not in (bytes(16), INSTANCE_ID.bytes):
            raise Violation("P10.1", f"versions {least} to {most}, shard {shard}, instance {name}")
        if limit < LIMIT or use > 1:
            raise Violation("P10.1", f"a message limit of {limit}, when the instance's is {LIMIT}, and use {use}")
        self._is_for_queries = use == 1

    def welcome(self, said: Dict[str, Any]) -> None:
        """ClientWelcome (P10.2)."""
        if self._received or select.select([self._socket], [], [], said.get("pause", 0))[0]:
            raise Violation("P10.2", "the caller goes on before ClientWelcome")
        self.requests = said.get("requests", REQUESTS)
        session = bytes(16) if self._is_for_queries else session_id("a").bytes
        self.send(CLIENT_WELCOME, struct.pack("<H", said.get("version", 1)) + INSTANCE_ID.bytes + text(NAME) + session
                  + struct.pack("<II", LIMIT, self.requests) + bytes.fromhex(said.get("options", "00")))
        self.is_welcomed = said.get("version", 1) == 1

    # ---- what is sent ----

    def send(self, kind: int, payload: bytes, header_crc: int = 0, payload_crc: int = 0) -> None:
        """A frame of the link (P2); checksums may be spoilt."""
        header = struct.pack("<IBBHI", len(payload), kind, 0, 0, crc32c(payload) ^ payload_crc)
        self._send_all(header + struct.pack("<I", crc32c(header, self._seed) ^ header_crc) + payload)

    def answer(self, kind: int, method: str, number: int, content: bytes, blocks: bytes = b"") -> None:
        """The answer to a request (P10.6)."""
        epoch, session = struct.unpack(">QQ", session_id("a").bytes)
        self._under_way.pop(number, None)
        self.send(RUN, runs.run(kind, [runs.message(kind, self._contract.id_of(method), content, number)], session, 0, epoch, blocks=blocks))

    def logged(self, number: int, lsn: int) -> None:
        """ClientLogged (P10.5)."""
        for one in [one for one, is_impulse in self._under_way.items() if is_impulse and one <= number]:
            del self._under_way[one]
        self.send(CLIENT_LOGGED, struct.pack("<QQ", number, lsn))

    def _send_all(self, data: bytes) -> None:
        self._sent_at = time.monotonic()
        try:
            for piece in self._shape(data):
                self._socket.sendall(piece)
        except OSError:
            self.is_over = True

    # ---- what is received ----

    def pump(self) -> None:
        """Whole frames of what has come; a heartbeat if nothing was sent for a while (P6.9)."""
        if self.is_welcomed and time.monotonic() - self._sent_at > HEARTBEAT_S:
            self.send(HEARTBEAT, b"")
        if select.select([self._socket], [], [], 0)[0]:
            self.is_over = not self._receive_some(time.monotonic() + 1) or self.is_over
        while True:
            found = self._frame()
            if found is None:
                return
            self._judge(*found)

    def _judge(self, kind: int, payload: bytes) -> None:
        if not self.is_welcomed and kind != GOODBYE:
            raise Violation("P10.2", f"a frame of type 0x{kind:02X} before ClientWelcome")
        if kind == RUN:
            self._take_run(payload)
        elif kind == QUERY:
            self._take_query(payload)
        elif kind == HEARTBEAT:
            self.heartbeats += 1
        elif kind != GOODBYE:
            raise Violation("P2.4", f"a caller sends no frame of type 0x{kind:02X}")
        waiting = len(self._under_way)
        if waiting > self.requests:
            raise Violation("P10.4", f"{waiting} messages are under way, and {self.requests} may be")

    def _take_run(self, payload: bytes) -> None:
        kind, flags, shard, peer, first, count, extension, hash_ = struct.unpack_from("<BBHIQIIQ", payload)
        if kind not in (runs.IMPULSE, runs.REQUEST) or self._is_for_queries:
            raise Violation("P10.3", f"a run of kind {kind} of a caller (use 1: {self._is_for_queries})")
        if flags & ~1:
            raise Violation("P1.6", f"flags {flags}")
        if shard or peer or hash_:
            raise Violation("P10.3", "shard, peer and hash of a caller's run are 0")
        if first != self._number + 1:
            raise Violation("P10.3", f"the run begins with number {first}, and {self._number + 1} is next")
        reader = Reader(payload[32 + extension:], "a run", "P3.1")
        for _ in range(count):
            self._number += 1
            self._under_way[self._number] = kind == runs.IMPULSE
            self.messages.append(self._message(kind, bool(flags & 1), Reader(reader.sized(LIMIT), "a message", "P3.1")))
        if not count or reader.left:
            raise Violation("P3.1", f"a run states {count} messages, and {reader.left} bytes stand behind them")

    def _message(self, kind: int, is_keyed: bool, reader: Reader) -> Message:
        method = reader.varint()
        key = reader.sized(128) if is_keyed else None
        if key == b"":
            raise Violation("P3.3", "a key of 0 bytes")
        what = {"request" if kind == runs.REQUEST else "impulse": self._name(method), "arguments": self._contract.read_arguments(method, reader.rest())}
        if key is not None:
            what["key"] = key.decode()
        return Message(what, self._number)

    def _take_query(self, payload: bytes) -> None:
        number, lsn, patience, method = struct.unpack_from("<QQII", payload)
        if number != self._queries + 1 or not method:
            raise Violation("P10.9", f"query {number} of method {method}, and {self._queries + 1} is next")
        self._queries = number
        self.messages.append(Message({"query": self._name(method), "arguments": self._contract.read_arguments(method, payload[24:]), "lsn": lsn}, number))

    def _name(self, method: int) -> str:
        known = self._contract.find(method)
        if known is None:
            raise Violation("P4.5", f"no method has the id {method}")
        return known.name

    def _frame(self) -> Optional[Tuple[int, bytes]]:
        if len(self._received) < 16:
            return None
        length, kind, flags, reserved, payload_crc, header_crc = struct.unpack_from("<IBBHII", self._received)
        if crc32c(bytes(self._received[:12]), self._seed) != header_crc:
            raise Violation("P2.2", "headerCrc is not that of this connection's seed")
        if flags or reserved:
            raise Violation("P1.6", "flags or a reserved field of a frame is not 0")
        if length > (LIMIT + 65536 if self.is_welcomed else HELLO_BYTES_MAX):
            raise Violation("P2.3", f"a payload of {length} bytes")
        if len(self._received) < 16 + length:
            return None
        payload = bytes(self._received[16:16 + length])
        del self._received[:16 + length]
        if crc32c(payload) != payload_crc:
            raise Violation("P2.5", "payloadCrc is wrong")
        return kind, payload

    def _next(self, until: float) -> Optional[Tuple[int, bytes]]:
        while True:
            found = self._frame()
            if found is not None or not self._receive_some(until):
                return found

    def _take(self, count: int, until: float, sentence: str = "P7.1") -> bytes:
        while len(self._received) < count:
            if not self._receive_some(until):
                raise Violation(sentence, f"the caller has ended the connection after {len(self._received)} bytes of its authentication")
        taken = bytes(self._received[:count])
        del self._received[:count]
        return taken

    def _receive_some(self, until: float) -> bool:
        if not select.select([self._socket], [], [], max(0.0, until - time.monotonic()))[0]:
            raise Violation("P7.3", "nothing came of the caller in time")
        try:
            data = self._socket.recv(1 << 16)
        except OSError:
            data = b""
        self._received += data
        return bool(data)

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()


def query_answer(number: int, status: int, lsn: int, content: bytes) -> bytes:
    """QueryAnswer (P5.18)."""
    return struct.pack("<QBQ", number, status, lsn) + content


def goodbye(code: int, why: str) -> bytes:
    """Goodbye (P5.12)."""
    return bytes([code]) + text(why)


def block(kind: int, version: int, content: bytes) -> bytes:
    """An extension block (P3.7)."""
    return varint(kind) + varint(version) + varint(len(content)) + content
