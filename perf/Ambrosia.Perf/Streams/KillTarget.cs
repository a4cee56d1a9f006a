namespace Ambrosia.Perf;

/// <summary>Whose processes, app and coordinator, end in the middle of a round.</summary>
internal enum KillTarget
{
    Receivers,
    Senders,
    Everybody,
}
