"""Vectors of what travels on connections: varints, hashes, frames and their payloads (P1, P2, P5, P6)."""
from encoding import *


# ---- Varints and hashes ----

def varints():
    for v in (0, 1, 127, 128, 300, 16383, 16384, 2**31, 2**32 - 1, 2**32, 2**49 - 1, 2**49, 2**56 - 1, 2**56, 2**63 - 1, 2**63, 2**64 - 1):
        add("varints", "varint", str(v), "P1.2", varint(v), expect={"value": str(v)})
    add("varints", "varint", "something behind it", "P1.2", varint(300) + b"\xff" * 9, expect={"value": "300"})
    for name, text in {
        "zero in two bytes": "8000", "one in two bytes": "8100", "127 in two bytes": "ff00", "300 in three bytes": "ac8200",
        "zero in ten bytes": "80808080808080808000", "2^64": "80808080808080808002", "eleven bytes": "8080808080808080808001",
        "all ones, never ending": "ff" * 12, "long form with bytes behind it": "8000" + "00" * 8,
    }.items():
        add("varints", "varint", name, "P1.2", bytes.fromhex(text), error="P1.2")


def hashes():
    check = b"123456789"
    assert crc32c(check) == 0xE3069283 and crc64(check) == 0xAE8B14860A799888
    samples = {"nothing": b"", "check value": check, "zeros": bytes(32), "ones": b"\xff" * 32, "ascending": bytes(range(256)), "odd length": bytes(range(200))[:173]}
    for name, data in samples.items():
        add("hashes", "crc32c", name, "P1.8", data, expect={"crc": f"{crc32c(data):08x}"})
        add("hashes", "crc64nvme", name, "P1.9", data, expect={"hash": f"{crc64(data):016x}"})
    add("hashes", "crc32c", "seeded with what stands in front", "P1.8", check[4:], {"seed": f"{crc32c(check[:4]):08x}"}, expect={"crc": "e3069283"})
    add("hashes", "crc64nvme", "continued", "P1.9", check[4:], {"seed": f"{crc64(check[:4]):016x}"}, expect={"hash": "ae8b14860a799888"})

    fork, call, result = message(7, b"\x01"), message(9, b"", call=1), message(9, b"\xf6", call=1)
    for name, pieces in {
        "two forks": [(1, fork + fork)],
        "two forks in two runs": [(1, fork), (1, fork)],
        "fork, call, result": [(1, fork), (2, call), (3, result)],
        "the kind comes back": [(1, fork), (2, call), (1, fork)],
    }.items():
        state, last = 0, 0
        for kind, data in pieces:
            if kind != last:
                state = crc64(bytes([kind]), state)
            state, last = crc64(data, state), kind
        add("hashes", "channelHash", name, "P3.6", b"".join(d for _, d in pieces),
            {"pieces": [{"kind": k, "bytes": len(d)} for k, d in pieces]}, expect={"hash": f"{state:016x}", "lastKind": last})

    for name, runs in {"one answer": [(7, 3, 1, [(1, b"\x18\x2a")])], "a failure and an answer of one session": [(8, 3, 1, [(2, bytes.fromhex("8361456161f6"))]), (7, 3, 1, [(1, b"\x01")])],
                       "two sessions, one the other way round": [(7, 4, 2, [(1, b"\x02"), (2, b"\xf6")]), (7, 3, 1, [(1, b"\x01")])],
                       "the same the other way round": [(7, 3, 1, [(1, b"\x01")]), (7, 4, 2, [(1, b"\x02"), (2, b"\xf6")])]}.items():
        total, count, whole = 0, 0, []
        for kind, epoch, number, answers in runs:
            messages = [bytes_(varint(7) + varint(call) + result) for call, result in answers]
            whole.append(run(kind, messages, first=number, hash_=epoch))
            total = (total + sum(crc64(u64(epoch) + u64(number) + u8(kind) + m) for m in messages)) % 2**64
            count += len(messages)
        add("hashes", "answerHash", name, "L5.7", b"".join(whole), {"runs": [len(r) for r in whole]}, expect={"count": str(count), "hash": f"{total:016x}"})

    for interface, method in (("ICounter", "Add"), ("IMonitor", "Report"), ("IÜmlaut", "Größe"), ("I", "A")):
        h = 0x811C9DC5
        for b in f"{interface}.{method}".encode():
            h = (h ^ b) * 0x01000193 & 0xFFFFFFFF
        add("hashes", "methodId", f"{interface}.{method}", "P4.5", b"", {"interface": interface, "method": method}, expect={"id": h | 0x80000000})


# ---- P2: frames ----

TYPES = {
    "AppHello": 0x01, "AppWelcome": 0x02, "Heartbeat": 0x03, "Goodbye": 0x04, "Hello": 0x05, "Ready": 0x06, "ClientHello": 0x07, "ClientWelcome": 0x08, "Contract": 0x09, "BuildMethods": 0x0A, "Run": 0x10, "Destination": 0x11,
    "Processed": 0x12, "ImageBegin": 0x13, "ImageChunk": 0x14, "ImageEnd": 0x15, "PrimaryReady": 0x16, "Waiting": 0x17, "CheckpointWanted": 0x18,
    "TimerSet": 0x19, "TimerDropped": 0x1A, "TaskResult": 0x1B, "SetAside": 0x1C, "Released": 0x1D, "QueryAnswer": 0x1E, "Executing": 0x1F,
    "Deliver": 0x20, "BecomePrimary": 0x21, "ImpulseLogged": 0x22, "PolicyAhead": 0x23, "Query": 0x24, "Rings": 0x25, "Look": 0x26, "Go": 0x27, "Convert": 0x28, "Seen": 0x29, "Converted": 0x2A, "Ack": 0x30, "ClientLogged": 0x31,
}


def frame(kind, payload, link=False, seed=0, length=None, flags=0, reserved=0, payload_crc=None, header_crc=None):
    if payload_crc is None:
        payload_crc = crc32c(payload) if link else 0
    front = u32(len(payload) if length is None else length) + u8(kind) + u8(flags) + u16(reserved) + u32(payload_crc)
    return front + u32(crc32c(front, seed) if header_crc is None else header_crc) + payload


def frames():
    seed = crc32c(bytes(range(32)) + bytes(range(32, 64)))
    app = {"link": False, "seed": "00000000", "payloadBytesMax": 4096}
    link = {"link": True, "seed": f"{seed:08x}", "payloadBytesMax": 4096}

    def good(name, section, context, data, kind, payload):
        add("frames", "frame", name, section, data, context, expect={"type": kind, "payload": payload.hex(), "consumed": len(frame(kind, payload))})

    for name, kind in TYPES.items():
        payload = bytes([kind]) * (kind % 5)
        good(f"{name} on an app channel", "P2.4", app, frame(kind, payload), kind, payload)
        good(f"{name} on a link", "P2.5", link, frame(kind, payload, True, seed), kind, payload)
    good("another frame behind it", "P2.1", app, frame(3, b"") + frame(3, b""), 3, b"")
    good("the longest payload", "P2.3", {**app, "payloadBytesMax": 5}, frame(0x10, b"abcde"), 0x10, b"abcde")

    def bad(name, section, context, data):
        add("frames", "frame", name, section, data, context, error=section)

    bad("wrong header checksum", "P2.1", app, frame(3, b"", header_crc=0x12345678))
    bad("a bit of the length turned", "P2.1", app, bytes([1]) + frame(3, b"")[1:])
    bad("frame of another connection", "P2.2", link, frame(3, b"", True, seed ^ 1))
    FILES["frames"][-1].update(error="P2.1")
    bad("app channel's frame on a link", "P2.1", link, frame(3, b""))
    bad("flags set", "P1.6", app, frame(3, b"", flags=1))
    bad("reserved set", "P1.6", app, frame(3, b"", reserved=0x100))
    bad("payload too long", "P2.3", app, frame(0x10, bytes(4097)))
    bad("length of all ones, no payload", "P2.3", app, frame(0x10, b"", length=0xFFFFFFFF))
    for kind in (0, 0x0B, 0x0F, 0x2B, 0x2F, 0x3F, 0xFF):
        bad(f"unknown type {kind:#04x}", "P2.4", app, frame(kind, b""))
    bad("payload checksum on an app channel", "P2.5", app, frame(0x10, b"x", payload_crc=1))
    bad("wrong payload checksum on a link", "P2.5", link, frame(0x10, b"abc", True, seed)[:-1] + b"d")
    bad("no payload checksum on a link", "P2.5", link, frame(0x10, b"abc", True, seed, payload_crc=0))


# ---- P2.7: what hellos say beyond their fields ----

def hello_options(file, structure, make, expect):
    """The options behind the fields of a hello that make(encoded options) builds."""
    def options(*of): return varint(len(of)) + b"".join(varint(number) + bytes_(value) for number, value in of)

    add(file, structure, "two options that nobody knows", "P2.7", make(options((7, b"\x01\x02"), (2**64 - 1, b""))), expect=expect | {"options": f"7=0102 {2**64 - 1}="})
    most = [(number, bytes(64)) for number in range(20, 36)]
    add(file, structure, "as many options as there may be", "P2.7", make(options(*most)), expect=expect | {"options": " ".join(f"{number}={'00' * 64}" for number, _ in most)})
    add(file, structure, "the longest option", "P2.7", make(options((20, bytes(256)))), expect=expect | {"options": f"20={'00' * 256}"})
    add(file, structure, "an option of 257 bytes", "P1.3", make(options((3, bytes(257)))), error="P1.3")
    add(file, structure, "17 options", "P2.7", make(options(*[(number, b"") for number in range(17)])), error="P2.7")
    add(file, structure, "options of 1,025 bytes", "P2.7", make(options(*[(number, bytes(205)) for number in range(5)])), error="P2.7")
    add(file, structure, "an option twice", "P2.7", make(options((3, b""), (3, b""))), error="P2.7")
    add(file, structure, "options out of order", "P2.7", make(options((4, b""), (3, b""))), error="P2.7")
    add(file, structure, "an option's number in a longer form", "P1.2", make(b"\x01\x83\x00\x00"), error="P1.2")


# ---- P6.12: the numbers of claims ----

def claims(f, hello, expect):
    """What a hello says of the sender's claims (option 1), and of the peer's (option 2)."""
    def option(number, value): return varint(1) + varint(number) + bytes_(value)

    def claimed(*of): return b"".join(u64(epoch) + u64(number) for epoch, number in of)

    own = int(expect["epoch"])
    for name, value in (("the claim of the epoch", claimed((own, 2**64 - 1))),
                        ("as many claims as epochs", claimed(*((epoch, epoch * 7) for epoch in range(1, own)), (own, 1))),
                        ("claims with a gap", claimed((1, 5), (own, 6)))):
        add(f, "Hello", name, "P6.12", hello(options=option(1, value)), expect=expect | {"options": f"1={value.hex()}"})
    add(f, "Hello", "the peer's claim", "P6.12", hello(options=option(2, u64(9))), expect=expect | {"options": f"2={u64(9).hex()}"})
    for name, value in (("no claim at all", b""), ("a claim cut short", claimed((own, 5))[:15]), ("a claim without a number", claimed((own, 0))),
                        ("claims that end before the epoch", claimed((own - 1, 5))), ("claims that end behind the epoch", claimed((own + 1, 5))),
                        ("claims out of order", claimed((own, 5), (own, 6))), ("a claim of epoch 0", claimed((0, 5), (own, 6)))):
        add(f, "Hello", name, "P6.12", hello(options=option(1, value)), error="P6.12")
    add(f, "Hello", "the peer's claim in 4 bytes", "P6.12", hello(options=option(2, u32(9))), error="P6.12")


# ---- P5.25: versions ----

def versions(f, app_hello, hello, welcome, expect):
    """An app of several versions, and the conversion of its state."""
    def option(number, value): return varint(number) + bytes_(value)

    def lowest(value): return app_hello(options=varint(1) + option(2, value))

    build = bytes.fromhex("00112233445566778899aabbccddeeff")
    add(f, "AppHello", "versions 1 to 3", "P5.25", lowest(u32(1)), expect=hello | {"options": f"2={u32(1).hex()}"})
    add(f, "AppHello", "a build, and versions 2 to 3", "P5.25", app_hello(options=varint(2) + option(1, build) + option(2, u32(2))),
        expect=hello | {"options": f"1={build.hex()} 2={u32(2).hex()}"})
    add(f, "AppHello", "a lowest version of 0", "P5.25", lowest(u32(0)), error="P5.25")
    add(f, "AppHello", "a lowest version above the app's", "P5.25", lowest(u32(4)), error="P5.25")
    add(f, "AppHello", "a lowest version of 3 bytes", "P5.25", lowest(u32(1)[:3]), error="P5.25")
    add(f, "AppWelcome", "begins with version 2", "P5.25", welcome(options=varint(1) + option(2, u32(2))), expect=expect | {"options": f"2={u32(2).hex()}"})
    add(f, "AppWelcome", "a view that begins with version 2", "P5.25", welcome(options=varint(2) + option(1, b"\x01") + option(2, u32(2))),
        expect=expect | {"options": f"1=01 2={u32(2).hex()}"})
    add(f, "AppWelcome", "begins with version 0", "P5.25", welcome(options=varint(1) + option(2, u32(0))), error="P5.25")
    add(f, "AppWelcome", "a version of 5 bytes", "P5.25", welcome(options=varint(1) + option(2, u32(2) + b"\x00")), error="P5.25")
    add(f, "AppWelcome", "the image is of version 2", "P5.25", welcome(options=varint(1) + option(3, u32(2))), expect=expect | {"options": f"3={u32(2).hex()}"})
    add(f, "AppWelcome", "an image of version 0", "P5.25", welcome(options=varint(1) + option(3, u32(0))), error="P5.25")
    add(f, "AppWelcome", "an image's version of 3 bytes", "P5.25", welcome(options=varint(1) + option(3, u32(2)[:3])), error="P5.25")
    add(f, "AppWelcome", "an image of another version, and none", "P5.25", welcome(image=0, options=varint(1) + option(3, u32(2))), error="P5.25")

    def convert(position, low, high, use): return u64(position) + u32(low) + u32(high) + u8(use)

    for name, position, low, high, use in (
            ("rehearse where it stands", 0, 1, 2, 0), ("send the image of version 2", 8192, 1, 2, 1), ("go on as version 7", 12345678, 3, 7, 2),
            ("send the image as it is", 8192, 1, 1, 3), ("send the image as it is, wherever it stands", 0, 4, 4, 3)):
        add(f, "Convert", name, "P5.25", convert(position, low, high, use), expect={"position": str(position), "from": low, "to": high, "use": use})
    add(f, "Convert", "convert, then a byte too many", "P2.6", convert(8192, 1, 2, 1) + b"\x00", error="P2.6")
    add(f, "Convert", "convert from version 0", "P5.25", convert(8192, 0, 2, 1), error="P5.25")
    add(f, "Convert", "convert to the same version", "P5.25", convert(8192, 2, 2, 1), error="P5.25")
    add(f, "Convert", "convert to a lower version", "P5.25", convert(8192, 2, 1, 1), error="P5.25")
    add(f, "Convert", "as it is, of another version", "P5.25", convert(8192, 1, 2, 3), error="P5.25")
    add(f, "Convert", "convert for a use of the future", "P5.25", convert(8192, 1, 2, 4), error="P5.25")
    add(f, "Convert", "convert beyond every log", "L2.1", convert(2**62, 1, 2, 1), error="L2.1")

    def converted(use, length, crc, why): return u64(8192) + u8(use) + u64(length) + u64(crc) + why

    image = 0xE03537AC6BD6B07C
    for name, use, length, crc, why in (
            ("rehearsed", 0, 1 << 20, image, ""), ("goes on", 2, 5, image, ""), ("cannot rehearse", 0, 0, 0, "A conversion sends"),
            ("cannot send the image", 1, 0, 0, "TillV2.Changed(string) at await #0"), ("the longest reason", 1, 0, 0, "w" * 2048),
            ("cannot send the image as it is", 3, 0, 0, "a thread is no state"), ("the image as it is follows", 3, 0, 0, "")):
        add(f, "Converted", name, "P5.25", converted(use, length, crc, string(why)),
            expect={"position": "8192", "use": use, "length": str(length), "hash": f"{crc:016x}", "why": why})
    add(f, "Converted", "a reason too long", "P1.3", converted(1, 0, 0, string("w" * 2049)), error="P1.3")
    add(f, "Converted", "converted, then a byte too many", "P2.6", converted(2, 5, 1 << 40, b"\x00\x00"), error="P2.6")
    add(f, "Converted", "a reason, and an image", "P5.25", converted(0, 5, 1 << 40, string("no")), error="P5.25")
    add(f, "Converted", "goes on, and cannot", "P5.25", converted(2, 0, 0, string("no")), error="P5.25")
    add(f, "Converted", "an image that is sent otherwise", "P5.25", converted(1, 5, 1 << 40, string("")), error="P5.25")
    add(f, "Converted", "an image as it is that says more than that it follows", "P5.25", converted(3, 5, 1 << 40, string("")), error="P5.25")
    add(f, "Converted", "converted for a use of the future", "P5.25", converted(4, 5, 1 << 40, string("")), error="P5.25")


# ---- P5, P6: payloads ----

def app_payloads():
    f = "app-channel"

    def app_hello(low=1, high=1, token=bytes(range(32)), binding=b"csharp 0.1", options=varint(0)):
        return (u16(low) + u16(high) + bytes_(token) + u32(3) + u32(2) + bytes_(binding) + string(".NET 10.0.4") + string("") + string("x64")
                + u64(0x0123456789ABCDEF) + u32(4242) + options)

    hello = {"versionMin": 1, "versionMax": 1, "token": bytes(range(32)).hex(), "appVersion": 3, "imageVersion": 2, "binding": "csharp 0.1",
             "runtime": ".NET 10.0.4", "culture": "", "cpu": "x64", "contractHash": str(0x0123456789ABCDEF), "processId": 4242, "options": ""}
    structure_vectors(f, "AppHello", "P5.1", "hello", app_hello(), hello)
    add(f, "AppHello", "versions of the future are the coordinator's to refuse", "P5.2", app_hello(2, 3), expect=hello | {"versionMin": 2, "versionMax": 3})
    add(f, "AppHello", "longest binding", "P5.1", app_hello(binding=b"b" * 64), expect=hello | {"binding": "b" * 64})
    add(f, "AppHello", "binding too long", "P1.3", app_hello(binding=b"b" * 65), error="P1.3")
    add(f, "AppHello", "binding that is not UTF-8", "P1.3", app_hello(binding=b"\xc0\x80"), error="P1.3")
    hello_options(f, "AppHello", lambda o: app_hello(options=o), hello)
    build = bytes(range(16, 32))
    add(f, "AppHello", "an app that states its build", "P5.1", app_hello(options=varint(1) + varint(1) + bytes_(build)), expect=hello | {"options": f"1={build.hex()}"})
    for size in (0, 15, 17):
        add(f, "AppHello", f"a build of {size} bytes", "P5.1", app_hello(options=varint(1) + varint(1) + bytes_(bytes(size))), error="P5.1")
    add(f, "AppHello", "token of 31 bytes", "P5.1", app_hello(token=bytes(31)), error="P5.1")
    add(f, "AppHello", "token of 33 bytes", "P1.3", app_hello(token=bytes(33)), error="P1.3")
    add(f, "AppHello", "token count in two bytes", "P1.2", u16(1) + u16(1) + b"\xa0\x00" + bytes(200), error="P1.2")

    def welcome(name=string("counter"), replica=string("r0"), limit=64 << 20, image=1, options=varint(0)):
        return (u16(1) + name + u16(0) + replica + uuid_(UUID_A) + u64(5) + u64(77) + u32(limit) + u64(8192) + u8(image) + options)

    expect = {"version": 1, "instance": "counter", "shard": 0, "replica": "r0", "uuid": str(UUID_A), "epoch": "5", "session": "77",
              "messageBytesMax": 64 << 20, "checkpoint": "8192", "hasImage": True, "options": ""}
    structure_vectors(f, "AppWelcome", "P5.3", "welcome", welcome(), expect)
    hello_options(f, "AppWelcome", lambda o: welcome(options=o), expect)
    add(f, "AppWelcome", "to the app of a view", "P5.24", welcome(options=varint(1) + varint(1) + bytes_(b"\x01")), expect=expect | {"options": "1=01"})
    for mode in (b"", b"\x02", b"\x01\x00"):
        add(f, "AppWelcome", f"a mode of {mode.hex() or 'no bytes'}", "P5.24", welcome(options=varint(1) + varint(1) + bytes_(mode)), error="P5.24")
    add(f, "AppWelcome", "without image", "P5.3", welcome(image=0), expect=expect | {"hasImage": False})
    add(f, "AppWelcome", "longest name", "P1.5", welcome(name=string("A" + "z_-9" * 15 + "_-")), expect=expect | {"instance": "A" + "z_-9" * 15 + "_-"})
    add(f, "AppWelcome", "flag of 2", "P1.6", welcome(image=2), error="P1.6")
    add(f, "AppWelcome", "message limit above 1 GiB", "P2.3", welcome(limit=(1 << 30) + 1), error="P2.3")
    add(f, "AppWelcome", "message limit 0", "P2.3", welcome(limit=0), error="P2.3")
    names(f, "AppWelcome", "instance", lambda n: welcome(name=n))
    names(f, "AppWelcome", "replica", lambda n: welcome(replica=n))

    structure_vectors(f, "Destination", "P5.5", "destination", u32(3) + u16(0) + string("monitor"), {"index": 3, "shard": 0, "name": "monitor"})
    add(f, "Destination", "highest index, highest shard", "P5.5", u32(2**20 - 1) + u16(65535) + string("m"), expect={"index": 2**20 - 1, "shard": 65535, "name": "m"})
    add(f, "Destination", "index too high", "P5.5", u32(2**20) + u16(0) + string("m"), error="P5.5")
    names(f, "Destination", "name", lambda n: u32(0) + u16(0) + n)

    for structure, section in (("Processed", "P5.6"), ("PrimaryReady", "P5.10"), ("BecomePrimary", "P5.10")):
        structure_vectors(f, structure, section, "position", u64(4096 + 64), {"position": "4160"})
        add(f, structure, "beyond every log", "L2.1", u64(2**62), error="L2.1")
        add(f, structure, "highest position", "L2.1", u64(2**62 - 1), expect={"position": str(2**62 - 1)})
    structure_vectors(f, "Executing", "P5.20", "a message", u64(4160) + u32(7), {"position": "4160", "index": 7})
    add(f, "Executing", "highest place", "P5.20", u64(2**62 - 1) + u32(2**32 - 1), expect={"position": str(2**62 - 1), "index": 2**32 - 1})
    add(f, "Executing", "beyond every log", "L2.1", u64(2**62) + u32(0), error="L2.1")
    add(f, "Executing", "without an index", "P5.20", u64(4160), error="P5.20")
    structure_vectors(f, "Look", "P5.24", "stop before a message", u64(4160) + u32(7) + u8(0), {"position": "4160", "index": 7, "flags": 0})
    add(f, "Look", "with image and debugger", "P5.24", u64(4160) + u32(0) + u8(3), expect={"position": "4160", "index": 0, "flags": 3})
    add(f, "Look", "the next message", "P5.24", u64(0) + u32(0) + u8(4), expect={"position": "0", "index": 0, "flags": 4})
    add(f, "Look", "the next message, at a place", "P5.24", u64(4160) + u32(0) + u8(4), error="P5.24")
    add(f, "Look", "the next message, with times", "P5.24", u64(0) + u32(0) + u8(12), expect={"position": "0", "index": 0, "flags": 12})
    add(f, "Look", "an unknown flag", "P1.6", u64(4160) + u32(0) + u8(16), error="P1.6")
    add(f, "Look", "beyond every log", "L2.1", u64(2**62) + u32(0) + u8(0), error="L2.1")
    def time(method, messages, nanoseconds): return u32(method) + u64(messages) + u64(nanoseconds)

    def seen(*times, count=None, reason=0): return u64(4160) + u32(7) + u8(reason) + varint(len(times) if count is None else count) + b"".join(times)

    at = {"position": "4160", "index": 7, "reason": 0}
    structure_vectors(f, "Seen", "P5.24", "stopped", seen(), at | {"times": []})
    most = [(0, 3, 1500), (0x12345678, 2**64 - 1, 2**63)]
    add(f, "Seen", "stopped, with times", "P5.24", seen(*[time(*each) for each in most]), expect=at | {"times": [
        {"method": method, "messages": str(messages), "nanoseconds": str(nanoseconds)} for method, messages, nanoseconds in most]})
    add(f, "Seen", "a method twice", "P5.24", seen(time(5, 1, 1), time(5, 1, 1)), error="P5.24")
    add(f, "Seen", "times cut off", "P5.24", seen(time(5, 1, 1)[:-4], count=1), error="P5.24")
    add(f, "Seen", "the developer goes on", "P5.24", seen(reason=1), expect=at | {"reason": 1, "times": []})
    add(f, "Seen", "an unknown reason", "P1.6", u64(4160) + u32(7) + u8(2), error="P1.6")
    versions(f, app_hello, hello, welcome, expect)
    structure_vectors(f, "ImageBegin", "P5.7", "image begins", u64(9999) + u32(2), {"position": "9999", "imageVersion": 2})
    structure_vectors(f, "ImageChunk", "P5.7", "one byte", b"\x2a", {"bytes": "2a"}, surplus=None)
    add(f, "ImageChunk", "empty", "P5.7", b"", error="P5.7")
    manifest = b'{"format":1,"contracts":[],"data":[]}'
    structure_vectors(f, "Contract", "P5.21", "a manifest", manifest, {"bytes": manifest.hex()}, surplus=None)
    add(f, "Contract", "empty", "P5.21", b"", error="P5.21")
    methods = b'{"format":1,"build":"101112131415161718191a1b1c1d1e1f","outside":"0000000000000001","methods":[]}'
    structure_vectors(f, "BuildMethods", "P5.23", "methods of a build", methods, {"bytes": methods.hex()}, surplus=None)
    add(f, "BuildMethods", "empty", "P5.23", b"", error="P5.23")
    structure_vectors(f, "ImageEnd", "P5.7", "image ends", u64(5) + u64(crc64(b"image")), {"length": "5", "hash": f"{crc64(b'image'):016x}"})
    structure_vectors(f, "ImpulseLogged", "P5.9", "ticket", u32(3) + u64(12), {"destination": 3, "ticket": "12"})
    structure_vectors(f, "Waiting", "P5.8", "waiting", u64(70000) + string("a handler waits for monitor"), {"mark": "70000", "why": "a handler waits for monitor"})
    add(f, "Waiting", "longest reason", "P5.8", u64(1) + string("w" * 1024), expect={"mark": "1", "why": "w" * 1024})
    add(f, "Waiting", "reason too long", "P1.3", u64(1) + string("w" * 1025), error="P1.3")
    structure_vectors(f, "TimerSet", "P5.14", "timer", u64(4) + i64(1_700_000_000_000_000), {"timer": "4", "dueUs": "1700000000000000"})
    add(f, "TimerSet", "due before 1970", "P5.14", u64(1) + i64(-1), expect={"timer": "1", "dueUs": "-1"})
    structure_vectors(f, "TimerDropped", "P5.14", "timer", u64(2**64 - 1), {"timer": str(2**64 - 1)})
    for structure, data in (("TimerSet", u64(0) + i64(5)), ("TimerDropped", u64(0))):
        add(f, structure, "timer 0", "P5.14", data, error="P5.14")
    structure_vectors(f, "TaskResult", "P5.15", "a value", u64(8) + u8(0) + b"\x18\x2a", {"task": "8", "failed": False, "result": "182a"}, surplus=None)
    structure_vectors(f, "TaskResult", "P5.15", "a failure", u64(8) + u8(1) + bytes.fromhex("8361456161f6"), {"task": "8", "failed": True, "result": "8361456161f6"}, surplus=None)
    add(f, "TaskResult", "at the message limit", "P5.15", u64(1) + u8(0) + bytes(100), {"messageBytesMax": 100}, expect={"task": "1", "failed": False, "result": "00" * 100})
    add(f, "TaskResult", "above the message limit", "P5.15", u64(1) + u8(0) + bytes(101), {"messageBytesMax": 100}, error="P5.15")
    add(f, "TaskResult", "unknown status", "P5.15", u64(8) + u8(2), error="P5.15")
    add(f, "TaskResult", "task 0", "P5.15", u64(0) + u8(0), error="P5.15")
    add(f, "TaskResult", "cut off", "P5.15", u64(8), error="P5.15")

    def aside(decision=3, unlogged=1, kind=1, caller=string("source"), why=string("no such account")):
        return u64(decision) + u64(4160) + u32(2) + u8(unlogged) + i64(1_700_000_000_000_000) + u16(0) + caller + u8(kind) + u32(7) + u32(1) + u64(9) + why

    said = {"decision": "3", "record": "4160", "index": 2, "isUnlogged": True, "timeUs": "1700000000000000", "shard": 0, "caller": "source", "kind": 1,
            "method": 7, "tries": 1, "argumentBytes": "9", "why": "no such account"}
    structure_vectors(f, "SetAside", "P5.16", "a fork", aside(), said)
    add(f, "SetAside", "an impulse, logged", "P5.16", aside(unlogged=0, kind=5), expect=said | {"isUnlogged": False, "kind": 5})
    add(f, "SetAside", "longest reason", "P5.16", aside(why=string("w" * 1024)), expect=said | {"why": "w" * 1024})
    add(f, "SetAside", "reason too long", "P1.3", aside(why=string("w" * 1025)), error="P1.3")
    add(f, "SetAside", "decision 0", "P5.16", aside(decision=0), error="P5.16")
    add(f, "SetAside", "a flag of 2", "P1.6", aside(unlogged=2), error="P1.6")
    for kind in (0, 2, 3, 6):
        add(f, "SetAside", f"kind {kind}", "P5.16", aside(kind=kind), error="P5.16")
    names(f, "SetAside", "caller", lambda name: aside(caller=name))
    structure_vectors(f, "Released", "P5.16", "released", u64(4160) + u32(2), {"record": "4160", "index": 2})
    add(f, "Released", "position beyond every log", "L2.1", u64(2**62) + u32(2), error="L2.1")
    ahead = lambda *changes: varint(len(changes)) + b"".join(u64(at) + u8(forks) for at, forks in changes)
    structure_vectors(f, "PolicyAhead", "P5.17", "two changes", ahead((8256, 2), (70000, 0)),
                      {"changes": [{"position": "8256", "forks": 2}, {"position": "70000", "forks": 0}]})
    add(f, "PolicyAhead", "none", "P5.17", ahead(), expect={"changes": []})
    add(f, "PolicyAhead", "unknown policy", "P5.17", ahead((8256, 3)), error="P5.17")
    add(f, "PolicyAhead", "out of order", "P5.17", ahead((8256, 0), (8256, 1)), error="P5.17")
    add(f, "PolicyAhead", "more changes than bytes", "P5.17", varint(2) + u64(8256) + u8(0), error="P5.17")
    add(f, "PolicyAhead", "impossibly many changes", "P5.17", varint(2**60) + u64(8256) + u8(0), error="P5.17")
    path = "/proc/4711/fd/98"
    structure_vectors(f, "Rings", "P5.19", "rings of a MiB", u32(2**20) + string(path), {"capacity": 2**20, "path": path})
    add(f, "Rings", "longest path", "P5.19", u32(2**20) + string("p" * 1024), expect={"capacity": 2**20, "path": "p" * 1024})
    add(f, "Rings", "path too long", "P1.3", u32(2**20) + string("p" * 1025), error="P1.3")
    for capacity in (2**16, 2**26):
        add(f, "Rings", f"of {capacity}", "P5.19", u32(capacity) + string(path), expect={"capacity": capacity, "path": path})
    for capacity in (0, 2**15, 2**20 + 1, 2**27):
        add(f, "Rings", f"of {capacity}", "P5.19", u32(capacity) + string(path), error="P5.19")
    for code in range(5):
        structure_vectors(f, "Goodbye", "P5.12", f"code {code}", u8(code) + string("why"), {"code": code, "why": "why"}, surplus="P2.6" if code == 0 else None)
    add(f, "Goodbye", "unknown code", "P5.12", u8(6) + string(""), error="P5.12")
    add(f, "Goodbye", "reason of an impossible length", "P1.3", u8(1) + varint(2**63), error="P1.3")
    for structure in ("Heartbeat", "Ready", "CheckpointWanted"):
        structure_vectors(f, structure, "P5.12" if structure == "Heartbeat" else "P6.1" if structure == "Ready" else "P5.11", "empty", b"", {})

    records = record(7, u64(5) + u64(0) + string("r0")) + record(5, varint(0))
    first = 4096 + 64
    add(f, "Deliver", "two records and a mark", "P5.4", u64(first) + i64(1_700_000_000_000_000) + u64(first + 28) + records,
        expect={"first": str(first), "timeUs": "1700000000000000", "mark": str(first + 28), "records": [
            {"lsn": str(first), "kind": 7, "body": (u64(5) + u64(0) + string("r0")).hex()}, {"lsn": str(first + 27), "kind": 5, "body": "00"}]})
    add(f, "Deliver", "no record", "P5.4", u64(64) + i64(-1) + u64(0), expect={"first": "64", "timeUs": "-1", "mark": "0", "records": []})
    add(f, "Deliver", "beyond every log", "L2.1", u64(2**62) + i64(0) + u64(0), error="L2.1")
    add(f, "Deliver", "mark beyond every log", "L2.1", u64(64) + i64(0) + u64(2**64 - 1), error="L2.1")
    add(f, "Deliver", "record cut off", "L5.10", u64(first) + i64(0) + u64(0) + records[:-1], error="L5.10", lsn=str(first + 27))


def link_payloads():
    f = "link"

    def hello(name=string("counter"), replica=string("r1"), peer=string("monitor"), limit=64 << 20, features=0, options=varint(0)):
        return (u16(1) + u16(1) + uuid_(UUID_A) + u16(0) + name + replica + u64(5) + u64(9) + peer + uuid_(UUID_B) + u64(3) + u64(100)
                + u64(0x1122334455667788) + u64(90) + u64(3) + u64(4) + u32(limit) + u64(features) + options)

    expect = {"versionMin": 1, "versionMax": 1, "uuid": str(UUID_A), "shard": 0, "name": "counter", "replica": "r1", "epoch": "5", "nonce": "9",
              "peerName": "monitor", "peerUuid": str(UUID_B), "peerEpoch": "3", "durable": "100", "hash": "1122334455667788", "trimmed": "90",
              "impulseEpoch": "3", "impulses": "4", "messageBytesMax": 64 << 20, "options": ""}
    structure_vectors(f, "Hello", "P6.2", "hello", hello(), expect)
    hello_options(f, "Hello", lambda o: hello(options=o), expect)
    claims(f, hello, expect)
    add(f, "Hello", "features that nobody has", "P1.6", hello(features=1), error="P1.6")
    add(f, "Hello", "message limit above 1 GiB", "P2.3", hello(limit=(1 << 30) + 1), error="P2.3")
    for field in ("name", "replica", "peer"):
        names(f, "Hello", field, lambda n, field=field: hello(**{field: n}))
    structure_vectors(f, "Ack", "P6.8", "ack", u64(100) + u64(3) + u64(4), {"durable": "100", "impulseEpoch": "3", "impulses": "4"})
    add(f, "Ack", "highest numbers", "P6.8", b"\xff" * 24, expect={"durable": str(2**64 - 1), "impulseEpoch": str(2**64 - 1), "impulses": str(2**64 - 1)})


def client_payloads():
    f = "clients"

    def hello(instance=string("bank"), client=string("web"), limit=64 << 20, use=0, options=varint(0)):
        return u16(1) + u16(1) + u16(0) + instance + uuid_(UUID_A) + client + u32(limit) + u8(use) + options

    expect = {"versionMin": 1, "versionMax": 1, "shard": 0, "instance": "bank", "uuid": str(UUID_A), "client": "web", "messageBytesMax": 64 << 20, "queriesOnly": False, "options": ""}
    structure_vectors(f, "ClientHello", "P10.1", "hello", hello(), expect)
    hello_options(f, "ClientHello", lambda o: hello(options=o), expect)
    for field in ("instance", "client"):
        names(f, "ClientHello", field, lambda n, field=field: hello(**{field: n}))
    add(f, "ClientHello", "queries alone", "P10.1", hello(use=1), expect=expect | {"queriesOnly": True})
    add(f, "ClientHello", "a use that nobody has", "P1.6", hello(use=2), error="P1.6")
    add(f, "ClientHello", "message limit 0", "P2.3", hello(limit=0), error="P2.3")

    def welcome(replica=string("r0"), limit=64 << 20, requests=1024, options=varint(0)):
        return u16(1) + uuid_(UUID_A) + replica + bytes(7) + b"\x05" + bytes(7) + b"\x09" + u32(limit) + u32(requests) + options

    expect = {"version": 1, "uuid": str(UUID_A), "replica": "r0", "epoch": "5", "session": "9", "messageBytesMax": 64 << 20, "requestsMax": 1024, "options": ""}
    structure_vectors(f, "ClientWelcome", "P10.2", "welcome", welcome(), expect)
    hello_options(f, "ClientWelcome", lambda o: welcome(options=o), expect)
    names(f, "ClientWelcome", "replica", lambda n: welcome(replica=n))
    add(f, "ClientWelcome", "message limit above 1 GiB", "P2.3", welcome(limit=(1 << 30) + 1), error="P2.3")
    add(f, "ClientWelcome", "no request at all", "P10.2", welcome(requests=0), error="P10.2")
    structure_vectors(f, "ClientLogged", "P10.5", "logged", u64(17) + u64(4160), {"number": "17", "position": "4160"})
    add(f, "ClientLogged", "beyond every log", "L2.1", u64(17) + u64(2**62), error="L2.1")

    def query(number=3, position=4160, patience=2000, method=9, arguments=b"\x01"):
        return u64(number) + u64(position) + u32(patience) + u32(method) + arguments

    asked = {"query": "3", "position": "4160", "patienceMs": 2000, "method": 9, "arguments": "01"}
    structure_vectors(f, "Query", "P5.18", "query", query(), asked, surplus=None)
    add(f, "Query", "of any state", "P10.9", query(position=0, arguments=b""), expect=asked | {"position": "0", "arguments": ""})
    add(f, "Query", "the longest patience", "P10.9", query(patience=60_000), expect=asked | {"patienceMs": 60_000})
    add(f, "Query", "more patience than that", "P10.9", query(patience=2**32 - 1), expect=asked | {"patienceMs": 2**32 - 1})
    add(f, "Query", "query 0", "P5.18", query(number=0), error="P5.18")
    add(f, "Query", "method 0", "P5.18", query(method=0), error="P5.18")
    add(f, "Query", "a position beyond every log", "L2.1", query(position=2**62), error="L2.1")
    add(f, "Query", "at the message limit", "P5.18", query(arguments=bytes(100)), {"messageBytesMax": 100}, expect=asked | {"arguments": "00" * 100})
    add(f, "Query", "above the message limit", "P5.18", query(arguments=bytes(101)), {"messageBytesMax": 100}, error="P5.18")
    add(f, "Query", "cut off", "P5.18", query()[:20], error="P5.18")

    def answer(number=3, status=0, position=4160, value=b"\x18\x2a"):
        return u64(number) + u8(status) + u64(position) + value

    said = {"query": "3", "status": 0, "position": "4160", "answer": "182a"}
    structure_vectors(f, "QueryAnswer", "P5.18", "a value", answer(), said, surplus=None)
    add(f, "QueryAnswer", "a failure", "P5.18", answer(status=1, value=bytes.fromhex("8361456161f6")), expect=said | {"status": 1, "answer": "8361456161f6"})
    add(f, "QueryAnswer", "not now", "P10.9", answer(status=2, value=b"it has not come so far"), expect=said | {"status": 2, "answer": b"it has not come so far".hex()})
    add(f, "QueryAnswer", "unknown status", "P5.18", answer(status=3), error="P5.18")
    add(f, "QueryAnswer", "to query 0", "P5.18", answer(number=0), error="P5.18")
    add(f, "QueryAnswer", "a position beyond every log", "L2.1", answer(position=2**62), error="L2.1")
    add(f, "QueryAnswer", "at the message limit", "P5.18", answer(value=bytes(100)), {"messageBytesMax": 100}, expect=said | {"answer": "00" * 100})
    add(f, "QueryAnswer", "above the message limit", "P5.18", answer(value=bytes(101)), {"messageBytesMax": 100}, error="P5.18")
    add(f, "QueryAnswer", "cut off", "P5.18", answer()[:16], error="P5.18")
