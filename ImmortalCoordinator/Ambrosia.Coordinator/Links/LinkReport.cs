using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// What operator and table hear of one connection to a peer: one line at the most, and why it was refused. Owns whether that line was said.
/// Any thread of the connection.
/// </summary>
internal sealed class LinkReport(LinkParts parts, PeerLink link)
{
    private InstanceId? claimed;
    private int isSaid;

    /// <summary>Why this connection, or its hello, was refused on either side; null: it was not.</summary>
    public string? Refusal { get; private set; }

    /// <summary>Whom the connection is about, as far as we know such a one.</summary>
    private InstanceId? Known => link.Peer ?? link.Expected ?? claimed;

    /// <summary>It says that it is this one, whom we know; its hello was not right.</summary>
    public void Claims(InstanceId peer) => claimed = peer;

    /// <summary>We refuse it.</summary>
    public void Refused(string why, PeerEvent said)
    {
        Say(said, $"{(said == PeerEvent.Stopped ? "stopped" : "refused")}: {why}");
        Note(why);
    }

    /// <summary>The other side closed it in words.</summary>
    public void ToldGoodbye(Goodbye goodbye)
    {
        Say(PeerEvent.ToldGoodbye, $"closed by the other side: {goodbye.Why}");
        if (goodbye.Code == GoodbyeCode.Refused) Note(goodbye.Why);
    }

    public void Broken(ProtocolViolation violation) => Say(PeerEvent.Violation, $"closed: {violation.Message}");

    public void Ended(string why, bool wasOpen)
    {
        if (wasOpen && why != LinkTable.Superseded) Say(PeerEvent.Lost, $"lost: {why}");
        else if (link.Expected is null && link.Peer is null) Say(PeerEvent.Closed, $"closed: {why}");
    }

    private void Note(string why)
    {
        if (Known is { } peer) parts.Table.Refused(peer, parts.Time.GetUtcNow(), Refusal = why);
    }

    private void Say(PeerEvent happened, string what)
    {
        if (Interlocked.Exchange(ref isSaid, 1) == 0) parts.Lines.Say(Known, Known?.ToString() ?? link.Remote, happened, what);
    }
}
