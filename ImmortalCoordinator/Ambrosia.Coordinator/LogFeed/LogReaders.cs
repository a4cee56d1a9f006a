using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.LogFeed;

/// <summary>
/// Opens readers of this replica's log, one for each who reads it: a reader has a position and a file of its own. The chain tells all of
/// them which segments there are. Any thread.
/// </summary>
internal sealed class LogReaders(LogLocation location, LogChain chain)
{
    /// <summary>The segments of the log as this replica knows them.</summary>
    public LogChain Chain => chain;

    /// <inheritdoc cref="LogChain.VersionAt"/>
    public uint VersionAt(Lsn lsn) => chain.VersionAt(location.Files, lsn);

    /// <param name="holds">The reader keeps the segment that it reads from being truncated.</param>
    public LogReader New(bool holds = false) => new(location.Files, location.Directory, location.Identity, chain, holds);
}

/// <summary>
/// The log below a place was removed before this replica had read it. Its app begins again from the newest checkpoint; that of a view does
/// not, since whoever looks has asked for what is gone.
/// </summary>
internal sealed class LogTruncatedException(Lsn next) : Exception($"the log at {next} was removed before it was delivered")
{
    /// <summary>The position that the app needs next.</summary>
    public Lsn Next { get; } = next;
}

/// <summary>
/// This replica has been still for so long that all checkpoints lie beyond what it has read of the log as durable: it must read on
/// before an app can begin.
/// </summary>
internal sealed class LogUnreadException(Lsn durable) : Exception($"every checkpoint lies beyond {durable}, up to which the log was read");
