using System.Diagnostics;
using Ambrosia.Log;
using Ambrosia.Protocol;
using CRA;

namespace Ambrosia.Coordinator.Pumps;

/// <summary>
/// A secondary whose app has diverged, on its way out: says which call differs, and lets a new app execute the stretch again, record by
/// record, to say which record makes it. It can claim nothing and publish nothing any more. One thread, which waits.
/// </summary>
/// <param name="diverged">Its session ends; nobody else drives it.</param>
/// <param name="turnTo">New connections of the app go to this replica, and what ends it is said there.</param>
internal sealed class SecondLook(
    CoordinatorInputs inputs, Coordinator diverged, DivergedStretch stretch, ICatalog catalog,
    Action<Coordinator, Action<int, string>> turnTo)
{
    /// <summary>For the app to come again, and then to get on.</summary>
    private static readonly TimeSpan patience = TimeSpan.FromSeconds(10);

    /// <summary>For all of it.</summary>
    private static readonly TimeSpan longest = TimeSpan.FromMinutes(2);

    private readonly ManualResetEventSlim ended = new(false);
    private (int Code, string Why) end;

    /// <summary>What was found, as sentences.</summary>
    /// <param name="canExecute">An app may come again.</param>
    public string Run(bool canExecute)
    {
        long begun = Stopwatch.GetTimestamp();
        while (diverged.Session is not null && Stopwatch.GetElapsedTime(begun) < patience) Thread.Sleep(1);
        string first = AtFirst();
        if (!canExecute) return first;
        string again = Again();
        return IsNamed ? again : $"{first} {again}"; // what is held still may differ only because of calls before it
    }

    private string AtFirst()
    {
        using History history = NewHistory();
        List<string> found = diverged.LookAtCalls(stretch, history);
        return found.Count > 0 ? $"What differs among the last calls: {string.Join("; ", found)}."
            : "Which call differs is not known from the logs of those who were called.";
    }

    private string Again()
    {
        var follower = new LogFollower(inputs.Files, inputs.Options.LogDirectory, inputs.Identity);
        while (follower.Stated < stretch.To && follower.Step()) { }
        if (follower.Stated < stretch.To) return $"The log up to {stretch.To} cannot be read again.";
        inputs.Pumps.Say(
            $"divergence: the log between {stretch.From} and {stretch.To} is executed again, record by record; this replica ends then");
        var retrial = new Retrial(stretch.From, NewHistory());
        // its history lives on: who reads the app may still ask it
        var again = new Coordinator(inputs with { Retrial = retrial }, follower);
        retrial.Agreed = () => again.Agreed;
        again.Checkpoints.Forbid();
        turnTo(again, Ended);
        return Await(again);
    }

    private void Ended(int code, string why)
    {
        if (ended.IsSet) return;
        end = (code, why);
        ended.Set();
    }

    private string Await(Coordinator again)
    {
        long begun = Stopwatch.GetTimestamp(), moved = begun;
        Lsn last = Lsn.Zero;
        while (!ended.Wait(20))
        {
            if (again.Session is not null && again.Executed >= stretch.To && again.Agreed >= stretch.To)
                return "Executed again, the app made the calls of the log: it does not even do the same from one execution to the next.";
            if (again.Executed != last) (last, moved) = (again.Executed, Stopwatch.GetTimestamp());
            if (Stopwatch.GetElapsedTime(moved) > patience || Stopwatch.GetElapsedTime(begun) > longest)
                return again.Session is null ? "No app came to execute the stretch again."
                    : $"Executed again, the app did not get beyond {last} in time.";
        }
        return IsNamed ? $"By the record: {end.Why}." : end.Code == ExitCodes.Damage
            ? $"The stretch cannot be executed again; a longer --retain keeps what that needs: {end.Why}"
            : end.Code != ExitCodes.Divergence ? $"Executing the stretch again ended with {end.Code}: {end.Why}"
            : $"Executed again, it differed too, behind the record at Lsn {again.Executed}: {end.Why}";
    }

    private bool IsNamed => ended.IsSet && end.Why.StartsWith(Retrial.Found, StringComparison.Ordinal);

    private History NewHistory() => new(inputs.Files, inputs.Identity, DirectoryOf, diverged.UuidOf, inputs.Pumps.Say);

    private string? DirectoryOf(InstanceId instance)
    {
        if (instance == new InstanceId(inputs.Identity.Name, inputs.Identity.Shard)) return inputs.Options.LogDirectory;
        try
        {
            return catalog.Find(instance)?.LogPath;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or CatalogException)
        {
            return null;
        }
    }
}
