namespace Ambrosia.EndToEnd.Tests;

/// <summary>Who is to die.</summary>
internal enum Victim { Source, Ledger }

/// <summary>What has to happen for the point to be passed.</summary>
internal enum Workload
{
    /// <summary>Small calls, from the first start on.</summary>
    Small,

    /// <summary>The victim was killed before and starts again: it takes a log over and replays it.</summary>
    Restart,

    /// <summary>Large calls, so that pages and socket buffers fill.</summary>
    Large,

    /// <summary>Large calls while the ledger is not there, so that the outbox's memory fills.</summary>
    Alone,

    /// <summary>Timers, and tasks whose results are logged.</summary>
    TimersAndTasks,

    /// <summary>Small calls, some of which throw and are set aside.</summary>
    Poison,
}

/// <summary>A named step of the coordinator and how a test gets there.</summary>
/// <param name="Pass">At which pass of it the process kills itself.</param>
internal sealed record CrashPoint(string Name, Victim Victim, Workload Workload, int Pass = 1)
{
    public string Setting => $"{Name}:{Pass}";
}
