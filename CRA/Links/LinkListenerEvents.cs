using Microsoft.Extensions.Logging;

namespace CRA.Links;

/// <summary>Declares the events of a listener: strangers that it turns away, and the trouble that it has with accepting.</summary>
internal static partial class LinkListenerEvents
{
    /// <summary>
    /// A connection is closed before it was authenticated. Nothing is to be done about a stranger; a peer of ours that is named here has
    /// another secret or a certificate that does not fit. At most a few lines a second are written, and the reason then counts those left
    /// out.
    /// </summary>
    [LoggerMessage(EventId = 101, EventName = "link.stranger.closed", Level = LogLevel.Warning,
        Message = "Link from {Remote} closed: {Why}")]
    public static partial void StrangerClosed(this ILogger logger, string remote, string why, long leftOut);

    /// <summary>A connection was gone before it was looked at. Nothing is to be done.</summary>
    [LoggerMessage(EventId = 102, EventName = "link.stranger.gone", Level = LogLevel.Information,
        Message = "Link closed: {Why}")]
    public static partial void StrangerGone(this ILogger logger, string why, long leftOut);

    /// <summary>
    /// The system gives no connection out, most often because the process has no descriptors left (raise 'ulimit -n'). It is tried again
    /// after 100 ms, then ever more seldom, up to 2 s. It is written once until it is over.
    /// </summary>
    [LoggerMessage(EventId = 103, EventName = "link.accept.failed", Level = LogLevel.Warning,
        Message = "Link listener {Address} could not accept a connection: {Why}")]
    public static partial void AcceptFailed(this ILogger logger, string address, string why);

    /// <summary>The system gives connections out again, and the trouble is over.</summary>
    [LoggerMessage(EventId = 104, EventName = "link.accept.resumed", Level = LogLevel.Information,
        Message = "Link listener {Address} accepts connections again, after {Failures} failures")]
    public static partial void AcceptResumed(this ILogger logger, string address, long failures);
}
