using System.Text;
using Ambrosia.Inspection.Places;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Retention;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Checkpoints;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Tools.Tests;

/// <summary>A log in which each kind of place can be found, with the places that a test names. A page is made each second.</summary>
internal sealed class PlaceLog : IDisposable
{
    public static readonly DateTimeOffset Begin = new(2026, 11, 21, 8, 0, 0, TimeSpan.Zero);

    private static readonly LogOptions s_small = LogMaker.Small with { SegmentBytes = 64 << 10, PageBytes = 8 << 10 };

    private bool _isDisposed;

    public PlaceLog(string directory)
    {
        Maker = LogMaker.Start(directory, Time, s_small);
        Maker.Begin();
        Maker.Peer(1, "ada");
        Maker.Peer(2, "bob");
        Commit();
    }

    public FakeTime Time { get; } = new(Begin);

    public LogMaker Maker { get; }

    public string Directory => Maker.Directory;

    public LogLocation Location => new(new ReadOnlyFiles(), Directory, Maker.Identity);

    public PlaceFinder Finder => new(Location, Time);

    /// <summary>Makes a page of what was appended, a second later than the one before.</summary>
    public void Commit()
    {
        Time.Advance(TimeSpan.FromSeconds(1));
        Maker.Commit();
    }

    /// <summary>Three forks of ada, of the methods Everything, Raw, and 99.</summary>
    public Lsn Forks() => Maker.Run(MessageKind.Fork, 1, Message.Of(Manifest.Everything, Manifest.EverythingArguments),
        Message.Of(Manifest.Raw, [0xFF, 0xFE]), Message.Of(99, [1]));

    public Lsn Calls(uint origin, params ulong[] ids) =>
        Maker.Run(MessageKind.Call, origin, [.. ids.Select(static id => Message.OfCall(Manifest.Answer, id, []))]);

    public Lsn Results(uint origin, params ulong[] ids) =>
        Maker.Run(MessageKind.Result, origin, [.. ids.Select(static id => Message.OfCall(Manifest.Answer, id, [0xF6]))]);

    public Lsn Keyed(params string[] keys) =>
        Maker.Keyed(1, [.. keys.Select(static key => Message.OfKeyed(Manifest.Raw, Encoding.UTF8.GetBytes(key), [1]))]);

    public Lsn Request(ulong number, string key = "") => Maker.Append(Message.Request(number, Manifest.Raw, Encoding.UTF8.GetBytes(key)));

    /// <summary>Large forks of ada, each on a page of its own.</summary>
    public Lsn[] Fill(int pages)
    {
        var lsns = new Lsn[pages];
        for (int i = 0; i < pages; i++)
        {
            lsns[i] = Maker.Run(MessageKind.Fork, 1, Message.Of(5, static (ref CborWriter to) => to.WriteBytes(new byte[6_000])));
            Commit();
        }
        return lsns;
    }

    public Lsn Spanning(int bytes)
    {
        byte[] message = Message.Of(Manifest.Raw, new byte[bytes]), run = new byte[RunHeader.Bytes + message.Length];
        new RunHeader(MessageKind.Fork, false, 0, 2, 1, 1, 0, 1).Write(run);
        message.CopyTo(run, RunHeader.Bytes);
        Lsn lsn = Maker.Spanning(run, RecordKind.Run);
        Commit();
        return lsn;
    }

    public CheckpointFileName Checkpoint() => Maker.Checkpoint(Peer(1, "ada"), Peer(2, "bob"));

    /// <summary>Removes what no checkpoint needs; the place from which execution can begin is that of the oldest that stays.</summary>
    public void Truncate()
    {
        var truncation = new Truncation(
            new LogLocation(new PosixFileSystem(), Directory, Maker.Identity), Maker.Writer, Maker.Log.Chain, RetentionPolicy.Default);
        truncation.Truncate(DateTimeOffset.UtcNow);
        Assert.True(Maker.Log.Chain.Segments[0].FirstLsn > Lsn.Zero, "something was removed");
    }

    public void Dispose()
    {
        if (!_isDisposed) Maker.Dispose();
        _isDisposed = true;
    }

    private static CheckpointPeer Peer(uint origin, string name) => new(origin, new InstanceId(name), Guid.Empty, new Epoch(1), 0);
}
