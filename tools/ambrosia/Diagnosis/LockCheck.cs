using System.Diagnostics;
using Ambrosia.Log.Files;
using Ambrosia.Tools.Commands;

namespace Ambrosia.Tools.Diagnosis;

/// <summary>
/// Verifies with a second process that a lock excludes it and ends with it, and that each sees at once what the other has renamed.
/// </summary>
internal static class LockCheck
{
    private const string Check = "locks", FenceCheck = "fence";
    private const int WaitMs = 20_000, LookMs = 5;
    private const string Mend = "use a file system whose locks and names hold between processes";

    public static IEnumerable<Finding> Run(string directory)
    {
        var files = new PosixFileSystem();
        files.Create(Path.Combine(directory, LockProbeProcess.FenceName)).Dispose();
        Process child;
        try
        {
            child = Start(directory);
        }
        catch (Exception e) when (e is System.ComponentModel.Win32Exception or InvalidOperationException)
        {
            return [
                Finding.Warn(Check, $"the second process did not start: {e.Message}", "locks between processes could not be probed",
                    "run the tool where its files are complete")];
        }
        using (child)
        {
            try
            {
                return Probe(directory, files, child);
            }
            catch (IOException e)
            {
                return [Finding.Fail(Check, e.Message, "the lock that tells a living primary from a dead one does not work", Mend)];
            }
            finally
            {
                child.Kill();
                child.WaitForExit();
            }
        }
    }

    private static Finding[] Probe(string directory, PosixFileSystem files, Process child)
    {
        if (Next(child) != LockProbeProcess.HeldWord)
            return [
                Finding.Warn(Check, "the second process did not answer in time", "locks between processes could not be probed",
                    "try again on a machine with less to do")];
        string path = Path.Combine(directory, LockProbeProcess.HeldName);
        using (IFileLock? both = files.TryLock(path))
            if (both is not null)
                return [
                    Finding.Fail(Check, "two processes held the same lock at once",
                        "a stopped primary could not be told from a living one", Mend)];

        Finding fence = ProbeFence(directory, files, child);
        child.Kill();
        child.WaitForExit();
        using IFileLock? after = AwaitLock(files, path);
        return [after is null
            ? Finding.Fail(Check, $"a killed process kept its lock for {WaitMs / 1000} s",
                "a take-over would wait for a dead primary", Mend)
            : Finding.Ok(Check, "a lock excludes another process, and ends with its own"), fence];
    }

    private static Finding ProbeFence(string directory, PosixFileSystem files, Process child)
    {
        child.StandardInput.WriteLine();
        if (Next(child) != LockProbeProcess.RenamedWord)
            return Finding.Fail(FenceCheck, "the second process could not rename a file", "an epoch could not be claimed", Mend);
        return files.Exists(Path.Combine(directory, LockProbeProcess.FenceName))
            || !files.Exists(Path.Combine(directory, LockProbeProcess.NextFenceName))
            ? Finding.Fail(FenceCheck, "the old name of a file is seen after another process renamed it",
                "a primary that was replaced would go on", Mend)
            : Finding.Ok(FenceCheck, "what another process of this machine renames is seen at once");
    }

    /// <summary>Returns the next line of the other process, or null where it has ended or takes too long.</summary>
    private static string? Next(Process child)
    {
        Task<string?> line = child.StandardOutput.ReadLineAsync();
        return line.Wait(WaitMs) ? line.Result : null;
    }

    private static IFileLock? AwaitLock(PosixFileSystem files, string path)
    {
        long start = Stopwatch.GetTimestamp();
        while (true)
        {
            if (files.TryLock(path) is { } held) return held;
            if (Stopwatch.GetElapsedTime(start).TotalMilliseconds > WaitMs) return null;
            Thread.Sleep(LookMs);
        }
    }

    /// <summary>
    /// Starts this program once more: its executable where that stands beside its assembly, else through the runtime that runs this
    /// process.
    /// </summary>
    private static Process Start(string directory)
    {
        string program = Path.Combine(AppContext.BaseDirectory, "ambrosia");
        string[] args = ["doctor", directory, LockProbeProcess.Option];
        ProcessStartInfo start = File.Exists(program) ? new ProcessStartInfo(program, args)
            : new ProcessStartInfo(Environment.ProcessPath ?? "dotnet", [program + ".dll", .. args]);
        start.RedirectStandardInput = true;
        start.RedirectStandardOutput = true;
        return Process.Start(start) ?? throw new InvalidOperationException("no process was started");
    }
}

/// <summary>
/// This is the other process of <see cref="LockCheck"/>. It takes a lock and says so, renames the fence of the probe, and waits to be
/// killed.
/// </summary>
internal static class LockProbeProcess
{
    /// <summary>The hidden option that makes 'doctor' be this process. It is not for people.</summary>
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
