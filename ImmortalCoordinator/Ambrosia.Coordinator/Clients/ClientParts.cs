using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>What every session of a caller outside works with; the same for all of them.</summary>
internal sealed class ClientParts
{
    /// <summary>Messages of one session that may be under way (protocol P10.4).</summary>
    public const uint RequestsMax = 1024;

    /// <summary>Answers that wait for one session; a caller that lets more wait does not read.</summary>
    public const int AnswerBytesMax = 16 << 20;

    /// <summary>
    /// Log bytes that the app may be behind; beyond them nothing from outside is admitted, so that peers and the app itself have the rest.
    /// </summary>
    public const ulong LagBytesMax = 64 << 20;

    public required InstanceId Self { get; init; }

    public required Guid Uuid { get; init; }

    public required string Replica { get; init; }

    /// <summary>The epoch in force; that of the sessions.</summary>
    public required Func<Epoch> Epoch { get; init; }

    public required uint MessageBytesMax { get; init; }

    public required LogAppender Log { get; init; }

    public required ClientTable Table { get; init; }

    /// <summary>Durable log bytes that the app has not executed.</summary>
    public required Func<ulong> Lag { get; init; }

    /// <summary>
    /// Whether anything may be sent now: always by a secondary, which answers queries alone; by a primary while it is sure to be one.
    /// </summary>
    public required Func<bool> MayAnswer { get; init; }

    /// <summary>This replica takes requests; false: queries alone.</summary>
    public required Func<bool> IsPrimary { get; init; }

    public required QueryBook Queries { get; init; }

    /// <summary>End of the last record that the app was given: what it says rests on nothing behind.</summary>
    public required Func<Lsn> Delivered { get; init; }

    /// <summary>The app may have something to do.</summary>
    public required Action WakeApp { get; init; }

    /// <summary>Appended records wait for a commit; true: nothing more is coming at the moment.</summary>
    public required Action<bool> Committer { get; init; }

    public required Action<CancellationToken> Room { get; init; }

    public required PeerLines Lines { get; init; }

    public uint PayloadBytesMax => Frames.PayloadBytesMax(MessageBytesMax);

    public void WakeCommitter(bool drained)
    {
        if (Log.TakeWake() || drained) Committer(drained);
    }

    /// <summary>Null: the hello is right (protocol P10.1).</summary>
    /// <param name="certified">Names that the connection's certificate is for; null: there are no certificates.</param>
    public string? WhatIsWrong(ClientHello hello, IReadOnlyList<string>? certified)
    {
        if (certified is not null && !certified.Contains(hello.Client, StringComparer.Ordinal))
            return $"the caller calls itself {hello.Client}, which its certificate is not for (P10.1)";
        if (!hello.Supports(1)) return $"the caller speaks protocol versions {hello.VersionMin} to {hello.VersionMax}, we speak 1 (P10.1)";
        if (hello.Instance != Self) return $"the caller wants to speak to {hello.Instance}, we are {Self} (P10.1)";
        if (hello.Uuid != Guid.Empty && hello.Uuid != Uuid)
            return $"the caller knows {Self} as {hello.Uuid}, we are {Uuid}: it was deleted and made again (P10.1)";
        return hello.MessageBytesMax < MessageBytesMax
            ? $"the caller takes answers of at most {hello.MessageBytesMax} bytes, ours may have {MessageBytesMax} (P10.1)" : null;
    }
}
