"""Plays a script step by step: what goes in, what must come out, and that nothing else does."""
from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional

from . import frames
from .app_side import Queue
from .conversation import Conversation, Setup
from .history import PAGE_BYTES, History
from .ledger import Ledger
from .link import Closed, Stall
from .script import Script, first_difference, queue_of, resolve
from .wire import Violation, crc32c, frame


VIEW = {1: b"\1"}


class Failure(Exception):
    """What was wrong in a play: the sentence, the step (from 1; 0 is the beginning), and what was expected and got."""

    def __init__(self, sentence: str, step: int, what: str) -> None:
        super().__init__(f"step {step}: {sentence}: {what}")
        self.sentence, self.step, self.what = sentence, step, what


class Played(NamedTuple):
    """What a play leaves behind for the variations of it: the log, and what was said to it."""

    history: History
    ledger: Ledger
    ends: List[int]
    is_ended_by_app: bool


class Play:
    """One play of a script in which every step waits for the one before it."""

    def __init__(self, script: Script, setup: Setup) -> None:
        self._script = script
        told = {**script.environment, **({"AMBROSIA_VIEW": "1"} if script.start.endswith("view") else {})}
        self._setup = setup._replace(environment={**setup.environment, **told})
        self.history = History(setup.contract, script.has_marks)
        self.ledger = Ledger()
        self._bound: Dict[str, Any] = {}
        self._ends: List[int] = []
        self._step = 0
        self._queries = 0
        self._was_primary = False
        self._delivered = 0
        self._now: Optional[Conversation] = None
        # Of versions: the image that was made last, and where it stands.
        self._converted, self._begin_at = b"", 0

    def run(self) -> Played:
        """Plays it all. What is wrong is a Failure."""
        try:
            self._begin()
            is_over = False
            for number, step in enumerate(self._script.steps, 1):
                self._step = number
                is_over = self._take(step)
            if not is_over:
                self._finish()
            return Played(self.history, self.ledger, self._ends, is_over)
        except Violation as violation:
            raise Failure(violation.sentence, self._step, violation.what) from None
        except (Stall, Closed) as error:
            raise Failure(getattr(error, "sentence", None) or self._script.proves[0], self._step, str(error)) from None
        finally:
            if self._now is not None:
                self._now.link.kill()

    @property
    def _talk(self) -> Conversation:
        assert self._now is not None
        return self._now

    def _begin(self) -> None:
        """A new instance: FirstStart, its first policy, and what the probe does at its first start."""
        self._now = Conversation(self._setup, self.history, self.ledger, options=VIEW if self._script.start.endswith("view") else None)
        if self._script.start == "hello":
            self._talk.await_hello()
            return
        self._talk.open()
        if self._script.start in ("bare", "empty view"):
            return
        self._append([{"start": True}, {"policy": {}}])
        self._deliver(0)
        self._expect([{"to": "greeter", "fork": "Add", "arguments": [1]}])
        if self._script.start == "primary":
            self._become_primary()

    def _become_primary(self) -> None:
        # A position in the padding of the page (P5.10).
        self._talk.become_primary(self.history.end + 8)
        self._was_primary = True
        self._talk.others = [output for output in self._talk.others if output.queue != ("primary",)]

    def _append(self, inputs: List[Dict[str, Any]]) -> List[int]:
        places = []
        for item in inputs:
            said = resolve(item, self._bound)
            if "timer" in said:
                said.setdefault("due", self._talk.follower.waiting.get(said["timer"], self.history.time_us))
                self.history.pass_time(said["due"])
            places.append(self.history.append(said))
            if "as" in item:
                self._bound[item["as"]] = places[-1]
        return places

    def _deliver(self, mark: int) -> None:
        entries = self.history.entries[self._delivered:]
        self._delivered = len(self.history.entries)
        self._talk.deliver(entries, mark)
        self._await(entries[-1].end)
        self._ends.append(self._delivered)

    def _await(self, position: int) -> None:
        """Until everything is executed; a view that was told to stop before it does so."""
        talk = self._talk
        if not talk.session.is_view:
            talk.await_reported(position)
            return

        def is_done() -> bool:
            return (talk.session.is_stopped or talk.session.reported >= position) and not talk.session.images_owed and not talk.session.is_in_image
        talk.pump(is_done, f"Seen or Processed({position})", "P5.24")

    def _take(self, step: Dict[str, Any]) -> bool:
        """One step. True if the app has ended as it had to."""
        if step.get("page"):
            self.history.next_page()
        if "time" in step:
            self.history.pass_time(self.history.time_us + step["time"])
        queries = self._queries
        if "ends" in step:
            self._end_of_app(step)
            return True
        self._act(step)
        self._expect(step.get("out", []), queries)
        return False

    def _act(self, step: Dict[str, Any]) -> None:
        talk = self._talk
        if "primary" in step:
            self._become_primary()
        if "restart" in step:
            self._restart(step["restart"])
        if "look" in step:
            talk.send(self._look(step["look"]))
        if "go" in step:
            talk.send(frames.frame(frames.GO))
            self._await(self.history.end)
        if "convert" in step:
            self._convert(step["convert"])
        if "again" in step:
            self._begin_again(step["again"])
        if "states" in step and talk.app.hello["version"] != step["states"]:
            raise Violation("P5.0", f"the app states version {talk.app.hello['version']}, and its environment says {step['states']}")
        if "logged" in step:
            talk.send(frames.frame(frames.IMPULSE_LOGGED, step["logged"][0].to_bytes(4, "little") + step["logged"][1].to_bytes(8, "little")))
        for kind, payload in step.get("send", []):
            talk.send(frame(kind, bytes.fromhex(payload)))
        if "in" in step:
            self._deliver(self._mark_of(step, self._append(step["in"])))
        if "query" in step:
            self._queries += 1
            said = step["query"]
            contract = self._setup.contract
            talk.send(frames.query(self._queries, talk.session.delivered, contract.id_of(said["method"]), contract.arguments(said["method"], said.get("arguments", []))))
            talk.pump(lambda: not talk.session.queries, "QueryAnswer", "P5.18")

    def _look(self, said: Dict[str, Any]) -> bytes:
        return frames.look(resolve(said.get("at", 0), self._bound) + said.get("plus", 0), said.get("index", 0), said.get("flags", 0))

    def _convert(self, said: Dict[str, Any]) -> None:
        talk = self._talk
        talk.image = b""
        talk.send(frames.convert(said.get("lsn", 0) or (self.history.end if said["use"] == 1 else 0), said["from"], said["to"], said["use"]))
        talk.pump(lambda: not talk.session.conversions and not talk.session.images_owed and not talk.session.is_in_image, "Converted, or an image", "P5.25")
        if talk.image:
            self._converted = talk.image

    def _begin_again(self, said: Dict[str, Any]) -> None:
        """The same process, another session: of the view from the log's beginning, or of the new version with the image that it has made."""
        talk = self._talk
        if self._script.start != "view":
            talk.begin_again(self._begin_at, self._converted, {})
            return
        begin = talk.image_lsn if "look" in said else 0
        if begin:
            self.ledger.note(begin, talk.follower.counts)
        talk.begin_again(begin, talk.image if begin else None, VIEW, self._look(said["look"]) if begin else b"")
        entries = [entry for entry in self.history.entries if entry.lsn >= begin]
        if entries:
            talk.deliver(entries)
        self._await(self.history.end)

    def _mark_of(self, step: Dict[str, Any], places: List[int]) -> int:
        """The mark of the Deliver frame: at its end, where the next page begins, or before the input of this number."""
        if "mark" not in step:
            return 0
        if step["mark"] == "page":
            return (self.history.end + PAGE_BYTES - 1) // PAGE_BYTES * PAGE_BYTES
        return self.history.end if step["mark"] == "end" else places[step["mark"]]

    def _restart(self, whence: Any) -> None:
        """The app's process dies, and another one begins at the newest image or at the beginning of the log, or as another version."""
        self._talk.link.kill()
        if isinstance(whence, dict):
            return self._as_version(whence)
        begin = max(self.ledger.images) if whence == "image" else 0
        self._now = Conversation(self._setup, self.history, self.ledger, begin, self.ledger.images.get(begin))
        self._talk.open()
        rest = [entry for entry in self.history.entries if entry.lsn >= begin]
        self._talk.deliver(rest)
        self._talk.await_reported(rest[-1].end if rest else begin)
        if self._was_primary:
            self._become_primary()

    def _as_version(self, said: Dict[str, Any]) -> None:
        """Another build, of the version `as`, which is given the state of version `from`."""
        self._begin_at = self.history.end
        self._setup = self._setup._replace(environment={**self._setup.environment, "AMBROSIA_APP_VERSION": str(said["as"])})
        image = bytes.fromhex(said["image"]) if "image" in said else self._converted
        options = {3: said["from"].to_bytes(4, "little")}
        self._now = Conversation(self._setup, self.history, self.ledger, self._begin_at, image, options)
        self._talk.open()

    def _expect(self, expected: List[Dict[str, Any]], queries: int = 0) -> None:
        """What has come since the step began is what is expected, queue by queue."""
        talk = self._talk
        wanted: Dict[Queue, List[Dict[str, Any]]] = {}
        for item in expected:
            wanted.setdefault(queue_of(item), []).append(self._of_query(item, queries))
        got: Dict[Queue, List[Dict[str, Any]]] = {}
        for output in talk.follower.fresh:
            got.setdefault(output.queue, []).append(output.what)
        talk.follower.fresh = []
        self._await_others(wanted)
        for output in talk.others:
            got.setdefault(output.queue, []).append(output.what)
        if ("image",) not in wanted:
            got.pop(("image",), None)
        talk.others = []
        for queue in sorted(set(wanted) | set(got)):
            wrong = first_difference(wanted.get(queue, []), got.get(queue, []), self._bound)
            if wrong is not None:
                raise Failure(self._script.proves[0], self._step, f"{' '.join(queue)}: {wrong}")

    def _of_query(self, item: Dict[str, Any], queries: int) -> Dict[str, Any]:
        if "query" not in item or "value" not in item:
            return item
        value = self._setup.contract.value(item["query"], item["value"])
        return {"query": queries + 1, "bytes": value.hex()}

    def _await_others(self, wanted: Dict[Queue, List[Dict[str, Any]]]) -> None:
        """Impulses and results of tasks come when they come; a play waits for those that it expects."""
        talk = self._talk
        counts = {queue: len(items) for queue, items in wanted.items() if queue[0] in ("impulse", "task", "query", "waiting", "wanted", "image", "seen", "converted")}

        def is_done() -> bool:
            return all(sum(output.queue == queue for output in talk.others) >= count for queue, count in counts.items())
        if not is_done():
            talk.pump(is_done, " and ".join(" ".join(queue) for queue in counts))

    def _end_of_app(self, step: Dict[str, Any]) -> None:
        """A step behind which the app's channel and process must end in a certain way, with nothing said but what is expected."""
        talk, ends = self._talk, step["ends"]
        talk.may_end = True
        if "poke" in step:
            talk.link.poke(*step["poke"])
        if "raw" in step:
            talk.send_raw(self._raw(step["raw"]))
        if "frame" in step:
            talk.send_raw(frame(step["frame"][0], bytes.fromhex(step["frame"][1])))
        if "hangUp" in step:
            talk.link.wake_no_more()
        if "in" in step:
            self._append(step["in"])
            entries = self.history.entries[self._delivered:]
            self._delivered = len(self.history.entries)
            talk.deliver(entries)
        if "cut" in step:
            talk.send_raw(frames.deliver(self.history.end, self.history.time_us, 0, b"")[:step["cut"]])
        if "hangUp" in step or "cut" in step:
            talk.link.pump(talk.take, lambda: True, "the bytes to go out")
            talk.link.close_output()
        if "look" in step or "go" in step or "convert" in step:
            self._say_out_of_place(step)
        if isinstance(step.get("restart"), dict):
            talk = self._with_image(step["restart"])
        try:
            goodbye, code = talk.await_end()
        except Violation as violation:
            raise Failure(self._script.proves[0], self._step, f"the app had to end its session, and went on: {violation}") from None
        self._expect(step.get("out", []))
        codes = [ends["goodbye"]] if isinstance(ends["goodbye"], int) else ends["goodbye"]
        if goodbye is not None and goodbye[0] not in codes or goodbye is None and None not in codes and codes != [2]:
            raise Failure(ends.get("proves", self._script.proves[0]), self._step, f"expected Goodbye {codes}, got {goodbye}; the app said: {talk.link.said()}")
        exits = ends["exit"] if isinstance(ends["exit"], list) else [ends["exit"]]
        if code not in exits:
            raise Failure("P5.13", self._step, f"expected exit code {exits}, got {code}; the app said: {talk.link.said()}")

    def _say_out_of_place(self, step: Dict[str, Any]) -> None:
        for kind, payload in ((frames.LOOK, frames.look(0, 0, 0)), (frames.GO, frames.frame(frames.GO))):
            if frames.NAMES[kind].lower() in step:
                self._talk.send_raw(payload)
        if "convert" in step:
            said = step["convert"]
            self._talk.send_raw(frames.convert(said.get("lsn", 0), said["from"], said["to"], said["use"]))

    def _raw(self, said: str) -> bytes:
        """Bytes of a script: `crc HEX` is a header to which its checksum is added, `deliver[@LSN] HEX` a Deliver of these record bytes."""
        kind, _, rest = said.rpartition(" ") if said.startswith("crc") else said.partition(" ")
        if said.startswith("crc"):
            header = bytes.fromhex(rest)
            return header + crc32c(header).to_bytes(4, "little")
        if not said.startswith("deliver"):
            return bytes.fromhex(said)
        lsn = int(kind[8:]) if "@" in kind else self.history.end
        return frames.deliver(lsn, self.history.time_us, 0, bytes.fromhex(rest))

    def _with_image(self, said: Dict[str, Any]) -> Conversation:
        """A new process that is given an image of a script, or the newest one with a wrong checksum."""
        self._talk.link.kill()
        self.ledger.note(self.history.end, self._talk.follower.counts)
        begin = max(self.ledger.images) if "spoilt" in said else self.history.end
        image = self.ledger.images[begin] if "spoilt" in said else bytes.fromhex(said["image"])
        self._now = Conversation(self._setup, self.history, self.ledger, begin, image)
        self._now.may_end = True
        self._now.open(is_spoilt="spoilt" in said)
        return self._now

    def _finish(self) -> None:
        code = self._talk.end()
        self._expect([])
        if code != 0:
            raise Failure("P5.13", self._step, f"Goodbye 0 ends the app with {code}, not 0; it said: {self._talk.link.said()}")

