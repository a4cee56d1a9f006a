"""Flows: the suspended calls of `Do` as data. A flow is run again with its journal behind a restore (docs/image.md, I4.6)."""
from __future__ import annotations

from typing import Any, Callable, Dict, Generator, List, Optional, Tuple

from encoding import crc64, pack, unpack
from faults import has

SAY, ADD, READ, FORK, FORK_DO, CALL, ASK, THROUGH, THROW, DELAY, ALL, ANY, WITHIN, TASK, GUID, RANDOM, NOW, CHECKPOINT, PULSE, AGAIN, PASS, EVERY, STOP = range(23)
TIMEOUT = ["Ambrosia.Timeout", "The result did not come in time.", None]
Wait = Tuple[str, List["Leaf"]]


class Failed(Exception):
    """A handler's failure, as it travels (P4.4), and what to say about it to people."""

    def __init__(self, chain: List[Any]) -> None:
        super().__init__(chain[0])
        self.chain = chain


class Differs(Exception):
    """A flow does something else behind the restore than before it."""


class _Again(Exception):
    def __init__(self, steps: List[Dict[str, Any]]) -> None:
        super().__init__("again")
        self.steps = steps


class Leaf:
    """One thing that a flow waits for: a call, a timer or a task by its number."""

    def __init__(self, ordinal: int, kind: str, number: int) -> None:
        self.ordinal, self.kind, self.number = ordinal, kind, number
        self.done_as, self.is_failure, self.value = 0, False, None


class Flow:
    """One call of `Do`. Everything that it is told goes into its journal: [0, leaf, isFailure, value] or [1, step's value]."""

    def __init__(self, host: Any, number: int, steps: List[Dict[str, Any]], answers: Any) -> None:
        self.host, self.number, self.answers = host, number, answers
        self._begin(steps)

    def _begin(self, steps: List[Dict[str, Any]]) -> None:
        self.steps, self.journal, self.leaves, self.waiting = steps, [], {}, {}
        self.operations, self.hash, self._done = 0, 0, 0
        self._cursor, self._restored = 0, None
        self._wait: Optional[Wait] = None
        self._program: Generator[Wait, None, List[str]] = _do(self, steps)

    def start(self) -> None:
        """Runs to the first wait, or to the end."""
        self._advance()

    def tell(self, ordinal: int, is_failure: bool, value: Any) -> None:
        """The answer to a leaf."""
        self.journal.append([0, ordinal, is_failure, value])
        self._cursor += 1
        self._complete(ordinal, is_failure, value)
        if self._is_ready():
            self._advance()

    def _complete(self, ordinal: int, is_failure: bool, value: Any) -> None:
        leaf = self.leaves[ordinal]
        self._done += 1
        leaf.done_as, leaf.is_failure, leaf.value = self._done, is_failure, value
        self.waiting.pop(ordinal, None)

    def _is_ready(self) -> bool:
        if self._wait is None:
            return True
        done = [leaf.done_as > 0 for leaf in self._wait[1]]
        return any(done) if self._wait[0] == "any" else all(done)

    def _advance(self) -> None:
        try:
            while self._is_ready():
                self._wait = next(self._program)
        except StopIteration as end:
            self.host.flow_done(self, None, end.value)
        except _Again as again:
            self.operation(AGAIN, pack(len(again.steps)))
            self._begin(again.steps)
            self._advance()
        except Failed as failure:
            self.host.flow_done(self, failure.chain, None)

    # ---- what a flow may do ----

    @property
    def is_live(self) -> bool:
        """False while the flow is run again: then nothing is emitted, and no step runs."""
        return self._restored is None

    def operation(self, kind: int, detail: bytes) -> None:
        """Notes what the flow does, so that a restore can compare it."""
        self.operations += 1
        self.hash = crc64(bytes([kind]) + detail, self.hash)

    def step(self, value: Callable[[], Any]) -> Any:
        """The value of a step: computed once, and taken from the journal behind a restore."""
        if self.is_live:
            said = value()
            self.journal.append([1, said])
            self._cursor += 1
            return said
        if self._cursor == len(self.journal) or self.journal[self._cursor][0] != 1:
            raise Differs("a step that the journal does not have")
        self._cursor += 1
        return self.journal[self._cursor - 1][1]

    def leaf(self, kind: str, detail: bytes, begin: Callable[[int], int]) -> Leaf:
        """Begins to wait for something; `begin` gives its number."""
        ordinal = len(self.leaves)
        self.operation({"call": CALL, "timer": DELAY, "task": TASK}[kind], detail)
        if self.is_live:
            number = begin(ordinal)
        else:
            number = self._restored.get(ordinal, (kind, 0))[1]
        leaf = self.leaves[ordinal] = Leaf(ordinal, kind, number)
        self.waiting[ordinal] = leaf
        return leaf

    def tell_others(self, kind: int, detail: bytes, act: Callable[[], None]) -> None:
        """Something that is emitted and not waited for."""
        self.operation(kind, detail)
        if self.is_live or has("restore-sends-again"):
            act()

    def give_up(self, leaf: Leaf) -> None:
        """Nobody waits for this any more."""
        if leaf.done_as:
            return
        self.waiting.pop(leaf.ordinal, None)
        if self.is_live:
            self.host.give_up(leaf)

    # ---- images ----

    def save(self) -> List[Any]:
        """The flow as data."""
        journal = self.journal[:-1] if has("journal-entry-lost") and len(self.journal) > 1 else self.journal
        waiting = [[leaf.ordinal, leaf.kind, leaf.number] for leaf in self.waiting.values()]
        return [self.number, self.steps, self.answers, journal, self.operations, self.hash, waiting]

    @staticmethod
    def restore(host: Any, row: List[Any]) -> "Flow":
        """Runs a flow again with its journal up to where it waits."""
        number, steps, answers, journal, operations, digest, waiting = row
        flow = Flow(host, number, [_step(step) for step in steps], answers)
        flow.journal = journal
        flow._restored = {ordinal: (kind, leaf) for ordinal, kind, leaf in waiting}
        flow._run_again()
        if (flow.operations, flow.hash) != (operations, digest) or set(flow.waiting) != set(flow._restored):
            raise Differs(f"flow {number} does something else than before its image")
        flow._restored = None
        return flow

    def _run_again(self) -> None:
        while True:
            while self._is_ready():
                try:
                    self._wait = next(self._program)
                except (StopIteration, _Again, Failed):
                    raise Differs("the flow ends where it waited") from None
            if self._cursor == len(self.journal):
                return
            kind, *told = self.journal[self._cursor]
            if kind != 0 or told[0] not in self.leaves:
                raise Differs("the flow waits where it had a step")
            self._cursor += 1
            self._complete(*told)


def _step(row: Dict[str, Any]) -> Dict[str, Any]:
    return {**row, "Steps": [_step(step) for step in row["Steps"]]}


def _seen(leaf: Leaf) -> List[str]:
    if leaf.is_failure:
        return [f"{leaf.value[0]}: {leaf.value[1]}"]
    if leaf.kind == "timer":
        return []
    return [str(leaf.value)] if isinstance(leaf.value, int) else list(leaf.value)


def _first(leaves: List[Leaf]) -> Leaf:
    return min((leaf for leaf in leaves if leaf.done_as), key=lambda leaf: leaf.done_as)


def _do(at: Flow, steps: List[Dict[str, Any]]) -> Generator[Wait, None, List[str]]:
    """The interpreter of the probe's contract (README)."""
    seen: List[str] = []
    host = at.host
    for step in steps:
        op, to, number, text, inner = step["Op"], step["To"], step["Number"], step["Text"], step["Steps"]
        if op == SAY:
            seen.append(text)
        elif op == ADD:
            at.step(lambda: host.probe.count(number))
        elif op == READ:
            seen.append(str(host.probe.total if has("read-outside-of-step") else at.step(lambda: host.probe.total)))
        elif op in (FORK, PASS):
            amount = int(seen[-1]) if op == PASS else number
            at.tell_others(FORK, pack([to, amount]), lambda: host.fork(to, "Add", [amount]))
        elif op == FORK_DO:
            at.tell_others(op, pack([to, inner]), lambda: host.fork(to, "Do", [inner]))
        elif op in (CALL, ASK, DELAY, TASK):
            leaf = _leaf(at, step)
            yield "all", [leaf]
            seen += _seen(leaf)
        elif op == THROUGH:
            leaf = _leaf(at, {**step, "Op": ASK})
            yield "all", [leaf]
            if leaf.is_failure:
                raise Failed(["Ambrosia.CallFailed", leaf.value[1], leaf.value])
            seen += _seen(leaf)
        elif op == THROW:
            raise Failed(["Conformance.Refused", text, None])
        elif op == ALL:
            leaves = [_leaf(at, each) for each in inner]
            yield "all", leaves
            seen += [word for leaf in leaves for word in _seen(leaf)]
        elif op == ANY:
            leaves = [_leaf(at, each) for each in inner]
            yield "any", leaves
            first = _first(leaves)
            seen += [str(leaves.index(first))] + _seen(first)
            for leaf in leaves:
                at.give_up(leaf)
        elif op == WITHIN:
            leaf, timer = _leaf(at, inner[0]), _leaf(at, {**step, "Op": DELAY})
            yield "any", [leaf, timer]
            seen += _seen(leaf) if leaf.done_as else [f"{TIMEOUT[0]}: {TIMEOUT[1]}"]
            for each in (leaf, timer):
                at.give_up(each)
        elif op == GUID:
            seen.append(at.step(host.probe.guid))
        elif op == RANDOM:
            seen.append(str(at.step(host.probe.random)))
        elif op == NOW:
            seen.append(str(at.step(host.clock)))
        elif op == CHECKPOINT:
            at.tell_others(op, b"", host.want_checkpoint)
        elif op == PULSE:
            at.step(lambda: host.probe.pulses.append([to, number, text]))
        elif op == AGAIN:
            raise _Again(inner)
        elif op in (EVERY, STOP):
            at.tell_others(op, pack(number), (lambda: host.begin_beat(number)) if op == EVERY else host.end_beat)
    return seen


def _leaf(at: Flow, step: Dict[str, Any]) -> Leaf:
    host, to, number = at.host, step["To"], step["Number"]
    if step["Op"] == ASK:
        return at.leaf("call", pack([to, number]), lambda leaf: host.call(to, "Add", [number], at.number, leaf))
    if step["Op"] == CALL:
        return at.leaf("call", pack([to, step["Steps"]]), lambda leaf: host.call(to, "Do", [step["Steps"]], at.number, leaf))
    if step["Op"] == TASK:
        return at.leaf("task", pack([number, step["Text"]]), lambda leaf: host.begin_task(number, step["Text"], at.number, leaf))
    return at.leaf("timer", pack(number), lambda leaf: host.begin_timer(number, at.number, leaf))


__all__ = ["Differs", "Failed", "Flow", "unpack"]
