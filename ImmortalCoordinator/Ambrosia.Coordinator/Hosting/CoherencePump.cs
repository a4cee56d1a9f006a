using System.Diagnostics;
using System.Globalization;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Meets the replicas of other machines in the log's directory (log-format L7.10): one that is not primary asks the primary for a meeting
/// until it may take its place, and a primary comes to those who ask. One thread of its own, which is there only where machines share the
/// directory.
/// </summary>
/// <param name="replica">This replica's name.</param>
/// <param name="primary">Says in which epoch this replica is primary; null: it is not.</param>
/// <param name="fail">Ends the process.</param>
internal sealed class CoherencePump(
    CoherenceRule rule, string replica, Func<Epoch?> primary, Action<int, string> fail, ILogger logger, PumpProgress progress) : IDisposable
{
    private const string Prefix = "meet.";

    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(500), s_rest = TimeSpan.FromMilliseconds(1),
        s_patience = TimeSpan.FromSeconds(5);

    private readonly CancellationTokenSource _stop = new();
    private Epoch? _toldOf;

    public void Start() => PumpThread.Start("coherence", Run, fail);

    private void Run()
    {
        PumpWork work = progress.Enter("coherence");
        try
        {
            while (!_stop.IsCancellationRequested)
            {
                work.Begin();
                if (primary() is { } epoch) Answer(epoch, work);
                else Ask(work);
                work.End();
                _stop.Token.WaitHandle.WaitOne(s_look);
            }
        }
        catch (Exception fatal) when (ExitCodes.Of(fatal) is { } code)
        {
            fail(code, fatal.Message);
        }
    }

    /// <summary>Comes to each meeting that was asked for.</summary>
    private void Answer(Epoch epoch, PumpWork work)
    {
        foreach (string prefix in Meeting.FindOpen(rule.Files, rule.Directory, IsPrefix))
            if (Join(prefix, epoch.Value.ToString(CultureInfo.InvariantCulture)) is { } meeting && Hold(meeting, prefix, work))
                logger.CoherenceAnswered(prefix[Prefix.Length..^1], WhatWasLate(meeting) ?? "nothing");
    }

    /// <summary>Asks whoever is primary for a meeting, unless this replica may follow it already.</summary>
    private void Ask(PumpWork work)
    {
        if (rule.MayFollow(rule.InForce)) return;
        (Epoch epoch, bool isHeld) = rule.Look(Stopwatch.GetElapsedTime(0));
        if (rule.MayFollow(epoch)) return;
        TellOnce(epoch, isHeld);
        string prefix = $"{Prefix}{replica}.";
        Meeting.RemoveLeftovers(rule.Files, rule.Directory, prefix);
        if (Join(prefix, replica) is not { } meeting || !Hold(meeting, prefix, work)) return;
        if (WhatWasLate(meeting) is { } late)
            fail(ExitCodes.Misuse,
                $"{rule.Directory} is shared by machines, and what one changes the other sees late: {late}. A primary that was replaced would go on. Mount it so that neither names nor attributes are cached (docs/storage.md has the options of each file system), look with 'ambrosia doctor {rule.Directory} --meet NAME' on both machines, and start this replica again.");
        else if (ulong.TryParse(meeting.Token, NumberStyles.None, CultureInfo.InvariantCulture, out ulong met))
        {
            rule.Prove(new Epoch(met));
            logger.CoherenceProven(new Epoch(met));
        }
    }

    private void TellOnce(Epoch epoch, bool isHeld)
    {
        if (isHeld || _toldOf == epoch) return;
        _toldOf = epoch;
        logger.CoherenceUnproven(epoch, rule.IsAlone ? "It claims once nothing has moved there for 60 s"
            : "Start the replica that was primary, or give --alone to this one if no other machine has a replica");
    }

    private Meeting? Join(string prefix, string token) =>
        Meeting.TryJoin(rule.Files, TimeProvider.System, rule.Directory, prefix, token, s_patience);

    /// <summary>Holds a meeting to its end; false: the other side has not come, or has gone.</summary>
    private bool Hold(Meeting meeting, string prefix, PumpWork work)
    {
        try
        {
            foreach (bool _ in meeting.Steps())
            {
                work.End(); // it waits for the other side
                if (_stop.Token.WaitHandle.WaitOne(s_rest)) return false;
                work.Begin();
            }
            return true;
        }
        catch (MeetingBrokenException)
        {
            Meeting.RemoveLeftovers(rule.Files, rule.Directory, prefix);
            return false;
        }
        catch (Exception e) when (e is FileNotFoundException or FileExistsException)
        {
            return false; // the other side has broken it off, and has removed what was there
        }
    }

    private static string? WhatWasLate(Meeting meeting) => meeting.Own.Text ?? meeting.Others.Text;

    private static bool IsPrefix(string text) => text.StartsWith(Prefix, StringComparison.Ordinal) && text.EndsWith('.')
        && text.Length > Prefix.Length && Names.IsValid(text.AsSpan()[Prefix.Length..^1]);

    public void Dispose() => _stop.Cancel();
}
