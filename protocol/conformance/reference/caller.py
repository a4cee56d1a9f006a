"""The reference app as a caller outside (protocol P7, P8, P10), plain and slow. `app.py call CATALOG INSTANCE NAME` asks what its input tells it."""
from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import select
import socket
import stat
import struct
import sys
import time
from typing import Any, Dict, Optional, Tuple

from encoding import Cursor, Malformed, crc32c, string, unpack, varint
from faults import has
from values import Contract

IMPULSE, REQUEST, ANSWER, FAILURE = 5, 6, 7, 8
LIMIT, SILENCE_S, HEARTBEAT_S = 1 << 30, 5, 1
FRAMES = (0x03, 0x04, 0x08, 0x10, 0x1E, 0x31)


class Refused(Exception):
    """There is no connection, and why."""


class Lost(Exception):
    """The connection has ended, and what was under way has an unknown outcome."""


def read_catalog(folder: str, instance: str) -> Tuple[bytes, str]:
    """The secret, and the address of the primary (P8)."""
    path = os.path.join(folder, "secret")
    if stat.S_IMODE(os.stat(folder).st_mode) & 0o022 and not has("open-catalog-taken"):
        raise Refused("others can change the catalog")
    if stat.S_IMODE(os.stat(path).st_mode) & 0o077 and not has("open-secret-taken"):
        raise Refused("others can read the secret")
    with open(path, "rb") as file:
        secret = file.read()
    if len(secret) != 32 and not has("short-secret-taken"):
        raise Refused("the secret has not 32 bytes")
    newest, address = 0, None
    for name in sorted(os.listdir(folder)):
        found = re.fullmatch(re.escape(instance) + r"\.(\d+)", name)
        if found is None or (int(found[1]) <= newest and not has("lower-epoch-taken")):
            continue
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                entry = json.load(file)
            replicas = [replica["address"] for replica in entry["replicas"] if replica["role"] == "primary" or has("secondary-called")]
        except (OSError, ValueError, KeyError, TypeError):
            if has("foreign-file-taken"):
                raise Refused(f"the entry {name} cannot be read") from None
            continue
        newest, address = int(found[1]), replicas[0] if replicas else None
    if address is None:
        raise Refused(f"{instance} has no primary")
    return secret, address


class Link:
    """One connection, authenticated and welcomed."""

    def __init__(self, folder: str, instance: str, name: str) -> None:
        secret, address = read_catalog(folder, instance)
        try:
            self._socket = socket.create_connection(("127.0.0.1", int(address.rsplit(":", 1)[1])), SILENCE_S)
        except OSError as error:
            raise Refused(str(error)) from None
        self._received, self._seed, self._sent, self.is_welcomed = b"", 0, time.monotonic(), False
        self.number, self.queries = (5 if has("numbers-from-6") else 0), 0
        nonce = os.urandom(32)
        self._socket.sendall(b"AMBRLINK" + nonce)
        answer = self._take(64)
        both = nonce + answer[:32]

        def proof(side: bytes) -> bytes:
            named = b"" if has("proof-without-address") else address.encode()
            return hmac.new(bytes(32) if has("proof-of-another-secret") else secret, side + both + named, hashlib.sha256).digest()
        if not hmac.compare_digest(proof(b"acceptor"), answer[32:]) and not has("acceptor-not-checked"):
            raise Refused("the other side does not know the secret")
        self._socket.sendall(proof(b"dialler"))
        self._seed = 0 if has("link-without-seed") else crc32c(both)
        self.send(0x07, struct.pack("<HHH", 1, 1, 0) + string(instance) + bytes(16) + string(name)
                  + struct.pack("<IB", 1024 if has("small-limit") else LIMIT, 0) + varint(0))
        if not has("speaks-before-welcome"):
            self._welcome()

    def _welcome(self) -> None:
        kind, payload = self.receive()
        reader = Cursor(payload)
        if kind == 0x04:
            reader.take(1)
            raise Refused(reader.string(1024))
        if kind != 0x08 or reader.fixed("H") != 1 and not has("other-version-taken"):
            raise Refused("P10.2")
        self.is_welcomed = True

    def send(self, kind: int, payload: bytes) -> None:
        """A frame."""
        header = struct.pack("<IBBHI", len(payload), kind, 0, 0, 0 if has("link-without-payload-crc") else crc32c(payload))
        self._sent = time.monotonic()
        try:
            self._socket.sendall(header + struct.pack("<I", crc32c(header, self._seed)) + payload)
        except OSError:
            raise Lost() from None

    def receive(self) -> Tuple[int, bytes]:
        """The next frame that is no heartbeat."""
        while True:
            length, kind, flags, reserved, payload_crc, header_crc = struct.unpack("<IBBHII", self._peek(16))
            if header_crc != crc32c(self._received[:12], self._seed) and not has("link-header-not-checked"):
                raise Malformed("P2.1")
            if flags or reserved or length > (LIMIT if self.is_welcomed else 4096):
                raise Malformed("P2.3")
            payload = self._peek(16 + length)[16:]
            self._received = self._received[16 + length:]
            if payload_crc != crc32c(payload) and not has("link-payload-not-checked"):
                raise Malformed("P2.5")
            if kind not in FRAMES and not has("link-unknown-frame-skipped"):
                raise Malformed("P2.4")
            if kind in FRAMES and kind != 0x03:
                return kind, payload

    def _peek(self, count: int) -> bytes:
        heard = time.monotonic()
        while len(self._received) < count:
            is_ready = select.select([self._socket], [], [], HEARTBEAT_S / 4)[0]
            if self.is_welcomed and time.monotonic() - self._sent > HEARTBEAT_S and not has("no-heartbeats"):
                self.send(0x03, b"")
            if not is_ready:
                if time.monotonic() - heard > SILENCE_S:
                    raise Lost()
                continue
            heard = time.monotonic()
            try:
                data = self._socket.recv(1 << 16)
            except OSError:
                data = b""
            if not data:
                raise Lost()
            self._received += data
        return self._received[:count]

    def _take(self, count: int) -> bytes:
        data = self._peek(count)
        self._received = self._received[count:]
        return data

    def close(self) -> None:
        """Ends it."""
        self._socket.close()


class Caller:
    """Asks one thing at a time, and says what came of it."""

    def __init__(self, folder: str, instance: str, name: str) -> None:
        self._place, self._contract, self._link = (folder, instance, name), Contract(), None
        self._unanswered: Optional[Dict[str, Any]] = None

    def ask(self, said: Dict[str, Any]) -> Dict[str, Any]:
        """What the probe prints for one line of its input."""
        method = self._contract.by_name(said["method"])
        body = varint(method.id) + (string(said["key"]) if "key" in said else b"") + self._contract.write_arguments(method, said["arguments"])
        try:
            if self._link is None:
                self._link = Link(*self._place)
                if has("sent-again-without-key") and self._unanswered is not None:
                    again, self._unanswered = self._unanswered, None
                    self.ask(again)
            self._unanswered = said
            kind, content = self._query(method, said) if said["do"] == "query" else self._send(said["do"] == "impulse", "key" in said, body)
        except (Refused, Lost, Malformed, struct.error) as error:
            if self._link is not None:
                self._link.close()
            self._link = None
            return {"unknown": True} if isinstance(error, (Lost, Malformed)) and self._unanswered is said else {"refused": True, "why": str(error)}
        if kind == FAILURE:
            return {"failure": unpack(content)[0]}
        if kind == 2:
            return {"notNow": True, "why": content.decode()}
        return {"logged": True} if kind == IMPULSE else {"value": self._contract.read_result(method, content) if content else None}

    def _send(self, is_impulse: bool, is_keyed: bool, body: bytes) -> Tuple[int, bytes]:
        link = self._link
        assert link is not None
        link.number += 2 if has("number-skipped") and link.number else 1
        number, kind = link.number, IMPULSE if is_impulse else REQUEST
        flag = is_keyed and not has("key-not-flagged")
        first = 0 if has("impulse-number-0") and is_impulse else number
        link.send(0x10, struct.pack("<BBHIQIIQ", kind, flag, 0, 7 if has("peer-of-caller-set") else 0, first, 1, 0, 0) + varint(len(body)) + body)
        while True:
            came, payload = link.receive()
            if came == 0x04:
                raise Lost()
            if came == 0x31 and is_impulse:
                if Cursor(payload).fixed("Q") >= number or has("any-log-position-counts"):
                    return IMPULSE, b""
            elif came == 0x10 and not is_impulse:
                found = self._answer_in(payload, number)
                if found is not None:
                    return found

    @staticmethod
    def _answer_in(payload: bytes, number: int) -> Optional[Tuple[int, bytes]]:
        reader = Cursor(payload)
        kind, _, _, _, _, count, extension, _ = (reader.fixed(form) for form in "BBHIQIIQ")
        reader.take(0 if has("blocks-of-answers-not-skipped") else extension)
        for _ in range(count):
            message = Cursor(reader.sized())
            message.varint()
            if message.varint() == number:
                return kind, message.rest()
        return None

    def _query(self, method: Any, said: Dict[str, Any]) -> Tuple[int, bytes]:
        link = self._link
        assert link is not None
        link.queries += 1
        number = link.queries - has("queries-from-0")
        link.send(0x24, struct.pack("<QQII", number, 0, 1000, method.id) + self._contract.write_arguments(method, said["arguments"]))
        while True:
            came, payload = link.receive()
            if came == 0x04:
                raise Lost()
            if came != 0x1E:
                continue
            reader = Cursor(payload)
            query, status, _ = reader.fixed("Q"), reader.fixed("B"), reader.fixed("Q")
            if query == number:
                return {0: ANSWER, 1: FAILURE, 2: 2}[status if not has("not-now-taken-as-value") else 0], reader.rest()


def converse(folder: str, instance: str, name: str) -> int:
    """Until the input ends."""
    caller = Caller(folder, instance, name)
    for line in sys.stdin:
        said = caller.ask(json.loads(line))
        print(json.dumps(said), flush=True)
    return 0
