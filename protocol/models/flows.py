#!/usr/bin/env python3
"""Checks what a suspended handler must remember, so that one that is executed again from its start goes on as if it had never stopped.

A handler is a generator: it waits for the answer to a call by `yield`, and its frame cannot be written into an image. Behind an image it is
executed again from its start, with what it was told until then. Two orders for stock and one delivery meet in every order of their
arrivals and answers, with every answer, and at every record the instance is taken away and restored from its image. The rest of the log is
executed then, and everything must be as in the run that was not interrupted: the state, what was sent, and what was answered.

Rules:
  F1  A handler that waits reaches the state in steps alone, and the value that a step gave is in the journal. No step runs again.
  F2  What a handler was told is in the journal in its order: answers, values of steps, and the time.
  F3  While it is executed again nothing is sent and nothing is answered.
  F4  What it does is compared with what it did: kind, destination and arguments of each operation. Where they differ the image is refused.

Properties:
  P1  Behind every image everything is as without one.
  P2  A handler whose body was changed is refused exactly when it does something else before the place where it waits.

Each mutant is a rule that is missing: it has to break a property.

Usage: flows.py [--only NAME]. It ends with 0 if the baseline breaks nothing and each mutant breaks something.
"""
import argparse
import copy
import itertools
import sys
import time


class Refused(Exception):
    """The code does something else than the journal says."""


class Context:
    """What a handler reaches the world through. While `told` is not at its end, the handler is being executed again."""

    def __init__(self, world, number, mutant):
        self.world, self.number, self.mutant = world, number, mutant
        self.journal, self.operations = [], []
        self.replayed, self.compared = 0, 0
        self.is_again = False

    def operate(self, *operation):
        if self.is_again and self.mutant != 'compares_nothing':
            if self.compared >= len(self.operations) or self.operations[self.compared] != operation:
                raise Refused(f'{operation} is not what it did')
            self.compared += 1
        elif not self.is_again:
            self.operations.append(operation)

    def tell(self, make):
        """A value that is in the journal: made once, and taken from there when the handler is executed again."""
        if self.is_again and self.replayed < len(self.journal):
            self.replayed += 1
            return self.journal[self.replayed - 1][1]
        value = make()
        self.journal.append(('told', value))
        return value

    def step(self, name, action):
        self.operate('step', name)
        if self.mutant == 'runs_steps_again':
            return action(self.world.state)
        if self.mutant == 'runs_steps_on_a_copy':
            return action(copy.deepcopy(self.world.state) if self.is_again else self.world.state)
        return self.tell(lambda: action(self.world.state))

    def now(self):
        self.operate('now')
        return self.world.clock if self.mutant == 'forgets_the_time' else self.tell(lambda: self.world.clock)

    def fork(self, to, what):
        self.operate('fork', to, what)
        if not self.is_again or self.mutant == 'sends_again':
            self.world.sent.append((to, what))

    def call(self, to, what):
        self.operate('call', to, what)
        if not self.is_again or self.mutant == 'calls_again':
            self.world.sent.append((to, what))


def order(at, item, count, changed=None):
    """Reserves what is there, asks for price and tax, pays, and gives back where that fails. `changed` is what another build does otherwise."""
    reserved = at.step('reserve', lambda state: take(state, item, count))
    if changed == 'before':
        at.fork('audit', (item, reserved))
    at.call('prices', item)
    price = yield
    left = at.step('left', lambda state: state[item])
    if left == 0:
        at.fork('supplier', (item, at.now()))
    if changed == 'between' and price > 1:
        at.fork('audit', (item, price))
    at.call('taxes', item)
    tax = yield
    at.call('bank', price * reserved + tax)
    paid = yield
    if changed == 'behind':
        at.fork('audit', (item, paid))
    if not paid:
        at.step('give back', lambda state: put(state, item, reserved))
    return reserved if paid else 0, left, at.now()


def take(state, item, count):
    taken = min(state[item], count)
    state[item] -= taken
    return taken


def put(state, item, count):
    state[item] += count


class World:
    """One instance: its state, its handlers that wait, what it has sent and answered, and the log's clock."""

    def __init__(self, mutant):
        self.mutant, self.clock = mutant, 0
        self.state, self.sent, self.answered = {'nuts': 2, 'bolts': 1}, [], {}
        self.waiting = {}

    def execute(self, record):
        self.clock += 1
        kind, *rest = record
        if kind == 'deliver':
            put(self.state, *rest)
        elif kind == 'order':
            number, *arguments = rest
            context = Context(self, number, self.mutant)
            self.waiting[number] = (context, arguments, order(context, *arguments))
            self.go_on(number, None)
        else:
            number, value = rest
            self.waiting[number][0].journal.append(('answer', value))
            self.go_on(number, value)

    def go_on(self, number, value):
        try:
            self.waiting[number][2].send(value)
        except StopIteration as end:
            self.answered[number] = end.value
            del self.waiting[number]

    def restored(self, changed=None):
        """Takes the instance away and brings it back from its image: data alone, and no frame."""
        back = World(self.mutant)
        back.clock, back.state = self.clock, dict(self.state)
        back.sent, back.answered = list(self.sent), dict(self.answered)
        for number, (old, arguments, _) in sorted(self.waiting.items()):
            context = Context(back, number, self.mutant)
            context.journal, context.operations = list(old.journal), list(old.operations)
            context.is_again = True
            handler = order(context, *arguments, changed)
            back.waiting[number] = (context, arguments, handler)
            self.again(context, handler)
            context.is_again = False
        return back

    def again(self, context, handler):
        """Executes a handler from its start, with what it was told: each answer where it waited for one."""
        answers = iter([value for kind, value in context.journal if kind == 'answer'])
        if self.mutant == 'forgets_the_order':
            answers = iter(list(answers)[::-1])
        told = [entry for entry in context.journal if entry[0] == 'told']
        journal, context.journal, context.replayed = context.journal, told, 0
        handler.send(None)
        for value in answers:
            handler.send(value)
        if context.compared != len(context.operations) and self.mutant != 'compares_nothing':
            raise Refused('it does less than it did')
        context.journal, context.replayed = journal, 0

    def end(self):
        return self.state, self.sent, self.answered, sorted(self.waiting)


def histories():
    """All orders in which two orders, with three answers each, and a delivery can meet; with answers of which some are good."""
    for places in meetings('aaaabbbbd'):
        for prices, paid in (((1, 2), (True, False)), ((2, 1), (False, True))):
            yield list(records(places, {'a': ('nuts', 1), 'b': ('nuts', 2)}, dict(zip('ab', prices)), dict(zip('ab', paid))))


def meetings(letters):
    """All words of these letters, each once."""
    if not letters:
        yield ''
    for first in sorted(set(letters)):
        for rest in meetings(letters.replace(first, '', 1)):
            yield first + rest


def records(places, orders, prices, paid):
    seen = {'a': 0, 'b': 0}
    for place in places:
        if place == 'd':
            yield ('deliver', 'nuts', 3)
            continue
        yield (('order', place, *orders[place]), ('answer', place, prices[place]), ('answer', place, 3), ('answer', place, paid[place]))[seen[place]]
        seen[place] += 1


def play(log, mutant=None, cut=None, changed=None):
    world = World(mutant)
    for at, record in enumerate(log):
        if at == cut:
            world = world.restored(changed)
        world.execute(record)
    return world.end()


def interrupted(mutant):
    """P1: returns how many runs were made, and what was wrong first."""
    runs = 0
    for log in histories():
        whole = play(log)
        for cut in range(1, len(log)):
            runs += 1
            try:
                if play(log, mutant, cut) != whole:
                    return runs, f'cut before record {cut} of {log}'
            except (Refused, StopIteration) as wrong:
                return runs, f'cut before record {cut} of {log}: {wrong}'
    return runs, None


def acts_otherwise(log, cut, changed):
    """Whether a handler that waits at the cut would have done something else until then, had its body been the changed one."""
    world = World(None)
    for record in log[:cut]:
        world.execute(record)
    for context, _, _ in world.waiting.values():
        answers = [value for kind, value in context.journal if kind == 'answer']
        if changed == 'before' or (changed == 'between' and answers and answers[0] > 1):
            return True
    return False


def changed_bodies(mutant):
    """P2, likewise."""
    runs = 0
    for log in histories():
        for cut, changed in itertools.product(range(1, len(log)), ('before', 'between', 'behind')):
            runs += 1
            try:
                play(log, mutant, cut, changed)
                is_refused = False
            except Refused:
                is_refused = True
            if is_refused != acts_otherwise(log, cut, changed):
                return runs, f'changed {changed} its wait, cut before record {cut} of {log}: {"refused" if is_refused else "taken"}'
    return runs, None


MUTANTS = ['runs_steps_again', 'runs_steps_on_a_copy', 'forgets_the_time', 'forgets_the_order', 'sends_again', 'calls_again', 'compares_nothing']


def judge(what, name, mutant):
    """Prints one line; returns 1 where a baseline breaks a property, or a mutant breaks none."""
    began = time.monotonic()
    runs, broken = interrupted(mutant)
    if broken is None:
        more, broken = changed_bodies(mutant)
        runs += more
    good = (broken is None) == (what == 'baseline')
    print(f'{"ok    " if good else "FAILED"} {what} {name}: {runs} runs, {broken or "every property holds"} ({time.monotonic() - began:.1f} s)', flush=True)
    return 0 if good else 1


def main():
    parser = argparse.ArgumentParser(description='Checks what a suspended handler must remember.')
    parser.add_argument('--only', help='runs the baseline, or the one mutant of this name')
    options = parser.parse_args()
    runs = failures = 0
    for what, name, mutant in [('baseline', 'flow', None)] + [('mutant', name, name) for name in MUTANTS]:
        if options.only in (None, name):
            runs, failures = runs + 1, failures + judge(what, name, mutant)
    print(f'{runs} runs, {failures} failed')
    return 0 if runs and not failures else 1


if __name__ == '__main__':
    sys.exit(main())
