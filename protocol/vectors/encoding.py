"""The bytes of the documents, written by an implementation that shares nothing with the others, and the list of vectors."""
import struct
import uuid

UUID_A = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
UUID_B = uuid.UUID("fedcba98-7654-3210-0123-456789abcdef")


# ---- P1: conventions, bit by bit where speed does not matter ----

def reflected_crc(polynomial, bits, data, crc):
    state = crc ^ ((1 << bits) - 1)
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = (state >> 1) ^ (polynomial if state & 1 else 0)
    return state ^ ((1 << bits) - 1)


def crc32c(data, seed=0):
    return reflected_crc(0x82F63B78, 32, data, seed)


def crc64(data, seed=0):
    return reflected_crc(0x9A6C9329AC4BC9B5, 64, data, seed)


def u8(v): return struct.pack("<B", v)
def u16(v): return struct.pack("<H", v)
def u32(v): return struct.pack("<I", v)
def u64(v): return struct.pack("<Q", v)
def i64(v): return struct.pack("<q", v)


def varint(v):
    out = bytearray()
    while v >= 0x80:
        out.append(v & 0x7F | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def bytes_(v): return varint(len(v)) + v
def string(v): return bytes_(v.encode())
def uuid_(v): return v.bytes


# ---- Vector files ----

FILES = {}


def add(file, structure, name, section, data, context=None, **outcome):
    """outcome is expect={...} or error="P…"."""
    entry = {"name": name, "structure": structure, "section": section, "hex": data.hex()}
    if context:
        entry["context"] = context
    FILES.setdefault(file, []).append(entry | outcome)


def structure_vectors(file, structure, section, name, data, expect, context=None, surplus="P2.6"):
    add(file, structure, name, section, data, context, expect=expect)
    if surplus:
        add(file, structure, name + ", then a byte too many", surplus, data + b"\0", context, error=surplus)


def names(file, structure, field, make, section="P1.5", long_section="P1.3"):
    """Bad names in a payload that make(encoded name) builds."""
    for what, name in {"empty": b"", "beginning with a hyphen": b"-a", "with a slash": b"a/b", "with a dot": b"a.b", "with a space": b"a b", "beyond ASCII": "ä".encode()}.items():
        add(file, structure, f"{field} {what}", section, make(bytes_(name)), error=section)
    add(file, structure, f"{field} of 64 characters", long_section, make(bytes_(b"a" * 64)), error=long_section)
    add(file, structure, f"{field} that is not UTF-8", long_section, make(bytes_(b"a\xff")), error=long_section)


# ---- P3: runs ----

def message(method, arguments, call=None, key=None):
    body = varint(method) + (b"" if call is None else varint(call)) + (b"" if key is None else bytes_(key)) + arguments
    return varint(len(body)) + body


def run(kind, messages, first=1, peer=0, shard=0, flags=0, count=None, extensions=b"", extension_bytes=None, hash_=0):
    return (u8(kind) + u8(flags) + u16(shard) + u32(peer) + u64(first) + u32(len(messages) if count is None else count)
            + u32(len(extensions) if extension_bytes is None else extension_bytes) + u64(hash_) + extensions + b"".join(messages))


def block(kind, version, content): return varint(kind) + varint(version) + bytes_(content)


# ---- L5: records ----

def record(kind, body, length=None, word=None): return u32(len(body) if length is None else length) + u32(kind if word is None else word) + body


# ---- P4: CBOR ----

def head(major, v):
    for info, size, form in ((24, 1, ">B"), (25, 2, ">H"), (26, 4, ">I"), (27, 8, ">Q")):
        if v < 24:
            return bytes([major << 5 | v])
        if v < 1 << 8 * size:
            return bytes([major << 5 | info]) + struct.pack(form, v)
    raise ValueError(v)


def float_(bits):
    """The shortest form of a double, given by its bits, that widens back to the same bits."""
    sign, exponent, mantissa = bits >> 63, bits >> 52 & 0x7FF, bits & (1 << 52) - 1
    for first, exponent_bits, mantissa_bits in ((0xF9, 5, 10), (0xFA, 8, 23)):
        bias, top = (1 << exponent_bits - 1) - 1, (1 << exponent_bits) - 1
        drop = 52 - mantissa_bits
        power = exponent - 1023
        if exponent == 0x7FF:
            e, m, exact = top, mantissa >> drop, not mantissa & (1 << drop) - 1
        elif exponent == 0:
            e, m, exact = 0, 0, mantissa == 0
        elif power >= 1 - bias:
            e, m, exact = power + bias, mantissa >> drop, power <= bias and not mantissa & (1 << drop) - 1
        else:
            shift = drop + (1 - bias - power)
            full = mantissa | 1 << 52
            e, m, exact = 0, full >> shift, shift < 64 and not full & (1 << shift) - 1
        if exact:
            return bytes([first]) + (sign << exponent_bits + mantissa_bits | e << mantissa_bits | m).to_bytes(1 + exponent_bits + mantissa_bits >> 3, "big")
    return b"\xfb" + struct.pack(">Q", bits)


class Tag:
    def __init__(self, number, item): self.number, self.item = number, item


class Simple:
    def __init__(self, number): self.number = number


class Pairs(list):
    """A map, its pairs in the order of the encoding."""


class Float:
    def __init__(self, value): self.bits = value if isinstance(value, int) else struct.unpack(">Q", struct.pack(">d", value))[0]


UNDEFINED = object()


def cbor(v):
    if v is None: return b"\xf6"
    if v is UNDEFINED: return b"\xf7"
    if isinstance(v, bool): return b"\xf5" if v else b"\xf4"
    if isinstance(v, int): return head(0, v) if v >= 0 else head(1, -1 - v)
    if isinstance(v, float): return cbor(Float(v))
    if isinstance(v, Float): return float_(v.bits)
    if isinstance(v, bytes): return head(2, len(v)) + v
    if isinstance(v, str): return head(3, len(v.encode())) + v.encode()
    if isinstance(v, Pairs): return head(5, len(v)) + b"".join(cbor(k) + cbor(x) for k, x in v)
    if isinstance(v, (list, tuple)): return head(4, len(v)) + b"".join(map(cbor, v))
    if isinstance(v, Tag): return head(6, v.number) + cbor(v.item)
    if isinstance(v, Simple): return head(7, v.number) if v.number > 23 else bytes([0xE0 | v.number])
    raise TypeError(v)


def show(v):
    """Diagnostic notation (RFC 8949 §8), floats as the bits of a double, text as the hex of its UTF-8: the same in every language."""
    if v is None: return "null"
    if v is UNDEFINED: return "undefined"
    if isinstance(v, bool): return "true" if v else "false"
    if isinstance(v, int): return str(v)
    if isinstance(v, float): return show(Float(v))
    if isinstance(v, Float): return f"float'{v.bits:016x}'"
    if isinstance(v, bytes): return f"h'{v.hex()}'"
    if isinstance(v, str): return f"t'{v.encode().hex()}'"
    if isinstance(v, Pairs): return "{" + ", ".join(f"{show(k)}: {show(x)}" for k, x in v) + "}"
    if isinstance(v, (list, tuple)): return "[" + ", ".join(map(show, v)) + "]"
    if isinstance(v, Tag): return f"{v.number}({show(v.item)})"
    return f"simple({v.number})"
