"""Vectors of the log's files: the instance (L1.2), segment headers (L3), pages (L4), checkpoint files (L6)."""
from encoding import *

BLOCK = 4096
PAGE_SEED = crc32c(UUID_A.bytes + u16(0))
IDENTITY = {"uuid": str(UUID_A), "shard": 0}


def put(data, at, value):
    return data[:at] + value + data[at + len(value):]


def sparse(file, structure, name, section, data, context=None, **outcome):
    """The zeros behind the first part go into the context: hex ‖ zeros ‖ tail."""
    head = data.rstrip(b"\0") if len(data) >= BLOCK else data
    context = dict(context or {})
    if len(data) - len(head) > 0:
        context["zeros"] = len(data) - len(head)
    elif len(data) == BLOCK and data[:-4].rstrip(b"\0") != data[:-4]:
        head = data[:-4].rstrip(b"\0")
        context |= {"zeros": BLOCK - 4 - len(head), "tail": data[-4:].hex()}
    add(file, structure, name, section, head, context, **outcome)


def instances():
    f = "log-instance"

    def make(name=b"counter", shard=0, created=1_767_323_045_000_000, magic=b"AMBRINST", format_=1, crc=None, rest=b""):
        data = magic + u16(format_) + u16(shard) + uuid_(UUID_A) + i64(created) + bytes_(name) + rest
        return data + u32(crc32c(data) if crc is None else crc)

    for name, shard in ((b"counter", 0), (b"a", 7), (b"A_b-9" * 12 + b"abc", 65535)):
        add(f, "instance", f"{name.decode()}, shard {shard}", "L1.2", make(name, shard),
            expect={"name": name.decode(), "shard": shard, "uuid": str(UUID_A), "createdMicros": "1767323045000000"})
    for what, data in {
        "another magic": make(magic=b"AMBRINSX"), "format 2": make(format_=2), "a wrong checksum": make(crc=0), "an empty name": make(b""),
        "a name with a dot": make(b"a.b"), "a name of 64 characters": make(b"a" * 64), "a byte behind the name": make(rest=b"\0"),
        "a byte too many": make() + b"\0", "nothing": b"", "a byte too few": make()[:-1],
    }.items():
        add(f, "instance", what, "L1.2", data, error="L1.2")


def segment(number=3, epoch=5, first=8192, predecessor=(2, 4), seal=None, hash_=0x1122334455667788, shard=0, uuid=UUID_A, app=7, mode=1,
            digest=1 << 20, created=1_767_323_045_000_000, magic=b"AMBRLOG1", format_=2, header_bytes=4096, reserved=b"\0\0\0", rest=b"", crc=None,
            file_bytes=1 << 28):
    data = (magic + u16(format_) + u16(shard) + u32(header_bytes) + uuid_(uuid) + u64(number) + u64(epoch) + u64(first) + u64(predecessor[0])
            + u64(predecessor[1]) + u64(first if seal is None else seal) + u64(hash_) + u32(app) + u8(mode) + reserved + u64(digest) + i64(created)
            + u64(file_bytes))
    data = (data + rest).ljust(BLOCK - 4, b"\0")
    return data + u32(crc32c(data) if crc is None else crc)


def segment_headers():
    f, s = "log-segment", "segmentHeader"

    def good(name, file, **fields):
        v = dict(number=3, epoch=5, first=8192, predecessor=(2, 4), hash_=0x1122334455667788, app=7, digest=1 << 20, created=1_767_323_045_000_000, mode=1,
                 file_bytes=1 << 28) | fields
        sparse(f, s, name, "L3", segment(**v), IDENTITY | {"name": file}, expect={
            "number": str(v["number"]), "epoch": str(v["epoch"]), "firstLsn": str(v["first"]), "predecessorNumber": str(v["predecessor"][0]),
            "predecessorEpoch": str(v["predecessor"][1]), "predecessorHash": f"{v['hash_']:016x}", "appVersion": v["app"],
            "digestEvery": str(v["digest"]), "createdMicros": str(v["created"]),
            "fileBytes": str(v["file_bytes"])})

    good("after a take-over", "log.3.5")
    good("the first of a log", "log.1.1", number=1, epoch=1, first=0, predecessor=(0, 0), hash_=0)
    good("after a rotation", "log.4.5", number=4, first=1 << 28, predecessor=(3, 5))
    good("sealed at its predecessor's beginning", "log.3.5", first=0, hash_=0)
    good("room for one page", "log.3.5", file_bytes=8192)
    good("longer than any usual segment", "log.3.5", file_bytes=(1 << 40) + 4096)
    good("direct writes, a large digest distance", "log.3.5", mode=2, digest=1 << 30, app=2**32 - 1)

    def bad(name, section, data, file="log.3.5"):
        sparse(f, s, name, section, data, IDENTITY | {"name": file}, error=section)

    bad("another magic", "L3", segment(magic=b"AMBRLOG2"))
    bad("format 1, which states no length", "L3", segment(format_=1, file_bytes=0))
    bad("format 3", "L3", segment(format_=3))
    bad("no length", "L3.6", segment(file_bytes=0))
    bad("a length without room for a page", "L3.6", segment(file_bytes=4096))
    bad("a length that is no multiple of 4,096", "L3.6", segment(file_bytes=8193))
    bad("a length beyond all lengths", "L3.6", segment(file_bytes=1 << 63))
    bad("a wrong checksum", "L3", segment(crc=1))
    bad("another header size", "L3", segment(header_bytes=8192))
    bad("another instance", "L3.1", segment(uuid=UUID_B))
    bad("another shard", "L3.1", segment(shard=1))
    bad("another number than its name", "L3.1", segment(), "log.4.5")
    bad("another epoch than its name", "L3.1", segment(), "log.3.6")
    bad("a first Lsn inside a block", "L3", segment(first=8193))
    bad("a first Lsn beyond all Lsns", "L2.1", segment(first=1 << 62))
    bad("a seal elsewhere", "L3", segment(seal=4096))
    bad("no predecessor in the middle of a log", "L3", segment(predecessor=(0, 0)))
    bad("a predecessor of its own number", "L3", segment(predecessor=(3, 4)))
    bad("a predecessor of a later epoch", "L3", segment(predecessor=(2, 6)))
    bad("write mode 0", "L3", segment(mode=0))
    bad("write mode 3", "L3", segment(mode=3))
    bad("digests closer than 1 MiB", "L3", segment(digest=4096))
    bad("a digest distance that is no multiple of 4,096", "L3", segment(digest=(1 << 20) + 1))
    bad("a reserved byte", "P1.6", segment(reserved=b"\0\0\1"))
    bad("a byte behind the fields", "P1.6", segment(rest=b"\1"))
    bad("zeros", "L3", bytes(BLOCK))


def page(records=b"", lsn=8192, epoch=5, flags=0, durable=4096, time=1_767_323_045_000_001, previous=0xA1B2C3D4E5F60718, remaining=0, seed=PAGE_SEED,
         length=None, reserved=0, magic=0x31475041, header_crc=None, payload_crc=None, padding=b""):
    length = 64 + len(records) if length is None else length
    body = (u32(length) + u16(flags) + u16(reserved) + u64(epoch) + u64(lsn) + u64(durable) + i64(time) + u64(previous)
            + u32(crc32c(records) if payload_crc is None else payload_crc) + u32(remaining))
    data = u32(magic) + u32(crc32c(body, seed) if header_crc is None else header_crc) + body + records + padding
    return data.ljust((len(data) + BLOCK - 1) // BLOCK * BLOCK, b"\0")


def pages():
    f, s = "log-page", "page"
    context = IDENTITY | {"epoch": "5", "lsn": "8192", "previousHash": "a1b2c3d4e5f60718"}
    trim = record(5, varint(1) + u32(2) + u64(9))
    run_ = record(1, run(1, [message(7, b"\1")], first=1, peer=3))

    def good(name, section, records=b"", context=context, **fields):
        data = page(records, **fields)
        sparse(f, s, name, section, data, context, expect={
            "length": 64 + len(records), "flags": fields.get("flags", 0), "durableUpTo": str(fields.get("durable", 4096)), "timeMicros": "1767323045000001",
            "remaining": 0 if fields.get("flags") == 8 else fields.get("remaining", 0), "next": str(fields.get("lsn", 8192) + len(data)),
            "appVersion": fields["remaining"] if fields.get("flags") == 8 else 0, "hash": f"{crc64(data[:64]):016x}"})

    good("one record", "L4", trim)
    good("several records", "L4", run_ + trim + record(2, b""))
    good("a durable mark", "L4.4", flags=1, durable=8192)
    good("more than a block", "L4.1", record(8, bytes(range(256)) * 17))
    good("the last byte of a block", "L4.1", record(8, bytes([7]) * (BLOCK - 64 - 8)))
    good("the beginning of a spanning record", "L4.3", u32(1000) + u32(1) + bytes([3]) * 92, flags=2, remaining=908)
    good("the middle of a spanning record", "L4.3", bytes([3]) * 100, flags=4, remaining=808)
    good("the end of a spanning record", "L4.3", bytes([3]) * 808, flags=4)
    inside = context | {"firstLsn": "4096"}  # a page begins its segment where the context does not say otherwise
    begins = context | {"lsn": "0"}
    begin = uuid_(UUID_A) + u64(1_700_000_000_000_000) + u32(3) + string("counter")
    upgrade = u32(3) + u32(4) + u64(8192) + u64(6) + string("r1") + u64(0x55) + u64(0x66) + varint(0)
    good("the first record of a log", "L4.6", record(3, begin), begins, flags=8, remaining=3, lsn=0, durable=0)
    good("an upgrade", "L4.6", record(13, upgrade), flags=8, remaining=4)
    good("read without the hash before it", "L8.3", trim, {k: v for k, v in context.items() if k != "previousHash"}, previous=1)

    def bad(name, section, data, context=context):
        sparse(f, s, name, section, data, context, error=section)

    bad("nothing", "L4.2", bytes(BLOCK))
    bad("an upgrade to another version than its page states", "L4.6", page(record(13, upgrade), flags=8, remaining=5))
    bad("an upgrade to version 0", "L4.6", page(record(13, upgrade), flags=8))
    bad("an upgrade inside a segment", "L4.6", page(record(13, upgrade), flags=8, remaining=4), inside)
    bad("an upgrade at the beginning of a log", "L4.6", page(record(13, upgrade), flags=8, remaining=4, lsn=0, durable=0), begins)
    bad("an upgrade without its flag", "L4.6", page(record(13, upgrade)))
    bad("a first record without its flag", "L4.6", page(record(3, begin), lsn=0, durable=0), begins)
    bad("a first record that is not the first", "L4.6", page(record(3, begin), flags=8, remaining=3))
    bad("an upgrade and another record", "L4.6", page(record(13, upgrade) + trim, flags=8, remaining=4))
    bad("a version without a record", "L4.6", page(flags=8, remaining=4))
    bad("a version and a trim", "L4.6", page(trim, flags=8, remaining=4))
    bad("an upgrade that is cut off", "L4.6", page(record(13, upgrade[:-1]), flags=8, remaining=4))
    bad("another magic", "L4.2", page(trim, magic=0x32475041))
    bad("a wrong headerCrc", "L4.2", page(trim, header_crc=0))
    bad("a headerCrc of another instance", "L4.2", page(trim, seed=crc32c(UUID_B.bytes + u16(0))))
    bad("a headerCrc of another shard", "L4.2", page(trim, seed=crc32c(UUID_A.bytes + u16(1))))
    bad("another epoch", "L4.2", page(trim, epoch=4))
    bad("another Lsn", "L4.2", page(trim, lsn=4096, durable=0))
    bad("another page before it", "L4.2", page(trim, previous=0xA1B2C3D4E5F60719))
    bad("a wrong payloadCrc", "L4.2", page(trim, payload_crc=crc32c(trim) ^ 1))
    bad("a length shorter than the header", "L4.2", page(trim, length=63))
    bad("a length beyond the largest page", "L4.2", page(trim, length=(64 << 20) + 65))
    bad("a length beyond the file", "L4.2", page(trim, length=BLOCK + 1))
    bad("a byte in the padding", "L4.2", page(trim, padding=b"\1"))
    bad("a record cut off", "L4.2", page(trim[:-1]))
    bad("half a record header", "L4.2", page(trim + b"\0\0\0\0"))
    bad("a record longer than the page", "L4.2", page(u32(0xFFFFFFFF) + u32(5)))
    bad("no record and no mark", "L4.2", page())
    bad("a mark with a record", "L4.4", page(trim, flags=1))
    bad("a durableUpTo above itself", "L4", page(trim, durable=12288))
    bad("an unknown flag", "P1.6", page(trim, flags=16))
    bad("two flags", "L4.3", page(bytes(100), flags=6, remaining=1))
    bad("reserved bytes", "P1.6", page(trim, reserved=1))
    bad("remaining without a spanning record", "L4", page(trim, remaining=1))
    bad("a spanning record that begins and ends", "L4.3", page(trim, flags=2))
    bad("a spanning record of another length", "L4.3", page(u32(1000) + u32(1) + bytes(92), flags=2, remaining=909))
    bad("an empty part of a spanning record", "L4.3", page(flags=4, remaining=10))
    bad("a record of kind 0", "L5.1", page(record(0, b"")))
    bad("a record of an unknown kind", "L5.1", page(trim + record(18, b"")))
    bad("a record with flags", "L5.1", page(record(5, b"", word=0x105)))


def chunk(section, content, crc):
    head = u32(len(content)) + u32(section)
    crc = crc32c(content, crc32c(head, crc))
    return head + u32(crc) + content, crc


def checkpoint(sections, lsn=10000, page_lsn=8192, trailer=None, magic=b"AMBRCKP1", format_=1, replica=b"r1", end=b"", uuid=UUID_A, build=b""):
    header = (magic + u16(format_) + u16(0) + uuid_(uuid) + u64(lsn) + u64(page_lsn) + u64(5) + u32(7) + u32(2) + i64(1_767_323_045_000_001)
              + u64(0x1122334455667788) + bytes_(replica) + bytes_(build))
    data, crc = chunk(1, header, 0)
    digest = 0
    for section, content in sections:
        part, crc = chunk(section, content, crc)
        data += part
        digest = crc64(content, digest)
    fields = dict(bytes=len(data), digest=digest, lsn=lsn, app=7) | (trailer or {})
    return data + chunk(5, u64(fields["bytes"]) + u64(fields["digest"]) + u64(fields["lsn"]) + u32(fields["app"]), crc)[0] + end, digest


def checkpoints():
    f, s = "log-checkpoint", "checkpointFile"
    context = IDENTITY | {"name": "ckpt.10000.5.r1"}
    parts = [(2, cbor([[], [], [], [0, []]])), (3, b"outbox, first part"), (3, b"outbox, second part"), (4, bytes(range(200)))]

    def good(name, sections, **fields):
        data, digest = checkpoint(sections, **fields)
        joined = {n: b"".join(c for section, c in sections if section == n).hex() for n in (2, 3, 4)}
        add(f, s, name, "L6", data, context, expect={
            "lsn": "10000", "pageLsn": "8192", "epoch": "5", "appVersion": 7, "imageVersion": 2, "timeMicros": "1767323045000001",
            "previousHash": "1122334455667788", "replica": "r1", "build": fields.get("build", b"").hex(), "digest": f"{digest:016x}", "coordinator": joined[2], "outbox": joined[3], "image": joined[4]})

    good("all sections", parts)
    good("made by a build that the app stated", parts, build=bytes(range(16)))
    good("no outbox", [parts[0], parts[3]])
    good("the coordinator's part in two chunks", [(2, parts[0][1][:3]), (2, parts[0][1][3:]), parts[3]])

    def bad(name, section, data):
        add(f, s, name, section, data, context, error=section)

    whole = checkpoint(parts)[0]
    bad("nothing", "L6.6", b"")
    bad("without its trailer", "L6.6", whole[:-40])
    bad("bytes behind the trailer", "L6.6", checkpoint(parts, end=b"\0")[0])
    bad("a flipped bit in the image", "L6.6", put(whole, len(whole) - 60, bytes([whole[len(whole) - 60] ^ 1])))
    bad("a flipped bit in a chunk's length", "L6.6", put(whole, 0, bytes([whole[0] ^ 1])))
    bad("sections out of order", "L6", checkpoint([parts[0], parts[3], parts[1]])[0])
    bad("two headers", "L6", checkpoint([(1, b"")] + parts)[0])
    bad("an unknown section", "L6", checkpoint(parts + [(6, b"")])[0])
    bad("a chunk that was left out", "L6.6", whole.replace(chunk(2, parts[0][1], crc32c(whole[12:12 + int.from_bytes(whole[:4], "little")], crc32c(whole[:8])))[0], b""))
    bad("another magic", "L6.1", checkpoint(parts, magic=b"AMBRCKP2")[0])
    bad("format 2", "L6.1", checkpoint(parts, format_=2)[0])
    bad("half a build", "L6.1", checkpoint(parts, build=bytes(8))[0])
    bad("a replica that is no name", "L6.1", checkpoint(parts, replica=b"r.1")[0])
    bad("another replica than its name", "L6.1", checkpoint(parts, replica=b"r2")[0])
    bad("another Lsn than its name", "L6.1", checkpoint(parts, lsn=10001)[0])
    bad("another instance", "L6.1", checkpoint(parts, uuid=UUID_B)[0])
    bad("a page behind its Lsn", "L6.1", checkpoint(parts, page_lsn=12288)[0])
    bad("an Lsn beyond all Lsns", "L2.1", checkpoint(parts, lsn=1 << 62)[0])
    bad("a page inside a block", "L6.1", checkpoint(parts, page_lsn=8193)[0])
    for field, value in dict(bytes=1, digest=0, lsn=9999, app=8).items():
        bad(f"a trailer with another {field}", "L6.5", checkpoint(parts, trailer={field: value})[0])


def log_files():
    instances()
    segment_headers()
    pages()
    checkpoints()
