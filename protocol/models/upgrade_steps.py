"""The steps of the model of an upgrade; upgrade.py says what they stand for, and which rules they keep."""
from typing import NamedTuple

from exploration import Broken


class Replica(NamedTuple):
    phase: str            # see Model.steps_of
    epoch: int = 0
    note: tuple = ()      # what the phase has to remember
    tries: int = 0        # conversions begun in this epoch


class Stream(NamedTuple):
    epoch: int
    previous: int         # the epoch of the stream that this one goes on from; 0 is none
    seal: int             # how many records of that history count
    stated: int           # so many records of the history were durable when its writer read its fence
    records: tuple


class World(NamedTuple):
    replicas: tuple
    fence: int            # the highest epoch that was claimed
    streams: tuple
    files: tuple          # ((position, epoch, replica), content): an image, 'part' or 'damaged'
    acknowledged: int
    answers: tuple        # (input, version) that a caller was told of
    kills: int
    coups: int            # claims while somebody else acts
    damages: int


class Setting(NamedTuple):
    kinds: str
    inputs: int = 2
    kills: int = 1
    coups: int = 2
    damages: int = 0
    tries: int = 1
    beside: bool = False  # a primary of the old version is given the new one, and needs no claim for it


def is_switch(record):
    return record[0] == 'switch'


def inputs_of(history):
    return [r for r in history if not is_switch(r)]


def switch_of(history):
    return next((r for r in history if is_switch(r)), None)


class Model:
    """The steps of one setting, with at most one rule taken away."""

    def __init__(self, setting, mutant=None):
        self.setting, self.mutant = setting, mutant
        self.start = World(
            (Replica('lead1', 1),) + (Replica('follow'),) * (len(setting.kinds) - 1), 1, (Stream(1, 0, 0, 0, ()),), (), 0, (), 0, 0, 0)

        self.must_reach = any(kind in 'ab' for kind in setting.kinds)
        self.streams_read, self.histories = None, {}

    def without(self, rule):
        return self.mutant == rule

    def is_end(self, world):
        return world.acknowledged == self.setting.inputs

    @staticmethod
    def is_reached(world):
        return any(r.phase == 'lead2' for r in world.replicas)

    # ---- what the directory says

    @staticmethod
    def stream(world, epoch):
        return next((s for s in world.streams if s.epoch == epoch), None)

    def history(self, world, epoch):
        if world.streams is not self.streams_read:  # the steps of one state ask again and again
            self.streams_read, self.histories = world.streams, {0: ()}
        found = self.histories.get(epoch)
        if found is None:
            stream = self.stream(world, epoch)
            found = self.history(world, stream.previous)[:stream.seal] + stream.records
            self.histories[epoch] = found
        return found

    def newest(self, world):
        return max(s.epoch for s in world.streams)

    def name(self, position, epoch, i):
        return (position, 0, 0) if self.without('name_without_writer') else (position, epoch, i)

    @staticmethod
    def file(world, name):
        return next((content for n, content in world.files if n == name), None)

    # ---- changes

    @staticmethod
    def put(world, i, replica, **changes):
        replicas = world.replicas[:i] + (replica,) + world.replicas[i + 1:]
        return world._replace(replicas=replicas, **changes)

    @staticmethod
    def append(world, epoch, record):
        return tuple(s._replace(records=s.records + (record,)) if s.epoch == epoch else s for s in world.streams)

    def state(self, world, epoch):
        """The writer has read its fence: what its history holds is said to be durable."""
        length = len(self.history(world, epoch))
        return tuple(s._replace(stated=length) if s.epoch == epoch else s for s in world.streams)

    @staticmethod
    def write(world, name, content):
        return tuple(sorted([f for f in world.files if f[0] != name] + ([(name, content)] if content else []), key=repr))

    # ---- properties of a state

    def check(self, world):
        history = self.history(world, self.newest(world))
        if [r[1] for r in inputs_of(history)] != list(range(1, len(inputs_of(history)) + 1)):
            raise Broken(f'P1 the inputs in the log are {[r[1] for r in inputs_of(history)]}')
        for answer in world.answers:
            if ('input',) + answer not in history:
                raise Broken(f'P2 input {answer[0]} was answered by version {answer[1]}, and the history is {history}')
        version, switches = 1, 0
        for at, record in enumerate(history):
            if is_switch(record):
                version, switches = 2, switches + 1
                self.check_checkpoint(world, record, len(inputs_of(history[:at])))
            elif record[2] != version:
                raise Broken(f'P3 input {record[1]} is of version {record[2]} where version {version} is in force')
        if switches > 1:
            raise Broken('P3 two switches')
        for replica in world.replicas:
            if replica.phase == 'follow' and replica.note != history[:len(replica.note)]:
                raise Broken(f'P6 a follower executed {replica.note}, and the history is {history}')

    def check_checkpoint(self, world, record, before):
        _, position, name, image = record
        if position != before:
            raise Broken(f'P4 the switch names a checkpoint at {position}, and {before} inputs precede it')
        content = self.file(world, name)
        if content not in (image, 'damaged'):
            raise Broken(f'P4 the switch names a checkpoint of {image}, and the file holds {content}')

    # ---- steps

    def steps(self, world):
        for i in range(len(world.replicas)):
            yield from self.steps_of(world, i)
        if world.damages < self.setting.damages:
            for name, content in world.files:
                if content not in ('part', 'damaged'):
                    yield f'{name} is damaged', world._replace(files=self.write(world, name, 'damaged'), damages=world.damages + 1)

    def steps_of(self, world, i):
        replica, kind = world.replicas[i], self.setting.kinds[i]
        who = f'{kind}{i}'
        if replica.phase == 'ended':
            return
        if replica.phase == 'down':
            yield f'{who} starts', self.put(world, i, Replica('follow'))
            return
        if world.kills < self.setting.kills:
            yield f'{who} is killed', self.put(world, i, Replica('down'), kills=world.kills + 1)
        phase = replica.phase
        if phase in ('follow', 'peeked'):
            yield from self.follower(world, i, replica, kind, who)
        elif phase in ('claimed', 'read', 'opened'):
            yield from self.take_over(world, i, replica, kind, who)
        elif phase in ('target', 'built', 'saving', 'saved'):
            yield from self.upgrade(world, i, replica, kind, who)
        elif phase in ('noted', 'switched'):
            yield from self.switch(world, i, replica, kind, who)
        else:
            yield from self.primary(world, i, replica, kind, who)

    def fenced(self, world, i, who):
        return f'{who} reads its fence: another has claimed', self.put(world, i, Replica('down'))

    def follower(self, world, i, replica, kind, who):
        if replica.phase == 'follow':
            yield from self.execute(world, i, replica, kind, who)
        switched = switch_of(self.history(world, self.newest(world)))
        if (kind == '1' and switched and not self.without('old_takes_over')) or (kind == 'n' and not switched):
            return
        if self.without('tail_before_claim') and replica.phase == 'follow':
            newest = self.newest(world)
            yield f'{who} reads the tail', self.put(world, i, Replica('peeked', 0, (newest, len(self.history(world, newest)))))
            return
        acts = any(r.phase not in ('down', 'follow', 'peeked', 'ended') for r in world.replicas)
        if acts and world.coups == self.setting.coups:
            return
        epoch = world.fence + 1
        note = replica.note if replica.phase == 'peeked' else ()
        yield f'{who} claims {epoch}', self.put(world, i, Replica('claimed', epoch, note), fence=epoch, coups=world.coups + acts)

    def execute(self, world, i, replica, kind, who):
        """A follower executes one record more of what some writer states to be durable."""
        done = replica.note
        choices = {h[len(done)] for h in (self.history(world, s.epoch)[:s.stated] for s in world.streams)
                   if len(h) > len(done) and h[:len(done)] == done}
        behind = switch_of(done) is not None
        for record in sorted(choices, key=repr):
            longer = self.put(world, i, Replica('follow', 0, done + (record,)))
            if is_switch(record):
                if kind == '1' and not self.without('old_executes_behind'):
                    yield f'{who} meets the switch and ends (76)', self.put(world, i, Replica('ended'))
                elif kind == '1':
                    yield f'{who} passes over the switch', longer
                else:
                    yield from self.restore(world, i, kind, who, record, longer)
            elif not (kind == 'n' and not behind):
                if behind and kind == '1':
                    raise Broken(f'P5 version 1 executes input {record[1]} behind the switch')
                yield f'{who} executes input {record[1]}', longer

    def restore(self, world, i, kind, who, record, onward):
        """The new code begins from the checkpoint that the record names, or from a conversion that is made again (U13)."""
        _, position, name, image = record
        if self.file(world, name) == image:
            yield f'{who} restores the checkpoint', onward
            return
        again = (position, image[1] if image[1][0] == kind else kind) if kind != 'n' else None
        if again is None and not self.without('new_begins_empty'):
            yield f'{who} lacks the old code and ends (65)', self.put(world, i, Replica('ended'))
        elif kind == 'x':
            yield f'{who} cannot convert again and ends (70)', self.put(world, i, Replica('ended'))
        elif again == image:
            yield f'{who} converts again', onward
        elif again is None or self.without('rebuilds_with_another'):
            raise Broken(f'P8 the new code goes on from {again}, and the record states {image}')
        else:
            yield f'{who} converts again to another image and ends (70)', self.put(world, i, Replica('ended'))

    def take_over(self, world, i, replica, kind, who):
        epoch, note = replica.epoch, replica.note
        if replica.phase == 'claimed':
            newest = self.newest(world)
            tail = note or (newest, len(self.history(world, newest)))
            switched = switch_of(self.history(world, tail[0])[:tail[1]])
            if (kind == '1' and switched and not self.without('old_takes_over')) or (kind == 'n' and not switched):
                yield f'{who} finds behind its claim that it lacks the version, and ends (76)', self.put(world, i, Replica('ended'))
            else:
                yield f'{who} reads the tail up to {tail[1]}', self.put(world, i, replica._replace(phase='read', note=tail))
        elif replica.phase == 'read':
            stream = Stream(epoch, note[0], note[1], 0, ())
            opened = self.put(world, i, replica._replace(phase='opened', note=()), streams=world.streams + (stream,))
            yield f'{who} seals and opens {epoch}', opened
        elif world.fence != epoch:
            yield self.fenced(world, i, who)
        else:
            switched = switch_of(self.history(world, epoch))
            streams = self.state(world, epoch)
            if switched and not self.without('switches_again') and kind != '1':
                phase = 'switched'
            elif kind == '1':
                phase = 'lead1'
            else:
                phase = 'lead2' if self.without('assumes_new_version') else 'target'
            yield f'{who} reads its fence: {phase}', self.put(world, i, replica._replace(phase=phase), streams=streams)

    def upgrade(self, world, i, replica, kind, who):
        """Doors are shut, and all that is durable is executed by the old code."""
        epoch, phase = replica.epoch, replica.phase
        history = self.history(world, epoch)
        position = len(inputs_of(history))
        name, image = self.name(position, epoch, i), (position, kind + ("'" if replica.tries > 1 else ''))
        yield from self.give_up(world, i, replica, who, name)
        if phase == 'target' and kind != 'x':
            built = (replica.note[0] if replica.note else position)
            yield f'{who} converts at {built}', self.put(world, i, replica._replace(phase='built', note=(built,), tries=replica.tries + 1))
        elif phase == 'built':
            found = self.without('believes_first_file') and self.file(world, name)
            if self.without('record_before_checkpoint'):
                yield f'{who} appends the switch first', self.note(world, i, replica, name, image)
            elif found:
                yield f'{who} finds {name} and believes it', self.put(world, i, replica._replace(phase='saved'))
            else:
                yield f'{who} begins {name}', self.put(world, i, replica._replace(phase='saving'), files=self.write(world, name, 'part'))
        elif phase == 'saving':
            content = (replica.note[0],) + image[1:]
            yield f'{who} has {name} whole', self.put(world, i, replica._replace(phase='saved'), files=self.write(world, name, content))
            if self.without('record_before_whole'):
                yield f'{who} appends the switch', self.note(world, i, replica, name, image)
        elif phase == 'saved':
            yield f'{who} appends the switch', self.note(world, i, replica, name, (replica.note[0],) + image[1:])
        if phase != 'target' and self.without('accepts_while_building') and position < self.setting.inputs and world.fence == epoch:
            record = ('input', position + 1, 1)
            yield f'{who} accepts input {position + 1}', self.put(world, i, replica, streams=self.append(world, epoch, record))

    def give_up(self, world, i, replica, who, name):
        if self.without('never_gives_up'):
            return
        kept = self.without('believes_first_file')
        files = world.files if kept else self.write(world, name, None)
        onward = 'lead2' if self.without('gives_up_as_new') else 'lead1'
        yield f'{who} gives up', self.put(world, i, replica._replace(phase=onward, note=()), files=files)

    def note(self, world, i, replica, name, image):
        record = ('switch', image[0], name, image)
        return self.put(world, i, replica._replace(phase='noted', note=()), streams=self.append(world, replica.epoch, record))

    def switch(self, world, i, replica, kind, who):
        epoch = replica.epoch
        if replica.phase == 'switched':
            record = switch_of(self.history(world, epoch))
            onward = 'lead1' if self.without('old_session_goes_on') else 'lead2'
            yield from self.restore(world, i, kind, who, record, self.put(world, i, replica._replace(phase=onward, note=())))
            return
        if self.without('gives_up_behind_record'):
            yield f'{who} gives up behind the record', self.put(world, i, replica._replace(phase='lead1'))
        if world.fence == epoch or self.without('no_fence_behind_record'):
            streams = self.state(world, epoch)
            yield f'{who} reads its fence behind the switch', self.put(world, i, replica._replace(phase='switched'), streams=streams)
        else:
            yield self.fenced(world, i, who)

    def primary(self, world, i, replica, kind, who):
        epoch, version = replica.epoch, int(replica.phase[-1])
        history = self.history(world, epoch)
        inputs, open_fence = inputs_of(history), world.fence == epoch
        if replica.phase.startswith('sent'):
            yield from self.beside(world, i, replica, kind, who, len(inputs))
            if not open_fence and not (self.without('no_fence_behind_record') and version == 2):
                yield self.fenced(world, i, who)
                return
            if version == 1 and switch_of(self.history(world, self.newest(world))):
                raise Broken('P5 version 1 acts behind the switch')
            answers = tuple(sorted(set(world.answers) | {(len(inputs), version)}))
            changed = self.put(world, i, replica._replace(phase=f'lead{version}'), streams=self.state(world, epoch), answers=answers,
                               acknowledged=max(world.acknowledged, len(inputs)))
            yield f'{who} answers input {len(inputs)}', changed
            return
        if not open_fence:
            yield self.fenced(world, i, who)
        if len(inputs) < self.setting.inputs:
            record = ('input', len(inputs) + 1, version)
            yield f'{who} appends input {record[1]}', self.put(world, i, replica._replace(phase=f'sent{version}'),
                                                               streams=self.append(world, epoch, record))
        if len(inputs) > world.acknowledged and open_fence:
            answers = tuple(sorted(set(world.answers) | {r[1:] for r in inputs[world.acknowledged:]}))
            yield f'{who} answers what it recovered', world._replace(acknowledged=len(inputs), answers=answers)
        if version == 1 and kind in 'abx' and 0 < replica.tries < self.setting.tries:
            yield f'{who} shuts its doors again', self.put(world, i, replica._replace(phase='target'))
        yield from self.beside(world, i, replica, kind, who, len(inputs))
        yield from self.sweep(world, epoch, history, who)

    def beside(self, world, i, replica, kind, who, position):
        """A primary that serves shuts its doors, whatever it has not answered yet, and stays in its epoch."""
        if not (self.setting.beside and kind in 'abx' and replica.phase in ('lead1', 'sent1') and replica.tries == 0):
            return
        if self.without('believes_rehearsal') and not replica.note:
            yield f'{who} rehearses at {position}', self.put(world, i, replica._replace(note=(position,)))
        elif self.without('believes_rehearsal'):
            yield f'{who} shuts its doors and takes what it rehearsed', self.put(world, i, replica._replace(phase='built', tries=1))
        else:
            yield f'{who} shuts its doors', self.put(world, i, replica._replace(phase='target', note=()))

    def sweep(self, world, epoch, history, who):
        record = switch_of(history)
        kept = record[2] if record else None
        for name, _ in world.files:
            if name != kept and (name[1] < epoch or self.without('sweeps_any_epoch')):
                yield f'{who} removes {name}', world._replace(files=self.write(world, name, None))
