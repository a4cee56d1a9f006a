using Ambrosia.Protocol;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Links;

/// <summary>Declares the events of links to peers and of connections of callers, who are named in place of a peer.</summary>
internal static partial class LinkEvents
{
    /// <summary>
    /// This side refuses the connection, and it is dialled again later. The reason says what must change on one of the sides.
    /// </summary>
    [LoggerMessage(EventId = 201, EventName = "link.refused", Level = LogLevel.Warning,
        Message = "link {Peer}: refused: {Why}")]
    public static partial void LinkRefused(this ILogger logger, string peer, string why, int leftOut);

    /// <summary>
    /// The two sides remember different things of each other, and no connection is made until an operator acts: a log that is older than
    /// what the peer has seen must be put back, or a peer that is gone for good is forgotten.
    /// </summary>
    [LoggerMessage(EventId = 202, EventName = "link.stopped", Level = LogLevel.Error,
        Message = "link {Peer}: stopped: {Why}")]
    public static partial void LinkStopped(this ILogger logger, string peer, string why, int leftOut);

    /// <summary>The other side closes the connection and says why. Its own lines say more.</summary>
    [LoggerMessage(EventId = 203, EventName = "link.goodbye", Level = LogLevel.Warning,
        Message = "link {Peer}: closed by the other side: {Why}")]
    public static partial void LinkToldGoodbye(this ILogger logger, string peer, string why, int leftOut);

    /// <summary>A connection that was in use is gone. It is dialled again at once, and nothing is lost.</summary>
    [LoggerMessage(EventId = 204, EventName = "link.lost", Level = LogLevel.Information,
        Message = "link {Peer}: lost: {Why}")]
    public static partial void LinkLost(this ILogger logger, string peer, string why, int leftOut);

    /// <summary>
    /// The other side broke the protocol, and the connection is closed. If it goes on, the two builds do not fit each other.
    /// </summary>
    [LoggerMessage(EventId = 205, EventName = "link.violated", Level = LogLevel.Warning,
        Message = "link {Peer}: closed: {Why}")]
    public static partial void LinkViolated(this ILogger logger, string peer, string why, int leftOut);

    /// <summary>A connection ended before its hello said whose it is.</summary>
    [LoggerMessage(EventId = 206, EventName = "link.closed", Level = LogLevel.Information,
        Message = "link {Peer}: closed: {Why}")]
    public static partial void LinkClosed(this ILogger logger, string peer, string why, int leftOut);

    /// <summary>An operator has had the peer forgotten, and the app stands at the record that says so.</summary>
    [LoggerMessage(EventId = 207, EventName = "link.forgotten", Level = LogLevel.Warning,
        Message = "link {Peer}: forgotten, as an operator has said; {Calls} calls that it is not known to have are dropped")]
    public static partial void LinkForgotten(this ILogger logger, InstanceId peer, ulong calls);

    /// <summary>A peer that is called has no primary in the catalog. Start it, or look whether both use the same catalog.</summary>
    [LoggerMessage(EventId = 208, EventName = "link.peer.unlisted", Level = LogLevel.Warning,
        Message = "{Peer} is not in the catalog: calls to it are kept until it appears")]
    public static partial void PeerUnlisted(this ILogger logger, InstanceId peer);

    /// <summary>
    /// Nobody answers where the catalog says that the peer is. It is written once until the peer is reached; calls are kept meanwhile.
    /// </summary>
    [LoggerMessage(EventId = 209, EventName = "link.peer.unreachable", Level = LogLevel.Warning,
        Message = "{Peer} cannot be reached: {Why}")]
    public static partial void PeerUnreachable(this ILogger logger, InstanceId peer, string why);

    /// <summary>Several peers that are called have no primary in the catalog. At most ten are named.</summary>
    [LoggerMessage(EventId = 210, EventName = "link.peers.unlisted", Level = LogLevel.Warning,
        Message = "{Count} more peers are not in the catalog: {Peers}. Calls to them are kept until they appear")]
    public static partial void PeersUnlisted(this ILogger logger, int count, string peers);

    /// <summary>Several peers do not answer where the catalog says that they are. At most ten are named.</summary>
    [LoggerMessage(EventId = 211, EventName = "link.peers.unreachable", Level = LogLevel.Warning,
        Message = "{Count} more peers cannot be reached: {Peers}. Of the last: {Why}")]
    public static partial void PeersUnreachable(this ILogger logger, int count, string peers, string why);
}
