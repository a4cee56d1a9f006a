using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Text;

namespace Ambrosia.Samples.Tests;

/// <summary>
/// Walks the way that a section of a document describes: every command of it, in a copy of this clone, and every line of output that it
/// shows.
/// </summary>
/// <param name="document">Path in the clone.</param>
/// <param name="heading">The section begins with it, and ends with the next one.</param>
/// <param name="scratch">The folder in which the commands make what is not the clone's.</param>
internal sealed class DocumentedWalk(string document, string heading, string scratch)
{
    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(8);

    /// <summary>What the commands build and run; what they refer to is built already.</summary>
    private static readonly string[] s_sources = ["bindings", "codegen", "ImmortalCoordinator", "CRA", "protocol", "tools", "samples", "stores"];

    public void Walk()
    {
        using var directory = new TemporaryDirectory();
        string clone = Path.Combine(directory.Path, "clone");
        Copy(clone);
        var script = new StringBuilder("set -e\ntrap 'kill -9 $(jobs -p) 2> /dev/null || true' EXIT\n");
        var shown = new List<string>();
        foreach ((string language, string text) in Blocks())
        {
            if (language == "sh") script.Append(text);
            else shown.AddRange(text.Split('\n', StringSplitOptions.RemoveEmptyEntries));
        }
        string configuration = Path.GetFileName(Path.GetDirectoryName(Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory))!);
        script.Replace(scratch, Path.Combine(directory.Path, "walk")).Replace("127.0.0.1:8080", $"127.0.0.1:{FreePort()}")
            .Replace("Release", configuration);
        string file = Path.Combine(directory.Path, "walk.sh");
        File.WriteAllText(file, script.ToString());
        (int code, string output) = Run(file, clone);
        Assert.True(code == 0, output);
        int at = 0;
        foreach (string line in shown)
        {
            int found = output.IndexOf(line, at, StringComparison.Ordinal);
            Assert.True(found >= 0, $"'{line}' is not said, or not behind what is said before it:\n{output}");
            at = found + line.Length;
        }
        Processes.AwaitNoneOf(directory.Path);
    }

    /// <summary>The fenced blocks of the section, in their order, with their languages.</summary>
    private IEnumerable<(string Language, string Text)> Blocks()
    {
        string text = File.ReadAllText(BuiltPrograms.Source(document));
        int from = text.IndexOf(heading, StringComparison.Ordinal),
            end = text.IndexOf("\n## ", from + heading.Length, StringComparison.Ordinal);
        string section = text[from..(end < 0 ? text.Length : end)];
        string[] parts = section.Split("\n```");
        for (int i = 1; i < parts.Length; i += 2)
        {
            int line = parts[i].IndexOf('\n');
            yield return (parts[i][..line], parts[i][(line + 1)..] + "\n");
        }
    }

    private static void Copy(string clone)
    {
        string root = BuiltPrograms.Source("");
        Directory.CreateDirectory(clone);
        foreach (string file in Directory.EnumerateFiles(root)) File.Copy(file, Path.Combine(clone, Path.GetFileName(file)));
        foreach (string source in s_sources)
            foreach (string path in Directory.EnumerateFiles(Path.Combine(root, source), "*", SearchOption.AllDirectories))
            {
                string copy = Path.Combine(clone, Path.GetRelativePath(root, path));
                Directory.CreateDirectory(Path.GetDirectoryName(copy)!);
                File.Copy(path, copy);
            }
    }

    private static (int Code, string Output) Run(string script, string clone)
    {
        var start = new ProcessStartInfo("bash", [script])
        {
            WorkingDirectory = clone, RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true,
            Environment =
            {
                ["BuildProjectReferences"] = "false", ["MSBUILDDISABLENODEREUSE"] = "1", ["DOTNET_CLI_TELEMETRY_OPTOUT"] = "1",
                ["RunAnalyzers"] = "false", // they have had their say when the clone was built
            },
        };
        start.Environment.TryAdd("UseSharedCompilation", "false"); // ./test.sh has a compiler for all builds, which ends with it
        using Process bash = Process.Start(start)!;
        var output = new StringBuilder();
        void Take(object _, DataReceivedEventArgs line)
        {
            lock (output) output.Append(line.Data).Append('\n');
        }
        bash.OutputDataReceived += Take;
        bash.ErrorDataReceived += Take;
        bash.BeginOutputReadLine();
        bash.BeginErrorReadLine();
        bash.StandardInput.Close();
        bool hasEnded = bash.WaitForExit(s_limit);
        if (!hasEnded) bash.Kill(entireProcessTree: true);
        bash.WaitForExit();
        lock (output) return (bash.ExitCode, output.ToString());
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }
}
