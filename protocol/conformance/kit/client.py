"""A caller outside (protocol P7, P8, P10): finds an instance in a catalog, proves that it may call, and sends requests with keys."""
from __future__ import annotations

import glob
import hashlib
import hmac
import json
import os
import socket
import struct
import time
from typing import Any, Dict, Optional, Tuple

from . import runs
from .contract import Contract
from .wire import Frame, Violation, crc32c, text, varint

CLIENT_HELLO, CLIENT_WELCOME, HEARTBEAT, GOODBYE, RUN = 0x07, 0x08, 0x03, 0x04, 0x10
MESSAGE_BYTES_MAX = 1 << 30
SILENCE_S = 5.0
PAUSE_S = 0.05


class Failed(Exception):
    """The instance answered a request with a failure."""


class Catalog:
    """A catalog directory (P8)."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    @property
    def secret(self) -> bytes:
        """The secret that both sides of a link know."""
        with open(os.path.join(self._folder, "secret"), "rb") as file:
            return file.read()

    def primary(self, instance: str) -> Optional[str]:
        """The address of an instance's primary, as the newest entry has it; None if there is none yet."""
        return self._primary(instance)["address"]

    def primary_replica(self, instance: str) -> Optional[str]:
        """The name of the replica that is primary."""
        return self._primary(instance)["name"]

    def _primary(self, instance: str) -> Dict[str, Any]:
        newest: Tuple[int, Dict[str, Any]] = (0, {"address": None, "name": None})
        for path in glob.glob(os.path.join(self._folder, f"{instance}.*")):
            try:
                with open(path, encoding="utf-8") as file:
                    entry = json.load(file)
            except (OSError, ValueError):
                continue
            for replica in entry["replicas"]:
                if replica["role"] == "primary" and entry["epoch"] > newest[0]:
                    newest = (entry["epoch"], replica)
        return newest[1]


class ClientLink:
    """One connection, authenticated and welcomed."""

    def __init__(self, catalog: Catalog, instance: str, name: str) -> None:
        address = catalog.primary(instance)
        if address is None:
            raise ConnectionError(f"{instance} is not in the catalog")
        host, port = address.rsplit(":", 1)
        self._socket = socket.create_connection((host, int(port)), SILENCE_S)
        self._socket.settimeout(SILENCE_S)
        self._seed = self._authenticate(catalog.secret, address)
        self._number = 0
        hello = struct.pack("<HHH", 1, 1, 0) + text(instance) + bytes(16) + text(name) + struct.pack("<IB", MESSAGE_BYTES_MAX, 0) + varint(0)
        self._send(CLIENT_HELLO, hello)
        welcome = self._receive()
        if welcome.type != CLIENT_WELCOME:
            raise ConnectionError(f"the instance answers with a frame of type {welcome.type}: {welcome.payload[:200]!r}")

    def _authenticate(self, secret: bytes, address: str) -> int:
        nonce = os.urandom(32)
        self._socket.sendall(b"AMBRLINK" + nonce)
        answer = self._take(64)
        both = nonce + answer[:32]
        proofs = [hmac.new(secret, side + both + address.encode(), hashlib.sha256).digest() for side in (b"acceptor", b"dialler")]
        if not hmac.compare_digest(proofs[0], answer[32:]):
            raise Violation("P7.1", "the acceptor's proof is wrong")
        self._socket.sendall(proofs[1])
        return crc32c(both)

    def ask(self, method: int, arguments: bytes, key: bytes) -> Tuple[int, bytes]:
        """Sends a request with a key and waits for its answer: the kind, and the value or failure."""
        self._number += 1
        message = runs.message(runs.REQUEST, method, arguments, key=key)
        self._send(RUN, runs.run(runs.REQUEST, [message], self._number, is_keyed=True))
        while True:
            frame = self._receive()
            if frame.type == GOODBYE:
                raise ConnectionError(frame.payload[1:].decode(errors="replace"))
            if frame.type == RUN:
                for answer in runs.read(frame.payload).messages:
                    if answer.id == self._number:
                        return answer.kind, answer.content

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()

    def _send(self, kind: int, payload: bytes) -> None:
        header = struct.pack("<IBBHI", len(payload), kind, 0, 0, crc32c(payload))
        self._socket.sendall(header + struct.pack("<I", crc32c(header, self._seed)) + payload)

    def _receive(self) -> Frame:
        """The next frame that is no heartbeat. Each heartbeat is answered by one, so that the other side hears of us in time (P6.9)."""
        while True:
            header = self._take(16)
            length, kind, _, _, payload_crc, header_crc = struct.unpack("<IBBHII", header)
            if crc32c(header[:12], self._seed) != header_crc:
                raise Violation("P2.1", "headerCrc of a frame of the link is wrong")
            payload = self._take(length)
            if crc32c(payload) != payload_crc:
                raise Violation("P2.5", "payloadCrc of a frame of the link is wrong")
            if kind == HEARTBEAT:
                self._send(HEARTBEAT, b"")
                continue
            return Frame(kind, payload)

    def _take(self, count: int) -> bytes:
        data = bytearray()
        while len(data) < count:
            more = self._socket.recv(count - len(data))
            if not more:
                raise ConnectionError("the link ended")
            data += more
        return bytes(data)


class Caller:
    """Calls an instance with keys, through as many connections as it takes: each call takes effect once."""

    def __init__(self, contract: Contract, catalog: Catalog, instance: str, name: str, patience_s: float) -> None:
        self._contract, self._catalog, self._instance, self._name, self._patience_s = contract, catalog, instance, name, patience_s
        self._link: Optional[ClientLink] = None
        self._calls = 0

    def call(self, method: str, arguments: Any) -> Any:
        """The result of a call. A failure is Failed; no answer in time is a TimeoutError."""
        self._calls += 1
        key = f"{self._name}-{self._calls}".encode()
        content = self._contract.arguments(method, arguments)
        until = time.monotonic() + self._patience_s
        while time.monotonic() < until:
            try:
                if self._link is None:
                    self._link = ClientLink(self._catalog, self._instance, self._name)
                kind, answer = self._link.ask(self._contract.id_of(method), content, key)
            except (OSError, struct.error):
                self.close()
                time.sleep(PAUSE_S)
                continue
            if kind == runs.CLIENT_FAILURE:
                raise Failed(str(runs.read_failure(answer)))
            return self._contract.read_value(self._contract.id_of(method), answer)
        raise TimeoutError(f"{self._instance} did not answer {method} within {self._patience_s:g} s")

    def close(self) -> None:
        """Ends the connection, if there is one."""
        if self._link is not None:
            self._link.close()
            self._link = None

