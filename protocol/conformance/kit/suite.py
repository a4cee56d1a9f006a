"""The parts of what ./test.sh runs, each of which says how many of its checks passed and what is wrong."""
from __future__ import annotations

import os
import random
from concurrent.futures import ThreadPoolExecutor
from typing import Any, List, NamedTuple, Optional, Sequence

from . import callers, coverage, faults, random_values, runner, vectors
from .contract import Contract
from .kills import Kills
from .report import Report
from .script import PROFILES, Script

# What the machine does beside the suite may take long; nothing waits so long where all is well.
PATIENCE_S = 60
# What a commit runs of what a release runs whole: others each day, by the seed.
SAMPLE = 24
REFERENCE_SAMPLE = 120
FAULTS_SAMPLE = 40
CALLERS_SAMPLE = 8
RANDOM_SCRIPTS = 2
KILLS = 4


class Part(NamedTuple):
    """How much of a part passed, what is wrong, what to print, and why it was skipped."""

    passed: int
    wrong: List[str]
    table: str = ""
    skipped: Optional[str] = None


class Suite:
    """All parts, for one seed and scale."""

    def __init__(self, folder: str, scripts: List[Script], seed: int, is_whole: bool, jobs: int) -> None:
        self._folder, self._scripts, self._seed, self._is_whole, self._jobs = folder, scripts, seed, is_whole, jobs
        self._contract = Contract(os.path.join(folder, "Probe.contract.json"))

    def reference(self) -> Part:
        """The kit on its own reference app, which has no fault."""
        return self._plays(self._some(self._scripts, REFERENCE_SAMPLE), faults.reference(self._folder), PROFILES)

    def faults(self) -> Part:
        """Planted faults, each of which must be found."""
        rows = self._some(faults.load(self._folder), FAULTS_SAMPLE)
        with ThreadPoolExecutor(self._jobs) as pool:
            found = list(pool.map(lambda row: faults.judge(self._folder, self._scripts, row, False), rows))
        wrong = [f"FAILED fault {row['fault']}: {why}\n    protocol/conformance/self --only {row['fault']}" for row, why in zip(rows, found) if why]
        return Part(len(rows) - len(wrong), wrong)

    def sentences(self) -> Part:
        """Every sentence is proved, or excused."""
        gaps = [f"FAILED {gap}\n    protocol/conformance/self" for gap in coverage.check(self._folder, self._scripts)]
        return Part(int(not gaps), gaps, coverage.summary(self._folder, self._scripts))

    def csharp(self) -> Part:
        """The kit on the C# binding's probe: a sample of the scripts, others each day, or all of them."""
        probe = self._built("tests", "Ambrosia.Conformance.Probe", "Ambrosia.Conformance.Probe")
        if probe is None:
            return Part(0, [], skipped="tests/Ambrosia.Conformance.Probe is not built")
        values = random_values.scripts(self._contract, self._seed, RANDOM_SCRIPTS * (20 if self._is_whole else 1))
        return self._plays(self._some(self._scripts, SAMPLE) + values, [probe], PROFILES)

    def kills(self) -> Part:
        """The C# probe and the real coordinator under the tap, killed."""
        probe = self._built("tests", "Ambrosia.Conformance.Probe", "Ambrosia.Conformance.Probe")
        coordinator = self._built("ImmortalCoordinator", "ImmortalCoordinator", "ImmortalCoordinator")
        if probe is None or coordinator is None:
            return Part(0, [], skipped="tests/Ambrosia.Conformance.Probe or ImmortalCoordinator is not built")
        count = KILLS * 10 if self._is_whole else KILLS
        wrong = Kills(coordinator, {"left": [probe], "right": [probe]}, self._contract, self._seed).run(count, 2, 3 * count)
        repeat = f"protocol/conformance/kill --seed {self._seed} --cycles {count} --callers 2 --calls {3 * count} --coordinator {os.path.dirname(coordinator)} -- {probe}"
        return Part(int(wrong is None), [] if wrong is None else [f"FAILED kills: {wrong}\n    {repeat}"])

    def _plays(self, scripts: List[Script], command: List[str], profiles: Sequence[str]) -> Part:
        report = Report(command, self._seed, set(), profiles)
        for result in vectors.judge(command, PATIENCE_S):
            report.add(result)
        selection = runner.Selection(rotate=0 if self._is_whole else 1, seed=self._seed, profiles=profiles)
        for result in runner.run(scripts, selection, command, self._contract, PATIENCE_S, self._jobs):
            report.add(result)
        outside = self._some(callers.load(os.path.join(self._folder, "callers")), CALLERS_SAMPLE)
        for result in callers.run(outside, selection, command, self._contract, PATIENCE_S, self._jobs):
            report.add(result)
        wrong = [report.explain(failure) for failure in report.failures]
        return Part(len(report.results) - len(wrong), wrong, report.table())

    def _some(self, each: List[Any], most: int) -> List[Any]:
        return each if self._is_whole or len(each) <= most else random.Random(self._seed).sample(each, most)

    def _built(self, *parts: str) -> Optional[str]:
        folder, name = os.path.join(self._folder, "..", "..", *parts[:-1]), parts[-1]
        path = os.path.abspath(os.path.join(folder, "bin", os.environ.get("AMBROSIA_TEST_CONFIG", "Release"), "net10.0", name))
        return path if os.access(path, os.X_OK) else None
