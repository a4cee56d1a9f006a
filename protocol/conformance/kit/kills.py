"""Kills a real coordinator, its app, or both, while callers call; counts must be exact behind all of it."""
from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import tempfile
import threading
import time
from typing import Any, Dict, List, Optional

from .client import Caller, Catalog, Failed
from .contract import Contract

STARTS_S, CALL_S = 60.0, 120.0
# Exit codes of a coordinator that was ended from outside; any other one says that something is wrong.
ENDED = (-signal.SIGKILL, -signal.SIGTERM, 0)


class Instance:
    """One instance: its coordinator, which starts the app, and which is started again when it was killed."""

    def __init__(self, name: str, coordinator: str, options: List[str], app: List[str], folder: str) -> None:
        self.name, self._folder = name, folder
        self._command = [coordinator, "--log", os.path.join(folder, name), "--catalog", os.path.join(folder, "catalog"), *options, "--", *app]
        self._output = open(os.path.join(folder, f"{name}.txt"), "ab")
        self._process: Optional[subprocess.Popen] = None
        self.starts = 0

    def start(self) -> None:
        """Starts the coordinator."""
        self.starts += 1
        self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=self._output, stderr=self._output)

    def look(self) -> Optional[str]:
        """Starts a coordinator again that has been killed. What is wrong if it has ended by itself."""
        assert self._process is not None
        code = self._process.poll()
        if code is None:
            return None
        if code not in ENDED:
            return f"the coordinator of {self.name} ended with {code}; it said: {self.said()}"
        self.start()
        return None

    def processes(self) -> List[int]:
        """The coordinator and what it has started, the app last."""
        assert self._process is not None
        found, at = [self._process.pid], 0
        while at < len(found):
            found += _children(found[at])
            at += 1
        return found

    def kill(self, what: str) -> None:
        """kill -9 of the app, the coordinator, or both."""
        processes = self.processes()
        victims = {"app": processes[-1:], "coordinator": processes[:1], "both": processes}[what]
        for process in victims if len(processes) > 1 or what != "app" else []:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def end(self) -> None:
        """Ends the coordinator, and its app with it."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STARTS_S)
            except subprocess.TimeoutExpired:
                self.kill("both")
                self._process.wait()
        self._output.close()

    def said(self) -> str:
        """The last lines of coordinator and app."""
        with open(os.path.join(self._folder, f"{self.name}.txt"), "rb") as file:
            return file.read()[-3000:].decode(errors="replace")


def _children(process: int) -> List[int]:
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


class Lane(threading.Thread):
    """One caller outside, who has the first instance call the second and tell it: so many times, and on until the last kill."""

    def __init__(self, number: int, calls: int, killed: threading.Event, contract: Contract, catalog: Catalog) -> None:
        super().__init__(daemon=True)
        # A fast machine makes all calls between two looks of the killer, so they end no sooner than the kills. Each kill waits for eight
        # calls at most, which bounds them.
        self._calls, self._killed = calls, killed
        self._caller = Caller(contract, catalog, "left", f"lane{number}", CALL_S)
        self.done = 0
        self.wrong: Optional[str] = None

    def run(self) -> None:
        """Makes all calls. Each counts 1 on the left, and 2 on the right."""
        steps = [{"Op": "Add", "Number": 1}, {"Op": "Ask", "To": "right", "Number": 1}, {"Op": "Fork", "To": "right", "Number": 1}]
        try:
            while self.done < self._calls or not self._killed.is_set():
                seen = self._caller.call("Do", [steps])
                if len(seen) != 1 or not seen[0].isdigit():
                    self.wrong = f"Do gave {seen}, and the result of one call was expected"
                    return
                self.done += 1
        except (Failed, TimeoutError) as error:
            self.wrong = str(error)
        finally:
            self._caller.close()


class Kills:
    """Two instances, callers, and a killer; the counts behind it."""

    def __init__(self, coordinator: str, apps: Dict[str, List[str]], contract: Contract, seed: int) -> None:
        self._chance, self._contract = random.Random(seed), contract
        self._folder = tempfile.TemporaryDirectory(prefix="ambrosia-kill-")
        catalog = os.path.join(self._folder.name, "catalog")
        os.mkdir(catalog, 0o700)
        self._catalog = Catalog(catalog)
        self._rejections = os.path.join(self._folder.name, "tap.json")
        tap = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tap"), "--report", self._rejections, "--"]
        options = ["--checkpoint-every", "64K", "--checkpoint-bound", "16K"]
        self._instances = [Instance(name, coordinator, options, [*tap, *app], self._folder.name) for name, app in apps.items()]

    def run(self, cycles: int, lanes: int, calls: int) -> Optional[str]:
        """What is wrong; None if the counts are exact."""
        try:
            for instance in self._instances:
                instance.start()
            killed = threading.Event()
            callers = [Lane(number, calls, killed, self._contract, self._catalog) for number in range(lanes)]
            for lane in callers:
                lane.start()
            return self._kill(callers, cycles, killed) or self._check(sum(lane.done for lane in callers))
        finally:
            for instance in self._instances:
                instance.end()
            self._folder.cleanup()

    def _kill(self, callers: List[Lane], cycles: int, killed: threading.Event) -> Optional[str]:
        """Kills while the callers call: each cycle as soon as some more calls have been answered. What is wrong, if anything."""
        kills, next_at = 0, 1
        while any(lane.is_alive() for lane in callers):
            wrong = self._wrong(callers)
            if wrong is not None:
                return wrong
            done = sum(lane.done for lane in callers)
            if kills < cycles and done >= next_at:
                kills += 1
                next_at = done + self._chance.randrange(1, 8)
                self._chance.choice(self._instances).kill(self._chance.choice(("app", "coordinator", "both")))
            if kills == cycles:
                killed.set()
            callers[0].join(0.02)
        return self._wrong(callers)

    def _wrong(self, callers: List[Lane]) -> Optional[str]:
        looks = [instance.look() for instance in self._instances]
        return next((wrong for wrong in [*looks, *(lane.wrong for lane in callers), self._rejected()] if wrong is not None), None)

    def _rejected(self) -> Optional[str]:
        if not os.path.exists(self._rejections):
            return None
        with open(self._rejections, encoding="utf-8") as file:
            said = json.loads(file.readline())
        return f"the tap says that the {said['side']} breaks {said['sentence']}: {said['what']}"

    def _check(self, calls: int) -> Optional[str]:
        totals: Dict[str, Any] = {}
        for name, expected in (("left", calls), ("right", 2 * calls)):
            caller = Caller(self._contract, self._catalog, name, f"checker-{name}", CALL_S)
            until = time.monotonic() + STARTS_S
            # The last forks may still be under way.
            while time.monotonic() < until and totals.get(name) != expected:
                totals[name] = caller.call("Total", [])
                for instance in self._instances:
                    instance.look()
            caller.close()
            if totals[name] != expected:
                return f"{name} has counted {totals[name]}, and {expected} were told to it"
        return self._rejected()
