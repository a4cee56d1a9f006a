"""The reference app: a plain and slow app side of every level and of rings, written from docs/ alone, into which faults can be planted.

`app.py [--fault NAME]` is an app (protocol P5.0); `app.py vectors FILE` prints what it reads in vectors, and
`app.py call CATALOG INSTANCE NAME` is a caller outside (README).
"""
from __future__ import annotations

import os
import socket
import struct
import sys
import time
from typing import Union

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

from encoding import Malformed, crc32c, frame, string, varint  # noqa: E402
from faults import has, plant  # noqa: E402
from messages import Stopped  # noqa: E402
from rings import RingChannel  # noqa: E402
from views import Again, app_version  # noqa: E402
from session import Session  # noqa: E402

RETRY_S = 10
RECEIVE_BYTES = 1 << 18


def connect(address: str) -> socket.socket:
    """Connects to the coordinator, which may not listen yet (P5.0)."""
    if not address.startswith(("unix:", "ring:", "tcp:")):
        raise SystemExit(refuse(f"the address {address!r} is none of unix:, ring: and tcp:"))
    until = time.monotonic() + RETRY_S
    while True:
        try:
            if address.startswith("tcp:"):
                return socket.create_connection(("127.0.0.1", int(address[4:])))
            channel = socket.socket(socket.AF_UNIX)
            channel.connect(address[5:])
            return channel
        except OSError:
            if time.monotonic() > until:
                raise SystemExit(74) from None
            time.sleep(0.02)


def refuse(why: str) -> int:
    """Says why there is no session."""
    print(f"The reference app does not start: {why}.", file=sys.stderr)
    return 2


def hello(token: bytes) -> bytes:
    """AppHello (P5.1)."""
    sent = bytes(32) if has("wrong-token") else token
    version = 0 if has("app-version-0") else app_version()
    return frame(0x01, struct.pack("<HH", 1, 1) + varint(32) + sent + struct.pack("<II", version, 1) + string("conformance-reference 1")
                 + string(sys.version.split()[0]) + string("") + string("") + struct.pack("<QI", 0, os.getpid()) + varint(0))


def serve(channel: Union[socket.socket, RingChannel], session: Session) -> int:
    """Frames in and out until the channel ends; the exit code (P5.13)."""
    received = bytearray()
    while True:
        try:
            channel.sendall(session.out.take())
            data = channel.recv(RECEIVE_BYTES)
        except Malformed:
            return 74
        except OSError:
            data = b""
        if not data:
            return 0 if has("exit-code-0") else 74
        received += data
        try:
            take_frames(received, session)
            if session.rings is not None:
                channel, session.rings = RingChannel(channel, *session.rings), None
            session.idle()
        except Malformed as error:
            return say_goodbye(channel, session, 2, error.args[0], 74)
        except Stopped as stop:
            if stop.code in (3, 4):
                session.say_executing()
            return say_goodbye(channel, session, stop.code, stop.why, {1: 2, 2: 74, 3: 70, 4: 1}[stop.code])


def take_frames(received: bytearray, session: Session) -> None:
    """All whole frames of what was received."""
    while len(received) >= 16:
        length, kind, flags, reserved, payload_crc, header_crc = struct.unpack_from("<IBBHII", received)
        if header_crc != crc32c(bytes(received[:12])) and not has("wrong-header-crc-accepted"):
            raise Malformed("P2.1")
        if flags or reserved:
            raise Malformed("P1.6")
        if payload_crc:
            raise Malformed("P2.5")
        if length > (4096 if kind == 2 else (1 << 30) + 65536):
            raise Malformed("P2.3")
        if len(received) < 16 + length:
            return
        payload = bytes(received[16:16 + length])
        del received[:16 + length]
        session.take(kind, payload)


def say_goodbye(channel: Union[socket.socket, RingChannel], session: Session, code: int, why: str, exit_code: int) -> int:
    """Goodbye, behind what was emitted before (P5.12)."""
    session.out.frame(0x04, bytes([code]) + string(why[:1000]))
    try:
        channel.sendall(session.out.take())
    except (OSError, Malformed):
        pass
    print(why, file=sys.stderr)
    return exit_code


def main(arguments: list) -> int:
    """What the command line says."""
    if arguments[:1] == ["--fault"]:
        plant(arguments[1])
        arguments = arguments[2:]
    if arguments[:1] == ["vectors"]:
        from vectors import print_vectors
        return print_vectors(arguments[1])
    if arguments[:1] == ["call"]:
        from caller import converse
        return converse(*arguments[1:4])
    if "AMBROSIA_APP" not in os.environ or "AMBROSIA_TOKEN" not in os.environ:
        return refuse("AMBROSIA_APP and AMBROSIA_TOKEN are not set; a coordinator sets them")
    with open(os.environ["AMBROSIA_TOKEN"], "rb") as file:
        token = file.read()
    if len(token) != 32:
        return refuse(f"the token file has {len(token)} bytes and not 32")
    while True:
        channel = connect(os.environ["AMBROSIA_APP"])
        session = Session()
        channel.sendall(hello(token))
        try:
            return serve(channel, session)
        except Again:
            channel.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
