"""Profile C: the probe as a caller outside. A script publishes a catalog, tells the probe what to ask, and plays the instance that it calls."""
from __future__ import annotations

import glob
import json
import os
import random
import select
import shutil
import socket
import subprocess
import tempfile
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from . import acceptor, runs
from .acceptor import Connection
from .contract import Contract
from .conversation import byte_by_byte, whole
from .records import INSTANCE_ID
from .report import Result
from .runner import Selection, side_by_side
from .wire import Violation

INSTANCE = "probe"
VARIATIONS = ("whole", "bytes", "cut")
MEMBERS = frozenset(("name", "since", "proves", "steps", "catalog"))
LOOK_S = 0.05
LSN = 4096


class CallerScript:
    """A script of the folder `callers`."""

    def __init__(self, row: Dict[str, Any]) -> None:
        if set(row) - MEMBERS:
            raise ValueError(f"{row.get('name')}: no script of callers has {sorted(set(row) - MEMBERS)}")
        self.name, self.since, self.proves, self.steps, self.catalog = row["name"], row["since"], row["proves"], row["steps"], row.get("catalog", {})


def load(folder: str) -> List[CallerScript]:
    """All scripts of callers."""
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
        with open(path, encoding="utf-8") as file:
            found += [CallerScript(row) for row in json.load(file)]
    return found


class Failure(Exception):
    """The sentence, the step, and what was wrong."""

    def __init__(self, sentence: str, step: int, what: str) -> None:
        super().__init__(what)
        self.sentence, self.step, self.what = sentence, step, what


class Play:
    """One play of a script against one process of the probe."""

    def __init__(self, script: CallerScript, command: Sequence[str], contract: Contract, patience_s: float, shape: Callable[[bytes], Iterable[bytes]]) -> None:
        self._script, self._contract, self._patience_s, self._shape = script, contract, patience_s, shape
        self._folder = tempfile.mkdtemp(prefix="ambrosia-kit-")
        self._catalog = os.path.join(self._folder, "catalog")
        os.mkdir(self._catalog, 0o700)
        self._secret = os.urandom(32)
        self._listeners: List[socket.socket] = []
        self._epoch = 0
        self._publish_all()
        self._connection: Optional[Connection] = None
        self._accepts: Dict[str, Any] = {}
        self._refused = False
        self._last: Dict[str, Any] = {}
        self._lines: List[Dict[str, Any]] = []
        self._text = b""
        self._step = 0
        self._errors = open(os.path.join(self._folder, "stderr"), "w+b")
        self._process = subprocess.Popen([*command, "call", self._catalog, INSTANCE, "kit"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors)

    def run(self) -> None:
        """Plays it. What is wrong is a Failure."""
        try:
            for number, step in enumerate(self._script.steps, 1):
                self._step = number
                for name, said in step.items():
                    STEPS[name](self, said)
            self._finish()
        except Violation as violation:
            raise Failure(violation.sentence, self._step, f"{violation.what}; the probe said: {self._said()}") from None
        finally:
            self._end()

    # ---- the catalog ----

    def _publish_all(self) -> None:
        said = self._script.catalog
        secret = os.path.join(self._catalog, "secret")
        with open(secret, "wb") as file:
            file.write(self._secret[:said.get("secretBytes", 32)])
        os.chmod(secret, int(said.get("secretMode", "600"), 8))
        for content, name in said.get("files", []):
            with open(os.path.join(self._catalog, name), "w", encoding="utf-8") as file:
                file.write(content)
        self._publish({"epoch": said.get("epoch", 1)})
        for epoch in said.get("older", []):
            self._write_entry(epoch, [{"name": "r1", "address": "127.0.0.1:1", "role": "primary", "epoch": epoch}])
        os.chmod(self._catalog, int(said.get("mode", "700"), 8))

    def _publish(self, said: Dict[str, Any]) -> None:
        """An entry whose primary is a new listener of the kit's."""
        listener = socket.socket()
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        self._listeners.append(listener)
        self._epoch = said.get("epoch", self._epoch + 1)
        replicas = [{"name": "r2", "address": "127.0.0.1:1", "role": "secondary", "epoch": self._epoch},
                    {"name": "r1", "address": self._address(listener), "role": "primary", "epoch": self._epoch}]
        self._write_entry(self._epoch, replicas)

    def _write_entry(self, epoch: int, replicas: List[Dict[str, Any]]) -> None:
        path = os.path.join(self._catalog, f"{INSTANCE}.{epoch}")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump({"instance": INSTANCE, "shard": 0, "uuid": str(INSTANCE_ID), "log": "/nowhere", "epoch": epoch, "replicas": replicas}, file)
        os.chmod(path + ".new", 0o600)
        os.rename(path + ".new", path)

    @staticmethod
    def _address(listener: socket.socket) -> str:
        return f"127.0.0.1:{listener.getsockname()[1]}"

    # ---- steps ----

    def _tell(self, said: Dict[str, Any]) -> None:
        """Tells the probe what to ask."""
        self._last = said
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(said).encode() + b"\n")
            self._process.stdin.flush()
        except OSError:
            raise Violation(self._script.proves[0], "the probe has ended") from None

    def _accept(self, said: Dict[str, Any]) -> None:
        """A connection, which is welcomed or, as the step says, refused in one way or another."""
        self._accepts = said
        self._refused = False
        self._until(lambda: self._connection is not None or self._refused, "a connection", "P8.2")

    def _expect(self, said: Dict[str, Any]) -> None:
        """The next message of the caller."""
        def is_there() -> bool:
            return self._connection is not None and bool(self._connection.messages)
        self._until(is_there, json.dumps(said))
        assert self._connection is not None
        got = self._connection.messages.pop(0)
        actual = {key: value for key, value in got.what.items() if key in said or key != "lsn"}
        if actual != said:
            raise Violation(self._script.proves[0], f"expected {json.dumps(said)}, got {json.dumps(actual)}")
        self._number = got.number

    def _logged(self, said: bool) -> None:
        self._talk.logged(self._number, LSN)

    def _answer(self, said: Dict[str, Any]) -> None:
        value = self._contract.value(said["method"], said.get("value"))
        self._talk.answer(runs.ANSWER, said["method"], self._number, value, bytes.fromhex(said.get("blocks", "")))

    def _fail(self, said: Dict[str, Any]) -> None:
        self._talk.answer(runs.CLIENT_FAILURE, said["method"], self._number, runs.failure(said["is"]))

    def _says(self, said: Dict[str, Any]) -> None:
        """The answer to a query."""
        content = self._contract.value(said["method"], said["value"]) if "value" in said else runs.failure(said["is"]) if "is" in said else said["why"].encode()
        status = 0 if "value" in said else 1 if "is" in said else 2
        self._talk.send(acceptor.QUERY_ANSWER, acceptor.query_answer(self._number, status, said.get("lsn", LSN), content))

    def _frame(self, said: Dict[str, Any]) -> None:
        """A frame that may be malformed."""
        self._talk.send(said["type"], bytes.fromhex(said["payload"]), said.get("headerCrc", 0), said.get("payloadCrc", 0))

    def _heartbeat(self, _: bool) -> None:
        talk, before = self._talk, self._talk.heartbeats
        self._until(lambda: talk.heartbeats > before, "a heartbeat", "P6.9")

    def _quiet(self, seconds: float) -> None:
        """For a moment nothing may come: an app that takes what is none for an answer is quick."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self._pump()
            if self._lines:
                raise Violation(self._script.proves[0], f"the probe prints {json.dumps(self._lines[0])}, and has no answer")

    def _close(self, _: bool) -> None:
        """The instance ends the connection."""
        self._drop()

    def _ends(self, _: bool) -> None:
        """The caller must end the connection."""
        talk = self._talk
        self._until(lambda: talk.is_over, "the end of the connection")
        if talk.messages:
            raise Violation(self._script.proves[0], f"the caller goes on: {talk.messages[0].what}")
        self._drop()

    def _again(self, _: bool) -> None:
        """A message with a key, or a query, has no answer yet: the binding sends it again, or says so, and then it is told again."""
        self._until(lambda: bool(self._lines) or self._connection is not None and (bool(self._connection.messages)), "the message once more, or its unknown outcome")
        if self._lines:
            self._hear({"unknown": True}, also="notNow")
            self._tell(self._last)

    def _hears(self, said: Dict[str, Any]) -> None:
        self._hear(said)

    def _hear(self, said: Dict[str, Any], also: Optional[str] = None) -> None:
        self._until(lambda: bool(self._lines), f"the probe to print {json.dumps(said)}")
        line = self._lines.pop(0)
        # Why something did not work is in the binding's own words.
        actual = {key: value for key, value in line.items() if key != "why"}
        if actual not in (said, {also: True}):
            raise Violation(self._script.proves[0], f"the probe was to print {json.dumps(said)}, and printed {json.dumps(line)}")

    # ---- what happens meanwhile ----

    @property
    def _talk(self) -> Connection:
        if self._connection is None:
            raise Violation(self._script.proves[0], "the caller is not connected")
        return self._connection

    def _until(self, is_done: Callable[[], bool], awaited: str, sentence: Optional[str] = None) -> None:
        until = time.monotonic() + self._patience_s
        while not is_done():
            if time.monotonic() > until:
                raise Violation(sentence or self._script.proves[0], f"{awaited} did not come within {self._patience_s:g} s")
            self._pump()

    def _pump(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        sources: List[Any] = [*self._listeners, *([] if self._connection is None or self._connection.is_over else [self._connection])]
        readable = select.select([*sources, *([] if stdout.closed else [stdout])], [], [], LOOK_S)[0]
        if self._connection is not None and not self._connection.is_over:
            self._connection.pump()
        if stdout in readable:
            data = os.read(stdout.fileno(), 1 << 16)
            self._text += data
            if not data:
                raise Violation(self._script.proves[0], f"the probe has ended with {self._process.wait()}")
            *whole_lines, self._text = self._text.split(b"\n")
            self._lines += [json.loads(line) for line in whole_lines if line.strip()]
        for listener in self._listeners:
            if listener in readable:
                self._take_connection(listener)

    def _take_connection(self, listener: socket.socket) -> None:
        talk = Connection(listener.accept()[0], self._address(listener), self._secret, self._contract, self._shape)
        if listener is not self._listeners[-1] or self._script.catalog.get("isUnusable"):
            raise Violation("P8.4" if self._script.catalog.get("isUnusable") else "P8.2", "the caller dials, and has no entry that says so")
        said, until = self._accepts, time.monotonic() + self._patience_s
        is_refused = True
        if talk.authenticate(until, said.get("proof")):
            talk.hello(until, INSTANCE)
            if "refuse" in said:
                talk.send(acceptor.GOODBYE, acceptor.goodbye(1, said["refuse"]))
            elif "hangUp" not in said:
                talk.welcome(said)
                is_refused = not talk.is_welcomed
        if is_refused:
            self._refused = True
            if said.get("version", 1) != 1:
                while talk._receive_some(until):
                    talk.pump()
            talk.close()
        elif self._connection is None:
            self._connection = talk
        else:
            # A binding may open a second connection for queries.
            talk.close()

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _finish(self) -> None:
        """Nothing more may have come, and the probe ends at the end of its input."""
        for _ in range(2):
            self._pump()
        left = [] if self._connection is None else [message.what for message in self._connection.messages]
        if left or self._lines:
            raise Violation(self._script.proves[0], f"nothing was expected, and {json.dumps((left + self._lines)[0])} came")
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            code = self._process.wait(self._patience_s)
        except subprocess.TimeoutExpired:
            raise Violation(self._script.proves[0], "the probe does not end at the end of its input") from None
        if code:
            raise Violation(self._script.proves[0], f"the probe ended with {code}")

    def _said(self) -> str:
        self._errors.seek(0)
        return self._errors.read()[-1000:].decode(errors="replace").strip()

    def _end(self) -> None:
        self._drop()
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass
        self._errors.close()
        for listener in self._listeners:
            listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)


STEPS: Dict[str, Callable[[Play, Any], None]] = {
    "publish": Play._publish, "tell": Play._tell, "accept": Play._accept, "expect": Play._expect, "logged": Play._logged, "answer": Play._answer,
    "fail": Play._fail, "says": Play._says, "frame": Play._frame, "heartbeat": Play._heartbeat, "quiet": Play._quiet, "close": Play._close, "ends": Play._ends,
    "again": Play._again, "hears": Play._hears}


def _shape(variation: str, seed: int) -> Callable[[bytes], Iterable[bytes]]:
    if variation == "whole":
        return whole
    if variation == "bytes":
        return byte_by_byte
    chance = random.Random(seed)

    def cut(data: bytes) -> List[bytes]:
        at, pieces = 0, []
        while at < len(data):
            size = chance.choice((1, 3, 16, 17, 40, 1000))
            pieces.append(data[at:at + size])
            at += size
        return pieces
    return cut


def play(script: CallerScript, variation: str, command: Sequence[str], contract: Contract, patience_s: float, seed: int) -> None:
    """Plays one variation; what is wrong is a Failure."""
    Play(script, command, contract, patience_s, _shape(variation, seed)).run()


def run(scripts: List[CallerScript], selection: Selection, command: Sequence[str], contract: Contract, patience_s: float, jobs: int) -> Iterator[Result]:
    """The result of each play as it ends."""
    wanted = [(script, name) for script in scripts if selection.is_wanted(script.name) for name in selection.variations(script.name, VARIATIONS)]

    def judge(pair: Tuple[CallerScript, str]) -> Result:
        script, variation = pair
        begin = time.monotonic()
        sentence, step, what = None, 0, ""
        try:
            play(script, variation, command, contract, patience_s, selection.seed)
        except Failure as failure:
            sentence, step, what = failure.sentence, failure.step, failure.what
        return Result(script.name, "C", variation, sentence, step, what, time.monotonic() - begin)
    yield from side_by_side([lambda add, pair=pair: add(judge(pair)) for pair in wanted], jobs)
