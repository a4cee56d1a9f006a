using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Commit;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Recovery;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.TestKit;
using CRA.Catalog;

namespace Ambrosia.Coordinator.Tests;

/// <summary>A real log on a simulated disk, committed by hand.</summary>
internal sealed class OpenedLog : IDisposable
{
    public const string Directory = "/data/self";
    private readonly PrimaryLock _held;

    public OpenedLog(string name = "self", LogOptions? options = null, TimeProvider? time = null)
    {
        Disk.CreateDirectory("/data");
        byte[] uuid = new byte[16];
        System.Text.Encoding.ASCII.GetBytes(name, uuid);
        Identity = InstanceDirectory.Create(Disk, Directory, name, 0, new Guid(uuid), 1_000_000, "r0", ICrashPoints.None);
        var claimed = Assert.IsType<ClaimResult.Claimed>(PrimaryClaim.TryClaim(Disk, Directory, Identity, "r0", ICrashPoints.None));
        _held = claimed.PrimaryLock;
        Epoch = claimed.Fence.Epoch;
        PrimaryLog log = TakeOver.Execute(
            Location, claimed.Fence, "r0", options ?? Small, time ?? new FakeTime());
        (Writer, Chain) = (log.Writer, log.Chain);
        Appender = new LogAppender(ReplicaLog.Of(Writer), Writer.ReserveBytesMax, static _ => { });
        Readers = new LogReaders(Location, Chain);
        Committer = new Committer(Writer, durable => DurableAdvanced(durable));
    }

    public static LogOptions Small { get; } = new()
    {
        SegmentBytes = 1 << 20, PageBytes = 8192, Pages = 3, ZeroWindowBytes = 0, MessageBytesMax = 1 << 20
    };

    public SimulatedFileSystem Disk { get; } = new();

    public InstanceIdentity Identity { get; }

    public Epoch Epoch { get; }

    public LogWriter Writer { get; }

    public LogChain Chain { get; }

    public LogAppender Appender { get; }

    public Committer Committer { get; }

    public Action<Lsn> DurableAdvanced { get; set; } = static _ => { };

    /// <summary>What a module is made from that stands on this log.</summary>
    public CoordinatorInputs InputsFor(HandPumps pumps, TimeProvider time) => new()
    {
        Options = new CoordinatorOptions
        {
            LogDirectory = Directory, Instance = Identity.Name, Catalog = CatalogPlace.OfDirectory("/data/catalog"),
                MessageBytesMax = 1 << 20,
        },
        Identity = Identity, Files = Disk, AppToken = default, Time = time, Random = static () => 0.5, Pumps = pumps,
        Logger = pumps.Logger,
    };

    public LogLocation Location => new(Disk, Directory, Identity);

    public LogReaders Readers { get; }

    public LogReader NewReader() => Readers.New();

    public void Commit()
    {
        while (CommitStep() != LogFeed.CommitStep.Park) { }
    }

    /// <summary>One step of the committer; space is prepared when it waits for that.</summary>
    public CommitStep CommitStep()
    {
        CommitStep step = Committer.Step();
        while (Writer.IsAwaitingSpace && !Writer.IsSpaceShort)
        {
            Writer.PrepareSpace();
            step = Committer.Step();
        }
        return step;
    }

    /// <summary>Appends a control record, committing when there is no room.</summary>
    public Lsn Append<T>(T record) where T : IRecordBody<T>
    {
        Lsn end;
        while (!Appender.TryAppend(T.Kind, RecordKinds.Encode(record), out end)) Commit();
        return end;
    }

    /// <summary>Every durable record: its Lsn, kind and whole bytes; a spanning one is put together.</summary>
    public List<LoggedRecord> Records()
    {
        var records = new List<LoggedRecord>();
        using LogReader reader = NewReader();
        var buffer = new PageBuffer();
        var spanning = new List<byte>();
        for (Lsn at = Lsn.Zero; at < Writer.Durable; at = buffer.Next)
        {
            Assert.Equal(ReadStatus.Page, reader.Read(at, ref buffer));
            if (buffer.Remaining > 0 || spanning.Count > 0)
            {
                if (spanning.Count == 0) records.Add(new LoggedRecord(buffer.Lsn, buffer.RecordsLsn, (RecordKind)buffer.Records[4], []));
                spanning.AddRange(buffer.Records);
                if (buffer.Remaining > 0) continue;
                records[^1] = records[^1] with { Whole = [.. spanning] };
                spanning.Clear();
                continue;
            }
            var page = new RecordReader(buffer.Records, buffer.RecordsLsn);
            while (page.Next()) records.Add(new LoggedRecord(buffer.Lsn, page.Lsn, page.Kind, page.Whole.ToArray()));
        }
        return records;
    }

    public void Dispose()
    {
        Writer.Dispose();
        _held.Dispose();
    }
}

/// <summary>One record of a log and the page in which it begins.</summary>
internal sealed record LoggedRecord(Lsn Page, Lsn Lsn, RecordKind Kind, byte[] Whole)
{
    public ReadOnlySpan<byte> Body => Whole.AsSpan(RecordHeader.Bytes);

    public Lsn End => Lsn + Whole.Length;
}
