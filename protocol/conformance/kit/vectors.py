"""Level 0: what a probe reads in the vectors of `protocol/vectors/`, printed through a pipe and compared field by field."""
from __future__ import annotations

import json
import os
import subprocess
import time
from typing import Any, Dict, Iterator, List, Optional, Set

from .report import Result

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "vectors")

# What a binding has to read, so that it may not skip it. Of frames, those of an app channel. Of a file without any, what is not skipped is judged.
REQUIRED: Dict[str, Set[str]] = {
    "varints.json": {"varint"},
    "frames.json": {"frame"},
    "hashes.json": {"crc32c", "crc64nvme", "channelHash", "methodId"},
    "runs.json": {"run", "failureStack"},
    "cbor.json": set(),
    "values.json": {"int64", "uint64", "int32", "uint32", "int16", "uint16", "sbyte", "byte", "char", "boolean", "string", "bytes", "single", "double",
                    "guid", "decimal", "dateTime", "dateTimeOffset", "timeSpan", "dateOnly", "timeOnly", "failure"},
    "records.json": {"Peer", "Forget", "FirstStart", "CheckpointMark", "NondetResult", "TimerFired", "ClientRequest", "Policy", "Quarantine", "records"},
    "app-channel.json": {"AppWelcome", "BecomePrimary", "ImageBegin", "ImageChunk", "ImageEnd", "ImpulseLogged", "PolicyAhead", "Goodbye", "Heartbeat", "Deliver"},
    "clients.json": {"Query"},
}

# Vectors show that an app reads the options of these sentences, and nothing of what it then does.
HARDLY = {"P5.24", "P5.25"}


def _load(name: str) -> List[Dict[str, Any]]:
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return json.load(file)


def _is_required(name: str, entry: Dict[str, Any]) -> bool:
    is_link = entry.get("context", {}).get("link", False) is True
    return entry["structure"] in REQUIRED[name] and not is_link and not entry.get("context", {}).get("lenient", False)


def sections() -> Set[str]:
    """The sentences that vectors prove which no binding may skip."""
    found = {entry[key] for name in REQUIRED for entry in _load(name) if _is_required(name, entry) for key in ("section", "error") if key in entry}
    return found - HARDLY


def judge(command: List[str], patience_s: float) -> Iterator[Result]:
    """One result for each file of vectors."""
    for name in REQUIRED:
        begin = time.monotonic()
        wrong = _judge_file(name, command, patience_s)
        yield Result(f"vectors {name}", "L0", "whole", None if wrong is None else wrong[0], 0, "" if wrong is None else wrong[1], time.monotonic() - begin)


def _judge_file(name: str, command: List[str], patience_s: float) -> Optional[List[str]]:
    """The sentence and what is wrong with the first entry that the probe reads otherwise; None if there is none."""
    path = os.path.abspath(os.path.join(FOLDER, name))
    try:
        done = subprocess.run([*command, "vectors", path], stdin=subprocess.DEVNULL, capture_output=True, timeout=patience_s * 6, check=False)
    except subprocess.TimeoutExpired:
        return ["P1", f"it did not end within {patience_s * 6:g} s"]
    lines = done.stdout.decode(errors="replace").splitlines()
    entries = _load(name)
    if done.returncode != 0 or len(lines) != len(entries):
        return ["P1", f"exit code {done.returncode} and {len(lines)} lines for {len(entries)} entries: {done.stderr.decode(errors='replace')[-500:]}"]
    for entry, line in zip(entries, lines):
        wrong = _compare(name, entry, line)
        if wrong is not None:
            return [entry["section"], f"{entry['structure']} {entry['name']!r}: {wrong}"]
    return None


def _compare(name: str, entry: Dict[str, Any], line: str) -> Optional[str]:
    try:
        said = json.loads(line)
    except ValueError:
        return f"{line[:200]!r} is no JSON"
    if "skip" in said:
        return f"it is skipped ({said['skip']}), and no binding may skip it" if _is_required(name, entry) else None
    wanted = {key: entry[key] for key in ("expect", "error") if key in entry}
    # Bytes may break more than one sentence, and which of them a reader meets first is its own affair.
    is_right = "error" in said if "error" in entry else said.get("expect") == entry["expect"]
    return None if is_right else f"expected {json.dumps(wanted)[:400]}, got {line[:400]}"
