"""Goes through every state that a model can reach, breadth first, so that what it prints is as short as can be.

A model has a state `start`, and three methods: `steps(state)` yields pairs of a name and the state behind that step, `check(state)` raises
Broken where a property does not hold, and `is_end(state)` says whether all is done that was to be done. From every state some end must be
reachable. `is_reached(state)` is asked of ends; where `must_reach` is true one of them must say yes.
"""
import gc
import time
from collections import deque

MAX_STATES = 3_000_000


class Broken(Exception):
    """A property does not hold behind a step."""


def trace_to(number, parents):
    steps = []
    while parents[number] is not None:
        number, step = parents[number]
        steps.append(step)
    return steps[::-1]


def explore(model):
    """Returns how many states there are, what is broken or None, and the steps that lead there."""
    # A state is hashed anew each time that it is looked up, which is most of the work, so each has a number besides.
    numbers, parents, before, queue = {model.start: 0}, [None], [[]], deque([model.start])
    ends, reached, number = [], False, -1
    while queue:
        world = queue.popleft()
        number += 1
        try:
            model.check(world)
            for step, onward in model.steps(world):
                found = numbers.setdefault(onward, len(parents))
                if found == len(parents):
                    parents.append((number, step))
                    before.append([])
                    queue.append(onward)
                before[found].append(number)
        except Broken as broken:
            return len(parents), str(broken), trace_to(number, parents)
        if model.is_end(world):
            ends.append(number)
            reached = reached or model.is_reached(world)
        if len(parents) > MAX_STATES:
            raise SystemExit(f'more than {MAX_STATES} states: the setting is too large')
    return (len(parents),) + progress(model, parents, before, ends, reached)


def progress(model, parents, before, ends, reached):
    reaches, queue = set(ends), deque(ends)
    while queue:
        for number in before[queue.popleft()]:
            if number not in reaches:
                reaches.add(number)
                queue.append(number)
    if len(reaches) < len(parents):
        stuck = next(number for number in range(len(parents)) if number not in reaches)
        return f'from {len(parents) - len(reaches)} states no end can be reached', trace_to(stuck, parents)
    if model.must_reach and not reached:
        return 'what must be reached never is', []
    return None, []


def run(what, name, model, traced):
    """Explores and prints one line. A baseline must break nothing, and a mutant something; returns 1 where it is not so."""
    gc.disable()  # states refer to no state, and looking through millions of them for circles takes a fifth of the time
    began = time.monotonic()
    count, broken, trace = explore(model)
    good = (broken is None) == (what == 'baseline')
    verdict, seconds = 'ok    ' if good else 'FAILED', time.monotonic() - began
    print(f'{verdict} {what} {name}: {count} states, {broken or "every property holds"} ({seconds:.1f} s)', flush=True)
    if broken and traced:
        print('       ' + ' ; '.join(trace))
    return 0 if good else 1
