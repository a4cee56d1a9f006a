"""Vectors of arguments, values and failures (P4)."""
from encoding import *

# RFC 8949 appendix A: the definite and shortest encodings.
APPENDIX_A = [
    (0, "00"), (1, "01"), (10, "0a"), (23, "17"), (24, "1818"), (25, "1819"), (100, "1864"), (1000, "1903e8"), (1000000, "1a000f4240"),
    (1000000000000, "1b000000e8d4a51000"), (18446744073709551615, "1bffffffffffffffff"), (Tag(2, bytes.fromhex("010000000000000000")), "c249010000000000000000"),
    (-18446744073709551616, "3bffffffffffffffff"), (Tag(3, bytes.fromhex("010000000000000000")), "c349010000000000000000"),
    (-1, "20"), (-10, "29"), (-100, "3863"), (-1000, "3903e7"), (0.0, "f90000"), (-0.0, "f98000"), (1.0, "f93c00"), (1.1, "fb3ff199999999999a"),
    (1.5, "f93e00"), (65504.0, "f97bff"), (100000.0, "fa47c35000"), (3.4028234663852886e+38, "fa7f7fffff"), (1.0e+300, "fb7e37e43c8800759c"),
    (5.960464477539063e-8, "f90001"), (0.00006103515625, "f90400"), (-4.0, "f9c400"), (-4.1, "fbc010666666666666"), (float("inf"), "f97c00"),
    (Float(0x7FF8000000000000), "f97e00"), (float("-inf"), "f9fc00"), (False, "f4"), (True, "f5"), (None, "f6"), (UNDEFINED, "f7"), (Simple(16), "f0"),
    (Simple(255), "f8ff"), (Tag(0, "2013-03-21T20:04:00Z"), "c074323031332d30332d32315432303a30343a30305a"), (Tag(1, 1363896240), "c11a514b67b0"),
    (Tag(1, 1363896240.5), "c1fb41d452d9ec200000"), (Tag(23, b"\1\2\3\4"), "d74401020304"), (Tag(24, b"dIETF"), "d818456449455446"),
    (Tag(32, "http://www.example.com"), "d82076687474703a2f2f7777772e6578616d706c652e636f6d"), (b"", "40"), (b"\1\2\3\4", "4401020304"), ("", "60"), ("a", "6161"),
    ("IETF", "6449455446"), ("\"\\", "62225c"), ("\u00fc", "62c3bc"), ("\u6c34", "63e6b0b4"), ("\U00010151", "64f0908591"), ([], "80"), ([1, 2, 3], "83010203"),
    ([1, [2, 3], [4, 5]], "8301820203820405"), (list(range(1, 26)), "98190102030405060708090a0b0c0d0e0f101112131415161718181819"), (Pairs(), "a0"),
    (Pairs([(1, 2), (3, 4)]), "a201020304"), (Pairs([("a", 1), ("b", [2, 3])]), "a26161016162820203"), (["a", Pairs([("b", "c")])], "826161a161626163"),
    (Pairs([(c, c.upper()) for c in "abcde"]), "a56161614161626142616361436164614461656145"),
]

# RFC 8949 appendix A: indefinite lengths.
APPENDIX_A_INDEFINITE = [
    (b"\1\2\3\4\5", "5f42010243030405ff"), ("streaming", "7f657374726561646d696e67ff"), ([], "9fff"), ([1, [2, 3], [4, 5]], "9f018202039f0405ffff"),
    ([1, [2, 3], [4, 5]], "9f01820203820405ff"), ([1, [2, 3], [4, 5]], "83018202039f0405ff"), ([1, [2, 3], [4, 5]], "83019f0203ff820405"),
    (list(range(1, 26)), "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff"), (Pairs([("a", 1), ("b", [2, 3])]), "bf61610161629f0203ffff"),
    (["a", Pairs([("b", "c")])], "826161bf61626163ff"), (Pairs([("Fun", True), ("Amt", -2)]), "bf6346756ef563416d7421ff"),
]


def cbors():
    f = "cbor"
    for value, text in APPENDIX_A:
        assert cbor(value).hex() == text, (show(value), cbor(value).hex(), text)
        add(f, "cbor", f"appendix A: {show(value)}", "P4.1", bytes.fromhex(text), expect={"items": [show(value)]})

    def good(name, *values):
        add(f, "cbor", name, "P4.1", b"".join(map(cbor, values)), expect={"items": [show(v) for v in values]})

    good("a sequence of arguments", 1, "two", b"3", None)
    good("no argument")
    good("bounds of heads", 23, 24, 255, 256, 65535, 65536, 2**32 - 1, 2**32, -24, -25, -256, -257, -65536, -65537, -2**32, -2**32 - 1, -2**63)
    good("NaNs keep sign and payload", Float(0xFFF8000000000000), Float(0x7FF8000000000001), Float(0x7FF0000000000001), Float(0x7FFC000000000000), Float(0x7FF8000020000000), Float(0xFFF0040000000000))
    good("floats at the edges of widths", 2.0**-24, 2.0**-25, 2.0**-14, 65504.0, 65536.0, 2.0**-149, 2.0**-150, 3.4028234663852886e+38, 2.0**128, 5e-324, 1.7976931348623157e+308, 2.0**-126, 1 + 2.0**-10, 1 + 2.0**-11, 1 + 2.0**-23, 1 + 2.0**-24)
    good("simple values", Simple(0), Simple(19), Simple(32), Simple(255))
    good("keys in bytewise order of their encoding", Pairs([(10, 0), (100, 0), (-1, 0), ("z", 0), ("aa", 0), ([100], 0), ([-1], 0), (False, 0)]))
    deep = None
    for _ in range(64):
        deep = [deep]
    good("64 levels", deep)

    def bad(name, error, text):
        data = bytes.fromhex(text)
        add(f, "cbor", name, "P4.1", data, error=error)
        return data

    def long_form(name, text, *values):
        """Refused when strict, read when lenient."""
        data = bad(name, "NotDeterministic", text)
        add(f, "cbor", name + ", leniently", "P4.1", data, {"lenient": True}, expect={"items": [show(v) for v in values]})

    for value, text in APPENDIX_A_INDEFINITE:
        long_form(f"appendix A, indefinite: {text}", text, value)
    long_form("23 in two bytes", "1817", 23)
    long_form("255 in three bytes", "1900ff", 255)
    long_form("65535 in five bytes", "1a0000ffff", 65535)
    long_form("2^32-1 in nine bytes", "1b00000000ffffffff", 2**32 - 1)
    long_form("-1 in two bytes", "3800", -1)
    long_form("length in two bytes", "5801aa", b"\xaa")
    long_form("text length in three bytes", "79000161", "a")
    long_form("array of one in two bytes", "980100", [0])
    long_form("map of one in two bytes", "b8010000", Pairs([(0, 0)]))
    long_form("tag 1 in two bytes", "d80100", Tag(1, 0))
    long_form("1.0 as a single", "fa3f800000", 1.0)
    long_form("1.0 as a double", "fb3ff0000000000000", 1.0)
    long_form("100000.0 as a double", "fb40f86a0000000000", 100000.0)
    long_form("NaN as a single", "fa7fc00000", Float(0x7FF8000000000000))
    long_form("NaN as a double", "fb7ff8000000000000", Float(0x7FF8000000000000))
    long_form("keys out of order", "a2616201616102", Pairs([("b", 1), ("a", 2)]))
    long_form("a key twice", "a2616101616102", Pairs([("a", 1), ("a", 2)]))

    for name, text in {
        "head cut off": "18", "number cut off": "1a000f42", "bytes cut off": "4401", "text cut off": "6261", "array cut off": "8201", "map cut off": "a101", "tag alone": "c1",
        "float cut off": "fb3ff0", "simple cut off": "f8", "bytes of 2^64-1": "5bffffffffffffffff", "text of 2^63": "7b8000000000000000", "array of 2^32": "9b0000000100000000",
        "map of 2^63": "bb8000000000000000", "array of more than the bytes": "83" + "00" * 2, "map of more than half the bytes": "a2000000",
    }.items():
        bad(name, "Truncated", text)
    for name, text in {
        "reserved 28": "1c", "reserved 29": "5d", "reserved 30": "9e", "number of indefinite length": "1f", "negative of indefinite length": "3f", "tag of indefinite length": "df00",
        "simple 28": "fc", "simple 29": "fd", "simple 30": "fe", "break alone": "ff", "simple 24 in two bytes": "f818", "simple 0 in two bytes": "f800", "false in two bytes": "f814",
        "lone byte of UTF-8": "61c3", "overlong UTF-8": "62c080", "a surrogate": "63eda080", "beyond Unicode": "64f4908080",
    }.items():
        bad(name, "Malformed", text)
    bad("65 levels", "TooDeep", "81" * 65 + "00")
    bad("65 tags", "TooDeep", "c1" * 65 + "00")
    bad("a million levels", "TooDeep", "81" * 1000 + "00")
    lenient = {"lenient": True}
    for name, error, text in (
        ("indefinite array without break", "Truncated", "9f00"), ("indefinite bytes without break", "Truncated", "5f4100"), ("break in place of a value", "Malformed", "bf00ff"),
        ("text in pieces of bytes", "WrongType", "7f4161ff"), ("bytes in pieces of text", "WrongType", "5f6161ff"), ("pieces inside pieces", "Malformed", "5f5f4100ffff"),
        ("a character cut by pieces", "Malformed", "7f61c361bcff"), ("65 indefinite levels", "TooDeep", "9f" * 65 + "ff" * 65), ("break in a definite array", "Malformed", "81ff"),
    ):
        add(f, "cbor", name + ", leniently", "P4.1", bytes.fromhex(text), lenient, error=error)


def values():
    f = "values"

    def good(structure, shown, value, section="P4.3"):
        add(f, structure, shown, section, cbor(value), expect={"value": shown})

    def bad(structure, name, error, value, section="P4.3"):
        add(f, structure, name, section, value if isinstance(value, bytes) else cbor(value), error=error)

    for v in (0, -1, 2**63 - 1, -2**63):
        good("int64", str(v), v)
    bad("int64", "2^63", "OutOfRange", 2**63)
    bad("int64", "-2^63-1", "OutOfRange", -2**63 - 1)
    bad("int64", "text", "WrongType", "1")
    bad("int64", "float", "WrongType", 1.0)
    for v in (0, 2**64 - 1):
        good("uint64", str(v), v)
    bad("uint64", "-1", "WrongType", -1)
    for name, low, high in (("int32", -2**31, 2**31 - 1), ("uint32", 0, 2**32 - 1), ("int16", -2**15, 2**15 - 1), ("uint16", 0, 2**16 - 1), ("sbyte", -128, 127), ("byte", 0, 255)):
        good(name, str(low), low)
        good(name, str(high), high)
        bad(name, "below", "OutOfRange", low - 1)
        bad(name, "above", "OutOfRange", high + 1)
    good("char", "65", 65)
    good("char", "55357", 0xD83D)
    bad("char", "65536", "OutOfRange", 65536)
    good("boolean", "true", True)
    bad("boolean", "1", "WrongType", 1)
    good("string", "h\u00e9", "h\u00e9")
    good("string", "e\u0301\U0001F600", "e\u0301\U0001F600")
    bad("string", "null", "WrongType", None)
    for name, text in (("first half of a surrogate pair", "63eda080"), ("second half of a surrogate pair", "63edb080"), ("two halves of a surrogate pair", "66eda0bdedb880")):
        bad("string", name, "Malformed", bytes.fromhex(text))
    good("bytes", "0102", b"\1\2")
    bad("bytes", "text", "WrongType", "a")
    good("single", f"{0x3FF0000000000000:016x}", 1.0)
    for bits in (0x8000000000000000, 0x7FF0000000000000, 0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000020000000, 0x36A0000000000000, 0x47EFFFFFE0000000):
        good("single", f"{bits:016x}", Float(bits))
    bad("single", "a double", "OutOfRange", 1.1)
    bad("single", "a NaN with a payload of 52 bits", "OutOfRange", Float(0x7FF8000000000001))
    bad("single", "1.0 in 32 bits", "NotDeterministic", bytes.fromhex("fa3f800000"))
    good("double", f"{struct.unpack('>Q', struct.pack('>d', 1.1))[0]:016x}", 1.1)
    for bits in (0x8000000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0xFFF8000000000000, 0x7FF8000000000001, 0xFFF0000000000001, 0x3E70000000000000, 0x36A0000000000000, 1, 0x7FEFFFFFFFFFFFFF):
        good("double", f"{bits:016x}", Float(bits))
    bad("double", "an integer", "WrongType", 1)
    bad("double", "NaN in 64 bits", "NotDeterministic", bytes.fromhex("fb7ff8000000000000"))
    good("guid", str(UUID_A), Tag(37, UUID_A.bytes))
    bad("guid", "another tag", "WrongType", Tag(36, UUID_A.bytes))
    bad("guid", "no tag", "WrongType", UUID_A.bytes)
    bad("guid", "15 bytes", "OutOfRange", Tag(37, bytes(15)))
    good("decimal", "-1.50", [150, 0, 0, -2**31 + (2 << 16)])
    good("decimal", "79228162514264337593543950335", [-1, -1, -1, 0])
    good("decimal", "4294967295", [-1, 0, 0, 0])
    good("decimal", "4294967296", [0, 1, 0, 0])
    good("decimal", "18446744073709551616", [0, 0, 1, 0])
    good("decimal", "1.5", [15, 0, 0, 1 << 16])
    good("decimal", "0.0000000000000000000000000001", [1, 0, 0, 28 << 16])
    bad("decimal", "scale 29", "OutOfRange", [1, 0, 0, 29 << 16])
    bad("decimal", "low bits in the fourth", "OutOfRange", [1, 0, 0, 1])
    bad("decimal", "a number of 33 bits", "OutOfRange", [2**31, 0, 0, 0])
    bad("decimal", "three numbers", "OutOfRange", [1, 0, 0])
    good("dateTime", "638000000000000000 1", [638000000000000000, 1])
    good("dateTime", "621355968000000000 1", [621355968000000000, 1])
    good("dateTime", "3155378975999999999 2", [3155378975999999999, 2])
    bad("dateTime", "kind 3", "OutOfRange", [0, 3])
    bad("dateTime", "no kind", "OutOfRange", [0])
    bad("dateTime", "a number", "WrongType", 0)
    bad("dateTime", "before year 1", "OutOfRange", [-1, 0])
    bad("dateTime", "after year 9999", "OutOfRange", [3155378976000000000, 0])
    good("dateTimeOffset", "638000000000000000 -330", [638000000000000000, -330])
    bad("dateTimeOffset", "offset of 15 hours", "OutOfRange", [638000000000000000, 900])
    bad("dateTimeOffset", "before year 1 in UTC", "OutOfRange", [0, 1])
    for v in (-10000000, -2**63, 2**63 - 1):
        good("timeSpan", str(v), v)
    for name, high in (("dateOnly", 3652058), ("timeOnly", 863999999999)):
        good(name, "0", 0)
        good(name, str(high), high)
        bad(name, "below", "OutOfRange", -1)
        bad(name, "above", "OutOfRange", high + 1)
        bad(name, "text", "WrongType", "1")

    def nested(depth):
        failure = None
        for i in range(depth, 0, -1):
            failure = [f"E{i}", f"message {i}", failure]
        return failure

    def expect_nested(depth): return [{"type": f"E{i}", "message": f"message {i}"} for i in range(1, depth + 1)]

    for depth in (1, 2, 16):
        add(f, "failure", f"{depth} deep", "P4.4", cbor(nested(depth)), expect={"chain": expect_nested(depth)})
    uuid_b = "00112233-4455-6677-8899-aabbccddeeff"
    for name, text in (
            ("NoMethod", "Method 0x3E7 is not in the contract."),
            ("BadArguments", "The arguments of method 0x3E7 cannot be decoded."),
            ("BadResult", "The result of method 0x3E7 cannot be encoded."),
            ("BadResult", "The result of method 0x3E7 cannot be decoded."),
            ("BadResult", "The result of task 12 cannot be decoded."),
            ("UnknownCase", "Shop.IPayment has no case 7 in this version of the contract."),
            ("BadFailure", "The failure cannot be decoded."),
            ("TooLong", "The message is longer than the limit of 67108864 bytes."),
            ("Timeout", "The result did not come in time."),
            ("Cancelled", "The call was cancelled before its result came."),
            ("PeerForgotten", f"An operator has given up bank3 ({uuid_b}): its answer will not come, and whether the call took effect there is unknown."),
            ("TaskGivenUp", "An operator has given up task 12: its body is not run again, and what it has done to the world is unknown."),
            ("KeyReused", "The key was used for this method before, with other arguments. Nothing was done: give each request a key of its own."),
            ("NotSupported", "This app does not support queries."),
            ("NotInQuery", "A query waits: it is in no log, so it reads and answers, and does nothing else. A method that is no query may do that."),
            ("QueryChangedState", "The query 0x3E7 has changed the state, so that replica ends."),
            ("AppEnded", "The app ended 2 times while it had this query to answer; perhaps the query ends it."),
            ("Misuse", "The binding does not allow this use of a call."),
            ("LimitReached", "There are 1048576 timers, which is the limit."),
            ("FlowTooLong", "The flow has done more than can be kept: go on with again(…)."),
            ("Failed", "Ambrosia.Failed was thrown.")):
        add(f, "failure", f"listed: {text}", "P4.6", cbor([f"Ambrosia.{name}", text, None]), expect={"chain": [{"type": f"Ambrosia.{name}", "message": text}]})
    add(f, "failure", "listed: a failure that was let through", "P4.6", cbor(["Ambrosia.CallFailed", "no", ["Shop.Closed", "no", None]]),
        expect={"chain": [{"type": "Ambrosia.CallFailed", "message": "no"}, {"type": "Shop.Closed", "message": "no"}]})
    unworded = "System.FormatException was thrown."
    add(f, "failure", "an exception in the runtime's words inside one in the app's", "P4.7",
        cbor(["Shop.Closed", "no", ["System.FormatException", unworded, None]]),
        expect={"chain": [{"type": "Shop.Closed", "message": "no"}, {"type": "System.FormatException", "message": unworded}]})
    add(f, "failure", "17 deep", "P4.4", cbor(nested(17)), error="TooDeep")
    bad("failure", "null", "WrongType", None, "P4.4")
    bad("failure", "two items", "WrongType", ["E", "m"], "P4.4")
    bad("failure", "a number for a name", "WrongType", [1, "m", None], "P4.4")
    bad("failure", "a number for the inner one", "WrongType", ["E", "m", 1], "P4.4")
