"""Values by the types of a contract (docs/contract.md, C3), and the methods of the probe's contract."""
from __future__ import annotations

import json
import os
import struct
from typing import Any, Dict, List, Optional

from encoding import Tagged, Undecodable, pack, sequence, unpack
from faults import has

INTEGERS = {sign + f"int{bits}": ((0, 2 ** bits - 1) if sign else (-2 ** (bits - 1), 2 ** (bits - 1) - 1)) for sign in ("", "u") for bits in (8, 16, 32, 64)}
RANGES = {"char": (0, 65535), "timespan": INTEGERS["int64"], "date": (0, 3_652_058), "time": (0, 863_999_999_999), **INTEGERS}
TICKS_MAX = 3_155_378_975_999_999_999


class UnknownCase(Exception):
    """A case of a union that this contract does not have: the union's name and the number (C3.11)."""


class Method:
    """A method of the probe's contract."""

    def __init__(self, row: Dict[str, Any]) -> None:
        self.name, self.id = row["name"], row["id"]
        self.is_raw, self.is_raw_result, self.is_query = row.get("raw", False), row.get("rawResult", False), row.get("query", False)
        self.parameters, self.result = row["parameters"], row.get("result")


class Contract:
    """The manifest, with which arguments and results are read and written."""

    def __init__(self) -> None:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Probe.contract.json")
        with open(path, "rb") as file:
            self.manifest = file.read().strip()
        whole = json.loads(self.manifest)
        self.methods = {row["id"]: Method(row) for row in whole["contracts"][0]["methods"]}
        self._data = {row["name"]: row["fields"] for row in whole["data"]}
        self._unions = {row["name"]: {case["number"]: case["type"] for case in row["cases"]} for row in whole["unions"]}

    def by_name(self, name: str) -> Method:
        """A method by its name."""
        return next(method for method in self.methods.values() if method.name == name)

    def read_arguments(self, method: Method, data: bytes) -> List[Any]:
        """The arguments of a call; missing ones take their defaults (P4.1, C1.4, C1.5)."""
        if method.is_raw:
            return [data]
        items = sequence(data)
        values = []
        for place, parameter in enumerate(method.parameters):
            if place < len(items):
                values.append(self.read(parameter["type"], items[place]))
            elif "default" in parameter and not has("default-argument-lost"):
                values.append(self.read(parameter["type"], unpack(bytes.fromhex(parameter["default"]))[0]))
            else:
                values.append(self._missing(parameter["type"]))
        return values

    def write_arguments(self, method: Method, values: List[Any]) -> bytes:
        """The arguments of a call."""
        return values[0] if method.is_raw else b"".join(pack(self.write(p["type"], v)) for p, v in zip(method.parameters, values))

    def write_result(self, method: Method, value: Any) -> bytes:
        """A result (P3.3, P4.2)."""
        if method.result is None:
            return pack(None) if has("void-result-null") else b""
        return value if method.is_raw_result else pack(self.write(method.result, value))

    def read_result(self, method: Method, data: bytes) -> Any:
        """A result that was awaited; what stands behind its first item is passed over (C3.10)."""
        if method.result is None:
            return None
        return data if method.is_raw_result else self.read(method.result, unpack(data)[0])

    def read(self, kind: str, item: Any) -> Any:
        """A value of a type; what C3 refuses is refused."""
        if kind.endswith("?"):
            return None if item is None else self.read(kind[:-1], item)
        family, _, inner = kind.partition("<")
        inner = inner[:-1]
        if family in ("list", "map", "tuple", "union", "data"):
            return getattr(self, "_read_" + family)(inner, item)
        if family == "enum":
            return self.read(_parts(inner)[1], item)
        if kind in RANGES:
            low, high = RANGES[kind]
            if not isinstance(item, int) or isinstance(item, bool):
                raise Undecodable("WrongType")
            if not low <= item <= high:
                raise Undecodable("OutOfRange")
            return item
        if kind in ("decimal", "datetime", "datetimeoffset"):
            return _read_numbers(kind, item)
        if kind == "guid":
            if not isinstance(item, Tagged) or item[0] != 37 or not isinstance(item[1], bytes) or len(item[1]) != 16:
                raise Undecodable("WrongType")
            return item
        wanted = {"bool": bool, "text": str, "bytes": bytes, "float32": float, "float64": float}[kind]
        if not isinstance(item, wanted):
            raise Undecodable("WrongType")
        if kind == "float32" and struct.pack(">d", struct.unpack(">f", _single(item))[0]) != struct.pack(">d", item):
            raise Undecodable("OutOfRange")
        return item

    def write(self, kind: str, value: Any) -> Any:
        """A value as what `pack` takes."""
        if kind.endswith("?"):
            return None if value is None else self.write(kind[:-1], value)
        family, _, inner = kind.partition("<")
        inner = inner[:-1]
        if family == "list":
            return [self.write(inner, item) for item in value]
        if family == "map":
            key, item = _parts(inner)
            return [[self.write(key, k), self.write(item, v)] for k, v in value]
        if family == "tuple":
            return [self.write(k, v) for k, v in zip(_parts(inner), value)]
        if family == "data":
            return {field.get("number", field["name"]): self.write(field["type"], value[field["name"]]) for field in self._data[inner]}
        return value

    def _read_list(self, inner: str, item: Any) -> List[Any]:
        return [self.read(inner, each) for each in _array(item)]

    def _read_map(self, inner: str, item: Any) -> List[Any]:
        key, value = _parts(inner)
        found: Dict[Any, Any] = {}
        for pair in _array(item):
            if len(_array(pair)) != 2:
                raise Undecodable("WrongType")
            found[self.read(key, pair[0])] = self.read(value, pair[1])
        return list(found.items())

    def _read_tuple(self, inner: str, item: Any) -> List[Any]:
        kinds = _parts(inner)
        if len(_array(item)) != len(kinds):
            raise Undecodable("WrongType")
        return [self.read(kind, each) for kind, each in zip(kinds, item)]

    def _read_union(self, inner: str, item: Any) -> Any:
        if len(_array(item)) != 2 or not isinstance(item[0], int):
            raise Undecodable("WrongType")
        kind = self._unions[inner].get(item[0])
        if kind is None:
            raise UnknownCase(inner, item[0])
        self.read(kind, item[1])
        return item

    def _read_data(self, inner: str, item: Any) -> Dict[str, Any]:
        if not isinstance(item, dict):
            raise Undecodable("WrongType")
        fields = {field.get("number", field["name"]): field for field in self._data[inner]}
        if has("unknown-key-refused") and set(item) - set(fields):
            raise Undecodable("UnknownKey")
        return {field["name"]: self.read(field["type"], item[key]) if key in item else self._missing(field["type"]) for key, field in fields.items()}

    def _missing(self, kind: str) -> Any:
        """The value that stands for a missing one (C3.9)."""
        family = kind.partition("<")[0]
        if kind.endswith("?"):
            return None
        if kind == "guid":
            return Tagged((37, bytes(16)))
        if family == "data":
            return self._read_data(kind[5:-1], {})
        if family == "union":
            number, inner = min(self._unions[kind[6:-1]].items())
            return [number, {field.get("number", field["name"]): self._missing(field["type"]) for field in self._data[inner[5:-1]]}]
        if family == "tuple":
            return [self._missing(part) for part in _parts(kind[6:-1])]
        fixed: Dict[str, Any] = {"bool": False, "text": "", "bytes": b"", "float32": 0.0, "float64": 0.0, "list": [], "map": [],
                                 "decimal": [0, 0, 0, 0], "datetime": [0, 0], "datetimeoffset": [0, 0]}
        return fixed.get(family, 0)


def _single(value: float) -> bytes:
    try:
        return struct.pack(">f", value)
    except OverflowError:
        raise Undecodable("OutOfRange") from None


def _array(item: Any) -> List[Any]:
    if not isinstance(item, list):
        raise Undecodable("WrongType")
    return item


def _read_numbers(kind: str, item: Any) -> List[int]:
    if len(_array(item)) != (4 if kind == "decimal" else 2) or any(not isinstance(n, int) or isinstance(n, bool) for n in item):
        raise Undecodable("WrongType")
    if kind == "decimal":
        flags = item[3] & 0xFFFFFFFF
        is_right = all(-2 ** 31 <= n < 2 ** 31 for n in item) and not flags & ~0x80FF0000 and flags >> 16 & 0xFF <= 28
    elif kind == "datetime":
        is_right = 0 <= item[0] <= TICKS_MAX and 0 <= item[1] <= 2
    else:
        is_right = abs(item[1]) <= 840 and 0 <= item[0] <= TICKS_MAX and 0 <= item[0] - item[1] * 600_000_000 <= TICKS_MAX
    if not is_right:
        raise Undecodable("OutOfRange")
    return item


def _parts(inner: str) -> List[str]:
    parts: List[str] = [""]
    depth = 0
    for c in inner:
        depth += (c == "<") - (c == ">")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def failure(name: str, text: str, inner: Optional[Any] = None) -> List[Any]:
    """A failure as P4.4 has it."""
    return [name, text, inner]
