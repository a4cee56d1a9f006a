"""Goes through every state that a model can reach, breadth first, so that what it prints is as short as can be.

A model has a state `start`, and three methods: `steps(state)` yields pairs of a name and the state behind that step, `check(state)` raises
Broken where a property does not hold, and `is_end(state)` says whether all is done that was to be done. From every state some end must be
reachable. `is_reached(state)` is asked of ends; where `must_reach` is true one of them must say yes.
"""
import time
from collections import deque

MAX_STATES = 3_000_000


class Broken(Exception):
    """A property does not hold behind a step."""


def trace_to(world, parents):
    steps = []
    while parents[world] is not None:
        world, step = parents[world]
        steps.append(step)
    return steps[::-1]


def explore(model):
    """Returns how many states there are, what is broken or None, and the steps that lead there."""
    parents, before, queue = {model.start: None}, {model.start: []}, deque([model.start])
    ends, reached = [], False
    while queue:
        world = queue.popleft()
        try:
            model.check(world)
            for step, onward in model.steps(world):
                if onward not in parents:
                    parents[onward] = (world, step)
                    before[onward] = []
                    queue.append(onward)
                before[onward].append(world)
        except Broken as broken:
            return len(parents), str(broken), trace_to(world, parents)
        if model.is_end(world):
            ends.append(world)
            reached = reached or model.is_reached(world)
        if len(parents) > MAX_STATES:
            raise SystemExit(f'more than {MAX_STATES} states: the setting is too large')
    return (len(parents),) + progress(model, parents, before, ends, reached)


def progress(model, parents, before, ends, reached):
    reaches, queue = set(ends), deque(ends)
    while queue:
        for world in before[queue.popleft()]:
            if world not in reaches:
                reaches.add(world)
                queue.append(world)
    if len(reaches) < len(parents):
        stuck = next(world for world in parents if world not in reaches)
        return f'from {len(parents) - len(reaches)} states no end can be reached', trace_to(stuck, parents)
    if model.must_reach and not reached:
        return 'what must be reached never is', []
    return None, []


def run(what, name, model, traced):
    """Explores and prints one line. A baseline must break nothing, and a mutant something; returns 1 where it is not so."""
    began = time.monotonic()
    count, broken, trace = explore(model)
    good = (broken is None) == (what == 'baseline')
    verdict, seconds = 'ok    ' if good else 'FAILED', time.monotonic() - began
    print(f'{verdict} {what} {name}: {count} states, {broken or "every property holds"} ({seconds:.1f} s)', flush=True)
    if broken and traced:
        print('       ' + ' ; '.join(trace))
    return 0 if good else 1
