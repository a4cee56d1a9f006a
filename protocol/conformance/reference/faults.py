"""The faults that can be planted into the reference app, one a process: `--fault NAME`. `faults.json` says which sentence each breaks."""
from __future__ import annotations

_planted = ""


def plant(name: str) -> None:
    """Plants one fault for the life of this process."""
    global _planted
    _planted = name


def has(name: str) -> bool:
    """Whether this fault is planted."""
    return _planted == name
