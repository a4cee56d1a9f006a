#!/usr/bin/env python3
"""Checks when an instance can become quiet by holding new calls at its door, in every interleaving: which rules of draining can wait for ever.

Instances are letters. A chain of calls is a word: in ABA, a handler of A calls B, whose handler calls A, whose handler answers at once;
each waits for the answer to its own call. Calls and answers go through channels that keep their order. Each instance may be asked once,
at any moment, to become quiet. From then on it drains, until none of its handlers waits for an answer; then it is quiet for a moment
(a checkpoint is taken), and lets in what waits at its door. Every step below is atomic, and any enabled one may come next.

Rules:
  D1  An answer is always let in.
  D2  While an instance drains, a call waits at its door, in the order of arrival.
  D3  A call passes the door if a handler of its own chain waits inside.
  D4  A timer of the log ends a drain that has not succeeded, and opens the door.

Property:
  P1  From everywhere all chains can come to their end.

With D1 and D2 alone every cycle of calls can wait for ever, a call to oneself included. D3 helps one chain, and two chains that cross find
each other's doors shut. A bound in bytes of the log is no D4: where everybody waits, no log grows. A clock on the wall is none either,
since it is no function of the log, so replicas would differ. What remains is a record that comes by itself.

Usage: drain.py [--traces] [--only NAME]. It ends with 0 if no baseline can get stuck and each mutant can.
"""
import argparse
import sys

from exploration import run

WIRINGS = {
    'a call': ['AB'],
    'two callers of one': ['AC', 'BC'],
    'a call to itself': ['AA'],
    'there and back': ['ABA'],
    'a ring': ['ABCA'],
    'two that call each other': ['AB', 'BA'],
    'two chains there and back': ['ABA', 'BAB'],
    'three chains in a ring': ['AB', 'BC', 'CA'],
}

DOOR, KIN, TIMER = 'the door alone', 'kin pass the door', 'a timer opens the door'
STUCK = {
    DOOR: {'a call to itself', 'there and back', 'a ring', 'two that call each other', 'two chains there and back', 'three chains in a ring'},
    KIN: {'two that call each other', 'two chains there and back', 'three chains in a ring'},
    TIMER: set(),
}


class Instance:
    """What one instance holds: the chain positions at its door, those that wait inside, and whether it drains, or may still be asked to."""

    def __init__(self, door=(), inside=frozenset(), drains=False, may_drain=True):
        self.key = (door, inside, drains, may_drain)
        self.door, self.inside, self.drains, self.may_drain = self.key

    def changed(self, **parts):
        return Instance(**({'door': self.door, 'inside': self.inside, 'drains': self.drains, 'may_drain': self.may_drain} | parts))


class World:
    """One state: the instances, the messages under way between each two, and the chains that have begun and ended."""

    def __init__(self, instances, channels=None, begun=frozenset(), ended=frozenset()):
        self.instances, self.channels, self.begun, self.ended = dict(instances), dict(channels or {}), begun, ended

    def copy(self):
        return World(self.instances, self.channels, self.begun, self.ended)

    def frozen(self):
        return (tuple(sorted((name, one.key) for name, one in self.instances.items())),
                tuple(sorted((way, tuple(held)) for way, held in self.channels.items() if held)), self.begun, self.ended)

    @staticmethod
    def thawed(frozen):
        instances, channels, begun, ended = frozen
        return World({name: Instance(*key) for name, key in instances}, {way: list(held) for way, held in channels}, begun, ended)

    def send(self, sender, receiver, message):
        way = sender + receiver
        self.channels[way] = [*self.channels.get(way, []), message]


class Drain:
    """The model of one wiring under one set of rules, as exploration.py wants it."""

    must_reach = False

    def __init__(self, chains, rules):
        self.chains, self.rules = chains, rules
        self.start = World({name: Instance() for name in sorted(set(''.join(chains)))}).frozen()

    def check(self, state):
        """Nothing can be wrong in one state; what matters is whether an end can be reached."""

    def is_end(self, state):
        return len(state[3]) == len(self.chains)

    def is_reached(self, state):
        return True

    def steps(self, state):
        world = World.thawed(state)
        for number, chain in enumerate(self.chains):
            if number not in world.begun:
                onward = world.copy()
                onward.begun |= {number}
                self.arrive(onward, chain[0], (number, 0))
                yield f'chain {chain} begins', onward.frozen()
        for name, one in world.instances.items():
            yield from self.steps_of(world, name, one)
        for way, held in world.channels.items():
            if held:
                onward = world.copy()
                onward.channels[way] = held[1:]
                kind, *place = held[0]
                (self.arrive if kind == 'call' else self.answered)(onward, way[1], tuple(place))
                yield f'{way[1]} takes {kind} of {self.chains[place[0]]} from {way[0]}', onward.frozen()

    def steps_of(self, world, name, one):
        if one.may_drain and not one.drains:
            onward = world.copy()
            onward.instances[name] = one.changed(drains=True, may_drain=False)
            self.settle(onward, name)
            yield f'{name} is to become quiet', onward.frozen()
        if one.drains and self.rules == TIMER:
            onward = world.copy()
            self.open(onward, name)
            yield f'the timer of {name} fires', onward.frozen()

    def arrive(self, world, name, place):
        one = world.instances[name]
        is_kin = any(chain == place[0] for chain, _ in one.inside)
        if one.drains and not (self.rules == KIN and is_kin):
            world.instances[name] = one.changed(door=one.door + (place,))
        else:
            self.execute(world, name, place)

    def execute(self, world, name, place):
        number, at = place
        chain, one = self.chains[number], world.instances[name]
        if at + 1 < len(chain):
            world.instances[name] = one.changed(inside=one.inside | {place})
            world.send(name, chain[at + 1], ('call', number, at + 1))
        else:
            self.answer(world, name, place)

    def answer(self, world, name, place):
        number, at = place
        if at == 0:
            world.ended |= {number}
        else:
            world.send(name, self.chains[number][at - 1], ('answer', number, at - 1))

    def answered(self, world, name, place):
        one = world.instances[name]
        world.instances[name] = one.changed(inside=one.inside - {place})
        self.answer(world, name, place)
        self.settle(world, name)

    def settle(self, world, name):
        one = world.instances[name]
        if one.drains and not one.inside:
            self.open(world, name)

    def open(self, world, name):
        waited = world.instances[name].door
        world.instances[name] = world.instances[name].changed(door=(), drains=False)
        for place in waited:
            self.execute(world, name, place)


def main():
    parser = argparse.ArgumentParser(description='Checks which rules of draining can wait for ever.')
    parser.add_argument('--traces', action='store_true', help='prints the steps that lead to where each mutant is stuck')
    parser.add_argument('--only', help='runs the one wiring of this name, under all rules')
    options = parser.parse_args()
    runs = failures = 0
    for rules, stuck in STUCK.items():
        for name, chains in WIRINGS.items():
            if options.only in (None, name):
                what = 'mutant' if name in stuck else 'baseline'
                runs, failures = runs + 1, failures + run(what, f'{rules}, {name}', Drain(chains, rules), options.traces)
    print(f'{runs} runs, {failures} failed')
    return 0 if runs and not failures else 1


if __name__ == '__main__':
    sys.exit(main())
