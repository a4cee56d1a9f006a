#!/usr/bin/env python3
"""Plants the bugs of mutants.json, one at a time, and says which oracle finds each, and after how many seeds.

The mutants are planted in a copy of the tree, which is removed afterwards; the tree itself and the product hold none of them. First each
mutant is built: the projects that it touches, apart from those that use them. Then the suite that is to find it runs with these
assemblies in place of its own. A mutant that nobody finds is a hole in the tests, and makes the exit code 1. So does the copy without a
mutant when it fails the same campaigns. docs/testing.md tells what the outcomes mean. Python 3.11, standard library.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SEEDS = 10_000
SIMULATION = "Ambrosia.Simulation"
SECONDS_PER_SEED, SECONDS_MIN = 0.6, 600

# Analyzers are left out: a mutant may well break a rule of form.
BUILD = ["dotnet", "build", "-c", "Release", "-v", "q", "--nologo", "-nodeReuse:false", "-p:RunAnalyzers=false",
         "-p:TreatWarningsAsErrors=false"]


class Survived(Exception):
    """A campaign ended without a failure."""


def read_mutants():
    mutants = json.loads((ROOT / "tests/mutants/mutants.json").read_text(encoding="utf-8"))
    for mutant in mutants:
        mutant.setdefault("campaign", {"suite": SIMULATION})
    return mutants


def suite_of(mutant):
    return mutant["campaign"]["suite"]


def output_of(project):
    """Where a project's assemblies are, relative to the tree."""
    return project / "bin/Release/net10.0"


def mark_of(*parts):
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


class Copy:
    """The files that git knows, in a folder of their own, with the assemblies of each mutant beside them in `built`."""

    def __init__(self, folder):
        self.folder = folder
        self.built = folder / "built"
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
                                capture_output=True, text=True).stdout
        names = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
        self.state = mark_of([(name, (ROOT / name).stat().st_mtime_ns) for name in names if name.endswith((".cs", ".csproj", ".props"))])
        for name in names:
            if (folder / name).is_file() and (folder / name).read_bytes() == (ROOT / name).read_bytes():
                continue
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)

    # ---- building

    def build_suite(self, suite):
        """Builds a suite as it is, and keeps its assemblies."""
        place = self.built / suite
        if not (self.folder / "tests" / suite).is_dir():
            raise SystemExit(f"there is no suite {suite}")
        if self.is_built(place, self.state):
            return
        self.make(Path("tests") / suite)
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.folder / output_of(Path("tests") / suite), place)
        (place / "mark").write_text(self.state)

    def build_mutant(self, mutant):
        """Builds the projects that a mutant touches. Whoever uses them is not built: a mutant changes no signature that others see."""
        place, mark = self.built / mutant["id"], mark_of(self.state, mutant["edits"])
        if self.is_built(place, mark):
            return
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        try:
            self.plant(mutant)
            for project in sorted({self.project_of(Path(edit["file"])) for edit in mutant["edits"]}):
                self.make(project, "--no-restore", "-p:BuildProjectReferences=false")
                shutil.copyfile(self.folder / output_of(project) / f"{project.name}.dll", place / f"{project.name}.dll")
        finally:
            for edit in mutant["edits"]:
                shutil.copyfile(ROOT / edit["file"], self.folder / edit["file"])
        (place / "mark").write_text(mark)

    def is_built(self, place, mark):
        return (place / "mark").is_file() and (place / "mark").read_text() == mark

    def plant(self, mutant):
        for edit in mutant["edits"]:
            file = self.folder / edit["file"]
            text = file.read_text(encoding="utf-8")
            if text.count(edit["old"]) != 1:
                raise SystemExit(f"{mutant['id']}: {edit['file']} holds the old text {text.count(edit['old'])} times, not once")
            file.write_text(text.replace(edit["old"], edit["new"]), encoding="utf-8")

    def project_of(self, file):
        return next(folder for folder in file.parents if any((self.folder / folder).glob("*.csproj")))

    def make(self, project, *options):
        built = subprocess.run([*BUILD, str(project), *options], cwd=self.folder, capture_output=True, text=True)
        if built.returncode != 0:
            raise SystemExit(f"{project} of the copy does not build:\n{built.stdout}{built.stderr}")

    # ---- running

    def install(self, suite, mutant=None):
        """Puts the assemblies of a suite into its place, with those of a mutant over them."""
        place = self.folder / output_of(Path("tests") / suite)
        for source in filter(None, [suite, mutant and mutant["id"]]):
            shutil.copytree(self.built / source, place, dirs_exist_ok=True)

    def run(self, arguments, seconds):
        """Runs an installed suite; a run that does not end in time proves nothing."""
        environment = {**os.environ, "AMBROSIA_LOCK_CHECKS": "1", "AMBROSIA_TEST_SCALE": os.environ.get("AMBROSIA_TEST_SCALE", "0.1")}
        try:
            return subprocess.run(["dotnet", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=seconds, env=environment)
        except subprocess.TimeoutExpired as late:
            raise Survived(f"the campaign did not end within {seconds:.0f} s") from late

    def simulate(self, last):
        """Runs the worlds of seeds 1 to last. Returns the lowest seed that failed and why."""
        ended = self.run([self.library(SIMULATION), "--seeds", f"1-{last}"], SECONDS_MIN + SECONDS_PER_SEED * last)
        if ended.returncode == 0:
            raise Survived(f"{last} seeds")
        failure = re.search(r"seed (\d+): (.*)", ended.stdout + ended.stderr)
        if failure is None:
            raise SystemExit(f"the simulation failed without a seed:\n{ended.stdout}{ended.stderr}")
        return int(failure[1]), failure[2]

    def test(self, campaign):
        """Runs tests of one suite. Returns how many tests ran, or after how many schedules one failed, and the first that failed."""
        ended = self.run(["test", self.library(campaign["suite"]), "--filter", campaign["filter"],
                          "--blame-hang-timeout", "120s", "--blame-hang-dump-type", "none"], SECONDS_MIN)
        output = ended.stdout + ended.stderr
        ran = re.search(r"Total: +(\d+)", output)
        if ended.returncode == 0:
            if ran is None:
                raise SystemExit(f"no test matches {campaign['filter']}")
            raise Survived(f"{ran[1]} tests")
        failed = re.search(r"Failed +(\S.*) \[", output)
        if failed is None and "aborted" not in output:
            raise SystemExit(f"{campaign['suite']} failed without a test:\n{output}")
        schedule = re.search(r"\bschedule (\d+), seed", output)
        count = f"{schedule[1]} schedules" if schedule else f"{ran[1] if ran else 1} tests"
        return count, failed[1] if failed else "the end of the test process"

    def library(self, suite):
        return str(self.folder / f"tests/{suite}/bin/Release/net10.0/{suite}.dll")


def judge(copy, mutant, seeds):
    """Returns what became of one mutant: whether it was caught, the line that says so, and the seed if it was a simulation."""
    copy.install(suite_of(mutant), mutant)
    begun = time.monotonic()
    try:
        if suite_of(mutant) == SIMULATION:
            seed, why = copy.simulate(seeds)
            oracle = mutant["oracle"] if mutant["oracle"] in why else f"another than {mutant['oracle']}"
            return True, f"caught by {oracle} after {seed} seeds, {time.monotonic() - begun:.0f} s: {why[:160]}", seed
        count, failed = copy.test(mutant["campaign"])
        oracle = mutant["oracle"] if mutant["oracle"] in failed else f"another than {mutant['oracle']}"
        return True, f"caught by {oracle} after {count}, {time.monotonic() - begun:.0f} s: {failed}", 0
    except Survived as survived:
        return False, f"SURVIVED {survived}, {time.monotonic() - begun:.0f} s", seeds


def control(copy, mutants, last):
    """Runs the campaigns that have caught mutants on the copy without a mutant. Returns what fails."""
    failures = []
    campaigns = {(suite_of(m), m["campaign"].get("filter", "")): m["campaign"] for m in mutants}
    for suite, tests in sorted(campaigns):
        copy.install(suite)
        try:
            found = copy.simulate(last) if suite == SIMULATION else copy.test(campaigns[suite, tests])
            failures.append(f"{suite} {tests}: fails without a mutant: {found}")
        except Survived:
            pass
    return failures


def parse(arguments):
    parser = argparse.ArgumentParser(description="Plants bugs in a copy of the tree and looks which oracle finds them.")
    parser.add_argument("--list", action="store_true", help="list the mutants and end")
    parser.add_argument("--only", metavar="ID[,ID]", help="these mutants alone")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"most seeds of the simulation for one mutant (default {SEEDS})")
    parser.add_argument("--keep", action="store_true", help="keep the copy, and say where it is")
    parser.add_argument("--copy", type=Path, metavar="DIR", help="use this copy, and keep it: what is built there is not built again")
    parser.add_argument("--build", action="store_true", help="build the mutants, with --copy, and end")
    return parser.parse_args(arguments)


def choose(mutants, only):
    if only is None:
        return mutants
    wanted = only.split(",")
    unknown = set(wanted) - {mutant["id"] for mutant in mutants}
    if unknown:
        raise SystemExit(f"no such mutant: {', '.join(sorted(unknown))}. See --list.")
    return [mutant for mutant in mutants if mutant["id"] in wanted]


def main(arguments):
    options = parse(arguments)
    mutants = choose(read_mutants(), options.only)
    if options.list:
        for mutant in mutants:
            print(f"{mutant['id']:32} {suite_of(mutant):28} {mutant['plants']}")
        return 0
    folder = options.copy or Path(tempfile.mkdtemp(prefix="ambrosia-mutants-"))
    try:
        copy, survivors, last = Copy(folder), 0, 0
        for suite in sorted({suite_of(mutant) for mutant in mutants}):
            copy.build_suite(suite)
        for mutant in mutants:
            copy.build_mutant(mutant)
        if options.build:
            return 0
        for mutant in mutants:
            caught, line, seed = judge(copy, mutant, options.seeds)
            survivors += not caught
            last = max(last, seed)
            print(f"{mutant['id']:32} {line}", flush=True)
        failures = control(copy, mutants, last)
        print("\n".join(failures) if failures else "control: the copy without a mutant passes the same campaigns")
        print(f"{len(mutants) - survivors} of {len(mutants)} caught")
        return 1 if survivors or failures else 0
    finally:
        if options.keep or options.copy:
            print(f"the copy is in {folder}")
        else:
            shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
