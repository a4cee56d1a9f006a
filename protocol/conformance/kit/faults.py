"""Planted faults: which there are, and whether the kit finds one, by the sentence that it breaks."""
from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, Iterator, List, Optional, Tuple

from . import callers
from .contract import Contract
from .conversation import Setup, whole
from .play import Failure
from .script import Script
from .variations import Context, play

# A fault may be one that makes the app wait for ever; a script that notices it waits so long.
PATIENCE_S = 4


def load(folder: str) -> List[Dict[str, Any]]:
    """The faults: name, what it is, the sentences that it breaks, and the script and variation that find it."""
    with open(os.path.join(folder, "faults.json"), encoding="utf-8") as file:
        return json.load(file)


def reference(folder: str, *arguments: str) -> List[str]:
    """The command line of the reference app."""
    return [sys.executable, "-I", "-S", os.path.join(folder, "reference", "app.py"), *arguments]


def judge(folder: str, scripts: List[Script], row: Dict[str, Any], is_search: bool) -> Optional[str]:
    """What is wrong with how a fault is found; None if it is found where it should be, and as what it is."""
    setup = Setup(reference(folder, "--fault", row["fault"]), Contract(os.path.join(folder, "Probe.contract.json")), PATIENCE_S, whole, {})
    if is_search:
        return f"it is found by: {'; '.join(_search(scripts, setup))}"
    script = next((script for script in scripts if script.name == row["script"]), None)
    outside = next((script for script in callers.load(os.path.join(folder, "callers")) if script.name == row["script"]), None)
    if outside is not None:
        found = _find_outside(outside, setup)
    elif script is not None:
        found = _find(script, setup, row["variation"])
    else:
        return f"there is no script {row['script']!r}"
    if found is None:
        return f"the script {row['script']!r} in the variation {row['variation']} does not find it"
    variation, failure = found
    if variation != row["variation"]:
        return f"the variation {variation} finds it already, and not {row['variation']} alone"
    if failure.sentence not in row["breaks"]:
        return f"it breaks {', '.join(row['breaks'])}, and {failure.sentence} was cited: {failure.what}"
    return None


def _find(script: Script, setup: Setup, variation: str) -> Optional[Tuple[str, Failure]]:
    context = Context(script, setup, 1)
    for name in dict.fromkeys(("whole", variation)):
        try:
            play(name, context)
        except Failure as failure:
            return name, failure
    return None


def _find_outside(script: callers.CallerScript, setup: Setup) -> Optional[Tuple[str, callers.Failure]]:
    try:
        callers.play(script, "whole", setup.command, setup.contract, setup.patience_s, 1)
    except callers.Failure as failure:
        return "whole", failure
    return None


def _search(scripts: List[Script], setup: Setup) -> Iterator[str]:
    for script in scripts:
        context = Context(script, setup, 1)
        for name in script.variations:
            try:
                play(name, context)
            except Failure as failure:
                yield f"{script.name} [{name}] ({failure.sentence})"
                break
