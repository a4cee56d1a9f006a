using System.Diagnostics;
using Ambrosia.Coordinator.Builds;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Knows with what the sessions of a view begin. It holds that part of the log, tells where an app has to begin below a checkpoint that it
/// cannot continue, and watches which ports the app opens from there on. Any thread.
/// </summary>
internal sealed class ViewStart : IDisposable
{
    private static readonly TimeSpan s_releaseEvery = TimeSpan.FromSeconds(1);

    private readonly LogLocation _log;
    private readonly LogFollower _follower;
    private readonly ViewHold _hold;
    private readonly Action<string> _tell;
    private long _from, _released;

    /// <summary>1: the next session begins with an older checkpoint than it should have.</summary>
    private int _isFallback;

    /// <summary>The app could not begin with this checkpoint; zero: it could with each.</summary>
    private Lsn _refused;

    /// <summary>The ports of the app; null: none has come, or it is in this process.</summary>
    private volatile ListeningWatch? _ports;

    /// <param name="hold">So long is the log held; null: as long as the primary lets it.</param>
    /// <param name="tell">Hears what the person who looks is to know.</param>
    public ViewStart(LogLocation log, LogFollower follower, TimeSpan? hold, Action<string> tell)
    {
        (_log, _follower, _tell) = (log, follower, tell);
        _hold = new ViewHold(log.Files, hold, TimeProvider.System, TellThatHoldIsOver);
        HoldNewest();
    }

    /// <summary>
    /// Holds what the first session may begin with until it does: an app takes its time to start, and a log that grows fast is truncated
    /// behind what the view has seen of it meanwhile.
    /// </summary>
    private void HoldNewest()
    {
        // Of a log that grows fast all that is kept may lie behind what was read when it was opened: then more is read first.
        while (!TryHoldNewest(out Lsn? next) && next is { } later && TryReadTo(later)) { }
    }

    /// <param name="next">The first checkpoint behind what was read; null: there is none.</param>
    private bool TryHoldNewest(out Lsn? next)
    {
        next = null;
        foreach (CheckpointFileName name in CheckpointDirectory.List(_log.Files, _log.Directory))
        {
            if (name.Lsn > _follower.Stated)
            {
                if (!(next < name.Lsn)) next = name.Lsn;
            }
            else if (_follower.Chain.TryFind(name.Lsn, out LogSegment segment, out _) && _hold.TryHold(segment.Path))
                return true;
        }
        // Without a checkpoint an app begins where the log does.
        return _follower.Chain.Segments is [var oldest, ..] && oldest.FirstLsn == Lsn.Zero && _hold.TryHold(oldest.Path);
    }

    private bool TryReadTo(Lsn place)
    {
        while (_follower.Stated < place)
            if (!_follower.Step()) return false;
        return true;
    }

    /// <summary>A session begins: what it begins with may be begun with again, so it must stay.</summary>
    public void Begins(Lsn from, AppHello? app)
    {
        Volatile.Write(ref _from, (long)from.Value);
        // In this process others may open ports, so nobody is watched there.
        if (app is { ProcessId: > 0 and var process } && process != Environment.ProcessId && _ports?.Process != (int)process)
            _ports = new ListeningWatch((int)process);
        if (Interlocked.Exchange(ref _isFallback, 0) == 1) _tell($"it begins with {NameOf(from)} instead");
        if (_follower.Chain.TryFind(from, out LogSegment segment, out _) && !_hold.TryHold(segment.Path))
            _tell($"the log at {from} is being removed: the checkpoint there cannot be begun with a second time");
    }

    /// <summary>
    /// An app has refused what it was to begin with; returns why nothing can be done about it, null: the next session is to begin below.
    /// </summary>
    public string? BeginBelow(Lsn from, string why)
    {
        string refused = $"the app cannot begin with {NameOf(from)}: {why}";
        bool hasOlder = _follower.Chain.Segments is [{ FirstLsn: var first }, ..] && first == Lsn.Zero
            || CheckpointDirectory.List(_log.Files, _log.Directory).Any(name => name.Lsn < from);
        if (from == _refused) return refused;
        if (!hasOlder)
            return $"{refused}; nothing older is kept. Give the build that executed the log last, or one that continues what is suspended there ('ambrosia suspended')";
        _refused = from;
        _tell(refused);
        Volatile.Write(ref _isFallback, 1);
        return null;
    }

    /// <summary>
    /// Once nothing is to be held, the reader holds what it reads while it reads, as a replica's does, and no longer when the app stands.
    /// </summary>
    /// <param name="release">Releases what was not read since the last time.</param>
    public void Release(Action release)
    {
        if (!_hold.IsOver || Stopwatch.GetElapsedTime(_released) < s_releaseEvery) return;
        _released = Stopwatch.GetTimestamp();
        release();
    }

    /// <summary>Tells of ports that the app has opened since it was asked last.</summary>
    public void TellPorts()
    {
        if (_ports?.FindNew() is [_, ..] opened)
            _tell($"the app listens on {string.Join(", ", opened)} while it shows the past: start servers in BecomingPrimary, or ask AmbrosiaApp.IsView before");
    }

    /// <summary>Returns what has executed the records right below a place when they were logged; null: nothing says it.</summary>
    public BuildRecord? BuildBelow(Lsn place)
    {
        try
        {
            return LoggedBuilds.FindNewest(_log, _follower.Chain, place);
        }
        catch (Exception e) when (e is IOException or LogDamage)
        {
            return null; // a live log was truncated meanwhile, or it is damaged there, which is told where it matters
        }
    }

    private void TellThatHoldIsOver() => _tell(
        $"the log from {Volatile.Read(ref _from)} on is held no longer (--hold): it goes when the primary has no more need of it, and then nothing there can be begun with");

    /// <summary>Says what a session begins with, as a person finds it in the log's directory.</summary>
    private string NameOf(Lsn from)
    {
        foreach (CheckpointFileName name in CheckpointDirectory.List(_log.Files, _log.Directory))
            if (name.Lsn == from) return name.ToString();
        return from == Lsn.Zero ? "the beginning of the log" : $"the checkpoint at {from}";
    }

    public void Dispose() => _hold.Dispose();
}
