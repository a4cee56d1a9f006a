using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>The log below a place was removed before this replica had read it: its app begins again from the newest checkpoint.</summary>
internal sealed class LogTruncatedException(Lsn next)
    : Exception($"the log at {next} was removed before it was delivered: the app begins again from the newest checkpoint");
