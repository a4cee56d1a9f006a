"""Vectors of what a log and a checkpoint hold: runs (P3), records (L5), the coordinator's part (L6.2)."""
from encoding import *


def runs():
    f = "runs"

    def good(name, section, kind, items, first=1, peer=0, shard=0, flags=0, blocks=(), hash_=0):
        data = run(kind, [message(**m) for m in items], first, peer, shard, flags, extensions=b"".join(block(*b) for b in blocks), hash_=hash_)
        add(f, "run", name, section, data, expect={
            "kind": kind, "keyed": bool(flags & 1), "shard": shard, "peer": peer, "first": str(first), "count": len(items), "hash": f"{hash_:016x}",
            "extensions": [{"type": str(t), "version": str(v), "content": c.hex()} for t, v, c in blocks],
            "messages": [{"method": m["method"], "call": str(m.get("call", 0)), "key": m.get("key", b"").hex(), "arguments": m["arguments"].hex()} for m in items]})
        return data

    fork = dict(method=7, arguments=b"\x01")
    three = good("three forks", "P3.3", 1, [fork, dict(method=0x80000001, arguments=b""), dict(method=200, arguments=bytes(150))], first=42, peer=3, hash_=0xDEADBEEF)
    good("calls", "P3.3", 2, [dict(method=7, call=1, arguments=b"\x01"), dict(method=7, call=2**63, arguments=b"")], shard=2)
    good("results", "P3.3", 3, [dict(method=7, call=1, arguments=b"\xf6")])
    good("a failure and its stack", "P4.4", 4, [dict(method=7, call=1, arguments=bytes.fromhex("83614561 4df6".replace(" ", "")))], blocks=[(2, 1, varint(0) + string("at Counter.Add"))])
    good("impulses", "P3.3", 5, [fork, fork], hash_=6)
    good("keyed impulses", "P3.3", 5, [dict(method=7, key=b"k", arguments=b"\x01"), dict(method=7, key=b"K" * 128, arguments=b"")], flags=1)
    good("client request", "P3.3", 6, [dict(method=7, key=b"order-17", arguments=b"")], flags=1)
    good("client answer", "P3.3", 7, [dict(method=7, call=99, arguments=b"\x05")])
    good("client answers", "P3.3", 7, [dict(method=7, call=3, arguments=b"\x05"), dict(method=7, call=4, arguments=b"")], first=9, hash_=5)
    good("client failure", "P4.4", 8, [dict(method=7, call=99, arguments=bytes.fromhex("836145614df6"))], first=9, hash_=5)
    good("unknown extension blocks", "P3.7", 1, [fork], blocks=[(6, 1, b"later"), (1000, 2**40, b""), (3, 1, b"object")])
    cause = (5, 1, u64(4160) + u64(4288))
    traced = (1, 1, varint(2) + bytes(range(1, 25)) + u8(1) + varint(0) + bytes(range(101, 125)) + u8(3))
    good("calls with their cause", "P3.7", 2, [dict(method=7, call=1, arguments=b"\x01"), dict(method=7, call=2, arguments=b"")], blocks=[cause])
    good("forks with their cause and traces", "P3.7", 1, [fork, fork, fork], blocks=[cause, traced])
    good("a failure with its cause and its stack", "P3.7", 4, [dict(method=7, call=1, arguments=bytes.fromhex("836145614df6"))],
         blocks=[cause, (2, 1, varint(0) + string("at Counter.Add"))])
    good("known blocks that are malformed, or of other versions, which are carried all the same", "P3.7", 1, [fork],
         blocks=[(5, 1, b"short"), (5, 2, b""), (1, 1, b"trace"), (2, 1, b"\xff"), (1, 9, bytes(27))])
    good("highest first number", "P3.8", 1, [fork], first=2**63 - 1)

    def bad(name, section, data):
        add(f, "run", name, section, data, error=section)

    one = message(**fork)
    bad("shorter than its header", "P3.1", run(1, [])[:-1])
    bad("no message", "P3.1", run(1, []))
    bad("count 0 with a message", "P3.1", run(1, [one], count=0))
    bad("fewer messages than stated", "P3.1", run(1, [one], count=2))
    bad("more messages than stated", "P3.1", run(1, [one, one], count=1))
    bad("more extensions than bytes", "P3.1", run(1, [one], extension_bytes=len(one) + 1))
    bad("extensions of all ones", "P3.1", run(1, [one], extension_bytes=0xFFFFFFFF))
    bad("a message cut off", "P3.1", run(1, [one])[:-1])
    bad("a message of no bytes", "P3.1", run(1, [b"\0"]))
    bad("a message of an impossible length", "P3.1", run(1, [varint(2**63) + b"\x01"]))
    bad("a message's length in a longer form", "P3.1", run(1, [b"\x82\x00\x07\x01"]))
    for kind in (0, 9, 63, 68, 127, 255):
        bad(f"kind {kind}", "P3.2", run(kind, [one]))
    for kind, name in ((64, "fork"), (65, "call"), (66, "impulse"), (67, "client request")):
        to_cell = message(7, string("cell") + b"\x01", call=1 if kind == 65 else None)
        bad(f"kind {kind}, reserved: a {name} to a cell", "P3.2", run(kind, [to_cell]))
    bad("flag without a meaning", "P1.6", run(5, [one], flags=2))
    bad("keyed forks", "P1.6", run(1, [one], flags=1))
    bad("an empty key", "P3.3", run(5, [message(7, b"", key=b"")], flags=1))
    bad("a key of 129 bytes", "P3.3", run(5, [message(7, b"", key=b"k" * 129)], flags=1))
    bad("a key that goes beyond its message", "P3.3", run(5, [message(7, varint(5) + b"abc")], flags=1))
    bad("a call without call id", "P3.3", run(2, [message(7, b"")]))
    bad("a call id cut off", "P3.3", run(2, [message(7, b"\x80")]))
    bad("a call id in a longer form", "P1.2", run(2, [message(7, b"\x80\x00")]))
    bad("method 0", "P4.5", run(1, [message(0, b"")]))
    bad("method of 33 bits", "P3.4", run(1, [message(2**32, b"")]))
    bad("method cut off", "P3.3", run(1, [b"\x02\x80\x80"]))
    bad("extension block cut off", "P3.7", run(1, [one], extensions=varint(1) + varint(1)))
    bad("extension content that goes beyond the blocks", "P1.3", run(1, [one], extensions=varint(1) + varint(1) + varint(9) + b"x"))
    bad("extension type in a longer form", "P1.2", run(1, [one], extensions=b"\x81\x00\x01\x00"))
    add(f, "run", "two messages in more than 256 KiB", "P3.5", run(1, [one, b""]), {"zeros": 1 << 18}, error="P3.5")
    bad("numbers beyond 2^63-1", "P3.8", run(1, [one, one], first=2**63 - 1))
    add(f, "run", "a message above the limit", "P3.4", run(1, [message(1, bytes(100))]), {"messageBytesMax": 100}, error="P3.4")
    add(f, "run", "a message at the limit", "P3.4", run(1, [message(1, bytes(99))]), {"messageBytesMax": 100},
        expect={"kind": 1, "keyed": False, "shard": 0, "peer": 0, "first": "1", "count": 1, "hash": "0" * 16, "extensions": [],
                "messages": [{"method": 1, "call": "0", "key": "", "arguments": "00" * 99}]})

    lengths = [len(message(**fork)), len(message(0x80000001, b""))]
    for cut in range(3):
        add(f, "runCut", f"the first {cut} of three cut off", "P6.6", three, {"cut": cut}, expect={"offset": sum(lengths[:cut]), "first": str(42 + cut), "count": 3 - cut})

    structure_vectors(f, "failureStack", "P3.7", "stack of the last message", varint(0) + string("at A\n   at B"), {"fromEnd": 0, "stack": "at A\n   at B"})
    add(f, "failureStack", "stack too long", "P1.3", varint(0) + string("s" * 8193), error="P1.3")
    add(f, "failureStack", "index beyond 32 bits", "P3.7", varint(2**32) + string("s"), error="P3.7")

    structure_vectors(f, "runCause", "P3.7", "a cause", u64(4160) + u64(4288), {"first": "4160", "last": "4288"})
    structure_vectors(f, "runCause", "P3.7", "a cause of one record", u64(64) + u64(64), {"first": "64", "last": "64"})
    add(f, "runCause", "records that go back", "P3.7", u64(4288) + u64(4160), error="P3.7")
    add(f, "runCause", "a cause beyond any log", "L2.1", u64(64) + u64(2**62), error="L2.1")
    add(f, "runCause", "a cause cut off", "P3.7", u64(64) + u64(64)[:7], error="P3.7")

    trace, span = bytes(range(1, 17)), bytes(range(0xA1, 0xA9))
    entry = lambda from_end, trace=trace, span=span, flags=1: varint(from_end) + trace + span + u8(flags)
    shown = lambda from_end, flags=1: {"fromEnd": from_end, "trace": trace.hex(), "span": span.hex(), "flags": flags}
    add(f, "traceContext", "one message", "P3.7", entry(0), expect={"traces": [shown(0)]})
    add(f, "traceContext", "several messages", "P3.7", entry(2**32 - 1) + entry(300, flags=0xFF) + entry(1) + entry(0, flags=0),
        expect={"traces": [shown(2**32 - 1), shown(300, 0xFF), shown(1), shown(0, 0)]})
    add(f, "traceContext", "no message", "P3.7", b"", error="P3.7")
    add(f, "traceContext", "a message twice", "P3.7", entry(1) + entry(1), error="P3.7")
    add(f, "traceContext", "messages out of their order", "P3.7", entry(1) + entry(2), error="P3.7")
    add(f, "traceContext", "index of a trace beyond 32 bits", "P3.7", entry(2**32), error="P3.7")
    add(f, "traceContext", "index of a trace in a longer form", "P1.2", b"\x80\x00" + entry(0)[1:], error="P1.2")
    add(f, "traceContext", "a trace id of zeros", "P3.7", entry(0, trace=bytes(16)), error="P3.7")
    add(f, "traceContext", "a span id of zeros", "P3.7", entry(0, span=bytes(8)), error="P3.7")
    add(f, "traceContext", "an entry cut off", "P3.7", entry(1) + entry(0)[:-1], error="P3.7")


def records():
    f = "records"

    def body(structure, section, name, data, expect, surplus=True):
        structure_vectors(f, structure, section, name, data, expect, surplus="L5.10" if surplus else None)

    def bad(structure, name, data):
        add(f, structure, name, "L5.10", data, error="L5.10")

    peer = lambda name=string("monitor"), origin=1: u32(origin) + u16(0) + uuid_(UUID_B) + u64(3) + name
    body("Peer", "L5.4", "peer", peer(), {"origin": 1, "shard": 0, "uuid": str(UUID_B), "epoch": "3", "name": "monitor"})
    bad("Peer", "origin 0", peer(origin=0))
    names(f, "Peer", "name", peer, "L5.10", "L5.10")

    body("Forget", "L5.14", "forget", u32(2) + uuid_(UUID_B), {"origin": 2, "uuid": str(UUID_B)})
    bad("Forget", "origin 0", u32(0) + uuid_(UUID_B))

    start = lambda name=string("counter"): uuid_(UUID_A) + u64(1_700_000_000_000_000) + u32(3) + name
    body("FirstStart", "L5.5", "first start", start(), {"uuid": str(UUID_A), "createdUs": "1700000000000000", "appVersion": 3, "name": "counter"})
    bad("FirstStart", "app version 0", uuid_(UUID_A) + u64(1_700_000_000_000_000) + u32(0) + string("counter"))
    names(f, "FirstStart", "name", start, "L5.10", "L5.10")

    body("Trim", "L5.6", "two positions", varint(2) + u32(1) + u64(100) + u32(2) + u64(2**63), {"positions": [{"origin": 1, "number": "100"}, {"origin": 2, "number": str(2**63)}]})
    body("Trim", "L5.6", "nothing", varint(0), {"positions": []})
    bad("Trim", "more positions than bytes", varint(2) + u32(1) + u64(100))
    bad("Trim", "impossibly many positions", varint(2**64 - 1) + u32(1) + u64(100))
    bad("Trim", "count in a longer form", b"\x80\x00")

    digest = lambda name=string("monitor"): u64(2 << 20) + varint(1) + u16(0) + name + u64(17) + u64(0xABCDEF)
    body("Digest", "L5.7", "one destination", digest(), {"position": str(2 << 20), "entries": [{"shard": 0, "name": "monitor", "count": "17", "hash": f"{0xABCDEF:016x}"}]})
    body("Digest", "L5.7", "no output", u64(1 << 20) + varint(0), {"position": str(1 << 20), "entries": []})
    body("Digest", "L5.7", "answers", digest() + u64(3) + u64(0x1234), {"position": str(2 << 20), "entries": [{"shard": 0, "name": "monitor", "count": "17", "hash": f"{0xABCDEF:016x}"}], "answers": {"count": "3", "hash": f"{0x1234:016x}"}}, surplus=False)
    bad("Digest", "no answers, but said", u64(1 << 20) + varint(0) + u64(0) + u64(0))
    bad("Digest", "answers without their hash", u64(1 << 20) + varint(0) + u64(1))
    bad("Digest", "bytes behind the answers", u64(1 << 20) + varint(0) + u64(1) + u64(2) + b"\0")
    bad("Digest", "impossibly many entries", u64(0) + varint(2**40) + bytes(100))
    names(f, "Digest", "name", digest, "L5.10", "L5.10")

    mark = lambda name=string("r0"): u64(5) + u64(1 << 30) + name
    body("CheckpointMark", "L5.8", "mark", mark(), {"epoch": "5", "boundBytes": str(1 << 30), "replica": "r0"})
    names(f, "CheckpointMark", "replica", mark, "L5.10", "L5.10")

    body("NondetResult", "L5.9", "a value", u64(8) + u8(0) + b"\x18\x2a", {"task": "8", "failed": False, "result": "182a"}, surplus=False)
    body("NondetResult", "L5.9", "a failure", u64(8) + u8(1) + bytes.fromhex("8361456161f6"), {"task": "8", "failed": True, "result": "8361456161f6"}, surplus=False)
    bad("NondetResult", "unknown status", u64(8) + u8(2))
    body("TimerFired", "L5.9", "timer", u64(4) + i64(-5), {"timer": "4", "dueUs": "-5"})
    request = uuid_(UUID_A) + u64(12)
    body("ClientRequest", "L5.9", "without key", request + u8(0) + message(7, b"\x01"), {"session": str(UUID_A), "request": "12", "keyed": False, "message": message(7, b"\x01").hex()})
    body("ClientRequest", "L5.9", "with key", request + u8(1) + message(7, b"\x01", key=b"k"), {"session": str(UUID_A), "request": "12", "keyed": True, "message": message(7, b"\x01", key=b"k").hex()})
    bad("ClientRequest", "no message", request + u8(0))
    bad("ClientRequest", "two messages", request + u8(0) + message(7, b"") * 2)
    bad("ClientRequest", "key too long", request + u8(1) + message(7, b"", key=b"k" * 129))
    bad("ClientRequest", "keyed of value 2", request + u8(2) + message(7, b""))
    body("Policy", "L5.9", "stop", u8(1) + u64(86_400_000_000) + u64(1 << 20) + u64(1 << 28), {"forks": 1, "windowUs": "86400000000", "entriesMax": str(1 << 20), "bytesMax": str(1 << 28)})
    body("Policy", "L5.9", "a message limit of 1 GiB", u8(0) + u64(1) + u64(2) + u64(3) + u32(1 << 30), {"forks": 0, "windowUs": "1", "entriesMax": "2", "bytesMax": "3", "messageBytesMax": 1 << 30})
    bad("Policy", "unknown policy", u8(3) + bytes(24))
    bad("Policy", "the default message limit, which is not written", u8(0) + bytes(24) + u32(64 << 20))
    bad("Policy", "a message limit of 0", u8(0) + bytes(24) + u32(0))
    bad("Policy", "a message limit over 1 GiB", u8(0) + bytes(24) + u32((1 << 30) + 1))
    body("Quarantine", "L5.9", "retry", u64(4160) + u32(2) + u8(1), {"record": "4160", "index": 2, "action": 1})
    bad("Quarantine", "unknown action", u64(4160) + u32(2) + u8(3))
    build = bytes(range(16))
    upgrade = lambda name=string("r1"), build=varint(16) + build, to=4, since=3: (
        u32(since) + u32(to) + u64(8192) + u64(6) + name + u64(0x55) + u64(0x66) + build)
    expect = {"versionFrom": 3, "versionTo": 4, "checkpoint": "8192", "checkpointEpoch": "6", "replica": "r1", "partHash": f"{0x55:016x}",
              "imageHash": f"{0x66:016x}", "build": build.hex()}
    body("Upgrade", "L5.16", "upgrade", upgrade(), expect)
    body("Upgrade", "L5.16", "upgrade by an unknown build", upgrade(build=varint(0)), expect | {"build": ""})
    bad("Upgrade", "half a build", upgrade(build=varint(8) + build[:8]))
    bad("Upgrade", "to the version in force", upgrade(to=3))
    bad("Upgrade", "to a lower version", upgrade(to=2))
    bad("Upgrade", "from version 0", upgrade(since=0))
    names(f, "Upgrade", "replica", upgrade, "L5.10", "L5.10")

    def built(version=4, build=varint(16) + build, binding=b"csharp 0.1", coordinator=b"0.1"):
        return (u64(6) + u32(version) + build + bytes_(binding) + string(".NET 10.0.4") + string("en-US") + string("x64")
                + u64(0x0123456789ABCDEF) + bytes_(coordinator))

    expect = {"epoch": "6", "appVersion": 4, "build": bytes(range(16)).hex(), "binding": "csharp 0.1", "runtime": ".NET 10.0.4", "culture": "en-US",
              "cpu": "x64", "contractHash": str(0x0123456789ABCDEF), "coordinator": "0.1"}
    body("Build", "L5.18", "what executes the epoch", built(), expect)
    body("Build", "L5.18", "an app that does not say its build", built(build=varint(0)), expect | {"build": ""})
    bad("Build", "half a build", built(build=varint(8) + bytes(8)))
    bad("Build", "app version 0", built(version=0))
    add(f, "Build", "binding too long", "L5.18", built(binding=b"b" * 65), error="L5.10")
    add(f, "Build", "coordinator that is not UTF-8", "L5.18", built(coordinator=b"\xc0\x80"), error="L5.10")
    body("StateHash", "L5.17", "the state at a place", u64(8256) + u64(0x77), {"place": "8256", "hash": f"{0x77:016x}"})
    bad("StateHash", "a place beyond all", u64(2**62) + u64(0))

    at = {"first": "4160"}
    fork = message(7, b"\x01")
    items = [(3, start()), (4, peer()), (1, run(1, [fork])), (2, run(5, [fork], hash_=5)), (5, varint(0)), (6, u64(0) + varint(0)), (7, mark()),
             (8, u64(8) + u8(0) + b"\x18\x2a"), (9, u64(4) + i64(1_700_000_000_000_000)),
             (10, request + u8(0) + message(7, b"\x01")), (11, u8(2) + u64(1) + u64(2) + u64(3)), (12, u64(4160) + u32(0) + u8(0)), (13, upgrade()), (14, u32(1) + uuid_(UUID_B)),
             (17, u64(8256) + u64(0x77))]
    expect, lsn = [], 4160
    for kind, content in items:
        expect.append({"lsn": str(lsn), "kind": kind, "body": content.hex()})
        lsn += 8 + len(content)
    whole = b"".join(record(k, b) for k, b in items)
    add(f, "records", "one of each kind", "L5", whole, at, expect={"records": expect})
    add(f, "records", "none", "L5", b"", at, expect={"records": []})

    def refused(name, section, data, bad_at):
        add(f, "records", name, section, data, at, error=section, lsn=str(4160 + bad_at))

    first = record(5, varint(0))
    refused("NondetResults, which nothing writes yet", "L5.1", first + record(16, bytes(40)), len(first))
    for kind in (0, 18, 255):
        refused(f"unknown kind {kind}", "L5.1", record(kind, b""), 0)
    refused("flags set", "L5.1", record(5, varint(0), word=5 | 1 << 8), 0)
    refused("reserved set", "L5.1", record(5, varint(0), word=5 | 1 << 24), 0)
    refused("body cut off", "L5.10", first + record(7, mark())[:-1], len(first))
    refused("length of all ones", "L5.10", record(7, b"", length=0xFFFFFFFF), 0)
    refused("header cut off", "L5.10", first + record(7, mark())[:7], len(first))
    refused("a run of impulses", "L5.2", first + record(1, run(5, [fork])), len(first))
    refused("an impulse run of calls", "L5.3", record(2, run(2, [message(7, b"", call=1)])), 0)
    refused("a Run of a malformed run", "P3.1", first + record(1, run(1, [])), len(first))


def checkpoints():
    f = "checkpoints"
    id_ = lambda u: Tag(37, u.bytes)
    peers = [[1, 0, id_(UUID_B), 3, "monitor", 4], [2, 1, id_(UUID_A), 2**64 - 1, "Z", 0]]
    inputs = [[0, 5, 0x11], [1, 100, 2**64 - 1]]
    outputs = [[0, "Z", 0, 0, 0, 0, 0, 0], [0, "monitor", 20, 0x22, 3, 10, 0x33, 1], [1, "monitor", 1, 0x44, 2, 0, 0, 0]]
    digest = [2 << 20, [[0, "monitor", 17]]]
    expect = {
        "peers": [{"origin": o, "shard": s, "uuid": str(uuid.UUID(bytes=u.item)), "epoch": str(e), "name": n, "impulses": str(i)} for o, s, u, e, n, i in peers],
        "inputs": [{"origin": o, "number": str(n), "hash": f"{h:016x}"} for o, n, h in inputs],
        "outputs": [{"shard": s, "name": n, "number": str(k), "hash": f"{h:016x}", "lastKind": l, "trimmedNumber": str(t), "trimmedHash": f"{th:016x}", "trimmedLastKind": tl}
                    for s, n, k, h, l, t, th, tl in outputs],
        "digestPosition": str(2 << 20), "digestCounts": [{"shard": 0, "name": "monitor", "count": "17"}]}
    good = [peers, inputs, outputs, digest]
    add(f, "coordinatorPart", "peers, inputs, outputs, digest", "L6.2", cbor(good), expect=expect)
    add(f, "coordinatorPart", "nothing yet", "L6.2", cbor([[], [], [], [0, []]]),
        expect={"peers": [], "inputs": [], "outputs": [], "digestPosition": "0", "digestCounts": []})
    add(f, "coordinatorPart", "answers to callers outside", "L6.2", cbor([peers, inputs, outputs, [*digest, 3, 0x1234]]),
        expect=expect | {"answers": {"count": "3", "hash": f"{0x1234:016x}"}})
    policy = [2, 86_400_000_000, 100_000, 64 << 20]
    add(f, "coordinatorPart", "policies that are not the default", "L6.2", cbor([*good, policy]), expect=expect | {"policy": {
        "forks": 2, "windowUs": "86400000000", "entriesMax": "100000", "bytesMax": str(64 << 20)}})
    limited = [0, *policy[1:], 1 << 30]
    add(f, "coordinatorPart", "a message limit that is not the default", "L6.2", cbor([*good, limited]), expect=expect | {"policy": {
        "forks": 0, "windowUs": "86400000000", "entriesMax": "100000", "bytesMax": str(64 << 20), "messageBytesMax": 1 << 30}})
    for name, value in {
        "outputs out of order": [peers, inputs, outputs[::-1], digest], "an output twice": [peers, inputs, [outputs[1]] * 2, digest],
        "no answers, but said": [peers, inputs, outputs, [*digest, 0, 0]], "a digest of three items": [peers, inputs, outputs, [*digest, 3]],
        "three parts": good[:3], "six parts": [*good, policy, []], "the default policies": [*good, [0, *policy[1:]]], "the default message limit": [*good, [*policy, 64 << 20]], "a message limit of 33 bits": [*good, [*policy, 2**32]], "policies of six items": [*good, [*limited, 0]], "unknown fork policy": [*good, [3, *policy[1:]]],
        "policies of three items": [*good, policy[:3]], "a peer of five items": [[peers[0][:5]], inputs, outputs, digest], "kind 5 on a channel": [[], [], [[0, "a", 1, 1, 5, 0, 0, 0]], digest],
        "a bad name": [[], [], [[0, "a/b", 1, 1, 1, 0, 0, 0]], digest], "shard of 17 bits": [[], [], [[65536, "a", 1, 1, 1, 0, 0, 0]], digest],
        "trimmed beyond the last": [[], [], [[0, "a", 1, 1, 1, 2, 1, 1]], digest], "origin of 33 bits": [[], [[2**32, 1, 1]], [], digest],
        "digest position beyond every log": [[], [], [], [2**62, []]], "counts out of order": [[], [], [], [0, [[0, "b", 1], [0, "a", 1]]]],
    }.items():
        add(f, "coordinatorPart", name, "L6.2", cbor(value), error="L6.2")
    add(f, "coordinatorPart", "a byte too many", "L6.2", cbor(good) + b"\0", error="L6.2")
    add(f, "coordinatorPart", "a number in a longer form", "L6.2", cbor([[], [], [], [0, []]])[:-3] + b"\x82\x18\x00\x80", error="L6.2")
