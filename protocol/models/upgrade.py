#!/usr/bin/env python3
"""Checks the order of a live upgrade in every interleaving: who may bring a new version of an app into force, when, and what remains of it.

Replicas share one directory and no lock, since safety must not need one. It holds the highest epoch that was claimed, one stream of
records for each epoch (from which stream it goes on, where that one is sealed, its records), and checkpoints of the new version. Every
step below is atomic; between any two of them a replica may stand still for as long as it likes, and it may be killed, which leaves all
that it wrote. A caller sends the inputs 1, 2 .. n, and forgets what is acknowledged.

Kinds of replicas:  1 carries the old version alone · a, b carry both, and convert differently · x carries both, and its conversion
always fails · n carries the new version alone, so that it cannot convert. A second try in one epoch is made by a mended build, a' for a;
who rebuilds is started with the build that the record names, if it is one of its own. In some settings a primary that serves is given the
new version and makes the upgrade beside the old one, in the epoch that it has, while others may claim the next at any time.

Rules that are checked here:
  U1  The epoch is claimed first, then the tail is read, then the state is converted.
  U2  The take-over seals the old stream under the old version.
  U3  No input is accepted between the conversion and the record of the switch.
  U4  The checkpoint of the new version is whole under its name before the record is appended.
  U5  The switch is a record in the log, which names the checkpoint and the hash of the converted image. The name of a checkpoint says
      who made it, and in which epoch.
  U6  The fence is read again behind the record, before anything is acknowledged or executed by the new code.
  U7  A primary removes only checkpoints of lower epochs that no record of its history names, and only once it has read its fence.
  U8  The old code stops at the record, whether it follows, or finds it behind its own claim.
  U9  A replica that carries both versions runs the old one until it finds the record or writes it, and writes it only if there is none.
  U10 A record is executed by the version in force at its place, whoever reads it.
  U11 Up to the record, whatever fails, the same replica goes on as primary under the old version. Behind it nobody gives up.
  U12 Each try converts and writes anew: a file that an earlier try left is replaced, never believed.
  U13 Who cannot use the checkpoint that the record names executes the old version up to the record and converts again, and goes on only
      with an image of the hash that the record states. Who lacks the old code ends.
  U14 A primary that makes the upgrade in its own epoch shuts its doors first, and converts the state behind all that is in the log then:
      nothing of a rehearsal counts. The old code does nothing more once the record is behind the fence.

Properties:
  P1 The inputs in the log are 1, 2, 3 .. without a gap.            P2 What is acknowledged is in the history, under that version.
  P3 There is one switch at most, and versions never decrease.      P4 The checkpoint of the record exists and holds what precedes it.
  P5 A primary acts under the version in force.                     P6 What a follower executed is a prefix of the history.
  P7 From everywhere each input can still be acknowledged, and a finished upgrade can be reached where a conversion succeeds.
  P8 The new code goes on from the image that the record states, and from no other.

Usage: upgrade.py [--deep] [--traces] [--only NAME]. It ends with 0 if no baseline breaks a property and each mutant breaks one.
"""
import argparse
import sys

from exploration import run
from upgrade_steps import Model, Setting

BASELINES = {
    'one upgrader, two old replicas': Setting('11a', coups=1, kills=1),
    'two upgraders that convert differently': Setting('ab', coups=2, kills=0),
    'a checkpoint is damaged, the old code is missing in one': Setting('1an', inputs=1, coups=1, kills=1, damages=1),
    'a checkpoint is damaged, two convert differently': Setting('1ab', inputs=1, coups=1, kills=0, damages=1),
    'a conversion always fails': Setting('11x', coups=1, kills=1),
    'a second try in the same epoch': Setting('1a', coups=1, kills=1, damages=1, tries=2),
    'beside the old version, and an old replica may claim': Setting('a1', coups=1, kills=1, beside=True),
    'beside the old version, and another upgrader may claim': Setting('ab', inputs=1, coups=1, kills=0, damages=1, beside=True),
    'beside the old version, and the conversion always fails': Setting('x1', coups=1, kills=1, beside=True),
}

DEEP = {
    'one upgrader, more of everything': Setting('11a', inputs=2, coups=2, kills=1),
    'two upgraders, more of everything': Setting('1ab', inputs=2, coups=2, kills=0, damages=1),
    'three inputs': Setting('11a', inputs=3, coups=2, kills=0),
    'two that convert differently, and a kill': Setting('ab', coups=2, kills=1),
    'two kills': Setting('1a', coups=1, kills=2),
    'beside the old version, more of everything': Setting('a11', inputs=2, coups=2, kills=1, beside=True),
}

OLD_AND_NEW = Setting('11a', kills=1, coups=2)
MUTANTS = {
    'tail_before_claim': OLD_AND_NEW,
    'accepts_while_building': OLD_AND_NEW,
    'record_before_checkpoint': OLD_AND_NEW,
    'record_before_whole': OLD_AND_NEW,
    'no_fence_behind_record': OLD_AND_NEW,
    'name_without_writer': Setting('1ab', kills=0, coups=2),
    'sweeps_any_epoch': Setting('1ab', kills=0, coups=3),
    'old_takes_over': OLD_AND_NEW,
    'old_executes_behind': OLD_AND_NEW,
    'assumes_new_version': OLD_AND_NEW,
    'switches_again': Setting('1aa', kills=0, coups=2),
    'gives_up_behind_record': OLD_AND_NEW,
    'gives_up_as_new': OLD_AND_NEW,
    'never_gives_up': Setting('1x', kills=1, coups=1),
    'believes_first_file': Setting('1a', kills=0, coups=1, tries=2),
    'rebuilds_with_another': Setting('1ab', inputs=1, kills=0, coups=2, damages=1),
    'new_begins_empty': Setting('1an', inputs=1, kills=0, coups=2, damages=1),
    'believes_rehearsal': Setting('a1', kills=0, coups=1, beside=True),
    'old_session_goes_on': Setting('a1', kills=0, coups=1, beside=True),
}


def main():
    parser = argparse.ArgumentParser(description='Checks the order of a live upgrade in every interleaving.')
    parser.add_argument('--deep', action='store_true', help='larger settings as well: minutes in place of seconds')
    parser.add_argument('--traces', action='store_true', help='prints the steps that lead to what each mutant breaks')
    parser.add_argument('--only', help='runs the one baseline or mutant of this name')
    options = parser.parse_args()
    failures, runs = 0, 0
    for name, setting in (BASELINES | (DEEP if options.deep else {})).items():
        if options.only in (None, name):
            runs, failures = runs + 1, failures + run('baseline', name, Model(setting), True)
    for name, setting in MUTANTS.items():
        if options.only in (None, name):
            runs, failures = runs + 1, failures + run('mutant', name, Model(setting, name), options.traces)
    print(f'{runs} runs, {failures} failed')
    return 0 if runs and not failures else 1


if __name__ == '__main__':
    sys.exit(main())
