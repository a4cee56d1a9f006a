using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// This replica has been still for so long that all checkpoints lie beyond what it has read of the log as durable: it must read on
/// before an app can begin.
/// </summary>
internal sealed class LogUnreadException(Lsn durable) : Exception($"every checkpoint lies beyond {durable}, up to which the log was read");
