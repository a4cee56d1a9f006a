"""Vectors of images (docs/image.md): bytes, and what a reader shows of them."""
from encoding import *

SESSION = [(0, [[0, "bank2"], None]), (1, [8, [[7, 0, "bank2", 3, 1, 0]]]), (2, [2, []]), (3, [1, []]), (4, [1700000000000000, 5]), (5, b"\1\2"), (6, [1, 1]),
           (7, [[86400000000, 100000, 67108864], [], []]), (8, 2), (9, [0, 0, [], []])]
SHOWN_SESSION = {"origins": [[0, "bank2"], None], "calls": [8, [[7, 0, "bank2", 3, 1, 0]]], "timers": [2, []], "tasks": [1, []], "time": [1700000000000000, 5],
                 "random": {"$bytes": "0102"}, "counts": [1, 1], "window": [[86400000000, 100000, 67108864], [], []], "forkPolicy": 2, "quarantine": [0, 0, [], []]}
FLOW = [1, 3, b"\x05", [0, "bank2", 9], [[1, b"\x07"], [2, 1700000000000000]], b"\0\3", 2**63, [[0, 0, 7]]]
SHOWN_FLOW = {"number": 1, "method": 3, "arguments": {"$bytes": "05"}, "answers": [0, "bank2", 9], "journal": [[1, {"$bytes": "07"}], [2, 1700000000000000]],
              "operations": {"$bytes": "0003"}, "hash": 2**63, "waiting": [[0, 0, 7]]}


def images():
    def portable(session=SESSION, state=None, flows=(), items=5, version=1):
        parts = ["ambrosia", version, Pairs(session), [Pairs(), []] if state is None else state, list(flows)]
        return cbor(parts[:items])

    def good(name, section, data, shown):
        add("image", "image", name, section, data, expect=shown)

    def bad(name, section, data):
        add("image", "image", name, section, data, error=section)

    def shown(state, objects=None, flows=()):
        front = {"format": "ambrosia", "version": 1, "state": state} | ({"objects": objects} if objects else {})
        return front | {"session": SHOWN_SESSION, "flows": list(flows)}

    good("of nothing", "I4.1", portable(), shown({}))
    good("fields of every form", "I4.4",
         portable(state=[Pairs([("a", -5), ("b", [True, None, 1.5]), ("c", b"\xff"), ("map", Pairs([(1, "one"), ("k", 2)])), ("$dollar", "\u00fc")]), []]),
         shown({"a": -5, "b": [True, None, 1.5], "c": {"$bytes": "ff"}, "map": {"$map": [[1, "one"], ["k", 2]]}, "$$dollar": "\u00fc"}))
    good("an object that is shared, and a cycle", "I4.3",
         portable(state=[Pairs([("a", Tag(29, 0)), ("b", [Tag(29, 0)])]), [Tag(27, ["Node", Pairs([("next", Tag(29, 0))])])]]),
         shown({"a": {"$ref": 0}, "b": [{"$ref": 0}]}, {"0": {"$type": "Node", "next": {"$ref": 0}}}))
    good("a flow that waits", "I4.5", portable(flows=[FLOW]), shown({}, flows=[SHOWN_FLOW]))
    bad("of four parts", "I4.1", portable(items=4))
    bad("a byte too many", "I4.1", portable() + b"\0")
    bad("a session without the random numbers", "I4.2", portable(session=SESSION[:5] + SESSION[6:]))
    bad("a session with another key", "I4.2", portable(session=SESSION[:9] + [(10, 0)]))
    bad("a state without its objects", "I4.3", portable(state=[Pairs()]))
    bad("a reference to an object that is not there", "I4.4", portable(state=[Pairs([("a", Tag(29, 1))]), [1]]))
    bad("an object with numbered fields", "I4.4", portable(state=[Pairs([("a", Tag(27, ["Node", Pairs([(1, 2)])]))]), []]))
    bad("a flow without what it waits for", "I4.5", portable(flows=[FLOW[:7]]))
    bad("of another version", "I1.3", portable(version=2))
    bad("of another format", "I1.3", cbor(["other", 1, None]))
    bad("that does not name its format", "I1.1", cbor([7, [], [], []]))
    bad("that is no array", "I1.1", cbor(Pairs()))

    rows = [["Ambrosia.ImageRoot, Ambrosia", 0, ["Immortal", "@", "NextCall", "u8"]], ["Shop.Counter, Shop", 0, ["<Total>k__BackingField", "i4", "Places", "@", "Mood", "#3"]],
            [[0, "Shop.Place, Shop"], 2, ["=#4"]], ["Shop.Mood, Shop", 7, ["i2", "Calm", 0, "Sad", -1]], ["Shop.Place, Shop", 1, ["Floor", "u1", "Mood", "#3", "Height", "f8"]]]
    places = b"".join(struct.pack("<Bhd", *place) for place in ((3, -1, 1.5), (4, 9, -2.0)))
    csharp = ["ambrosia-csharp", 8, [], rows, [0, [1, 1], 1, [5, 2, 0], 2, places]]
    good("of C#, with a packed array", "I3.6", cbor(csharp),
         {"format": "ambrosia-csharp", "version": 8, "session": {"NextCall": 1},
          "state": {"$type": "Shop.Counter", "Total": 5, "Mood": "Calm",
                    "Places": [{"Floor": 3, "Mood": "Sad", "Height": 1.5}, {"Floor": 4, "Mood": 9, "Height": -2.0}]}})
    bad("of C#, with a part of a packed element", "I3.6", cbor(csharp[:4] + [csharp[4][:5] + [places[:-1]]]))
    bad("of C#, with a body of another number of fields", "I3.4", cbor(csharp[:4] + [[0, [1, 1], 1, [5, 2], 2, places]]))
    bad("of C#, with a row that is not there", "I3.8", cbor(csharp[:4] + [[0, [1, 1], 9, [5, 2, 0], 2, places]]))
    bad("of C#, with a reference that is not there", "I3.5", cbor(csharp[:4] + [[0, [7, 1], 1, [5, 2, 0], 2, places]]))
