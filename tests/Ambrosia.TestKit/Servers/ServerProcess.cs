using System.Diagnostics;
using System.Net;
using System.Net.Sockets;

namespace Ambrosia.TestKit;

/// <summary>A server of somebody else as a process of a test: killed by its id, never asked to end. Its last lines are kept for
/// failures.</summary>
internal sealed class ServerProcess : IDisposable
{
    private const int LinesMax = 40;

    private readonly Process _process;
    private readonly Queue<string> _lines = new();

    public ServerProcess(string program, IEnumerable<string> arguments)
    {
        var start = new ProcessStartInfo(program) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (string argument in arguments) start.ArgumentList.Add(argument);
        _process = Process.Start(start)!;
        _process.OutputDataReceived += (_, line) => Keep(line.Data);
        _process.ErrorDataReceived += (_, line) => Keep(line.Data);
        _process.BeginOutputReadLine();
        _process.BeginErrorReadLine();
    }

    public bool HasEnded => _process.HasExited;

    /// <summary>What it said last.</summary>
    public string LastWords
    {
        get { lock (_lines) return string.Join('\n', _lines); }
    }

    /// <summary>Whether a program of this name is on the path.</summary>
    public static bool IsInstalled(string program) =>
        (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':').Any(folder => File.Exists(Path.Combine(folder, program)));

    /// <summary>Ports that were free a moment ago; what takes one in between shows as a start that fails.</summary>
    public static int[] FreePorts(int count)
    {
        TcpListener[] listeners = [.. Enumerable.Range(0, count).Select(static _ => new TcpListener(IPAddress.Loopback, 0))];
        foreach (TcpListener listener in listeners) listener.Start();
        int[] ports = [.. listeners.Select(static listener => ((IPEndPoint)listener.LocalEndpoint).Port)];
        foreach (TcpListener listener in listeners) listener.Dispose();
        return ports;
    }

    private void Keep(string? line)
    {
        if (line is null) return;
        lock (_lines)
        {
            _lines.Enqueue(line);
            if (_lines.Count > LinesMax) _lines.Dequeue();
        }
    }

    public void Dispose()
    {
        try
        {
            _process.Kill(entireProcessTree: true);
        }
        catch (InvalidOperationException)
        {
            // it has ended
        }
        _process.WaitForExit();
        _process.Dispose();
    }
}
