using Ambrosia.Protocol;

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

    All = I2 | I3 | I4,
}

/// <summary>
/// Compares what coordinators say on their links and in their logs with what the disks hold. It sees the bytes on the wires, to the apps
/// and to the files, and asks no coordinator anything.
/// </summary>
internal sealed class Oracles(Oracle watched)
{
    private readonly Dictionary<InstanceId, DiskWitness> disks = [];
    private readonly Dictionary<InstanceId, Lsn> delivered = [];
    private readonly Dictionary<(InstanceId From, InstanceId To), ulong> sent = [];

    /// <summary>How often each was asked: an oracle that saw nothing proves nothing.</summary>
    public int Acknowledgements { get; private set; }

    public int Trims { get; private set; }

    public int Sends { get; private set; }

    public DiskWitness DiskOf(InstanceId instance)
    {
        if (!disks.TryGetValue(instance, out DiskWitness? disk)) disks.Add(instance, disk = new DiskWitness(instance, Trimmed));
        return disk;
    }

    /// <summary>Number of the last call that has been put on a wire.</summary>
    public ulong Sent(InstanceId from, InstanceId to) => sent.GetValueOrDefault((from, to));

    /// <summary>Whole frames on their way from one coordinator to another.</summary>
    public void OnLink(InstanceId from, InstanceId to, ReadOnlySpan<byte> bytes, uint seed)
    {
        while (FrameReader.TryRead(bytes, seed, int.MaxValue, checkPayload: true, out FrameHeader header, out ReadOnlySpan<byte> payload, out int size) == DecodeStatus.Ok)
        {
            switch (header.Type)
            {
                case FrameType.Hello:
                    Acknowledged(from, to, Hello.Read(payload).Durable, "hello");
                    Trimmed(from, to, Hello.Read(payload).Trimmed);
                    break;
                case FrameType.Ack: Acknowledged(from, to, Ack.Read(payload).Durable, "ack"); break;
                case FrameType.Run: Emitted(from, to, RunView.Read(payload).Header); break;
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
            throw new SimulationFailure($"{by} tells {of} by {how} that {number} calls are durable, its disk holds {onDisk} flushed and fence-checked (I2)");
    }

    private void Trimmed(InstanceId by, InstanceId at, ulong number)
    {
        Trims++;
        ulong onDisk = DiskOf(at).DurableFrom(by);
        if (watched.HasFlag(Oracle.I3) && number > onDisk)
            throw new SimulationFailure($"{by} drops its calls to {at} up to {number}, whose disk holds {onDisk} flushed and fence-checked (I3)");
    }

    /// <summary>A frame, or more of a long one, on its way to the app.</summary>
    public void OnDelivery(InstanceId instance, ReadOnlySpan<byte> bytes)
    {
        if (FrameHeader.Read(bytes, 0, int.MaxValue) is not { Type: FrameType.Deliver } header) return;
        Lsn end = DeliverHeader.Read(bytes[FrameHeader.Bytes..]).First + (header.Length - DeliverHeader.Bytes);
        if (end > delivered.GetValueOrDefault(instance)) delivered[instance] = end;
    }

    /// <summary>Whatever is emitted rests at most on what the app has been given.</summary>
    private void Emitted(InstanceId from, InstanceId to, in RunHeader run)
    {
        Sends++;
        if (run.IsNumbered) sent[(from, to)] = Math.Max(Sent(from, to), run.Last);
        Lsn given = delivered.GetValueOrDefault(from), onDisk = DiskOf(from).Durable;
        if (watched.HasFlag(Oracle.I4) && given > onDisk)
            throw new SimulationFailure($"{from} sends call {run.Last} to {to} while its app has been given the log up to {given}, its disk holds it to {onDisk} flushed and fence-checked (I4)");
    }
}
