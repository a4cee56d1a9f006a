using System.Collections;
using System.ComponentModel;
using System.Runtime.InteropServices;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Is the app's process, with what it starts itself: they are in a process group of their own, so that a signal reaches all of them. At a
/// terminal they stay in the terminal's group, since only that may read there, and the process alone gets signals. The thread that starts
/// it waits for it: Linux counts that thread, not its process, as the parent, and tells the child when the thread ends.
/// </summary>
internal sealed unsafe partial class AppProcess
{
    private const int SetGroup = 0x02, SetDefaults = 0x04, SetMask = 0x08; // POSIX_SPAWN_SET…
    private const int BrokenPipeSignal = 13, KillSignal = 9, TerminateSignal = 15;
    private const int OneProcess = 1, Exited = 4, LeaveIt = 0x0100_0000; // P_PID, WEXITED, WNOWAIT
    private const int Interrupted = 4; // errno

    /// <summary>The system's structures for signals and for a start take fewer bytes than this.</summary>
    private const int StructureBytes = 1024;

    private readonly RankedLock _gate = new(LockRank.AppProcess);
    private readonly int _id;
    private readonly bool _hasGroup;
    private readonly ManualResetEventSlim _ended = new(false);

    private AppProcess(int id, bool hasGroup)
    {
        _id = id;
        _hasGroup = hasGroup;
    }

    /// <summary>Its process id, which is nobody else's until <see cref="AwaitEnd"/> has come back.</summary>
    public int Id => _id;

    /// <summary>Starts a program, found as <see cref="AppPath"/> says, with the environment of this process and these on top.</summary>
    /// <exception cref="Win32Exception">The system cannot start it.</exception>
    public static AppProcess Start(IReadOnlyList<string> command, IReadOnlyDictionary<string, string> environment)
    {
        bool hasGroup = Console.IsInputRedirected;
        byte** arguments = Strings(command), variables = Strings(Merged(environment));
        byte* attributes = stackalloc byte[StructureBytes], signals = stackalloc byte[StructureBytes];
        byte* path = Utf8(AppPath.Find(command[0]));
        _ = AttributesInit(attributes);
        try
        {
            new Span<byte>(signals, StructureBytes).Clear();
            _ = AttributesSetMask(attributes, signals); // none is blocked
            _ = SignalsAdd(signals, BrokenPipeSignal); // ignored here, which a child would inherit
            _ = AttributesSetDefaults(attributes, signals);
            _ = AttributesSetGroup(attributes, 0);
            _ = AttributesSetFlags(attributes, (short)(SetDefaults | SetMask | (hasGroup ? SetGroup : 0)));
            int error = Spawn(out int id, path, null, attributes, arguments, variables);
            return error == 0 ? new AppProcess(id, hasGroup) : throw new Win32Exception(error);
        }
        finally
        {
            _ = AttributesDestroy(attributes);
            Free(arguments);
            Free(variables);
            Marshal.FreeCoTaskMem((nint)path);
        }
    }

    /// <summary>
    /// Waits until it has ended and ends what it has left in its group; returns its exit code, or 128 and its signal. The thread that
    /// started it calls this, once.
    /// </summary>
    public int AwaitEnd()
    {
        byte* information = stackalloc byte[StructureBytes];
        // It stays in the table of processes meanwhile, so that its id, which is its group's too, is nobody else's.
        while (WaitId(OneProcess, _id, information, Exited | LeaveIt) != 0 && Marshal.GetLastPInvokeError() == Interrupted) { }
        int status;
        using (_gate.Enter())
        {
            if (_hasGroup) _ = Kill(-_id, KillSignal);
            while (WaitPid(_id, out status, 0) < 0)
            {
                if (Marshal.GetLastPInvokeError() == Interrupted) continue;
                status = 0; // whoever started this process has it ignore the ends of children: how it ended is not known
                break;
            }
            _ended.Set();
        }
        int signal = status & 0x7F;
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal;
    }

    /// <summary>Waits for so long until it has ended; false: it has not.</summary>
    public bool HasEndedWithin(TimeSpan time) => _ended.Wait(time);

    /// <summary>Asks it, and what it has started, to end. Any thread may call it.</summary>
    public void Terminate() => Signal(TerminateSignal);

    /// <summary>Ends it, and what it has started. Any thread may call it.</summary>
    public void Kill() => Signal(KillSignal);

    private void Signal(int signal)
    {
        using (_gate.Enter())
        {
            if (!_ended.IsSet) _ = Kill(_hasGroup ? -_id : _id, signal);
        }
    }

    private static IReadOnlyList<string> Merged(IReadOnlyDictionary<string, string> own)
    {
        var merged = new List<string>();
        foreach (DictionaryEntry variable in Environment.GetEnvironmentVariables())
            if (!own.ContainsKey((string)variable.Key)) merged.Add($"{variable.Key}={variable.Value}");
        foreach ((string name, string value) in own) merged.Add($"{name}={value}");
        return merged;
    }

    /// <summary>Makes the system's form of a list of texts: pointers to bytes that end with a zero, and a null pointer behind.</summary>
    private static byte** Strings(IReadOnlyList<string> texts)
    {
        byte** list = (byte**)Marshal.AllocCoTaskMem((texts.Count + 1) * sizeof(byte*));
        for (int i = 0; i < texts.Count; i++) list[i] = Utf8(texts[i]);
        list[texts.Count] = null;
        return list;
    }

    private static byte* Utf8(string text) => (byte*)Marshal.StringToCoTaskMemUTF8(text);

    private static void Free(byte** list)
    {
        for (byte** item = list; *item is not null; item++) Marshal.FreeCoTaskMem((nint)(*item));
        Marshal.FreeCoTaskMem((nint)list);
    }

    [LibraryImport("libc", EntryPoint = "posix_spawn")]
    private static partial int Spawn(out int process, byte* path, void* actions, void* attributes, byte** arguments, byte** environment);

    [LibraryImport("libc", EntryPoint = "posix_spawnattr_init")]
    private static partial int AttributesInit(void* attributes);

    [LibraryImport("libc", EntryPoint = "posix_spawnattr_destroy")]
    private static partial int AttributesDestroy(void* attributes);

    [LibraryImport("libc", EntryPoint = "posix_spawnattr_setflags")]
    private static partial int AttributesSetFlags(void* attributes, short flags);

    [LibraryImport("libc", EntryPoint = "posix_spawnattr_setpgroup")]
    private static partial int AttributesSetGroup(void* attributes, int group);

    [LibraryImport("libc", EntryPoint = "posix_spawnattr_setsigmask")]
    private static partial int AttributesSetMask(void* attributes, void* signals);

    [LibraryImport("libc", EntryPoint = "posix_spawnattr_setsigdefault")]
    private static partial int AttributesSetDefaults(void* attributes, void* signals);

    [LibraryImport("libc", EntryPoint = "sigaddset")]
    private static partial int SignalsAdd(void* signals, int signal);

    [LibraryImport("libc", EntryPoint = "waitid", SetLastError = true)]
    private static partial int WaitId(int kind, int process, void* information, int options);

    [LibraryImport("libc", EntryPoint = "waitpid", SetLastError = true)]
    private static partial int WaitPid(int process, out int status, int options);

    [LibraryImport("libc", EntryPoint = "kill")]
    private static partial int Kill(int process, int signal);
}

/// <summary>Finds the program that a command names, where a start by the framework looks for it.</summary>
internal static class AppPath
{
    /// <summary>
    /// Gives the path of a program: a path as it is, and a name where it is a file beside this program, in the working directory, or in a
    /// directory of PATH. A name that is nowhere is given back.
    /// </summary>
    public static string Find(string program)
    {
        if (program.Contains('/')) return program;
        string[] directories = [AppContext.BaseDirectory, Environment.CurrentDirectory,
            .. (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':', StringSplitOptions.RemoveEmptyEntries)];
        foreach (string directory in directories)
            if (Path.Combine(directory, program) is var path && IsExecutable(path)) return path;
        return program;
    }

    /// <summary>
    /// Says why a program cannot be started, for those who ask before they make anything; null: nothing is known against it.
    /// </summary>
    public static string? WhatIsWrong(string program)
    {
        string path = Find(program);
        if (Directory.Exists(path)) return $"'{program}' is a directory, and no program to start as the app";
        if (!File.Exists(path)) return $"there is no program '{program}' to start as the app";
        return IsExecutable(path) ? null : $"the app '{path}' may not be executed: allow it with 'chmod +x {path}'";
    }

    private static bool IsExecutable(string path) =>
        File.Exists(path)
        && (File.GetUnixFileMode(path) & (UnixFileMode.UserExecute | UnixFileMode.GroupExecute | UnixFileMode.OtherExecute)) != 0;
}
