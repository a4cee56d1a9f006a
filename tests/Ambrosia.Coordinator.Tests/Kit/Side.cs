using Ambrosia.Log;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// The link half of one coordinator over a real log: what connections need and nothing else. Its commits are made by hand.
/// </summary>
internal sealed class Side : IDisposable
{
    private readonly List<PeerLink> owed = [];

    public Side(string name, FakeTime? time = null, int blocksMax = 1000)
    {
        Time = time ?? new FakeTime();
        Log = new OpenedLog(name, time: Time);
        Id = new InstanceId(name);
        Bench = new OutboxBench(blocksMax);
        Ledger = new InputLedger(Id);
        Table = new LinkTable(Id, () => new Backoff(static () => 0.5));
        Table.Admit();
        Parts = new LinkParts
        {
            Self = Id, Identity = Log.Identity, Replica = "r0", OwnEpoch = Log.Epoch, MessageBytesMax = 1 << 20, Log = Log.Appender,
            Ledger = Ledger, Outboxes = Bench.Set, Table = Table, Trims = Trims, Time = Time, Lines = new PeerLines(Lines.Add, Time),
            ImpulsesLogged = (_, ticket) => { if (ticket > 0) ImpulsesLogged = ticket; },
            Committer = _ => Wakes++, Room = static _ => throw new InvalidOperationException("a part waits"),
            Fail = (code, _) => ExitCode = code, MayEmit = () => !IsInDoubt,
        };
        Log.DurableAdvanced = DurableAdvanced;
    }

    public InstanceId Id { get; }

    /// <summary>It is not sure that it is primary still.</summary>
    public bool IsInDoubt { get; set; }

    public FakeTime Time { get; }

    public OpenedLog Log { get; }

    public OutboxBench Bench { get; }

    public InputLedger Ledger { get; }

    public LinkTable Table { get; }

    public TrimBook Trims { get; } = new();

    public LinkParts Parts { get; }

    public List<string> Lines { get; } = [];

    public ulong ImpulsesLogged { get; private set; }

    public int Wakes { get; private set; }

    public int ExitCode { get; private set; } = -1;

    /// <summary>As the coordinator does after each commit.</summary>
    private void DurableAdvanced(Lsn durable)
    {
        owed.Clear();
        Ledger.AdvanceDurable(durable, owed, out _);
        foreach (PeerLink link in owed) link.DurableAdvanced();
        Parts.Awaiting.Wake();
    }

    public PeerLink Dial(InstanceId peer, uint seed) => new(Parts, peer, seed, Table.NextNonce(peer), peer.Name);

    public PeerLink Accept(uint seed) => new(Parts, null, seed, 0, "in");

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
