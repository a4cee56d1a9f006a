using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.Links;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// The link half of one coordinator over a real log: what connections need and nothing else. Its commits are made by hand.
/// </summary>
internal sealed class Side : IDisposable
{
    public Side(string name, FakeTime? time = null, int blocksMax = 1000, ulong claim = 0)
    {
        Time = time ?? new FakeTime();
        Log = new OpenedLog(name, time: Time);
        Id = new InstanceId(name);
        Bench = new OutboxBench(blocksMax);
        Dedup = new DedupTable(Id);
        Pumps = new HandPumps();
        Links = new PeerLinks(Log.InputsFor(Pumps, Time), Log.Appender, Dedup, Bench.Set,
            new SelfChannel(Bench.Set.Self, Dedup, Log.Appender), (_, ticket) => { if (ticket > 0) ImpulsesLogged = ticket; });
        Links.BecomePrimary(new OwnClaim(Log.Epoch, ClaimHistory.None.With(Log.Epoch, claim)), () => !IsInDoubt);
        Table.Admit();
        Log.DurableAdvanced = DurableAdvanced;
    }

    public InstanceId Id { get; }

    /// <summary>It is not sure that it is primary still.</summary>
    public bool IsInDoubt { get; set; }

    public FakeTime Time { get; }

    public OpenedLog Log { get; }

    public OutboxBench Bench { get; }

    public DedupTable Dedup { get; }

    public PeerLinks Links { get; }

    public LinkTable Table => Links.Table;

    private HandPumps Pumps { get; }

    public List<string> Lines => Pumps.Lines;

    public ulong ImpulsesLogged { get; private set; }

    /// <summary>How often the committer was woken.</summary>
    public int Wakes => Pumps.Commits;

    /// <summary>Commits whenever a part asks for it, as the pump of a coordinator does.</summary>
    public Action? Committing { set => Pumps.Committing = value; }

    public int ExitCode => Pumps.ExitCode;

    /// <summary>As the coordinator does after each commit.</summary>
    private void DurableAdvanced(Lsn durable)
    {
        Links.AdvanceDurable(durable);
        Links.WakeOwed();
    }

    /// <summary>As the coordinator does a few times a second, so much later.</summary>
    public void Tick(TimeSpan later)
    {
        Time.Advance(later);
        Links.Tick(Time.Elapsed);
    }

    public PeerLink Dial(InstanceId peer, uint seed, Action<string>? close = null) =>
        Links.New(peer, new LinkTransport(seed, peer.Name) { Close = close ?? (static _ => { }) })!;

    public PeerLink Accept(uint seed, Action<string>? close = null, Action<string>? closeAfterSending = null, Action? wake = null) =>
        Links.New(null, new LinkTransport(seed, "in")
        {
            Close = close ?? (static _ => { }), CloseAfterSending = closeAfterSending ?? (static _ => { }),
            Wake = wake ?? (static () => { }),
        })!;

    /// <summary>What the one peer has acknowledged, as the last Trim record in the log states it.</summary>
    public TrimPosition Trimmed()
    {
        Tick(TimeSpan.FromSeconds(2));
        Log.Commit();
        return Log.Records().Where(static r => r.Kind == RecordKind.Trim).SelectMany(static r => TrimRecord.Read(r.Body).Positions)
            .LastOrDefault();
    }

    /// <summary>What the log holds of the other's messages, in order.</summary>
    public List<byte[]> Received()
    {
        Log.Commit();
        return [
            .. Log.Records().Where(static r => r.Kind is RecordKind.Run or RecordKind.ImpulseRun)
                .SelectMany(static r => Made.MessagesOf(RunView.Read(r.Body)))];
    }

    public void Dispose()
    {
        Bench.Dispose();
        Log.Dispose();
    }
}
