using Ambrosia.Protocol;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>Declares the events of what others know this instance by: its entry in the catalog and its certificates.</summary>
internal static partial class PublicationEvents
{
    /// <summary>The directory of the catalog cannot be written. Links that are open live on, and it is tried again every 5 s.</summary>
    [LoggerMessage(EventId = 651, EventName = "catalog.publish.failed", Level = LogLevel.Warning,
        Message = "catalog: the entry of {Self} cannot be published, so that peers may not find it; tried again: {Why}")]
    public static partial void PublishFailed(this ILogger logger, InstanceId self, string why);

    /// <summary>
    /// A call has not come back for 5 s, most often because it is to a file system that hangs. What this replica does with its log and with
    /// the links that are open goes on; new connections, and its entry in the catalog, may have to wait. It is written once until it is
    /// over.
    /// </summary>
    [LoggerMessage(EventId = 654, EventName = "catalog.call.hangs", Level = LogLevel.Warning,
        Message = "{What} has taken {Seconds:F0} s and goes on; nothing else waits for it")]
    public static partial void CallHangs(this ILogger logger, string what, double seconds);

    /// <summary>A call that was said to hang has come back.</summary>
    [LoggerMessage(EventId = 655, EventName = "catalog.call.ended", Level = LogLevel.Information,
        Message = "{What} came back after {Seconds:F0} s")]
    public static partial void CallEnded(this ILogger logger, string what, double seconds);

    /// <summary>The files have changed and are in use.</summary>
    [LoggerMessage(EventId = 652, EventName = "certificates.renewed", Level = LogLevel.Information,
        Message = "certificates: read again, in force from the next connection on")]
    public static partial void CertificatesRenewed(this ILogger logger);

    /// <summary>The files have changed and cannot be used. Mend them before the old ones end.</summary>
    [LoggerMessage(EventId = 653, EventName = "certificates.rejected", Level = LogLevel.Error,
        Message = "certificates: the old ones stay in force: {Why}")]
    public static partial void CertificatesRejected(this ILogger logger, string why);
}
