"""How messages are executed: plain methods, flows, answers, keys, and what becomes of failures nobody awaits."""
from __future__ import annotations

import struct
from typing import Any, Dict, List, Optional, Tuple

from encoding import Cursor, Undecodable, crc64, pack, string, unpack, varint
from faults import has
from flows import Failed, Flow, Leaf
from messages import Message, Stopped, TEXTS_MAX, cut
from outbound import ANSWER, CALL, CLIENT_FAILURE, FAILURE, FORK, IMPULSE, RESULT, Outbound
from probe import Probe, wrap
from values import Contract, Method, UnknownCase
from world import World

MESSAGES_MAX, ARGUMENT_BYTES_MAX = 1000, 64 << 20
HOUR_US = 3_600_000_000


class Handlers:
    """Executes messages against the probe, and keeps what waits. It is the host of flows."""

    def __init__(self, out: Outbound) -> None:
        self.out, self.world, self.contract = out, World(), Contract()
        self.probe = Probe(self)
        self.name = ""
        self.is_primary = False
        self.ahead: List[Tuple[int, int]] = []
        self.lsn = 0
        self.is_in_query = False

    # ---- what handlers send ----

    def clock(self) -> int:
        """The time of the record that is executed."""
        import time
        return time.time_ns() // 1000 if has("wall-clock-as-now") else self.world.now

    def fork(self, to: str, method: str, values: List[Any]) -> None:
        """A fork; it fails if it is too long, and nothing of it is sent (P3.4)."""
        known = self.contract.by_name(method)
        body = varint(known.id) + self.contract.write_arguments(known, values)
        if not self.out.fits(body):
            raise Failed(["Ambrosia.TooLong", f"The message is longer than the limit of {self.out.limit} bytes.", None])
        self.out.message(FORK, to or self.name, body)

    def call(self, to: str, method: str, values: List[Any], flow: int, leaf: int) -> int:
        """A call that a flow waits for; its number."""
        known, number = self.contract.by_name(method), self.world.next_call
        self.world.next_call += 2 if has("call-id-skipped") else 1
        self.world.calls[number] = [to or self.name, known.id, flow, leaf]
        self.out.message(CALL, to or self.name, varint(known.id) + varint(number) + self.contract.write_arguments(known, values))
        return number

    def begin_timer(self, us: int, flow: int, leaf: int) -> int:
        """A timer that a flow waits for."""
        number, due = self.world.next_timer, self.world.now + us
        self.world.next_timer += 1
        self.world.timers[number] = [due, flow, leaf]
        self.say_timer(number)
        return number

    def say_timer(self, number: int) -> None:
        """TimerSet (P5.14)."""
        self.out.frame(0x19, struct.pack("<Qq", number, self.world.timers[number][0]))

    def begin_beat(self, period: int) -> None:
        """The periodic timer of the probe."""
        number = self.world.beat = self.world.next_timer
        self.world.next_timer += 1
        self.world.timers[number] = [self.world.now + period, 0, period]
        self.say_timer(number)

    def end_beat(self) -> None:
        """Ends the periodic timer."""
        if self.world.timers.pop(self.world.beat, None) and not has("timer-not-dropped"):
            self.out.frame(0x1A, struct.pack("<Q", self.world.beat))
        self.world.beat = 0

    def begin_task(self, number: int, text: str, flow: int, leaf: int) -> int:
        """A task that a flow waits for; a primary begins it at once."""
        task = self.world.next_task
        self.world.next_task += 1
        self.world.tasks[task] = [number, text, flow, leaf]
        if self.is_primary or has("task-on-secondary"):
            self.run_task(task)
        return task

    def run_task(self, task: int) -> None:
        """The body of a task, which gives an input (P5.15)."""
        number, text = self.world.tasks[task][:2]
        failed = number < 0
        self.out.frame(0x1B, struct.pack("<QB", task, failed) + pack(["Conformance.Refused", text, None] if failed else wrap(2 * number)))

    def give_up(self, leaf: Leaf) -> None:
        """A flow waits for this no more."""
        {"call": self.world.calls, "timer": self.world.timers, "task": self.world.tasks}[leaf.kind].pop(leaf.number, None)
        if leaf.kind == "timer" and not has("timer-not-dropped"):
            self.out.frame(0x1A, struct.pack("<Q", leaf.number))

    def want_checkpoint(self) -> None:
        """CheckpointWanted (P5.11)."""
        self.out.frame(0x18)

    # ---- messages ----

    def execute(self, message: Message) -> None:
        """Gives a message to its handler, and answers if it is not suspended."""
        method = self.contract.methods.get(message.method)
        try:
            if method is None or method.is_query:
                raise Failed(["Ambrosia.NoMethod", f"Method 0x{message.method:X} is not in the contract.", None])
            values = self._arguments(method, message.arguments)
            if method.name == "Do":
                self._begin_flow(message, values[0])
                return
            self._answer(message, method, getattr(self.probe, method.name)(*values))
        except Failed as failure:
            self._failed(message, failure.chain)

    def _arguments(self, method: Method, data: bytes) -> List[Any]:
        try:
            return self.contract.read_arguments(method, data)
        except UnknownCase as case:
            raise Failed(["Ambrosia.UnknownCase", f"{case.args[0]} has no case {case.args[1]} in this version of the contract.", None]) from None
        except (Undecodable, TypeError, KeyError, ValueError) as error:
            words = f" ({error!r})" if has("engine-text-in-failure") else ""
            raise Failed(["Ambrosia.BadArguments", f"The arguments of method 0x{method.id:X} cannot be decoded.{words}", None]) from None

    def _begin_flow(self, message: Message, steps: List[Dict[str, Any]]) -> None:
        number = self.world.next_flow
        self.world.next_flow += 1
        message.kept = message.kind in (FORK, IMPULSE) and message.asker is None and self.world.policy == 2
        flow = self.world.flows[number] = Flow(self, number, steps, message.save())
        flow.start()

    def flow_done(self, flow: Flow, failure: Optional[List[Any]], seen: Optional[List[str]]) -> None:
        """A flow has come to its end."""
        del self.world.flows[flow.number]
        for leaf in flow.waiting.values():
            self.give_up(leaf)
        message = Message.restore(flow.answers)
        is_late = bool(flow.leaves)
        if failure is not None:
            self._failed(message, failure, is_late)
        else:
            self._answer(message, self.contract.by_name("Do"), seen)

    def _answer(self, message: Message, method: Method, value: Any) -> None:
        if message.kind == FORK and has("fork-answered"):
            self.out.message(RESULT, message.caller, varint(method.id) + varint(1) + self.contract.write_result(method, value))
        if message.kind == CALL:
            body = varint(method.id) + varint(message.call) + self.contract.write_result(method, value)
            if not self.out.fits(body):
                raise Failed(["Ambrosia.TooLong", f"The message is longer than the limit of {self.out.limit} bytes.", None])
            self._send_answer(RESULT, message, body)
        elif message.asker or message.key is not None:
            self._answer_outside(message, 0, self.contract.write_result(method, value))

    def _send_answer(self, kind: int, message: Message, body: bytes) -> None:
        if message.caller in self.world.origins or message.caller == self.name or has("forgotten-peer-answered"):
            self.out.message(kind, message.caller, body)
            if has("answered-twice"):
                self.out.message(kind, message.caller, body)

    def _failed(self, message: Message, chain: List[Any], is_late: bool = False) -> None:
        chain = cut(chain, TEXTS_MAX)
        if message.kind == CALL:
            self._send_answer(FAILURE, message, varint(message.method) + varint(message.call) + pack(chain))
            return
        if not message.asker:
            self._unawaited(message, chain, is_late)
        if message.asker or message.key is not None:
            self._answer_outside(message, 1, pack(chain))

    # ---- callers outside, and keys (P10.6, P10.8) ----

    def take_request(self, message: Message) -> None:
        """A request of a caller outside, or an impulse with a key."""
        if message.key is not None and self._is_known(message):
            return
        self.execute(message)

    def _is_known(self, message: Message) -> bool:
        """Whether a key was used before; who asks is told what is known."""
        self.trim_by_age()
        place = (0 if has("key-of-another-method") else message.method, message.key or b"")
        digest, row = crc64(message.arguments), self.world.window.get(place)
        if row is None:
            self.world.window[place] = [digest, None, b"", 0, [message.asker] if message.asker else []]
            return False
        if row[0] != digest and not has("key-reused-accepted"):
            if message.asker:
                self._say(1, message.asker, message.method, pack(["Ambrosia.KeyReused", "The key was used for this method before, with other arguments. "
                                                                  "Nothing was done: give each request a key of its own.", None]))
        elif row[1] is None:
            if message.asker:
                row[4].append(message.asker)
        elif message.asker:
            self._say(row[1], message.asker, message.method, row[2])
        return not has("key-executed-twice")

    def _answer_outside(self, message: Message, status: int, content: bytes) -> None:
        askers = [message.asker] if message.asker else []
        if message.key is not None:
            place = (0 if has("key-of-another-method") else message.method, message.key)
            row = self.world.window.pop(place, [0, None, b"", 0, askers])
            askers = row[4]
            self.world.window[place] = [row[0], status, content, self.world.key_time, []]
        for asker in askers:
            self._say(status, asker, message.method, content)

    def _say(self, status: int, asker: List[int], method: int, content: bytes) -> None:
        self.out.answer(CLIENT_FAILURE if status else ANSWER, (asker[0], asker[1]), varint(method) + varint(asker[2]) + content)

    def trim_by_age(self) -> None:
        """Answers leave the window by the time of the log."""
        age = self.world.window_limits[0]
        if not has("window-not-trimmed-by-time"):
            self._drop(lambda row: self.world.key_time - row[3] >= age and self.world.key_time > row[3])

    def trim_by_size(self) -> None:
        """Answers leave the window, oldest first, while there are too many; only between records."""
        done = [(place, row) for place, row in self.world.window.items() if row[1] is not None]
        size = sum(len(place[1]) + len(row[2]) + 64 for place, row in done)
        while done and (len(done) > self.world.window_limits[1] or size > self.world.window_limits[2]) and not has("window-not-trimmed-by-count"):
            place, row = done.pop(0)
            size -= len(place[1]) + len(row[2]) + 64
            del self.world.window[place]

    def _drop(self, is_old: Any) -> None:
        for place in [place for place, row in self.world.window.items() if row[1] is not None and is_old(row)]:
            del self.world.window[place]

    # ---- failures that nobody awaits (log-format L5.12, L5.13) ----

    def _policy_for(self, has_room: bool) -> int:
        def stops(policy: int) -> bool:
            return policy == 1 or (policy == 2 and not has_room)
        if not stops(self.world.policy):
            return self.world.policy
        later = [] if has("policy-of-the-record-behind") else [policy for lsn, policy in self.ahead if lsn > self.lsn and not stops(policy)]
        return later[0] if later else 1

    def _unawaited(self, message: Message, chain: List[Any], is_late: bool) -> None:
        room = not self.world.aside or (len(self.world.aside) < MESSAGES_MAX
                                        and len(message.arguments) + sum(len(row[4]) for row in self.world.aside.values()) <= ARGUMENT_BYTES_MAX)
        policy = self._policy_for(room or (is_late and not message.kept))
        if policy == 1 and not has("stop-ignored"):
            raise Stopped(4, f"method 0x{message.method:X} failed at {message.place[0]}:{message.place[1]}, and the fork policy is to stop: {chain[0]}")
        if policy == 2 and (message.kept or not is_late):
            self._set_aside(message, chain)

    def _set_aside(self, message: Message, chain: List[Any]) -> None:
        self.world.decisions += 1
        why = f"{chain[0]}: {chain[1]}"[:1000]
        kind = IMPULSE if message.kind != FORK else FORK
        row = [self.world.decisions, kind, message.caller, message.method, message.arguments, message.tries + 1, self.world.now, why]
        self.world.aside[message.place] = row
        self.say_set_aside(message.place, self.is_primary)

    def say_set_aside(self, place: Tuple[int, int], is_unlogged: bool) -> None:
        """SetAside (P5.16)."""
        decision, kind, caller, method, arguments, tries, time_us, why = self.world.aside[place]
        self.out.frame(0x1C, struct.pack("<QQIBqH", decision, *place, is_unlogged, time_us, 0) + string(caller)
                       + struct.pack("<BIIQ", kind, method, tries, len(arguments)) + string(why))

    def quarantine(self, place: Tuple[int, int], action: int) -> None:
        """A Quarantine record (L5.12)."""
        row = self.world.aside.get(place)
        if action == 0:
            if (row is None or row[0] != self.world.met + 1) and not has("quarantine-record-not-compared"):
                raise Stopped(3, f"the log says that message {place[0]}:{place[1]} was set aside, and it was not (L5.12)")
            self.world.met += 1
            return
        if row is None:
            return
        del self.world.aside[place]
        before = self.world.decisions
        if action == 1:
            message = Message(place, row[1], row[2], row[3], row[4])
            message.tries = row[5]
            self.execute(message)
        if self.world.decisions == before:
            self.out.frame(0x1D, struct.pack("<QI", *place))

    # ---- what flows wait for ----

    def take_answer(self, kind: int, origin_name: str, message: Cursor) -> None:
        """A result or a failure: it counts if it is awaited, and from whom (P3.9)."""
        method, number, content = message.varint(), message.varint(), message.rest()
        row = self.world.calls.get(number)
        if row is None or (row[0] != origin_name and not has("answer-of-another-accepted")):
            if row is None and has("unknown-answer-ends-app"):
                raise Stopped(2, f"no call {number} is awaited")
            return
        if not has("call-completed-twice"):
            del self.world.calls[number]
        is_failure, value = kind == FAILURE, None
        try:
            value = unpack(content)[0] if is_failure else self.contract.read_result(self.contract.methods[row[1]], content)
            is_whole = not is_failure or (isinstance(value, list) and len(value) == 3)
        except (Undecodable, TypeError, KeyError, ValueError):
            is_whole = False
        if not is_whole:
            value = ["Ambrosia.BadFailure", "The failure cannot be decoded.", None] if is_failure else \
                ["Ambrosia.BadResult", f"The result of method 0x{row[1]:X} cannot be decoded.", None]
            is_failure = True
        self._tell(row[2], row[3], is_failure, value)

    def _tell(self, flow: int, leaf: int, is_failure: bool, value: Any) -> None:
        if flow in self.world.flows and (leaf in self.world.flows[flow].waiting or has("call-completed-twice")):
            self.world.flows[flow].tell(leaf, is_failure, value)

    def take_task(self, task: int, status: int, content: bytes) -> None:
        """NondetResult (L5.9, L5.11)."""
        if (task >= self.world.next_task or not task) and not has("unbegun-task-accepted"):
            raise Stopped(3, f"the log has a result of task {task}, which was not begun (L5.11)")
        row = self.world.tasks.get(task) if has("second-task-result-taken") else self.world.tasks.pop(task, None)
        if row is None:
            return
        try:
            value = unpack(content)[0]
            is_whole = isinstance(value, list if status else int)
        except Undecodable:
            is_whole = False
        if not is_whole:
            status, value = 1, ["Ambrosia.BadResult", f"The result of task {task} cannot be decoded.", None]
        self._tell(row[2], row[3], bool(status), value)

    def fire(self, timer: int, due: int) -> None:
        """TimerFired (L5.9, L5.11)."""
        if timer >= self.world.next_timer or not timer:
            raise Stopped(3, f"the log says that timer {timer} fired, which was not set (L5.11)")
        row = self.world.timers.get(timer)
        if row is None or (row[0] > self.world.now and not has("timer-fired-early-counts")):
            return
        if not has("fired-timer-not-dropped"):
            self.out.frame(0x1A, struct.pack("<Q", timer))
        if timer == self.world.beat:
            self.probe.count(1)
            self.fork("beat", "Add", [1])
            late = max(0, self.world.now - row[0])
            row[0] += (late // row[2] + 1) * row[2]
            self.say_timer(timer)
            return
        del self.world.timers[timer]
        self._tell(row[1], row[2], False, None)

    def forget(self, origin: int, instance: str) -> None:
        """Forget (L5.14): what awaits the peer fails, in the order of the calls."""
        name = self.world.origins[origin - 1]
        self.world.origins[origin - 1] = None
        if has("forget-fails-nothing"):
            return
        for number in [n for n, row in sorted(self.world.calls.items()) if row[0] == name]:
            row = self.world.calls.pop(number, None)
            if row is not None:
                text = f"An operator has given up {name} ({instance}): its answer will not come, and whether the call took effect there is unknown."
                self._tell(row[2], row[3], True, ["Ambrosia.PeerForgotten", text, None])

    def pass_time(self, time_us: int) -> None:
        """The time of records never falls; that of keys passes by at most an hour from one record to the next (P10.8)."""
        if time_us > self.world.now:
            if self.world.now:
                self.world.key_time += min(time_us - self.world.now, HOUR_US)
            self.world.now = time_us

    def send_pulses(self) -> None:
        """What the probe does when it becomes primary: impulses (P5.9)."""
        if has("impulses-not-sent"):
            return
        method = self.contract.by_name("Tick")
        for to, number, text in self.probe.pulses:
            key = varint(len(text.encode())) + text.encode() if text else b""
            self.out.message(IMPULSE, to or self.name, varint(method.id) + key + self.contract.write_arguments(method, [number]), bool(text))


__all__ = ["Handlers"]
