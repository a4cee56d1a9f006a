"""The Python part of `suite`: the kit on its reference app and on the C# probe, kills, and the kit judged. Its last line is `N passed, N failed`."""
from __future__ import annotations

import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

from kit.script import load  # noqa: E402
from kit.suite import Suite  # noqa: E402

DAY_S = 86_400


def main() -> int:
    """The exit code: 0 if everything passed."""
    is_whole = float(os.environ.get("AMBROSIA_TEST_SCALE", "0.1")) >= 1
    suite = Suite(HERE, load(os.path.join(HERE, "scripts")), int(time.time()) // DAY_S, is_whole, max(2, os.cpu_count() or 1))
    passed = failed = 0
    for name, play in (("the reference app", suite.reference), ("planted faults", suite.faults), ("sentences", suite.sentences),
                       ("the C# probe", suite.csharp), ("kills of the C# probe", suite.kills)):
        begin = time.monotonic()
        part = play()
        print(f"{name}: {part.passed} passed, {len(part.wrong)} failed, {time.monotonic() - begin:.0f} s")
        if part.skipped is not None:
            print(f"  skipped {name}\n    {part.skipped}")
        for line in filter(None, [part.table, *part.wrong]):
            print(line)
        passed += part.passed
        failed += len(part.wrong)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
