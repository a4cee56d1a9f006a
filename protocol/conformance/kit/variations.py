"""The variations of a script. Each gives the same log to the app in another way, and the app must say the same."""
from __future__ import annotations

import random
from typing import Callable, Dict, Iterable, List, Optional

from .conversation import Conversation, Setup, byte_by_byte, whole
from .history import Entry
from .ledger import CITED, Ledger
from .link import Closed, Stall
from .play import Failure, Play, Played
from .records import CHECKPOINT_MARK
from .script import Script
from .wire import Violation

RING_BYTES = 1 << 16
# Names and clocks of another machine; none of them may be seen in what an app does.
SURROUNDINGS = {"TZ": "Pacific/Chatham", "LANG": "tr_TR.UTF-8", "LC_ALL": "C", "PYTHONHASHSEED": "4711", "MALLOC_PERTURB_": "165", "HOME": "/nonexistent",
                "DOTNET_gcServer": "0", "GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=65536"}


class Context:
    """What all variations of one script share."""

    def __init__(self, script: Script, setup: Setup, seed: int) -> None:
        self.script, self.setup, self.seed = script, setup, seed
        self.base: Optional[Played] = None


def play_whole(context: Context) -> None:
    """Whole frames, each step behind the one before: what the others are compared with."""
    context.base = Play(context.script, context.setup._replace(shape=whole, rings=RING_BYTES if context.script.level == "R" else 0)).run()


def _again(context: Context, setup: Setup, what: str) -> None:
    played = Play(context.script, setup).run()
    assert context.base is not None
    _compare(context.base.ledger, played.ledger, what)


def play_bytes(context: Context) -> None:
    """Every frame byte by byte."""
    _again(context, context.setup._replace(shape=byte_by_byte), "byte by byte")


def play_cut(context: Context) -> None:
    """Frames cut at random places, several in one piece."""
    chance = random.Random(context.seed)

    def cut(data: bytes) -> Iterable[bytes]:
        at = 0
        while at < len(data):
            size = chance.choice((1, 2, 7, 15, 16, 17, 64, 1000, 1 << 20))
            yield data[at:at + size]
            at += size
    _again(context, context.setup._replace(shape=lambda data: list(cut(data))), "cut at random")


def play_rings(context: Context) -> None:
    """Through rings as small as they may be, so that each large message has a writer wait for room."""
    _again(context, context.setup._replace(rings=RING_BYTES), "through rings")


def play_surroundings(context: Context) -> None:
    """Another time zone, language, hash seed and allocator, and a process that is held for moments."""
    chance = random.Random(context.seed)
    surroundings = {**context.setup.environment, **SURROUNDINGS, "PYTHONHASHSEED": str(chance.randrange(1, 4_000_000_000))}
    _again(context, context.setup._replace(environment=surroundings, is_held=True), "in other surroundings")


def play_large(context: Context) -> None:
    """All that one page time has in one Deliver, all of it at once, with a mark where the outputs are known."""
    base = _base(context)
    known = [base.history.entries[end - 1].end for end in base.ends[:-1] if end < len(base.history.entries)]
    _follow(context, [base.history.entries], random.Random(context.seed).choice(known) if known else 0)


def play_promoted(context: Context) -> None:
    """Followed as a secondary, which takes an image at every mark, and promoted at the end."""
    groups: List[List[Entry]] = [[]]
    for entry in _base(context).history.entries:
        groups[-1].append(entry)
        if entry.record.kind == CHECKPOINT_MARK:
            groups.append([])
    _follow(context, [group for group in groups if group])


def _follow(context: Context, groups: List[List[Entry]], mark: int = 0) -> None:
    base = _base(context)
    talk = Conversation(context.setup, base.history, base.ledger)
    try:
        talk.open()
        for group in groups:
            talk.deliver(group, mark)
            if len(groups) > 1:
                talk.await_reported(group[-1].end)
        _promote(talk, base)
    finally:
        talk.link.kill()


def _promote(talk: Conversation, base: Played) -> None:
    end = base.history.end
    talk.await_reported(end)
    if talk.follower.fresh:
        raise Violation(CITED[talk.follower.fresh[0].queue[0]], f"{talk.follower.fresh[0].what} is said, and was not when the log was executed first")
    if base.is_ended_by_app:
        return
    talk.become_primary(end)
    code = talk.end()
    if code:
        raise Violation("P5.13", f"Goodbye 0 ends the app with {code}")


def play_restart(context: Context) -> None:
    """A new process before every record, from the image of the record before. Its images are those of a replica that lived on."""
    base = _base(context)
    entries, at, begin = base.history.entries, 0, 0
    if entries[-1].end not in base.ledger.images:
        play_promoted(context)
    while True:
        end = at
        while end < len(entries) and entries[end].record.kind != CHECKPOINT_MARK:
            end += 1
        group, at = entries[at:end + 1], end + 1
        talk = Conversation(context.setup, base.history, base.ledger, begin, base.ledger.images.get(begin))
        try:
            talk.open()
            talk.deliver(group)
            if at >= len(entries):
                _promote(talk, base)
                return
            begin = group[-1].end
            talk.await_reported(begin)
            if begin not in base.ledger.images:
                raise Violation("P5.8", f"the mark at {group[-1].lsn} with bound 1 was not answered by an image at {begin}")
        finally:
            talk.link.kill()


def _base(context: Context) -> Played:
    assert context.base is not None
    return context.base


def _compare(first: Ledger, now: Ledger, what: str) -> None:
    for queue in sorted(set(first.known) | set(now.known)):
        a, b = first.known.get(queue, []), now.known.get(queue, [])
        for number, (one, other) in enumerate(zip(a, b)):
            if one.raw != other.raw:
                raise Violation(CITED[queue[0]], f"{what}, number {number + 1} of {' '.join(queue)} is {other.what}, and it was {one.what}")
        if len(a) != len(b):
            raise Violation(CITED[queue[0]], f"{what}, {' '.join(queue)} has {len(b)} outputs, and it had {len(a)}")
    for position in sorted(set(first.images) & set(now.images)):
        first.take_image(position, now.images[position], what)


PLAYS: Dict[str, Callable[[Context], None]] = {
    "whole": play_whole, "bytes": play_bytes, "cut": play_cut, "large": play_large, "promoted": play_promoted, "restart": play_restart,
    "surroundings": play_surroundings, "rings": play_rings}


def play(name: str, context: Context) -> None:
    """Plays one variation; `whole` must have been played before the others. What is wrong is a Failure."""
    try:
        PLAYS[name](context)
    except Violation as violation:
        raise Failure(violation.sentence, 0, violation.what) from None
    except (Stall, Closed) as error:
        raise Failure(getattr(error, "sentence", None) or context.script.proves[0], 0, str(error)) from None
