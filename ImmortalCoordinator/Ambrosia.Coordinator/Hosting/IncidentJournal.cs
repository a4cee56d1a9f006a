using System.Diagnostics;
using Ambrosia.Coordinator.Divergence;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Notes where the app of this replica died, and where the replica diverged, when that has happened. It owns nothing but the files
/// (<see cref="IncidentFiles"/>). The supervisor's thread, or whichever ends the process.
/// </summary>
internal sealed class IncidentJournal(CoordinatorInputs inputs, Coordinator parts)
{
    /// <summary>What a dead app has sent is read to its end before its place is final, which takes no longer than this.</summary>
    private static readonly TimeSpan s_readMax = TimeSpan.FromSeconds(1);

    /// <summary>
    /// The app's process has ended with this code, or 128 and a signal. Where it had executed all that it was given, or its end says that
    /// its coordinator or its operator is at work, there is nothing to look at.
    /// </summary>
    public void Died(int code)
    {
        if (code is ExitCodes.Ok or ExitCodes.Misuse or ExitCodes.Divergence or ExitCodes.Io) return;
        long begun = Stopwatch.GetTimestamp();
        while (parts.Sessions.Live is not null && Stopwatch.GetElapsedTime(begun) < s_readMax) Thread.Sleep(1);
        if (parts.Execution.Progress.IsDry) return;
        ExecutingPlace at = parts.Execution.Progress.Executing;
        Write(New(at) with { ExitCode = code });
    }

    /// <summary>The replica ends because its app has done something else than the log says.</summary>
    /// <param name="why">The line with which it ends.</param>
    public void Diverged(string why)
    {
        DivergedStretch? stretch = parts.Execution.Digests.Diverged;
        ExecutingPlace at =
            DivergenceReplay.RecordIn(why) is { } found ? new ExecutingPlace(found, null) : parts.Execution.Progress.Executing;
        Write(New(at) with { From = stretch?.From.Value, To = stretch?.To.Value, Why = why });
    }

    private Incident New(ExecutingPlace at) => new(
        inputs.Options.Replica, (inputs.Time.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks / TimeSpan.TicksPerMicrosecond,
        parts.Execution.Delivery.AppVersion, at.At.Value, at.Index)
    {
        Build = parts.Execution.Delivery.Build?.ToString(),
    };

    private void Write(Incident incident) => IncidentFiles.Write(inputs.Files, inputs.Options.LogDirectory, parts.Epoch, incident);
}
