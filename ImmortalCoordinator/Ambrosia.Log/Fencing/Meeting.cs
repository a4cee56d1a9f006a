using System.Buffers.Binary;
using System.Globalization;
using Ambrosia.Log.Files;

namespace Ambrosia.Log.Fencing;

/// <summary>
/// Meets another process in a directory that both see, and measures for how long each sees what the other has changed already (log-format
/// L7.10). In turn one side acts (it renames a file, writes a second one, and creates a third) while the other looks. Whoever sees a later
/// change and not an earlier one sees stale names or contents. All that the two say to each other goes through names in the directory. It
/// never waits: it yields where it has to, and whoever drives it rests for a moment. One thread.
/// </summary>
public sealed class Meeting
{
    private const string First = "first", Second = "second", Bell = "bell";
    private const int Rounds = 20, LooksBefore = 50, LooksBeforeMin = 3;

    /// <summary>Fewer looks do where each takes long: the other side waits for this one, and not for ever.</summary>
    private static readonly TimeSpan s_looksBeforeMax = TimeSpan.FromMilliseconds(250);

    /// <summary>What is late for so long is late enough to be known: some caches never look again.</summary>
    private static readonly TimeSpan s_lateMax = TimeSpan.FromSeconds(2);

    private readonly IFileSystem _files;
    private readonly TimeProvider _time;
    private readonly string _directory, _prefix;
    private readonly bool _isFirst;
    private readonly TimeSpan _patience;
    private TimeSpan _names, _content, _listing;

    private Meeting(IFileSystem files, TimeProvider time, string directory, string prefix, bool isFirst, TimeSpan patience)
    {
        (_files, _time, _directory, _prefix, _isFirst, _patience) = (files, time, directory, prefix, isFirst, patience);
    }

    /// <summary>Says what this side has seen late so far.</summary>
    public Staleness Own => new(_names, _content, _listing);

    /// <summary>Says what the other side has seen late; it is there when the meeting is over.</summary>
    public Staleness Others { get; private set; }

    /// <summary>Says what the other side has said of itself; it is there when the meeting is over.</summary>
    public string Token { get; private set; } = "";

    /// <summary>Begins a meeting, or joins the one that another has begun. Returns null when two others meet there.</summary>
    /// <param name="prefix">All names of this meeting begin with it.</param>
    /// <param name="token">What the other side is to know of this one: digits and letters.</param>
    /// <param name="patience">How long one step of the other side is waited for.</param>
    public static Meeting? TryJoin(IFileSystem files, TimeProvider time, string directory, string prefix, string token, TimeSpan patience)
    {
        foreach (string side in (ReadOnlySpan<string>)[First, Second])
        {
            var meeting = new Meeting(files, time, directory, prefix, side == First, patience);
            try
            {
                meeting.Create(side);
            }
            catch (FileExistsException)
            {
                continue;
            }
            meeting.Create($"says.{side}.{token}");
            return meeting;
        }
        return null;
    }

    /// <summary>Returns the prefixes of the meetings in a directory to which nobody has come yet.</summary>
    public static IEnumerable<string> FindOpen(IFileSystem files, string directory, Func<string, bool> isPrefix)
    {
        IReadOnlyList<string> names = files.List(directory);
        foreach (string name in names)
            if (name.EndsWith(First, StringComparison.Ordinal) && name[..^First.Length] is var prefix && isPrefix(prefix)
                && !names.Contains(prefix + Second)) yield return prefix;
    }

    /// <summary>Removes what a meeting has left behind that was broken off.</summary>
    public static void RemoveLeftovers(IFileSystem files, string directory, string prefix)
    {
        foreach (string name in files.List(directory))
            if (name.StartsWith(prefix, StringComparison.Ordinal)) files.Delete(Path.Combine(directory, name));
    }

    /// <summary>Holds the meeting, to its end. It yields where it waits for the other side.</summary>
    /// <exception cref="MeetingBrokenException">The other side has not come, or has gone.</exception>
    public IEnumerable<bool> Steps()
    {
        foreach (bool _ in AwaitBegin($"says.{Other}.")) yield return true;
        Token = Find($"says.{Other}.")!;
        for (int round = 0; round < Rounds; round++)
            foreach (bool _ in _isFirst == (round % 2 == 0) ? Act(round) : Watch(round)) yield return true;
        string mine = _isFirst ? First : Second;
        Create($"saw.{mine}.{Own}");
        foreach (bool _ in AwaitBegin($"saw.{Other}.")) yield return true;
        Others = Staleness.TryParse(Find($"saw.{Other}.")!)
            ?? throw new MeetingBrokenException($"what the other side has seen cannot be read: '{Find($"saw.{Other}.")}'");
        Create($"bye.{mine}");
        if (!_isFirst) yield break;
        foreach (bool _ in Await($"bye.{Other}")) yield return true;
        RemoveLeftovers(_files, _directory, _prefix);
    }

    private string Other => _isFirst ? Second : First;

    /// <summary>Changes three things, one behind the other, when the other side looks.</summary>
    private IEnumerable<bool> Act(int round)
    {
        _files.Create(PathOf($"fence.{round}.0")).Dispose();
        using IFile bell = _files.Create(PathOf($"{Bell}.{round}"));
        Ring(bell, 0);
        foreach (bool _ in Await($"ready.{round}")) yield return true;
        _files.Rename(PathOf($"fence.{round}.0"), PathOf($"fence.{round}.1"));
        _files.FlushDirectory(_directory);
        Ring(bell, 1);
        Create($"done.{round}");
        foreach (bool _ in Await($"seen.{round}")) yield return true;
    }

    /// <summary>Looks until everything is as the other side has made it, and notes what was seen late.</summary>
    private IEnumerable<bool> Watch(int round)
    {
        string fence = PathOf($"fence.{round}.0"), done = $"done.{round}";
        foreach (bool _ in Await($"fence.{round}.0")) yield return true;
        foreach (bool _ in Await($"{Bell}.{round}")) yield return true;
        long arrived = _time.GetTimestamp();
        for (int i = 0; i < LooksBefore; i++) // as a primary does with its fence, so that whatever caches names has this one
        {
            _files.Exists(fence);
            Rings(round);
            if (i + 1 >= LooksBeforeMin && _time.GetElapsedTime(arrived) > s_looksBeforeMax) break;
        }
        Create($"ready.{round}");
        long begun = _time.GetTimestamp();
        long? rung = null, made = null, gone = null, listed = null;
        while (rung is null || made is null || gone is null || listed is null)
        {
            // What was changed last is looked at first, so that what is not seen behind it is stale.
            if (_files.Exists(PathOf(done))) made ??= _time.GetTimestamp();
            if (_files.List(_directory).Contains(_prefix + done)) listed ??= _time.GetTimestamp();
            if (Rings(round)) rung ??= _time.GetTimestamp();
            if (!_files.Exists(fence)) gone ??= _time.GetTimestamp();
            Keep(ref _content, made ?? listed, rung);
            Keep(ref _names, Earliest(rung, made, listed), gone);
            Keep(ref _listing, made, listed);
            if (Own.Longest >= s_lateMax) break;
            RequirePatience(begun, "the changes of the other side");
            yield return true;
        }
        Create($"seen.{round}");
    }

    /// <summary>Keeps how long something has been late: since a later change was seen, until it was seen itself, or until now.</summary>
    private void Keep(ref TimeSpan longest, long? later, long? own)
    {
        if (later is not { } since || own is not null) return;
        TimeSpan late = _time.GetElapsedTime(since);
        if (late > longest) longest = late;
    }

    private static long? Earliest(params ReadOnlySpan<long?> times)
    {
        long? earliest = null;
        foreach (long? time in times)
            if (time < (earliest ?? long.MaxValue)) earliest = time;
        return earliest;
    }

    private bool Rings(int round)
    {
        try
        {
            using IFile bell = _files.Open(PathOf($"{Bell}.{round}"), FileUse.Read);
            Span<byte> value = stackalloc byte[sizeof(long)];
            return bell.Read(value, 0) == value.Length && BinaryPrimitives.ReadInt64LittleEndian(value) != 0;
        }
        catch (FileNotFoundException)
        {
            return false;
        }
    }

    private static void Ring(IFile bell, long value)
    {
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, value);
        bell.Write(bytes, 0);
        bell.Flush();
    }

    private void Create(string name)
    {
        _files.Create(PathOf(name)).Dispose();
        _files.FlushDirectory(_directory);
    }

    /// <summary>Awaits a name, by a listing as well, since that it is not there yet may be remembered.</summary>
    private IEnumerable<bool> Await(string name)
    {
        long begun = _time.GetTimestamp();
        while (!_files.List(_directory).Contains(_prefix + name) && !_files.Exists(PathOf(name)))
        {
            RequirePatience(begun, name);
            yield return true;
        }
    }

    /// <summary>Awaits a name that begins so.</summary>
    private IEnumerable<bool> AwaitBegin(string begin)
    {
        long begun = _time.GetTimestamp();
        while (Find(begin) is null)
        {
            RequirePatience(begun, begin);
            yield return true;
        }
    }

    /// <summary>Returns the rest of the first name that begins so; null: there is none.</summary>
    private string? Find(string begin) => _files.List(_directory)
        .FirstOrDefault(name => name.StartsWith(_prefix + begin, StringComparison.Ordinal))?[(_prefix.Length + begin.Length)..];

    private void RequirePatience(long begun, string awaited)
    {
        if (_time.GetElapsedTime(begun) > _patience)
            throw new MeetingBrokenException(string.Create(CultureInfo.InvariantCulture,
                $"'{awaited}' was not seen within {_patience.TotalSeconds:0.##} s"));
    }

    private string PathOf(string name) => Path.Combine(_directory, _prefix + name);
}

/// <summary>The other side of a meeting has not come, or has gone.</summary>
public sealed class MeetingBrokenException(string what) : Exception(what);
