"""Contracts: the manifest of docs/contract.md, and values between the plain JSON of scripts and their bytes."""
from __future__ import annotations

import json
import uuid
from typing import Any, Dict, List, Optional

from . import cbor
from .wire import Violation

NUMBERS = {f"{sign}int{bits}": (0 if sign else -(1 << bits - 1), (1 << bits - (0 if sign else 1)) - 1)
           for sign in ("", "u") for bits in (8, 16, 32, 64)}


def method_id(interface: str, method: str) -> int:
    """FNV-1a of `Interface.Method` with the top bit set (P4.5)."""
    value = 0x811C9DC5
    for byte in f"{interface}.{method}".encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return value | 0x80000000


class Method:
    """One method of a contract."""

    def __init__(self, row: Dict[str, Any]) -> None:
        self.name: str = row["name"]
        self.id: int = row["id"]
        self.is_raw: bool = row.get("raw", False)
        self.is_raw_result: bool = row.get("rawResult", False)
        self.parameters: List[Dict[str, Any]] = row["parameters"]
        self.result: Optional[str] = row.get("result")


class Contract:
    """A manifest: methods by name and id, and the types that they name."""

    def __init__(self, path: str) -> None:
        with open(path, encoding="utf-8") as file:
            manifest = json.load(file)
        rows = manifest["contracts"][0]["methods"]
        self._by_name = {row["name"]: Method(row) for row in rows}
        self._by_id = {method.id: method for method in self._by_name.values()}
        self._data = {row["name"]: row["fields"] for row in manifest["data"]}
        self._enums = {row["name"]: {m["name"]: m["value"] for m in row["members"]} for row in manifest["enums"]}
        self._unions = {row["name"]: {c["number"]: c["type"] for c in row["cases"]} for row in manifest["unions"]}

    def find(self, name_or_number: Any) -> Optional[Method]:
        """A method by its name, or by its id."""
        return self._by_name.get(name_or_number) if isinstance(name_or_number, str) else self._by_id.get(name_or_number)

    def id_of(self, name: Any) -> int:
        """The id of a method; a number stands for itself."""
        return name if isinstance(name, int) else self._by_name[name].id

    @staticmethod
    def parts(inner: str) -> List[str]:
        """The types between the brackets of a type."""
        return _split(inner)

    def fields(self, data: str) -> List[Dict[str, Any]]:
        """The members of a data type."""
        return self._data[data]

    def cases(self, union: str) -> Dict[int, str]:
        """The types of a union by their numbers."""
        return self._unions[union]

    def members(self, enum: str) -> Dict[str, int]:
        """The numbers of an enum by their names."""
        return self._enums[enum]

    def arguments(self, method: Any, values: Any) -> bytes:
        """Arguments from the JSON of a script. {"hex": …} are bytes as they stand."""
        if isinstance(values, dict):
            return bytes.fromhex(values["hex"])
        known = self.find(method)
        if known is None:
            return b"".join(map(cbor.encode, values))
        if known.is_raw:
            return _bytes(values[0])
        return b"".join(cbor.encode(self._to_cbor(p["type"], v)) for p, v in zip(known.parameters, values))

    def value(self, method: Any, value: Any) -> bytes:
        """A result from the JSON of a script; a method without one has no bytes (P3.3)."""
        if isinstance(value, dict) and set(value) == {"hex"}:
            return bytes.fromhex(value["hex"])
        known = self.find(method)
        if known is None or known.result is None:
            return b""
        return _bytes(value) if known.is_raw_result else cbor.encode(self._to_cbor(known.result, value))

    def read_arguments(self, method: int, data: bytes) -> Any:
        """Arguments as JSON; bytes of a method that the contract does not have are shown as they stand."""
        known = self.find(method)
        if known is None:
            return {"hex": data.hex()}
        if known.is_raw:
            return [_show_bytes(data)]
        items = cbor.sequence(data)
        if len(items) != len(known.parameters):
            raise Violation("P4.1", f"{known.name} takes {len(known.parameters)} arguments, and {len(items)} were sent")
        return [self._from_cbor(p["type"], item) for p, item in zip(known.parameters, items)]

    def read_value(self, method: int, data: bytes) -> Any:
        """A result as JSON."""
        known = self.find(method)
        if known is None:
            return {"hex": data.hex()}
        if known.result is None:
            if data:
                raise Violation("P3.3", f"{known.name} has no result, and {len(data)} bytes were sent")
            return None
        if known.is_raw_result:
            return _show_bytes(data)
        item, end = cbor.decode(data)
        if end != len(data):
            raise Violation("P4.1", "something stands behind a result")
        return self._from_cbor(known.result, item)

    def _to_cbor(self, kind: str, value: Any) -> Any:
        if kind.endswith("?"):
            return None if value is None else self._to_cbor(kind[:-1], value)
        if kind.startswith("list<"):
            return [self._to_cbor(kind[5:-1], item) for item in value]
        if kind.startswith("map<"):
            key, item = _split(kind[4:-1])
            return [[self._to_cbor(key, k), self._to_cbor(item, v)] for k, v in value]
        if kind.startswith("tuple<"):
            return [self._to_cbor(k, v) for k, v in zip(_split(kind[6:-1]), value)]
        if kind.startswith("enum<"):
            return self._enums[_split(kind[5:-1])[0]][value] if isinstance(value, str) else value
        if kind.startswith("data<"):
            return {f.get("number", f["name"]): self._to_cbor(f["type"], value.get(f["name"], self._default(f["type"])))
                    for f in self._data[kind[5:-1]]}
        if kind.startswith("union<"):
            return [value[0], self._to_cbor(self._unions[kind[6:-1]][value[0]], value[1])]
        if kind in ("float32", "float64"):
            return float(value)
        if kind == "guid":
            return cbor.Tag(37, uuid.UUID(value).bytes)
        return _bytes(value) if kind == "bytes" else value

    def _default(self, kind: str) -> Any:
        if kind.endswith("?"):
            return None
        if kind in ("bool", "text", "bytes"):
            return {"bool": False, "text": "", "bytes": ""}[kind]
        if kind.split("<")[0] in ("list", "map"):
            return []
        return {} if kind.startswith("data<") else 0

    def _from_cbor(self, kind: str, item: Any) -> Any:
        if kind.endswith("?"):
            return None if item is None else self._from_cbor(kind[:-1], item)
        family = kind.split("<")[0]
        if family in ("list", "map", "tuple", "union") or kind in ("decimal", "datetime", "datetimeoffset"):
            return self._from_array(kind, family, _of(item, list, kind))
        if family == "data":
            return self._from_data(kind[5:-1], _of(item, cbor.Map, kind))
        if family == "enum":
            kind = _split(kind[5:-1])[1]
        if kind in NUMBERS:
            low, high = NUMBERS[kind]
            if not low <= _of(item, int, kind) <= high:
                raise Violation("P4.3", f"{item} is no {kind}")
            return item
        if kind in ("float32", "float64"):
            return float(_of(item, cbor.Float, kind))
        if kind == "guid":
            if not isinstance(item, cbor.Tag) or item.number != 37 or not isinstance(item.item, bytes) or len(item.item) != 16:
                raise Violation("P4.3", f"{item!r} is no guid")
            return str(uuid.UUID(bytes=item.item))
        if kind == "bytes":
            return _show_bytes(_of(item, bytes, kind))
        return _of(item, {"bool": bool, "text": str}.get(kind, int), kind)

    def _from_array(self, kind: str, family: str, items: List[Any]) -> Any:
        if family == "list":
            return [self._from_cbor(kind[5:-1], item) for item in items]
        if family == "map":
            key, value = _split(kind[4:-1])
            return [[self._from_cbor(key, k), self._from_cbor(value, v)] for k, v in items]
        if family == "tuple":
            return [self._from_cbor(k, v) for k, v in zip(_split(kind[6:-1]), items)]
        if family == "union":
            return [items[0], self._from_cbor(self._unions[kind[6:-1]][items[0]], items[1])]
        return items

    def _from_data(self, name: str, pairs: cbor.Map) -> Dict[str, Any]:
        found = dict(pairs)
        fields = self._data[name]
        if set(found) != {f.get("number", f["name"]) for f in fields}:
            raise Violation("P4.3", f"a value of {name} has the keys {sorted(map(str, found))} (contract C3.7: a writer writes all fields)")
        return {f["name"]: self._from_cbor(f["type"], found[f.get("number", f["name"])]) for f in fields}


def _of(item: Any, expected: type, kind: str) -> Any:
    if not isinstance(item, expected) or (expected is int and isinstance(item, bool)):
        raise Violation("P4.3", f"{item!r} is no {kind}")
    return item


def _split(inner: str) -> List[str]:
    """The parts between commas that are not inside of angle brackets."""
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(inner):
        depth += (c == "<") - (c == ">")
        if c == "," and not depth:
            parts.append(inner[begin:i])
            begin = i + 1
    return parts + [inner[begin:]]


def _bytes(value: Any) -> bytes:
    """Bytes of a script: hex, or {"size": n} for the pattern of the probe's contract."""
    if isinstance(value, dict):
        return bytes(i % 251 for i in range(value["size"]))
    return bytes.fromhex(value)


def _show_bytes(data: bytes) -> Any:
    is_pattern = len(data) > 64 and data == bytes(i % 251 for i in range(len(data)))
    return {"size": len(data)} if is_pattern else data.hex()
