namespace Ambrosia.Protocol;

/// <summary>Kinds of log records (log-format L5).</summary>
public enum RecordKind : byte
{
    Run = 1, ImpulseRun = 2, FirstStart = 3, Peer = 4, Trim = 5, Digest = 6, CheckpointMark = 7, NondetResult = 8,
    TimerFired = 9, ClientRequest = 10, Policy = 11, Quarantine = 12, Upgrade = 13, Forget = 14,
}
