"""Scripts of random values of every type of the probe's contract.

They travel as arguments and results between instances, and in requests with keys from outside, which are repeated."""
from __future__ import annotations

import random
import re
import struct
import uuid
from typing import Any, Dict, List, Optional

from .contract import NUMBERS, Contract
from .script import Script

CALLS, REQUESTS = 12, 6
TICKS_MAX = 3_155_378_975_999_999_999
TICKS_A_DAY = 864_000_000_000
KEY_REUSED = ["Ambrosia.KeyReused", "The key was used for this method before, with other arguments. Nothing was done: give each request a key of its own.", None]


def count(only: Optional[str], usual: int) -> int:
    """How many scripts to make: the usual number, or as many as the one that is named needs."""
    named = re.search(r"random values -?\d+\.(\d+)", only or "")
    return int(named[1]) + 1 if named else usual


def scripts(contract: Contract, seed: int, how_many: int) -> List[Script]:
    """So many scripts, which follow from the seed."""
    return [_script(contract, random.Random(f"{seed} {number}"), f"random values {seed}.{number}") for number in range(how_many)]


def _script(contract: Contract, chance: random.Random, name: str) -> Script:
    values = [_value(contract, "data<Conformance.Everything>", chance, 0) for _ in range(CALLS + REQUESTS + 1)]
    calls, keyed, other = values[:CALLS], values[CALLS:-1], values[-1]
    steps: List[Dict[str, Any]] = [{
        "in": [{"call": "bank2", "id": i, "method": "Mirror", "arguments": [value]} for i, value in enumerate(calls, 1)],
        "out": [{"to": "bank2", "result": "Mirror", "id": i, "value": value} for i, value in enumerate(calls, 1)]}]
    for session in "ab":
        for i, value in enumerate(keyed, 1):
            request = {"session": session, "request": i}
            steps.append({"in": [{**request, "method": "Mirror", "arguments": [value], "key": f"key {i}"}], "out": [{**request, "answer": "Mirror", "value": value}]})
        refused = {"session": session, "request": len(keyed) + 1}
        steps.append({"in": [{**refused, "method": "Mirror", "arguments": [other], "key": "key 1"}], "out": [{**refused, "failed": "Mirror", "is": KEY_REUSED}]})
    return Script({"name": name, "level": "L4", "since": "1.0", "proves": ["P4.3", "C3.2", "P10.8"], "steps": steps}, "random values")


def _value(contract: Contract, kind: str, chance: random.Random, depth: int) -> Any:
    """A random value of a type, as scripts write it."""
    if kind.endswith("?"):
        return None if chance.randrange(3) == 0 else _value(contract, kind[:-1], chance, depth)
    family, _, inner = kind.partition("<")
    inner = inner[:-1]
    if family == "list":
        return [_value(contract, inner, chance, depth + 1) for _ in range(chance.randrange(4))]
    if family == "map":
        key, item = contract.parts(inner)
        keys = list(dict.fromkeys(_value(contract, key, chance, depth + 1) for _ in range(chance.randrange(5))))
        return [[k, _value(contract, item, chance, depth + 1)] for k in keys]
    if family == "tuple":
        return [_value(contract, part, chance, depth + 1) for part in contract.parts(inner)]
    if family == "data":
        return {field["name"]: _value(contract, field["type"], chance, depth + 1) for field in contract.fields(inner)}
    if family == "union":
        number, case = chance.choice(sorted(contract.cases(inner).items()))
        return [number, _value(contract, case, chance, depth + 1)]
    if family == "enum":
        name, number = contract.parts(inner)
        return chance.choice(sorted(contract.members(name).values())) if chance.randrange(2) else _plain(number, chance)
    return _plain(kind, chance)


def _plain(kind: str, chance: random.Random) -> Any:
    if kind in NUMBERS:
        low, high = NUMBERS[kind]
        near = chance.choice((low, high, 0, 23, 24, 255, 256, 65535, 65536, 1 << 32)) + chance.randrange(-1, 2)
        return near if low <= near <= high else chance.randint(low, high)
    if kind == "bool":
        return chance.randrange(2) == 0
    if kind == "text":
        # What begins with $ stands for something else in a script.
        return "".join(chr(chance.choice((chance.randrange(32, 127), chance.randrange(0xA0, 0xD800), chance.randrange(0x10000, 0x110000), 0, 0x130, 0x131)))
                       for _ in range(chance.randrange(30))).lstrip("$")
    if kind == "bytes":
        return chance.randbytes(chance.choice((0, 1, 23, 24, 255, 256))).hex()
    if kind == "char":
        return chance.randrange(65536)
    if kind == "float32":
        return struct.unpack(">f", struct.pack(">f", _float(chance, 1e38)))[0]
    if kind == "float64":
        return _float(chance, 1e300)
    if kind == "decimal":
        return [chance.randrange(-1 << 31, 1 << 31) for _ in range(3)] + [(chance.randrange(29) << 16) - (chance.randrange(2) << 31)]
    if kind == "guid":
        return str(uuid.UUID(int=chance.getrandbits(128)))
    if kind == "datetime":
        return [chance.choice((0, TICKS_MAX, chance.randrange(TICKS_MAX))), chance.randrange(2)]
    if kind == "datetimeoffset":
        return [chance.randrange(TICKS_A_DAY, TICKS_MAX - TICKS_A_DAY), chance.randrange(-840, 841)]
    if kind == "timespan":
        return chance.choice((0, -1, chance.randint(-1 << 63, (1 << 63) - 1)))
    return chance.randrange({"date": 3_652_059, "time": TICKS_A_DAY}[kind])


def _float(chance: random.Random, most: float) -> float:
    return chance.choice((0.0, -0.0, 1.5, float(chance.randrange(-1 << 20, 1 << 20)), chance.random(), chance.uniform(-most, most)))
