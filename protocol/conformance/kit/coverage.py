"""Which sentences of the documents are proved by a script or a vector. Each other one needs a reason in `unproved.json`."""
from __future__ import annotations

import json
import os
import re
from typing import Dict, Iterator, List, Set, Tuple

from . import callers, vectors
from .script import Script

# The sentences that concern an app or a caller outside, by document: what stands in front of the number, and which sections.
DOCUMENTS = {"protocol.md": re.compile(r"\*\*(P(?:[1-5]|[78]|10)\.\d+)\*\*"), "log-format.md": re.compile(r"\*\*(L5\.\d+)\*\*"),
             "image.md": re.compile(r"\*\*(I1\.\d+|I4\.6)\*\*"), "contract.md": re.compile(r"\*\*(C[1-3]\.\d+)\*\*")}
SECTIONS = frozenset(("P3", "P4", "I2", "C3", "L5"))
# What of the conversation of coordinators concerns a caller, too.
ALSO = frozenset(("P6.9",))


def sentences(folder: str) -> List[str]:
    """Every sentence that an app must obey, in the order of the documents."""
    found: List[str] = []
    for name, pattern in DOCUMENTS.items():
        with open(os.path.join(folder, "..", "..", "docs", name), encoding="utf-8") as file:
            found += [number for number in pattern.findall(file.read()) if number not in found]
    return found


def _reasons(folder: str) -> Dict[str, str]:
    with open(os.path.join(folder, "unproved.json"), encoding="utf-8") as file:
        return json.load(file)


def _proved(folder: str, scripts: List[Script]) -> Tuple[Set[str], Set[str]]:
    outside = callers.load(os.path.join(folder, "callers"))
    by_scripts = {sentence for script in [*scripts, *outside] for sentence in script.proves}
    return by_scripts, vectors.sections()


def check(folder: str, scripts: List[Script]) -> Iterator[str]:
    """What is wrong: a sentence without proof or reason, a reason for one that is proved, a number that no document has."""
    known, reasons = sentences(folder), _reasons(folder)
    by_scripts, by_vectors = _proved(folder, scripts)
    for sentence in known:
        is_proved = sentence in by_scripts or sentence in by_vectors
        if not is_proved and sentence not in reasons:
            yield f"sentence {sentence}: no script and no vector proves it, and unproved.json has no reason"
        if is_proved and sentence in reasons:
            yield f"sentence {sentence}: it is proved, and unproved.json has a reason why it is not"
    for sentence in sorted((by_scripts | set(reasons)) - set(known) - SECTIONS - ALSO):
        yield f"sentence {sentence}: no document has it"


def summary(folder: str, scripts: List[Script]) -> str:
    """How many sentences there are, and what proves them."""
    known, (by_scripts, by_vectors) = sentences(folder), _proved(folder, scripts)
    scripted = sum(sentence in by_scripts for sentence in known)
    other = sum(sentence in by_vectors and sentence not in by_scripts for sentence in known)
    count = len(scripts) + len(callers.load(os.path.join(folder, "callers")))
    return (f"{len(known)} sentences concern an app or a caller: {scripted} proved by {count} scripts, {other} more by vectors, "
            f"{len(known) - scripted - other} with a reason why not")
