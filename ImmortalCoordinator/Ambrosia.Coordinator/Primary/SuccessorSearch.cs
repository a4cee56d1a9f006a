using System.Globalization;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Primary;

/// <summary>
/// Finds the replicas that can follow a primary that is to end: their processes move, and their apps have executed all that the log stated
/// when the search began (log-format L7.7). One that is stopped, hangs, is far behind, waits with another build or is about to end itself
/// is none of them, whatever it holds or has published before. The search never waits: its owner looks again. One thread.
/// </summary>
/// <param name="stated">The log states this as durable when the search begins.</param>
internal sealed class SuccessorSearch(CoordinatorInputs inputs, Lsn stated)
{
    /// <summary>A replica that stands still for so long hangs, whatever the limit for primaries is.</summary>
    private static readonly TimeSpan s_withinMax = TimeSpan.FromSeconds(10);

    /// <summary>Holds what each replica had written when it was seen first.</summary>
    private readonly SortedDictionary<string, FollowerMove> _first = new(StringComparer.Ordinal);

    private readonly long _begun = inputs.Time.GetTimestamp();

    /// <summary>Nothing will come of looking again: each replica that runs has said that it cannot follow, or the time is over.</summary>
    public bool IsOver { get; private set; }

    /// <summary>Another replica ran at the last look.</summary>
    public bool HasSeenAny { get; private set; }

    /// <summary>The reason why no replica can follow, with their names; of the last look.</summary>
    public string WhyNone { get; private set; } = "";

    /// <summary>Returns the names of those that can follow now.</summary>
    public IReadOnlyList<string> Look()
    {
        try
        {
            return LookAtEach();
        }
        catch (IOException e) when (IFileSystem.IsLimit(e.HResult))
        {
            IsOver = IsLate;
            WhyNone = $"the replicas cannot be listed: {e.Message}";
            return [];
        }
    }

    private bool IsLate
    {
        get
        {
            TimeSpan limit = inputs.Options.HangLimit;
            return inputs.Time.GetElapsedTime(_begun) >= (limit < s_withinMax ? limit : s_withinMax);
        }
    }

    private List<string> LookAtEach()
    {
        var found = new List<string>();
        var reasons = new List<string>();
        bool mayCome = false;
        foreach (string name in ReplicaLock.ListRunning(inputs.Files, inputs.Options.LogDirectory, except: inputs.Options.Replica))
        {
            FollowerMove move = ReplicaLock.ReadMove(inputs.Files, inputs.Options.LogDirectory, name);
            string? why = WhatKeeps(name, move, out bool maySoon);
            mayCome |= maySoon;
            if (why is null) found.Add(name);
            else reasons.Add($"{name} {why}");
        }
        HasSeenAny = found.Count + reasons.Count > 0;
        IsOver = !mayCome || IsLate;
        WhyNone = reasons.Count == 0 ? "no other replica runs" : string.Join(", ", reasons);
        return found;
    }

    /// <summary>Returns what keeps a replica from following, or null.</summary>
    /// <param name="maySoon">It may be otherwise at the next look.</param>
    private string? WhatKeeps(string name, FollowerMove move, out bool maySoon)
    {
        maySoon = false;
        if (move.Count == 0) return "does not say yet that it follows";
        if (_first.TryAdd(name, move) || _first[name].Count == move.Count)
        {
            maySoon = true;
            return "stands still";
        }
        if (move.Executed == Lsn.Zero) return "could not go on now: 'ambrosia status' says why";
        maySoon = move.Executed < stated;
        return !maySoon ? null
            : string.Create(CultureInfo.InvariantCulture, $"has {stated.Value - move.Executed.Value} bytes of the log left to execute");
    }
}
