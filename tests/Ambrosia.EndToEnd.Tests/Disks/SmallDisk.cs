using System.Diagnostics;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A tmpfs of a few MiB, mounted for one test. Needs the right to mount.</summary>
internal sealed class SmallDisk : IDisposable
{
    private readonly string _path;

    public SmallDisk(string path, int mebibytes)
    {
        _path = path;
        Directory.CreateDirectory(path);
        Mount($"size={mebibytes}m,mode=0700");
    }

    /// <summary>An operator adds space.</summary>
    public void Resize(int mebibytes) => Mount($"remount,size={mebibytes}m");

    /// <summary>Nothing can be written any more.</summary>
    public void MakeReadOnly() => Mount("remount,ro");

    public void Dispose() => Run("umount", "-l", _path);

    private void Mount(string options)
    {
        if (Run("mount", "-t", "tmpfs", "-o", options, "tmpfs", _path) is { Length: > 0 } why) throw new IOException(why);
    }

    /// <summary>What it said, when it failed; else nothing.</summary>
    public static string Run(string program, params string[] arguments)
    {
        try
        {
            using Process process = Process.Start(new ProcessStartInfo(program, arguments) { RedirectStandardError = true })!;
            string said = process.StandardError.ReadToEnd();
            process.WaitForExit();
            return process.ExitCode == 0 ? "" : $"{program} ended with {process.ExitCode}: {said.Trim()}";
        }
        catch (System.ComponentModel.Win32Exception e)
        {
            return e.Message;
        }
    }
}
