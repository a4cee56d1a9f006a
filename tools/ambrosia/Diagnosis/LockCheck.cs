using System.Diagnostics;
using Ambrosia.Log;

namespace Ambrosia.Tools;

/// <summary>Two processes: does a lock exclude, does it end with its process, does one see at once what the other renamed?</summary>
internal static class LockCheck
{
    private const string Check = "locks", FenceCheck = "fence";
    private const int WaitMs = 20_000, LookMs = 5;
    private const string Mend = "use a file system whose locks and names hold between processes";

    public static IEnumerable<Finding> Run(string directory)
    {
        var files = new PosixFileSystem();
        files.Create(Path.Combine(directory, LockChild.FenceName)).Dispose();
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
        if (Next(child) != LockChild.HeldWord)
            return [
                Finding.Warn(Check, "the second process did not answer in time", "locks between processes could not be probed",
                    "try again on a machine with less to do")];
        string path = Path.Combine(directory, LockChild.HeldName);
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
        if (Next(child) != LockChild.RenamedWord)
            return Finding.Fail(FenceCheck, "the second process could not rename a file", "an epoch could not be claimed", Mend);
        return files.Exists(Path.Combine(directory, LockChild.FenceName)) || !files.Exists(Path.Combine(directory, LockChild.NextFenceName))
            ? Finding.Fail(FenceCheck, "the old name of a file is seen after another process renamed it",
                "a primary that was replaced would go on", Mend)
            : Finding.Ok(FenceCheck, "what another process of this machine renames is seen at once");
    }

    /// <summary>The other side's next line; null: it ended, or took too long.</summary>
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
    /// This program once more: its own executable where it stands beside its assembly, else through the runtime that runs us.
    /// </summary>
    private static Process Start(string directory)
    {
        string program = Path.Combine(AppContext.BaseDirectory, "ambrosia");
        string[] args = ["doctor", directory, LockChild.Option];
        ProcessStartInfo start = File.Exists(program) ? new ProcessStartInfo(program, args)
            : new ProcessStartInfo(Environment.ProcessPath ?? "dotnet", [program + ".dll", .. args]);
        start.RedirectStandardInput = true;
        start.RedirectStandardOutput = true;
        return Process.Start(start) ?? throw new InvalidOperationException("no process was started");
    }
}
