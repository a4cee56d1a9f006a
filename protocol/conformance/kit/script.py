"""Scripts: what a coordinator does in one conversation, and what an app must say to it. README.md describes the form."""
from __future__ import annotations

import glob
import json
import os
from typing import Any, Dict, List, Optional

from . import records
from .app_side import Queue

# What a binding may have beside its level: rings, views, upgrades, callers outside.
PROFILES = ("R", "V", "U", "C")
LEVELS = ("L0", "L1", "L2", "L3", "L4", *PROFILES)
# What a script may leave out of an expectation: it is then not compared.
MAY_LACK = frozenset(("lsn", "index", "caller", "kind", "method", "tries", "argumentBytes", "isUnlogged", "due"))
STEP_MEMBERS = frozenset(("in", "out", "time", "page", "mark", "primary", "restart", "query", "raw", "frame", "ends", "logged", "hangUp",
                          "cut", "send", "poke", "look", "go", "convert", "again", "states"))
SCRIPT_MEMBERS = frozenset(("name", "level", "since", "proves", "start", "steps", "variations", "why", "marks", "needs", "environment"))
ALL_VARIATIONS = ("whole", "bytes", "cut", "large", "restart", "promoted", "surroundings", "rings")


class Script:
    """One script as its file says it."""

    def __init__(self, row: Dict[str, Any], path: str) -> None:
        unknown = set(row) - SCRIPT_MEMBERS | {m for step in row["steps"] for m in set(step) - STEP_MEMBERS}
        if unknown:
            raise ValueError(f"{path}: {row.get('name')}: no script has {sorted(unknown)}")
        self.name: str = row["name"]
        self.level: str = row["level"]
        self.since: str = row["since"]
        self.proves: List[str] = row["proves"]
        self.start: str = row.get("start", "primary")
        self.steps: List[Dict[str, Any]] = row["steps"]
        self.has_marks: bool = row.get("marks", True)
        self.needs: List[str] = row.get("needs", [])
        self.environment: Dict[str, str] = row.get("environment", {})
        ends = any("ends" in step or "raw" in step or "frame" in step for step in self.steps)
        usual = ["whole", "bytes", "cut", "surroundings", "rings"] if ends else list(ALL_VARIATIONS)
        # A view and a conversion are no replicas, which could be restarted or promoted.
        of_profile = {"R": ["whole"], "V": ["whole", "bytes", "cut", "surroundings", "rings"], "U": ["whole", "bytes", "cut", "surroundings", "rings"]}
        self.variations: List[str] = row.get("variations", of_profile.get(self.level, usual))
        if self.level not in LEVELS or (len(self.variations) < 7 and not ends and self.level not in PROFILES and not row.get("why")):
            raise ValueError(f"{path}: {self.name}: the level is unknown, or nothing says why variations are left out")


def load(folder: str) -> List[Script]:
    """All scripts of a folder, by file and in the order of each file."""
    found: List[Script] = []
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path, encoding="utf-8") as file:
            found.extend(Script(row, path) for row in json.load(file))
    names = [script.name for script in found]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"two scripts are called {sorted(twice)}")
    return found


def resolve(value: Any, bound: Dict[str, Any]) -> Any:
    """A part of a step with what its `$names` stand for."""
    if isinstance(value, str) and value.startswith("$"):
        return bound[value[1:]]
    if isinstance(value, list):
        return [resolve(item, bound) for item in value]
    if isinstance(value, dict):
        return {key: resolve(item, bound) for key, item in value.items()}
    return value


def queue_of(expected: Dict[str, Any]) -> Queue:
    """The queue in which an expected output must come."""
    if "impulse" in expected:
        return ("impulse", expected["to"])
    if "to" in expected:
        return ("to", expected["to"])
    if "request" in expected:
        return ("session", records.session_id(expected.get("session", "a")).hex)
    for member, queue in (("timer", "timers"), ("dropped", "timers"), ("setAside", "quarantine"), ("released", "quarantine"), ("task", "task"),
                          ("query", "query"), ("image", "image"), ("waiting", "waiting"), ("wanted", "wanted"), ("primaryReady", "primary"),
                          ("seen", "seen"), ("converted", "converted")):
        if member in expected:
            return (queue,)
    raise ValueError(f"no output is as {expected}")


def matches(expected: Any, got: Any, bound: Dict[str, Any]) -> bool:
    """Whether an output is the expected one. `$x` takes what stands there the first time, and compares it later."""
    if isinstance(expected, str) and expected.startswith("$"):
        return bound.setdefault(expected[1:], got) == got
    if isinstance(expected, dict) and isinstance(got, dict):
        return set(expected) == set(got) and all(matches(expected[key], got[key], bound) for key in expected)
    if isinstance(expected, list) and isinstance(got, list):
        return len(expected) == len(got) and all(matches(a, b, bound) for a, b in zip(expected, got))
    return expected == got and isinstance(expected, bool) == isinstance(got, bool)


def output_matches(expected: Dict[str, Any], got: Dict[str, Any], bound: Dict[str, Any]) -> bool:
    """As `matches`, for a whole output: what a script may leave out is filled in from what came."""
    wanted = {key: value for key, value in expected.items() if key != "session"}
    actual = {key: value for key, value in got.items() if key != "session"}
    for key, default in (("arguments", []), ("value", None)):
        if key in actual and key not in wanted and "task" not in actual:
            wanted[key] = default
    for key in MAY_LACK & set(actual) - set(wanted):
        wanted[key] = actual[key]
    for key in ("image", "waiting", "converted", "seen"):
        if wanted.get(key) is True:
            wanted[key] = actual.get(key)
    trial = dict(bound)
    if not matches(wanted, actual, trial):
        return False
    bound.update(trial)
    return True


def first_difference(expected: List[Dict[str, Any]], got: List[Dict[str, Any]], bound: Dict[str, Any]) -> Optional[str]:
    """The first place at which outputs of one queue are not the expected ones, in words."""
    for number in range(max(len(expected), len(got))):
        if number >= len(got):
            return f"expected {json.dumps(resolve_known(expected[number], bound))}, and nothing came"
        if number >= len(expected):
            return f"nothing was expected, and {json.dumps(got[number])} came"
        if not output_matches(expected[number], got[number], bound):
            return f"expected {json.dumps(resolve_known(expected[number], bound))}, got {json.dumps(got[number])}"
    return None


def resolve_known(value: Any, bound: Dict[str, Any]) -> Any:
    """As `resolve`; names that stand for nothing yet stay."""
    try:
        return resolve(value, bound)
    except KeyError:
        return value
