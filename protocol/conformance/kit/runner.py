"""Plays scripts with their variations against one probe, several at a time."""
from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from queue import Queue
from typing import Callable, Iterator, List, Optional, Sequence

from .contract import Contract
from .conversation import Setup, whole
from .play import Failure
from .report import Result
from .script import ALL_VARIATIONS, PROFILES, Script
from .variations import Context, play


class Selection:
    """Which scripts are played, for which profiles, and in which variations."""

    def __init__(self, level: str = "L4", only: Optional[str] = None, variations: Sequence[str] = ALL_VARIATIONS, rotate: int = 0, seed: int = 1,
                 profiles: Sequence[str] = (), lowest: str = "L0") -> None:
        self._lowest, self._level, self._only, self._rotate, self.seed, self._profiles = lowest, level, only, rotate, seed, profiles
        self._variations = [name for name in variations if name != "rings" or "R" in profiles]

    def scripts(self, scripts: List[Script]) -> List[Script]:
        """The scripts of the levels and of the profiles whose names contain the text."""
        return [script for script in scripts if self.has_level(script.level) and self.is_wanted(script.name)]

    def has_level(self, level: str) -> bool:
        """Whether a level is between the lowest and the highest, or a profile that the binding claims."""
        return level in self._profiles if level in PROFILES else self._lowest <= level <= self._level

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
    """The result of each play as it ends."""
    setup = Setup(command, contract, patience_s, whole, {})
    yield from side_by_side([lambda add, script=script: _play_script(script, selection, setup, add) for script in selection.scripts(scripts)], jobs)


def side_by_side(tasks: Sequence[Callable[[Callable[[Result], None]], None]], jobs: int) -> Iterator[Result]:
    """Runs the tasks, `jobs` at a time. Yields each result in the moment when a task adds it; an error of a task is raised at the end."""
    results: "Queue[Optional[Result]]" = Queue()

    def run_one(task: Callable[[Callable[[Result], None]], None]) -> None:
        try:
            task(results.put)
        finally:
            results.put(None)
    with ThreadPoolExecutor(jobs) as pool:
        futures, running = [pool.submit(run_one, task) for task in tasks], len(tasks)
        while running:
            result = results.get()
            if result is None:
                running -= 1
            else:
                yield result
        for future in futures:
            future.result()


def _play_script(script: Script, selection: Selection, setup: Setup, add: Callable[[Result], None]) -> None:
    """Plays one script in all its variations. Without its first play the others mean nothing."""
    context = Context(script, setup, selection.seed)
    for name in selection.variations(script.name, script.variations):
        add(_play(name, context))
        if context.base is None:
            break


def _play(name: str, context: Context) -> Result:
    begin = time.monotonic()
    sentence, step, what = None, 0, ""
    try:
        play(name, context)
    except Failure as failure:
        sentence, step, what = failure.sentence, failure.step, failure.what
    return Result(context.script.name, context.script.level, name, sentence, step, what, time.monotonic() - begin)
