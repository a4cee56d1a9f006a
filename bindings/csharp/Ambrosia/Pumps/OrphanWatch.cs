using System.Globalization;
using System.Runtime.InteropServices;
using Ambrosia.AppChannel;

namespace Ambrosia.Pumps;

/// <summary>
/// Sees that the process of an app does not outlive its coordinator although a handler does not come back. When the channel ends, the
/// scheduler's thread has a while to end the session in order; then the process ends all the same. While a handler has run for long, the
/// system is told to kill the process together with its parent, if that is the coordinator, so that it ends also where nothing in it runs
/// any more. It has a thread of its own, which lives as long as the process: the system asks by thread.
/// </summary>
/// <param name="stream">The channel.</param>
/// <param name="parent">The process id of the coordinator that started this process; null: somebody else did.</param>
/// <param name="end">Ends the process because of this.</param>
internal sealed partial class OrphanWatch(AppStream stream, int? parent, Action end)
{
    private const int SetParentDeathSignal = 1, KillSignal = 9; // PR_SET_PDEATHSIG, SIGKILL

    /// <summary>A handler that is to come back does so in this time after the end of the channel.</summary>
    internal static readonly TimeSpan Grace = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan s_lookEvery = TimeSpan.FromSeconds(1);

    private readonly ManualResetEventSlim _over = new(false);
    private bool _diesWithParent;

    /// <summary>Counts what the scheduler's thread does: it is odd while that executes what it was given.</summary>
    private long _turns;
    private long _turnsSeen;

    internal void Start() => new Thread(Run) { Name = "ambrosia orphan watch", IsBackground = true }.Start();

    /// <summary>The scheduler's thread begins, or has ended, what it was given.</summary>
    internal void Turn() => Volatile.Write(ref _turns, _turns + 1);

    /// <summary>The session has ended, and the process ends in order.</summary>
    internal void End() => _over.Set();

    /// <summary>Watches until the process is to end, in one way or the other.</summary>
    internal void Run()
    {
        while (!stream.HasEndedWithin(s_lookEvery))
        {
            if (_over.IsSet) return;
            LookAtHandler();
        }
        if (!_over.Wait(Grace)) end();
    }

    private void LookAtHandler()
    {
        long turns = Volatile.Read(ref _turns);
        bool isLong = turns == _turnsSeen && (turns & 1) != 0;
        _turnsSeen = turns;
        if (isLong == _diesWithParent || parent is not { } id || !OperatingSystem.IsLinux()) return;
        // Only the system knows whether this process is still that one's child; a parent that is gone ends the channel anyway.
        if (GetParent() != id) return;
        _ = Control(SetParentDeathSignal, (nuint)(isLong ? KillSignal : 0));
        _diesWithParent = isLong;
    }

    /// <summary>Reads the id of the coordinator's process from the environment that it gave to its app.</summary>
    internal static int? ParentOf(string? text) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out int id) && id > 1 ? id : null;

    /// <summary>
    /// Says whether the coordinator that started this process is gone (protocol P5.0). A wrapper may stand between the two, so the parent
    /// of this process proves nothing by itself; a process that has ended and that nobody has waited for is gone, too.
    /// </summary>
    internal static bool IsGone(int coordinator)
    {
        if (!OperatingSystem.IsLinux() || GetParent() == coordinator) return false;
        try
        {
            string line = File.ReadAllText($"/proc/{coordinator}/stat");
            return line[(line.LastIndexOf(')') + 1)..].TrimStart() is ['Z' or 'X', ..];
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return e is FileNotFoundException or DirectoryNotFoundException;
        }
    }

    [LibraryImport("libc", EntryPoint = "getppid")]
    private static partial int GetParent();

    [LibraryImport("libc", EntryPoint = "prctl")]
    private static partial int Control(int operation, nuint value);
}
