using Ambrosia.Coordinator.Framing;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using CRA.Catalog;
using CRA.Links;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Asks at an address whether an instance runs there: a caller's hello that names its UUID is welcomed by no other one (protocol P10.1).
/// Nothing is logged by it. The starting thread asks; the connection's threads hear the answer, and its out thread sends the question.
/// </summary>
internal sealed class AskedPrimary : ILinkTraffic, ILinkFrames
{
    /// <summary>A primary that answers at all answers within this time, twice: once the connection, once the question.</summary>
    private static readonly TimeSpan s_answerMax = TimeSpan.FromSeconds(2);

    private readonly FrameQueue _question;
    private readonly LinkFrames _frames;
    private readonly Guid _uuid;
    private readonly ManualResetEventSlim _isOver = new(false);
    private volatile bool _isThere;

    private AskedPrimary(uint seed, InstanceId instance, Guid uuid)
    {
        _uuid = uuid;
        _question = new FrameQueue(seed, checkPayload: true);
        _question.Write(new ClientHello(1, 1, instance, uuid, instance.Name, SizeLimits.MessageBytesMaxLimit, QueriesOnly: true));
        _frames = new LinkFrames(seed, FrameSender.Acceptor, this, static _ => { });
    }

    /// <summary>Returns true when a process with a log of this UUID answers there. It blocks for four seconds at most.</summary>
    /// <exception cref="OperationCanceledException">The process is asked to end.</exception>
    public static bool Answers(CatalogEntry entry, ReplicaEntry replica, LinkSettings settings, CancellationToken stop)
    {
        using LinkConnection? connection = LivingInstance.TryDial(entry, replica, settings with { AuthenticationMax = s_answerMax }, stop);
        if (connection is null) return false;
        var asked = new AskedPrimary(connection.Seed, entry.Instance, entry.Uuid);
        connection.Run(asked);
        asked._isOver.Wait(s_answerMax, stop);
        return asked._isThere;
    }

    public int FrameBytesWanted => _frames.BytesWanted;

    public ReadOnlyMemory<byte> HeartbeatFrame => default;

    bool ILinkFrames.IsOver => _isOver.IsSet;

    uint ILinkFrames.PayloadBytesMax => LinkFrames.HelloBytesMax;

    public FeedResult Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed) => _frames.Feed(bytes, drained, out consumed);

    FeedResult ILinkFrames.Take(FrameType type, ReadOnlySpan<byte> payload, bool isAgain)
    {
        _isThere = type == FrameType.ClientWelcome && ClientWelcome.Read(payload).Uuid == _uuid;
        if (type != FrameType.Heartbeat) _isOver.Set();
        return type == FrameType.Heartbeat ? FeedResult.Continue : FeedResult.Close;
    }

    void ILinkFrames.Broken(ProtocolViolation violation)
    {
        // A process that breaks the protocol is not the primary that was asked for.
    }

    public void WaitForRoom(CancellationToken stop)
    {
        // There is always room.
    }

    public bool TryTake(out ReadOnlyMemory<byte> bytes) => _question.TryTake(out bytes);

    public void Taken(int bytes)
    {
        // The question is one frame, which is sent once.
    }

    public void Ended(string why) => _isOver.Set();
}
