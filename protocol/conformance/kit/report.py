"""Results of plays: the table for people, JSON for machines, and the one line that repeats a failure."""
from __future__ import annotations

import json
import os
import shlex
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Set

from .script import LEVELS

VERSION_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "VERSION")


class Result(NamedTuple):
    """One play: of which script, in which variation, and what was wrong with it (None: nothing)."""

    script: str
    level: str
    variation: str
    sentence: Optional[str]
    step: int
    what: str
    seconds: float

    @property
    def name(self) -> str:
        """What a list of known failures calls it."""
        return f"{self.script} [{self.variation}]"


def kit_version() -> str:
    """The version of the protocol that this kit is of, and of its vectors and scripts."""
    with open(VERSION_FILE, encoding="utf-8") as file:
        return file.read().strip()


def read_known(path: Optional[str]) -> Set[str]:
    """Names of plays that are known to fail, one a line; `#` begins a comment."""
    if path is None:
        return set()
    with open(path, encoding="utf-8") as file:
        lines = (line.split("#")[0].strip() for line in file)
        return {line for line in lines if line}


class Report:
    """The results of one run of the kit."""

    def __init__(self, command: List[str], seed: int, known: Set[str], profiles: Sequence[str] = ()) -> None:
        self._command, self._seed, self._known, self._profiles = command, seed, known, profiles
        self.results: List[Result] = []
        self.binding = ""

    def add(self, result: Result) -> None:
        """One more play."""
        self.results.append(result)

    @property
    def failures(self) -> List[Result]:
        """Plays that failed and were not known to, and those that were known to and passed."""
        return [result for result in self.results if (result.sentence is not None) != (result.name in self._known)]

    @staticmethod
    def line(result: Result) -> str:
        """One play in a line, for the moment when it ends."""
        return f"{'passed' if result.sentence is None else 'FAILED'} {result.level} {result.name} {result.seconds:.2f} s"

    def table(self) -> str:
        """Level by level: scripts, plays, passed, failed, known."""
        lines = [f"{'level':<8}{'scripts':>8}{'plays':>8}{'passed':>8}{'failed':>8}{'known':>8}{'seconds':>9}"]
        for level in LEVELS:
            rows = [result for result in self.results if result.level == level]
            if rows:
                lines.append(_row(level, rows, self._known))
        lines.append(_row("all", self.results, self._known))
        return "\n".join(lines)

    def explain(self, result: Result) -> str:
        """A failure in words, with the line that repeats it."""
        if result.sentence is None:
            return f"FAILED {result.name}: it is in the list of known failures, and it passed: take it out of the list"
        claimed = f"--profiles {','.join(self._profiles)} " if self._profiles else ""
        repeat = (f"protocol/conformance/run {claimed}--only {shlex.quote(result.script)} --variations {result.variation} --seed {self._seed} "
                  f"-- {shlex.join(self._command)}")
        where = "" if result.step == 0 else f"step {result.step}: "
        return f"FAILED {result.name}: {result.sentence}: {where}{result.what}\n    {repeat}"

    def as_json(self) -> Dict[str, Any]:
        """Everything for a machine."""
        return {"kit": kit_version(), "protocol": 1, "binding": self.binding, "seed": self._seed, "profiles": list(self._profiles), "command": self._command,
                "passed": sum(result.sentence is None for result in self.results), "failed": len(self.failures),
                "known": sorted(self._known), "plays": [result._asdict() for result in self.results]}

    def write(self, path: Optional[str]) -> None:
        """The JSON beside the table."""
        if path is not None:
            with open(path, "w", encoding="utf-8") as file:
                json.dump(self.as_json(), file, indent=1)


def _row(level: str, rows: List[Result], known: Set[str]) -> str:
    failed = [row for row in rows if row.sentence is not None]
    expected = [row for row in failed if row.name in known]
    return (f"{level:<8}{len({row.script for row in rows}):>8}{len(rows):>8}{len(rows) - len(failed):>8}{len(failed) - len(expected):>8}"
            f"{len(expected):>8}{sum(row.seconds for row in rows):>9.1f}")
