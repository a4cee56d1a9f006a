using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.Links;

/// <summary>
/// Tells operator and table of one connection to a peer: one line at the most, and why it was refused. It owns whether that line was
/// written. Any thread of the connection.
/// </summary>
/// <param name="remote">The other end's address, for when it is not known who is there.</param>
internal sealed class LinkReport(LinkTable table, PeerEventLog events, TimeProvider time, LinkOpening opening, string remote)
{
    private InstanceId? _claimed;
    private int _isLogged;

    /// <summary>Why this connection, or its hello, was refused on either side; null: it was not.</summary>
    public string? Refusal { get; private set; }

    /// <summary>The peer that the connection is about, as far as we know such a one.</summary>
    private InstanceId? Known => opening.Peer ?? opening.Expected ?? _claimed;

    /// <summary>The other side says that it is this peer, whom we know; its hello was not right.</summary>
    public void Claims(InstanceId peer) => _claimed = peer;

    /// <summary>We refuse the connection.</summary>
    public void Refused(string why, PeerEvent happened)
    {
        Log(happened, why);
        Note(why);
    }

    /// <summary>The other side closed the connection in words.</summary>
    public void ToldGoodbye(Goodbye goodbye)
    {
        Log(PeerEvent.ToldGoodbye, goodbye.Why);
        if (goodbye.Code == GoodbyeCode.Refused) Note(goodbye.Why);
    }

    public void Broken(ProtocolViolation violation) => Log(PeerEvent.Violation, violation.Message);

    public void Ended(string why, bool wasOpen)
    {
        if (wasOpen && why != LinkTable.Superseded) Log(PeerEvent.Lost, why);
        else if (opening.Expected is null && opening.Peer is null) Log(PeerEvent.Closed, why);
    }

    private void Note(string why)
    {
        if (Known is { } peer) table.Refused(peer, time.GetElapsedTime(0), Refusal = why);
    }

    private void Log(PeerEvent happened, string why)
    {
        if (Interlocked.Exchange(ref _isLogged, 1) == 0) events.Log(Known, Known?.ToString() ?? remote, happened, why);
    }
}
