using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Simulation;

/// <summary>Invariants that are watched at every step, each by an oracle of its own.</summary>
[Flags]
internal enum Oracle
{
    None = 0,

    /// <summary>Acknowledged ⇒ durable and fence-checked.</summary>
    I2 = 1,

    /// <summary>Trimmed ⇒ durable at the receiver.</summary>
    I3 = 2,

    /// <summary>Emitted ⇒ its inputs are durable.</summary>
    I4 = 4,

    /// <summary>A secondary emits and logs nothing.</summary>
    I10 = 8,

    /// <summary>One claimer and one writer per epoch, one writer per file of the log.</summary>
    I11 = 16,

    /// <summary>What any two readers were given are prefixes of one another.</summary>
    I12 = 32,

    /// <summary>A primary that was stopped for longer than its rivals' patience, and replaced meanwhile, is silent for good.</summary>
    F1 = 64,

    /// <summary>A take-over keeps everything that was durable; what a replica holds for durable never decreases.</summary>
    F2 = 128,

    /// <summary>Executed by any replica ⇒ durable and fence-checked.</summary>
    F3 = 256,

    /// <summary>One result counts per task: the first in the log.</summary>
    I17 = 512,

    /// <summary>A timer's record stands in no page that is older than its due time.</summary>
    Due = 1024,

    /// <summary>A build that has made a call in another way than before publishes nothing to who has had that call.</summary>
    Build = 2048,

    /// <summary>Below an upgrade the old version executes, behind it the new one.</summary>
    I19 = 4096,

    All = I19 | Build | I17 | Due | I2 | I3 | I4 | I10 | I11 | I12 | F1 | F2 | F3,
}

/// <summary>
/// Compares what coordinators say on their links and in their logs with what the disks hold. It sees the bytes on the wires, to the apps
/// and to the files, and asks no coordinator anything.
/// </summary>
internal sealed class Oracles(Oracle watched)
{
    private readonly Dictionary<InstanceId, DiskWitness> _disks = [];
    private readonly Dictionary<InstanceId, ReadHistory> _histories = [];
    private readonly Dictionary<InstanceId, Lsn> _delivered = [];
    private readonly Dictionary<(InstanceId From, InstanceId To), ulong> _sent = [];
    private readonly HashSet<Guid> _buried = [];
    private readonly Dictionary<InstanceId, int> _lives = [];

    /// <summary>How often each was asked: an oracle that saw nothing proves nothing.</summary>
    public int Acknowledgements { get; private set; }

    public int Trims { get; private set; }

    public int Sends { get; private set; }

    public int Deliveries { get; private set; }

    /// <summary>Secondaries that went on as primaries, and primaries that found themselves replaced.</summary>
    public int Promotions { get; private set; }

    public int Replaced { get; private set; }

    public TimersAndTasksOracle TimersAndTasks { get; } = new();

    public VersionsOracle Versions { get; } = new();

    /// <summary>An app of this replica is given what is not for its version.</summary>
    public void WrongVersion(SimulatedReplica replica, string what) => Broken(Oracle.I19, $"{replica.Process}: {what}");

    /// <summary>A body of a task is about to run.</summary>
    public void TaskStarted(SimulatedReplica replica)
    {
        if (DiskOf(replica.Id).EpochOf(replica.Process) is null)
            Broken(Oracle.I10, $"{replica.Process} starts a task and has claimed no epoch");
    }

    public void JudgeTasks(SortedDictionary<ulong, ulong> inState)
    {
        if (TimersAndTasks.Judge(inState) is { } wrong) Broken(Oracle.I17, wrong);
    }

    public DiskWitness DiskOf(InstanceId instance)
    {
        if (!_disks.TryGetValue(instance, out DiskWitness? disk))
            _disks.Add(instance, disk = new DiskWitness(instance, Trimmed, Broken, IsBuried));
        return disk;
    }

    public void PowerLost()
    {
        foreach (DiskWitness disk in _disks.Values) disk.PowerLost();
    }

    /// <summary>The log of an instance was deleted for good: what follows under its name is another life.</summary>
    public void Bury(InstanceId instance, Guid uuid)
    {
        _buried.Add(uuid);
        _lives[instance] = LifeOf(instance) + 1;
        _disks.Remove(instance);
        _histories.Remove(instance);
        Versions.Forget(instance);
        _delivered.Remove(instance);
        foreach ((InstanceId From, InstanceId To) channel in _sent.Keys.Where(channel => channel.From == instance || channel.To == instance)
            .ToArray()) _sent.Remove(channel);
    }

    /// <summary>How often the log of an instance was deleted so far.</summary>
    public int LifeOf(InstanceId instance) => _lives.GetValueOrDefault(instance);

    /// <summary>Nothing that is said of it can be held against its disk any more.</summary>
    private bool IsBuried(Guid uuid) => _buried.Contains(uuid);

    /// <summary>Number of the last call that has been put on a wire.</summary>
    public ulong Sent(InstanceId from, InstanceId to) => _sent.GetValueOrDefault((from, to));

    private void Broken(Oracle oracle, string what)
    {
        if (watched.HasFlag(oracle)) throw new SimulationFailure($"{what} ({oracle})");
    }

    /// <summary>Whole frames on their way from one coordinator to another.</summary>
    /// <param name="life">Which life of the other the connection was made with: what is still said to one that is buried concerns no
    /// number of the next.</param>
    public void OnLink(SimulatedReplica sender, InstanceId to, int life, ReadOnlySpan<byte> bytes, uint seed)
    {
        InstanceId from = sender.Id;
        bool isHeard = life == LifeOf(to);
        if (DiskOf(from).EpochOf(sender.Process) is null)
            Broken(Oracle.I10, $"{sender.Process} sends {bytes.Length} bytes to {to} and has claimed no epoch");
        if (sender.MustBeSilent)
            Broken(Oracle.F1, $"{sender.Process} was stopped, replaced and continued, and sends {bytes.Length} bytes to {to}");
        while (FrameReader.TryRead(bytes, seed, int.MaxValue, checkPayload: true, out FrameHeader header, out ReadOnlySpan<byte> payload,
            out int size) == DecodeStatus.Ok)
        {
            switch (header.Type)
            {
                case FrameType.Hello when IsBuried(Hello.Read(payload).PeerUuid): break; // it does not know yet to whom it speaks
                case FrameType.Hello:
                    Acknowledged(from, to, Hello.Read(payload).Durable, "hello");
                    Trimmed(from, to, Hello.Read(payload).Trimmed);
                    break;
                case FrameType.Ack when isHeard: Acknowledged(from, to, Ack.Read(payload).Durable, "ack"); break;
                case FrameType.Run when isHeard && sender.HasDiffered:
                    Broken(Oracle.Build, $"{sender.Process} makes a call in another way than before and sends calls to {to}");
                    break;
                case FrameType.Run when isHeard: Emitted(from, to, RunView.Read(payload)); break;
            }
            bytes = bytes[size..];
        }
        if (bytes.Length > 0) throw new SimulationFailure($"{from} sends {bytes.Length} bytes to {to} that are no whole frame (P2)");
    }

    private void Acknowledged(InstanceId by, InstanceId of, ulong number, string how)
    {
        Acknowledgements++;
        ulong onDisk = DiskOf(by).DurableFrom(of);
        if (watched.HasFlag(Oracle.I2) && number > onDisk)
            throw new SimulationFailure(
                $"{by} tells {of} by {how} that {number} calls are durable, its disk holds {onDisk} flushed and fence-checked (I2)");
    }

    private void Trimmed(InstanceId by, InstanceId at, ulong number)
    {
        Trims++;
        ulong onDisk = DiskOf(at).DurableFrom(by);
        if (watched.HasFlag(Oracle.I3) && number > onDisk)
            throw new SimulationFailure(
                $"{by} drops its calls to {at} up to {number}, whose disk holds {onDisk} flushed and fence-checked (I3)");
    }

    /// <summary>One session of an app of this instance.</summary>
    public ReadHistory.Reader NewReader(InstanceId instance)
    {
        if (!_histories.TryGetValue(instance, out ReadHistory? history)) _histories.Add(instance, history = new ReadHistory(instance));
        return history.NewReader();
    }

    /// <summary>A frame, or more of a long one, on its way to the app.</summary>
    public void OnDelivery(SimulatedReplica replica, ReadHistory.Reader reader, ReadOnlySpan<byte> bytes, bool isBeginning)
    {
        string? differs = isBeginning ? Delivered(replica, reader, bytes) : reader.Continue(bytes);
        if (differs is not null) Broken(Oracle.I12, $"{replica.Process}: {differs}");
    }

    /// <summary>True for a delivery whose mark is its own first record, and that is a digest (log-format L5.7).</summary>
    public static bool IsQuietDigest(ReadOnlySpan<byte> bytes)
    {
        if (FrameHeader.Read(bytes, 0, int.MaxValue).Type != FrameType.Deliver) return false;
        DeliverHeader header = DeliverHeader.Read(bytes[FrameHeader.Bytes..]);
        return header.Mark == header.First && (RecordKind)bytes[FrameHeader.Bytes + DeliverHeader.Bytes + 4] == RecordKind.Digest;
    }

    private string? Delivered(SimulatedReplica replica, ReadHistory.Reader reader, ReadOnlySpan<byte> bytes)
    {
        if (FrameHeader.Read(bytes, 0, int.MaxValue) is not { Type: FrameType.Deliver } header) return null;
        Deliveries++;
        var deliver = DeliverHeader.Read(bytes[FrameHeader.Bytes..]);
        long length = header.Length - DeliverHeader.Bytes;
        Lsn end = deliver.First + length, onDisk = DiskOf(replica.Id).Durable;
        if (end > _delivered.GetValueOrDefault(replica.Id)) _delivered[replica.Id] = end;
        if (deliver.First >= onDisk)
            Broken(Oracle.F3,
                $"the app of {replica.Process} is given the log up to {end}, the disk holds it to {onDisk} flushed and fence-checked");
        if (length == bytes.Length - FrameHeader.Bytes - DeliverHeader.Bytes
            && TimersAndTasks.Delivered(deliver, bytes[(FrameHeader.Bytes + DeliverHeader.Bytes)..]) is { } early)
            Broken(Oracle.Due, $"{replica.Process}: {early}");
        return reader.Read(deliver, length, bytes[(FrameHeader.Bytes + DeliverHeader.Bytes)..]);
    }

    /// <summary>A replica has taken the log over; what it holds for durable counts from now on.</summary>
    public void Promoted(SimulatedReplica replica, Lsn durable, bool wasSecondary)
    {
        if (wasSecondary) Promotions++;
        if (DiskOf(replica.Id).IsSuperseded(replica.Process)) return; // since its fence check: others have written on
        Lsn onDisk = DiskOf(replica.Id).Durable;
        if (durable < onDisk)
            Broken(Oracle.F2, $"{replica.Process} takes the log over up to {durable}, up to {onDisk} it was flushed and fence-checked");
    }

    /// <summary>A replica's durable end, before and after a step.</summary>
    public void Moved(SimulatedReplica replica, Lsn before, Lsn after)
    {
        if (after < before) Broken(Oracle.F2, $"what {replica.Process} holds for durable goes back from {before} to {after}");
    }

    /// <summary>A process ends with exit code 75.</summary>
    public void NotPrimary(SimulatedReplica replica)
    {
        Replaced++;
        if (!DiskOf(replica.Id).IsSuperseded(replica.Process))
            Broken(Oracle.I11, $"{replica.Process} ends as no longer primary, and nobody has claimed a later epoch");
    }

    /// <summary>
    /// Whatever is emitted rests at most on what the app has been given. A numbered run says itself on which records, so these are held
    /// against the disk, too.
    /// </summary>
    private void Emitted(InstanceId from, InstanceId to, in RunView view)
    {
        Sends++;
        RunHeader run = view.Header;
        if (run.IsNumbered) _sent[(from, to)] = Math.Max(Sent(from, to), run.Last);
        Lsn given = _delivered.GetValueOrDefault(from), onDisk = DiskOf(from).Durable;
        if (watched.HasFlag(Oracle.I4) && given > onDisk)
            throw new SimulationFailure(
                $"{from} sends call {run.Last} to {to} while its app has been given the log up to {given}, its disk holds it to {onDisk} flushed and fence-checked (I4)");
        if (!run.IsNumbered) return;
        if (RunCause.In(view.Extensions) is not { } cause)
            Broken(Oracle.I4, $"{from} sends call {run.Last} to {to} and does not say what made it");
        else if (cause.Last >= onDisk)
            Broken(Oracle.I4,
                $"{from} sends call {run.Last} to {to}, which the record at {cause.Last} made; its disk holds the log to {onDisk} flushed and fence-checked");
    }
}
