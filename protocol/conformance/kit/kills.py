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
# Exit codes of a coordinator that was ended from outside, or whose place another replica has taken; any other one says that something is wrong.
ENDED = (-signal.SIGKILL, -signal.SIGTERM, 0)
PUSHED_ASIDE = 75


class Replica:
    """One replica of an instance: its coordinator, which starts the app, and which is started again when it was killed."""

    def __init__(self, instance: str, number: int, coordinator: str, options: List[str], app: List[str], folder: str) -> None:
        self.name, self._folder = f"{instance}.r{number}", folder
        self._command = [coordinator, "--log", os.path.join(folder, instance), "--replica", f"r{number}",
                         "--catalog", os.path.join(folder, "catalog"), *options, "--", *app]
        self._output = open(os.path.join(folder, f"{self.name}.txt"), "ab")
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
        if code not in ENDED and code != PUSHED_ASIDE:
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

    def __init__(self, number: int, calls: int, batch: int, killed: threading.Event, contract: Contract, catalog: Catalog) -> None:
        super().__init__(daemon=True)
        ask = {"Op": "Ask", "To": "right", "Number": 1}
        asks = ask if batch == 1 else {"Op": "All", "Steps": [ask] * batch}
        self._steps = [{"Op": "Add", "Number": 1}, asks, {"Op": "Fork", "To": "right", "Number": 1}]
        self._batch = batch
        # A fast machine makes all calls between two looks of the killer, so they end no sooner than the kills. Each kill waits for a
        # bounded number of answers, which bounds them.
        self._calls, self._killed = calls, killed
        self._caller = Caller(contract, catalog, "left", f"lane{number}", CALL_S)
        self.done = 0
        self.wrong: Optional[str] = None

    def run(self) -> None:
        """Makes all calls. Each counts 1 on the left; on the right 1, and 1 for each call of its batch."""
        try:
            while self.done < self._calls or not self._killed.is_set():
                seen = self._caller.call("Do", [self._steps])
                if len(seen) != self._batch or not all(one.isdigit() for one in seen):
                    self.wrong = f"Do gave {seen}, and {self._batch} results of calls were expected"
                    return
                self.done += 1
        except (Failed, TimeoutError) as error:
            self.wrong = str(error)
        finally:
            self._caller.close()


class Kills:
    """Two instances of some replicas each, callers, and a killer; the counts behind it."""

    def __init__(self, coordinator: str, apps: Dict[str, List[str]], contract: Contract, seed: int, replicas: int = 1) -> None:
        self._chance, self._contract = random.Random(seed), contract
        self._folder = tempfile.TemporaryDirectory(prefix="ambrosia-kill-")
        catalog = os.path.join(self._folder.name, "catalog")
        os.mkdir(catalog, 0o700)
        self._catalog = Catalog(catalog)
        self._rejections = os.path.join(self._folder.name, "tap.json")
        tap = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tap"), "--report", self._rejections, "--"]
        options = ["--checkpoint-every", "64K", "--checkpoint-bound", "16K"]
        self.take_overs = 0
        self._replicas = [Replica(name, number, coordinator, options, [*tap, *app], self._folder.name)
                          for name, app in apps.items() for number in range(1, replicas + 1)]

    def run(self, cycles: int, lanes: int, calls: int, batch: int = 1, between: int = 7) -> Optional[str]:
        """Kills every few answers, at most `between`. What is wrong; None if the counts are exact."""
        try:
            for replica in self._replicas:
                replica.start()
            killed = threading.Event()
            callers = [Lane(number, calls, batch, killed, self._contract, self._catalog) for number in range(lanes)]
            for lane in callers:
                lane.start()
            return self._kill(callers, cycles, between, killed) or self._check(sum(lane.done for lane in callers), batch)
        finally:
            for replica in self._replicas:
                replica.end()
            self._folder.cleanup()

    def _kill(self, callers: List[Lane], cycles: int, between: int, killed: threading.Event) -> Optional[str]:
        """Kills while the callers call: each cycle as soon as some more calls have been answered. What is wrong, if anything."""
        kills, next_at = 0, 1
        primaries: Dict[str, Optional[str]] = {}
        while any(lane.is_alive() for lane in callers):
            wrong = self._wrong(callers)
            if wrong is not None:
                return wrong
            self._look_at_primaries(primaries)
            done = sum(lane.done for lane in callers)
            if kills < cycles and done >= next_at:
                kills += 1
                next_at = done + self._chance.randrange(1, between + 1)
                self._chance.choice(self._replicas).kill(self._chance.choice(("app", "coordinator", "both")))
            if kills == cycles:
                killed.set()
            callers[0].join(0.02)
        return self._wrong(callers)

    def _look_at_primaries(self, primaries: Dict[str, Optional[str]]) -> None:
        """Counts where another replica than before is primary."""
        for instance in ("left", "right"):
            now, before = self._catalog.primary_replica(instance), primaries.get(instance)
            self.take_overs += int(now is not None and before not in (None, now))
            primaries[instance] = now or before

    def _wrong(self, callers: List[Lane]) -> Optional[str]:
        looks = [replica.look() for replica in self._replicas]
        return next((wrong for wrong in [*looks, *(lane.wrong for lane in callers), self._rejected()] if wrong is not None), None)

    def _rejected(self) -> Optional[str]:
        if not os.path.exists(self._rejections):
            return None
        with open(self._rejections, encoding="utf-8") as file:
            said = json.loads(file.readline())
        return f"the tap says that the {said['side']} breaks {said['sentence']}: {said['what']}"

    def _check(self, calls: int, batch: int) -> Optional[str]:
        totals: Dict[str, Any] = {}
        for name, expected in (("left", calls), ("right", (batch + 1) * calls)):
            caller = Caller(self._contract, self._catalog, name, f"checker-{name}", CALL_S)
            until = time.monotonic() + STARTS_S
            # The last forks may still be under way.
            while time.monotonic() < until and totals.get(name) != expected:
                totals[name] = caller.call("Total", [])
                for replica in self._replicas:
                    replica.look()
            caller.close()
            if totals[name] != expected:
                return f"{name} has counted {totals[name]}, and {expected} were told to it"
        return self._rejected()
