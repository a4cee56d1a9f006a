using Ambrosia.Log;

namespace Ambrosia.Tools;

/// <summary>
/// The other process of <see cref="LockCheck"/>: holds a lock and says so, renames the fence of the probe, and waits to be killed.
/// </summary>
internal static class LockChild
{
    /// <summary>Makes 'doctor' be this; not for people.</summary>
    public const string Option = "--hold-lock-of-probe";

    public const string HeldName = "held", FenceName = "fence.0", NextFenceName = "fence.1", HeldWord = "held", RenamedWord = "renamed";

    public static int Run(string directory)
    {
        var files = new PosixFileSystem();
        using IFileLock? held = files.TryLock(Path.Combine(directory, HeldName));
        if (held is null) return ToolExit.Damage;
        Console.Out.WriteLine(HeldWord);
        if (Console.In.ReadLine() is null) return ToolExit.Fine;
        files.Rename(Path.Combine(directory, FenceName), Path.Combine(directory, NextFenceName));
        Console.Out.WriteLine(RenamedWord);
        Console.In.ReadLine();
        return ToolExit.Fine;
    }
}
