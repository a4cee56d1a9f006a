"""Plays scripts with their variations against one probe, several at a time."""
from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Iterator, List, Optional, Sequence

from .contract import Contract
from .conversation import Setup, whole
from .play import Failure
from .report import Result
from .script import ALL_VARIATIONS, PROFILES, Script
from .variations import Context, play


class Selection:
    """Which scripts are played, for which profiles, and in which variations."""

    def __init__(self, level: str = "L4", only: Optional[str] = None, variations: Sequence[str] = ALL_VARIATIONS, rotate: int = 0, seed: int = 1,
                 profiles: Sequence[str] = ()) -> None:
        self._level, self._only, self._rotate, self.seed, self._profiles = level, only, rotate, seed, profiles
        self._variations = [name for name in variations if name != "rings" or "R" in profiles]

    def scripts(self, scripts: List[Script]) -> List[Script]:
        """The scripts up to the level, and of the profiles, whose names contain the text."""
        return [script for script in scripts if (script.level in self._profiles if script.level in PROFILES else script.level <= self._level)
                and self.is_wanted(script.name)]

    def variations(self, name: str, of: Sequence[str]) -> List[str]:
        """The variations of a script. With `rotate`, so many besides `whole`, others for each script and seed."""
        possible = [variation for variation in of if variation != "whole" and variation in self._variations]
        if self._rotate and len(possible) > self._rotate:
            possible = random.Random(f"{self.seed} {name}").sample(possible, self._rotate)
        return ["whole"] + possible

    def is_wanted(self, name: str) -> bool:
        """Whether a script of this name is to be played."""
        return self._only is None or self._only in name


def run(scripts: List[Script], selection: Selection, command: List[str], contract: Contract, patience_s: float, jobs: int) -> Iterator[Result]:
    """The results, as they come."""
    setup = Setup(command, contract, patience_s, whole, {})
    with ThreadPoolExecutor(jobs) as pool:
        for results in pool.map(lambda script: play_script(script, selection, setup), selection.scripts(scripts)):
            yield from results


def play_script(script: Script, selection: Selection, setup: Setup) -> List[Result]:
    """One script in all its variations; without its first play the others mean nothing."""
    context, results = Context(script, setup, selection.seed), []
    for name in selection.variations(script.name, script.variations):
        results.append(_play(name, context))
        if context.base is None:
            break
    return results


def _play(name: str, context: Context) -> Result:
    begin = time.monotonic()
    sentence, step, what = None, 0, ""
    try:
        play(name, context)
    except Failure as failure:
        sentence, step, what = failure.sentence, failure.step, failure.what
    return Result(context.script.name, context.script.level, name, sentence, step, what, time.monotonic() - begin)
