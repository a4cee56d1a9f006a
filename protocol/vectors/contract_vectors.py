"""A contract manifest, and values of its types (docs/contract.md)."""
import json

from encoding import *

TICKS_MAX = 3155378975999999999


def fnv(text, bits):
    """FNV-1a of a text's UTF-8."""
    value, prime = (0x811C9DC5, 0x01000193) if bits == 32 else (0xCBF29CE484222325, 0x100000001B3)
    for byte in text.encode():
        value = (value ^ byte) * prime % (1 << bits)
    return value


def method_id(interface, method): return fnv(f"{interface}.{method}", 32) | 1 << 31


NO_DEFAULT = object()  # optional, and no argument says the default


def parameter(name, kind, *default):
    p = {"name": name, "type": kind}
    if default:
        p["optional"] = True
        if default[0] is not NO_DEFAULT:
            p["default"] = cbor(default[0]).hex()
    return p


def parameters(*kinds): return [parameter(name, *(kind if isinstance(kind, tuple) else (kind,))) for name, kind in zip("abcdefghijklmnop", kinds)]


ZERO_GUID = Tag(37, bytes(16))
EPSILON32 = 2.0**-149


def manifest():
    methods = [
        {"name": "Numbers", "id": 1, "parameters": parameters(
            ("bool", True), ("int8", -128), ("uint16", 65535), ("int64", -2**63), ("uint64", 2**64 - 1), ("char", 0xE9), ("int32?", 24), ("uint32", 65536))},
        {"name": "Reals", "id": 2, "parameters": parameters(
            ("float64", 1.5), ("float64", Float(0xFFF8000000000000)), ("float64", 1e300), ("float32", float("-inf")), ("float64", -0.0), ("float64", 2.0**-24),
            ("float32", 3.4028234663852886e+38), ("float64", 1.1), ("float32", EPSILON32), ("float64", 5e-324), ("decimal", [150, 0, 0, -2**31 + (2 << 16)]), ("decimal?", None))},
        {"name": "Texts", "id": 3, "parameters": parameters(("text", "h\u00e9\n"), ("text?", None), ("bytes?", None), ("int32", 0), ("bytes", b""), ("text", NO_DEFAULT))},
        {"name": "Times", "id": 4, "parameters": parameters(
            ("datetime", [0, 0]), ("datetimeoffset", [0, 0]), ("timespan", 0), ("date", 0), ("time", 0), ("guid", ZERO_GUID))},
        {"name": "Others", "id": 5, "parameters": parameters(
            ("enum<Vectors.Colour,uint8>", 5), ("enum<Vectors.Depth,int64>?", -2**63), ("data<Vectors.Place>", Pairs([("Id", ZERO_GUID), ("Row", 0), ("Tint", None)])),
            ("tuple<int32,guid?>", [0, None]), ("tuple<int32,text>", NO_DEFAULT), ("enum<System.DayOfWeek,int32>", 5))},
        {"name": "Pay", "id": 6, "parameters": [parameter("with", "union<Vectors.IPayment>"), parameter("orders", "list<data<Vectors.Order>?>"), parameter("tip", "union<Vectors.IPayment>?", None)], "result": "union<Vectors.Formula>?"},
        {"name": "Input", "id": method_id("IVectors", "Input"), "impulse": True, "raw": True, "parameters": [parameter("content", "bytes")]},
        {"name": "Where", "id": method_id("IVectors", "Where"), "query": True, "parameters": [
            parameter("tree", "data<Vectors.Tree>"), parameter("colours", "list<enum<Vectors.Colour,uint8>>"), parameter("times", "int32")], "result": "data<Vectors.Point>"},
        {"name": "Read", "id": method_id("IVectors", "Read"), "parameters": [
            parameter("words", "data<Vectors.Words>"), parameter("reals", "data<Vectors.Reals>?"), parameter("times", "data<Vectors.Times>"),
            parameter("places", "map<enum<Vectors.Depth,int64>,data<Vectors.Place>>?")], "result": "bytes", "rawResult": True},
    ]
    fields = {
        "Card": {"Number": "text"},
        "Cash": {("Cents", 1): "int64"},
        "Leaf": {"Value": "int32"},
        "Order": {"Paid": "union<Vectors.IPayment>", "Tip": "union<Vectors.IPayment>?", "Formulas": "map<text,union<Vectors.Formula>?>"},
        "Place": {"Row": "int16", "Id": "guid", "Tint": "enum<Vectors.Colour,uint8>?"},
        "Point": {("Y", 1): "int32", "X": "int32"},
        "Reals": {"Single": "float32", "Double": "float64", "Price": "decimal"},
        "Sum": {"Left": "union<Vectors.Formula>", "Right": "union<Vectors.Formula>?"},
        "Times": {"When": "datetime", "There": "datetimeoffset", "Span": "timespan", "Day": "date", "At": "time"},
        "Tree": {"Children": "list<data<Vectors.Tree>>", "Tags": "map<text,int32>", "Pair": "tuple<int32,text?>", "Colour": "enum<Vectors.Colour,uint8>"},
        "Words": {"Text": "text", "Maybe": "text?", "Content": "bytes", "Letter": "char"},
    }
    days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    enums = {
        "System.DayOfWeek": ("int32", list(zip(days, range(7)))), "Vectors.Colour": ("uint8", [("Red", 0), ("Green", 5), ("Blue", 6), ("Lime", 5)]),
        "Vectors.Depth": ("int64", [("Least", -2**63), ("Most", 2**63 - 1)]),
    }
    unions = {"Vectors.Formula": [(1, "Leaf"), (2, "Sum")], "Vectors.IPayment": [(0, "Card"), (4, "Cash")]}
    contract = {"name": "IVectors", "namespace": "Vectors", "methods": sorted(methods, key=lambda m: m["id"])}
    return {
        "format": 1, "assembly": "Vectors", "contracts": [contract],
        "data": [{"name": f"Vectors.{name}", "fields": sorted(({"name": key, "type": kind} if isinstance(key, str) else {"name": key[0], "number": key[1], "type": kind}
                                                                for key, kind in of.items()), key=lambda field: cbor(field.get("number", field["name"])))} for name, of in fields.items()],
        "enums": [{"name": name, "type": number, "members": [{"name": each, "value": value} for each, value in members]} for name, (number, members) in enums.items()],
        "unions": [{"name": name, "cases": [{"number": number, "type": f"data<Vectors.{case}>"} for number, case in cases]} for name, cases in unions.items()],
    }


def text_of(value): return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def contracts(directory):
    whole = manifest()
    (directory / "Vectors.contract.json").write_text(text_of(whole) + "\n", encoding="utf-8")
    hashed = text_of(whole["contracts"][0])
    add("contract", "contractHash", "of Vectors.contract.json", "C1.7", hashed.encode(), expect={"hash": f"{fnv(hashed, 64):016x}"})
    values()


def values():
    f = "contract"

    def good(kind, name, section, value, again=None):
        data = cbor(value)
        add(f, "value", f"{kind}: {name}", section, data, {"type": f"data<Vectors.{kind}>"}, expect={"again": (data if again is None else cbor(again)).hex()})

    def bad(kind, name, section, error, value):
        add(f, "value", f"{kind}: {name}", section, value if isinstance(value, bytes) else cbor(value), {"type": f"data<Vectors.{kind}>"}, error=error)

    # Data: keys.
    point = Pairs([(1, 2), ("X", 3)])
    good("Point", "a numbered key before a name", "C3.7", point)
    good("Point", "keys out of order", "C3.7", Pairs([("X", 3), (1, 2)]), point)
    good("Point", "a missing field with a default of its own", "C3.7", Pairs([("X", 3)]), Pairs([(1, 7), ("X", 3)]))
    good("Point", "a missing field without one", "C3.7", Pairs([(1, 2)]), Pairs([(1, 2), ("X", 0)]))
    good("Point", "nothing at all", "C3.7", Pairs(), Pairs([(1, 7), ("X", 0)]))
    good("Point", "a name twice: the last counts", "C3.7", Pairs([(1, 2), ("X", 9), ("X", 3)]), point)
    good("Point", "a number twice: the last counts", "C3.7", Pairs([(1, 9), (1, 2), ("X", 3)]), point)
    good("Point", "keys that are unknown", "C3.7", Pairs([(0, 1), (1, 2), (2, ["new"]), ("X", 3), ("Y", 5), ("Z", Pairs([("a", None)]))]), point)
    good("Point", "keys of other kinds", "C3.7", Pairs([(1, 2), (-1, 4), (b"X", 5), ("X", 3), ([1], 6), (None, 7)]), point)
    bad("Point", "null", "C3.9", "WrongType", None)
    bad("Point", "an array", "C3", "WrongType", [2, 3])
    bad("Point", "a field that is null", "C3.9", "WrongType", Pairs([("X", None)]))
    bad("Point", "a field that is a float", "C3.1", "WrongType", Pairs([("X", 3.0)]))
    bad("Point", "a field out of range", "C3", "OutOfRange", Pairs([("X", 2**31)]))
    bad("Point", "a field in a longer form", "C3.1", "NotDeterministic", bytes.fromhex("a161581803"))
    bad("Point", "a map of indefinite length", "C3.1", "NotDeterministic", bytes.fromhex("bf615803ff"))

    # Floats: all widths, and what is lost by none.
    def reals(single=0.0, double=0.0, price=(0, 0, 0, 0)): return Pairs([("Price", list(price)), ("Double", double), ("Single", single)])
    good("Reals", "zeros", "C3.2", reals())
    good("Reals", "floats of 16 bits", "C3.2", reals(1.5, -65504.0))
    good("Reals", "floats of 32 bits", "C3.2", reals(100000.0, 2.0**-149))
    good("Reals", "a float of 64 bits", "C3.2", reals(0.0, 1.1))
    good("Reals", "infinities", "C3.2", reals(float("inf"), float("-inf")))
    good("Reals", "negative zeros", "C3.2", reals(-0.0, -0.0))
    good("Reals", "a NaN of each sign", "C3.2", reals(Float(0x7FF8000000000000), Float(0xFFF8000000000000)))
    good("Reals", "NaNs with a payload", "C3.2", reals(Float(0x7FF8000020000000), Float(0x7FF8000000000001)))
    good("Reals", "signalling NaNs", "C3.2", reals(Float(0x7FF0000020000000), Float(0xFFF0000000000001)))
    bad("Reals", "a NaN in a longer form", "C3.2", "NotDeterministic", b"\xa1" + cbor("Double") + bytes.fromhex("fb7ff8000000000000"))
    bad("Reals", "1.5 in a longer form", "C3.2", "NotDeterministic", b"\xa1" + cbor("Single") + bytes.fromhex("fa3fc00000"))
    bad("Reals", "an integer for a float", "C3.1", "WrongType", Pairs([("Double", 1)]))
    bad("Reals", "a single that 32 bits do not hold", "C3", "OutOfRange", Pairs([("Single", 1.1)]))

    # Decimals: low, middle, high, then sign and scale.
    good("Reals", "a decimal of the low word", "C3.3", reals(price=(-1, 0, 0, 0)))
    good("Reals", "a decimal of the middle word", "C3.3", reals(price=(0, 1, 0, 0)))
    good("Reals", "a decimal of the high word", "C3.3", reals(price=(0, 0, 1, 0)))
    good("Reals", "1.5", "C3.3", reals(price=(15, 0, 0, 1 << 16)))
    good("Reals", "1.50", "C3.3", reals(price=(150, 0, 0, 2 << 16)))
    good("Reals", "-1.50", "C3.3", reals(price=(150, 0, 0, -2147352576)))
    good("Reals", "the smallest decimal", "C3.3", reals(price=(1, 0, 0, 28 << 16)))
    bad("Reals", "a decimal of scale 29", "C3.3", "OutOfRange", reals(price=(1, 0, 0, 29 << 16)))
    bad("Reals", "a decimal with the sign in front", "C3.3", "OutOfRange", reals(price=(2 << 16, 0, 0, 150)))
    bad("Reals", "a decimal word without sign", "C3.3", "OutOfRange", reals(price=(2**32 - 1, 0, 0, 0)))
    bad("Reals", "a decimal as text", "C3", "WrongType", Pairs([("Price", "1.50")]))

    # Texts.
    def words(text, maybe=None, content=b"", letter=0): return Pairs([("Text", text), ("Maybe", maybe), ("Letter", letter), ("Content", content)])
    good("Words", "a text beyond the basic plane", "C3.4", words("\U0001F600", "\u00e9", b"\0", 0xD83D))
    good("Words", "e and an accent, which are not é", "C3.4", words("e\u0301"))
    good("Words", "texts that are missing", "C3.7", Pairs(), words("none"))
    bad("Words", "the first half of a surrogate pair", "C3.4", "Malformed", b"\xa1" + cbor("Text") + bytes.fromhex("63eda080"))
    bad("Words", "the second half of a surrogate pair", "C3.4", "Malformed", b"\xa1" + cbor("Maybe") + bytes.fromhex("63edb080"))
    bad("Words", "both halves, three bytes each", "C3.4", "Malformed", b"\xa1" + cbor("Text") + bytes.fromhex("66eda0bdedb880"))
    bad("Words", "null for a text", "C3.9", "WrongType", Pairs([("Text", None)]))
    bad("Words", "null for bytes", "C3.9", "WrongType", Pairs([("Content", None)]))
    bad("Words", "text for bytes", "C3", "WrongType", Pairs([("Content", "a")]))
    bad("Words", "a letter beyond 16 bits", "C3", "OutOfRange", Pairs([("Letter", 65536)]))

    # Ticks.
    def times(when=(0, 0), there=(0, 0), span=0, day=0, at=0): return Pairs([("At", at), ("Day", day), ("Span", span), ("When", list(when)), ("There", list(there))])
    good("Times", "zeros", "C3.5", times())
    good("Times", "the first of January 1970", "C3.5", times((621355968000000000, 1), (621355968000000000 + 36000000000, 60), 0, 719162))
    good("Times", "the last of each", "C3.5", times((TICKS_MAX, 2), (TICKS_MAX, 0), 2**63 - 1, 3652058, 863999999999))
    good("Times", "the shortest span", "C3.5", times(span=-2**63))
    bad("Times", "a tick too many", "C3.5", "OutOfRange", times((TICKS_MAX + 1, 0)))
    bad("Times", "a clock without its kind", "C3", "OutOfRange", times((0,)))
    bad("Times", "a number for a clock", "C3", "WrongType", Pairs([("When", 0)]))
    bad("Times", "an offset of 841 minutes", "C3", "OutOfRange", times(there=(TICKS_MAX // 2, 841)))
    bad("Times", "before year 1 in UTC", "C3", "OutOfRange", times(there=(0, 1)))
    bad("Times", "midnight at the day's end", "C3", "OutOfRange", times(at=864000000000))

    # Enums, structs, maps, tuples, depth.
    good("Place", "a member and a number that none has", "C3", Pairs([("Id", Tag(37, UUID_A.bytes)), ("Row", -32768), ("Tint", 200)]))
    good("Place", "nothing at all", "C3.9", Pairs(), Pairs([("Id", ZERO_GUID), ("Row", 0), ("Tint", None)]))
    bad("Place", "a number that the enum's type does not hold", "C3", "OutOfRange", Pairs([("Tint", 256)]))
    bad("Place", "a member's name", "C3", "WrongType", Pairs([("Tint", "Red")]))
    bad("Place", "a guid without its tag", "C3", "WrongType", Pairs([("Id", UUID_A.bytes)]))

    def tree(children=(), tags=(), pair=(0, None), colour=0): return Pairs([("Pair", list(pair)), ("Tags", [list(tag) for tag in tags]), ("Colour", colour), ("Children", list(children))])
    good("Tree", "with children, tags and a pair", "C3.6", tree([tree(), tree([tree(colour=6)])], [("b", 2), ("a", 1)], (3, "x"), 5))
    good("Tree", "a key of a map twice: its last value at its first place", "C3.6", tree(tags=[("b", 1), ("a", 2), ("b", 3)]), tree(tags=[("b", 3), ("a", 2)]))
    good("Tree", "an empty key", "C3.6", tree(tags=[("", -1)]))
    bad("Tree", "a map as a map", "C3.6", "WrongType", Pairs([("Tags", Pairs([("a", 1)]))]))
    bad("Tree", "a pair of three", "C3.6", "OutOfRange", tree(tags=[("a", 1, 2)]))
    bad("Tree", "null for a key", "C3.9", "WrongType", tree(tags=[(None, 1)]))
    bad("Tree", "a tuple of three", "C3", "OutOfRange", tree(pair=(1, "x", 2)))
    bad("Tree", "a tuple of one", "C3", "OutOfRange", tree(pair=(1,)))
    deep = tree()
    for _ in range(63):
        deep = tree([deep])
    good("Tree", "64 deep", "C3.8", deep)
    bad("Tree", "65 deep", "C3.8", "TooDeep", tree([deep]))

    # Unions: a number and the case's data.
    card, cash = [0, Pairs([("Number", "12")])], [4, Pairs([(1, -5)])]

    def leaf(value): return [1, Pairs([("Value", value)])]
    def sum_(left, right=None): return [2, Pairs([("Left", left), ("Right", right)])]
    def order(paid=cash, tip=None, terms=()): return Pairs([("Tip", tip), ("Paid", paid), ("Formulas", [list(term) for term in terms])])
    good("Order", "a case of each number", "C3.11", order(card, cash))
    good("Order", "a union inside its own case, and null", "C3.11", order(cash, None, [("a", sum_(leaf(1), sum_(leaf(2)))), ("b", None)]))
    good("Order", "nothing at all", "C3.9", Pairs(), order([4, Pairs([(1, 7)])]))
    good("Order", "a case with unknown fields and without its own", "C3.7", order([4, Pairs([(2, "new")])]), order([4, Pairs([(1, 0)])]))
    bad("Order", "a number that no case has", "C3.11", "UnknownCase Vectors.IPayment 7", order([7, Pairs()]))
    bad("Order", "a number that no case has, with what is no data", "C3.11", "UnknownCase Vectors.IPayment 2147483648", order([2**31, 0]))
    bad("Order", "a number that a case inside does not have", "C3.11", "UnknownCase Vectors.Formula 0", order(terms=[("a", sum_([0, Pairs()]))]))
    bad("Order", "null for a union", "C3.9", "WrongType", order(None))
    bad("Order", "a case without its number", "C3.11", "WrongType", order(Pairs([("Number", "12")])))
    bad("Order", "a case without its data", "C3.11", "OutOfRange", order([4]))
    bad("Order", "a case and one more", "C3.11", "OutOfRange", order([4, Pairs(), 0]))
    bad("Order", "a case that is null", "C3.9", "WrongType", order([4, None]))
    bad("Order", "a negative number", "C3.11", "WrongType", order([-1, Pairs()]))
    bad("Order", "a number in a longer form", "C3.1", "NotDeterministic", b"\xa1" + cbor("Paid") + bytes.fromhex("82180400"))
