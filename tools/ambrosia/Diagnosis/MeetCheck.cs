using System.Buffers.Binary;
using System.Diagnostics;
using System.Globalization;
using Ambrosia.Log.Files;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Diagnosis;

/// <summary>
/// Meets the same command on another machine in a shared directory, and measures how long each sees what the other has changed already. In
/// turn one acts (it renames a file, writes a second one, and creates a third) while the other looks. Whoever sees a later change and not
/// an
/// earlier one sees stale names or contents. All that the two say to each other goes through the directory. One thread runs it.
/// </summary>
internal sealed class MeetCheck
{
    private const string NamesCheck = "meet names", ContentCheck = "meet content", ListingCheck = "meet listing", Bell = "bell";
    private const int Rounds = 20, LooksBefore = 50;
    private static readonly TimeSpan s_look = TimeSpan.FromMilliseconds(1);

    private readonly IFileSystem _files;
    private readonly string _directory;
    private readonly TimeSpan _patience;

    /// <summary>The longest time for which each kind of change was not seen although a later one was.</summary>
    private TimeSpan _names, _content, _listing;

    private MeetCheck(IFileSystem files, string directory, TimeSpan patience)
    {
        (_files, _directory, _patience) = (files, directory, patience);
    }

    /// <summary>Runs the meeting and returns what this machine has seen.</summary>
    /// <param name="directory">A directory that both machines share.</param>
    /// <param name="name">The name of the meeting, which both give.</param>
    /// <param name="patience">How long one waits for the other.</param>
    /// <exception cref="ToolMisuse">Others meet there under this name, or nobody comes.</exception>
    public static IReadOnlyList<Finding> Run(IFileSystem files, string directory, string name, TimeSpan patience)
    {
        string place = Path.Combine(directory, $".ambrosia-meet.{name}");
        files.CreateDirectory(place);
        var check = new MeetCheck(files, place, patience);
        bool isFirst = check.TryCreate("first");
        if (!isFirst && !check.TryCreate("second"))
            throw new ToolMisuse($"two others meet in {place}", "or an earlier meeting was broken off", "remove that directory, or take another name");
        check.Await(isFirst ? "second" : "first");
        for (int round = 0; round < Rounds; round++)
            if (isFirst == (round % 2 == 0)) check.Act(round);
            else check.Watch(round);
        check.End(isFirst);
        return check.Findings();
    }

    /// <summary>Changes three things, one behind the other, when the other looks.</summary>
    private void Act(int round)
    {
        _files.Create(PathOf("fence", round, 0)).Dispose();
        using IFile bell = _files.Create(PathOf(Bell, round));
        Write(bell, 0);
        Await(Named("ready", round));
        _files.Rename(PathOf("fence", round, 0), PathOf("fence", round, 1));
        _files.FlushDirectory(_directory);
        Write(bell, 1);
        Create(Named("done", round));
        Await(Named("seen", round));
    }

    /// <summary>Looks until everything is as the other has made it, and says what was seen late.</summary>
    private void Watch(int round)
    {
        Await(Named("fence", round) + ".0");
        Await(Named(Bell, round));
        for (int i = 0; i < LooksBefore; i++) // as a primary does with its fence, so that whatever caches names has this one
        {
            _files.Exists(PathOf("fence", round, 0));
            Rings(round);
        }
        Create(Named("ready", round));
        long begun = Stopwatch.GetTimestamp();
        long? rung = null, done = null, gone = null, listed = null;
        while (rung is null || done is null || gone is null || listed is null)
        {
            // What was changed last is looked at first, so that what is not seen behind it is stale.
            bool isDone = _files.Exists(Path.Combine(_directory, Named("done", round)));
            if (done is null && isDone) done = Stopwatch.GetTimestamp();
            if (listed is null && _files.List(_directory).Contains(Named("done", round))) listed = Stopwatch.GetTimestamp();
            if (rung is null && Rings(round)) rung = Stopwatch.GetTimestamp();
            if (gone is null && !_files.Exists(PathOf("fence", round, 0))) gone = Stopwatch.GetTimestamp();
            Keep(ref _content, done ?? listed, rung);
            Keep(ref _names, Earliest(rung, done, listed), gone);
            Keep(ref _listing, done, listed);
            Rest(begun, "the changes of the other machine");
        }
        Create(Named("seen", round));
    }

    /// <summary>Keeps how long something has been late: since a later change was seen, until it was seen itself, or until now.</summary>
    private static void Keep(ref TimeSpan longest, long? later, long? own)
    {
        if (later is not { } since || own is not null) return;
        TimeSpan late = Stopwatch.GetElapsedTime(since);
        if (late > longest) longest = late;
    }

    private static long? Earliest(params long?[] times) => times.Min();

    private IReadOnlyList<Finding> Findings()
    {
        const string options = "mount so that names and attributes are not cached (docs/storage.md), and meet again";
        return [
            Judge(NamesCheck, _names, "a renamed file was seen under its old name",
                "the fence is a name: a primary that was replaced would go on", options),
            Judge(ContentCheck, _content, "a file that was written and flushed was read as it was before",
                "a standby would read an old end of the log", options),
            Judge(ListingCheck, _listing, "a file that was there was not listed",
                "segments and checkpoints of the other machine would be missed", options),
        ];
    }

    private static Finding Judge(string check, TimeSpan stale, string what, string why, string mend) => stale == TimeSpan.Zero
        ? Finding.Ok(check, $"in {Rounds / 2} looks at the other's changes none was seen late")
        : Finding.Fail(check, string.Create(CultureInfo.InvariantCulture, $"{what} for up to {stale.TotalMilliseconds:0.0} ms"), why, mend);

    private bool Rings(int round)
    {
        try
        {
            using IFile bell = _files.Open(PathOf(Bell, round), FileUse.Read);
            Span<byte> value = stackalloc byte[sizeof(long)];
            return bell.Read(value, 0) == value.Length && BinaryPrimitives.ReadInt64LittleEndian(value) != 0;
        }
        catch (FileNotFoundException)
        {
            return false;
        }
    }

    private static void Write(IFile bell, long value)
    {
        Span<byte> bytes = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(bytes, value);
        bell.Write(bytes, 0);
        bell.Flush();
    }

    private void End(bool isFirst)
    {
        Create(isFirst ? "bye.first" : "bye.second");
        if (!isFirst) return;
        Await("bye.second");
        foreach (string name in _files.List(_directory)) _files.Delete(Path.Combine(_directory, name));
        Directory.Delete(_directory);
    }

    private bool TryCreate(string name)
    {
        try
        {
            Create(name);
            return true;
        }
        catch (FileExistsException)
        {
            return false;
        }
    }

    private void Create(string name)
    {
        _files.Create(Path.Combine(_directory, name)).Dispose();
        _files.FlushDirectory(_directory);
    }

    /// <summary>Waits for a name that the other makes, by a listing as well, since that it is not there yet may be remembered.</summary>
    private void Await(string name)
    {
        long begun = Stopwatch.GetTimestamp();
        while (!_files.List(_directory).Contains(name) && !_files.Exists(Path.Combine(_directory, name))) Rest(begun, name);
    }

    private void Rest(long begun, string awaited)
    {
        if (Stopwatch.GetElapsedTime(begun) > _patience)
            throw new ToolMisuse($"nobody has come to {_directory} within {_patience.TotalSeconds:0} s, or the other has gone", $"'{awaited}' was not seen",
                "run the command on both machines within that time, with the same name, remove that directory if it stays, and look whether both see the same files");
        Thread.Sleep(s_look);
    }

    private static string Named(string what, int round) => string.Create(CultureInfo.InvariantCulture, $"{what}.{round}");

    private string PathOf(string what, int round) => Path.Combine(_directory, Named(what, round));

    private string PathOf(string what, int round, int step) =>
        Path.Combine(_directory, string.Create(CultureInfo.InvariantCulture, $"{what}.{round}.{step}"));
}
