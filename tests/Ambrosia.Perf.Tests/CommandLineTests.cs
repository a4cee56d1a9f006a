using System.Diagnostics;

namespace Ambrosia.Perf.Tests;

/// <summary>The program as a user calls it.</summary>
public sealed class CommandLineTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("perf-test-").FullName;

    [Theory]
    [InlineData("stream --sizes 4", "--sizes")]
    [InlineData("stream --log never", "durable")]
    [InlineData("stream --local embedded --coordinator /bin/true", "exclude")]
    [InlineData("stream --local carrier-pigeon", "embedded")]
    [InlineData("stream --bidirectional --jobs 2", "exclude")]
    [InlineData("stream --impulse 1us", "1ms")]
    [InlineData("stream --state much", "64M")]
    [InlineData("stream --rivals thrift", "grpc")]
    [InlineData("stream --bindings rust", "cpp")]
    [InlineData("stream --bindings cpp --impulse 1ms", "exclude")]
    [InlineData("stream --bindings cpp-csharp --bidirectional", "exclude")]
    [InlineData("stream --bindings cpp --local embedded", "exclude")]
    [InlineData("recover --size 4", "--size")]
    [InlineData("scale --peers 0", "--peers")]
    [InlineData("ping --n zero", "--n")]
    [InlineData("stream --coordinator nowhere", "no coordinator at")]
    [InlineData("reconnect --n zero", "--n")]
    [InlineData("start --n zero", "--n")]
    [InlineData("metrics --collect 1us", "--collect")]
    [InlineData("upgrade --kinds replica,sideways", "sideways")]
    [InlineData("upgrade --state 0", "--state")]
    [InlineData("upgrade --local embedded", "exclude")]
    [InlineData("nothing", "nothing")]
    public void WrongCommandLine_SaysWhat_AndEndsWith2(string line, string said)
    {
        (int code, _, string error) = Run(line);

        Assert.Equal(2, code);
        Assert.Contains(said, error);
        Assert.Empty(Directory.GetFileSystemEntries(_directory));
    }

    [Fact]
    public void Stream_AsJson_HasWhatAReaderNeeds_AndLeavesNothing()
    {
        (int code, string output,
            string error) = Run(
                $"stream --sizes 64 --bytes 64K --rounds 1 --killed 0 --json --log-dir {_directory} --results {_directory}/results");

        Assert.True(code == 0, error);
        var root = System.Text.Json.Nodes.JsonNode.Parse(output)!;
        Assert.StartsWith("durable", root["durability"]!.GetValue<string>());
        Assert.NotNull(root["machine"]!["cpu"]);
        Assert.NotNull(root["commit"]);
        var leg = root["results"]![0]!["legs"]![0]!;
        Assert.True(leg["commits"]!.GetValue<double>() > 0);
        Assert.True(leg["cpuSecondsPerMillion"]!.GetValue<double>() > 0);
        Assert.Equal(1024, leg["rounds"]![0]!["messages"]!.GetValue<long>());
        // The figures of a debug build are not kept; those of a release build are, with their chart.
        string[] kept = Directory.Exists($"{_directory}/results") ? Directory.GetFiles($"{_directory}/results") : [];
        Assert.True(kept.Length == (ResultFile.ThisConfiguration == "Debug" ? 0 : 2), string.Join(' ', kept));
        Assert.Empty(Directory.GetDirectories(_directory, "ambrosia-perf-*"));
    }

    /// <summary>Both legs have moved the same messages, one of them with certificates, and nothing of either stays.</summary>
    [Fact]
    public void Stream_ThroughTls_IsComparedWithTheSameWithoutIt()
    {
        (int code, string output,
            string error) = Run(
                $"stream --tls --sizes 64 --bytes 64K --rounds 2 --killed 0 --json --log-dir {_directory} --results {_directory}/results");

        Assert.True(code == 0, error);
        var found = System.Text.Json.Nodes.JsonNode.Parse(output)!["results"]![0]!;
        Assert.Equal(["ambrosia", "plain"], found["legs"]!.AsArray().Select(static leg => (string?)leg!["leg"]));
        Assert.Equal("plain", (string?)found["ratios"]![0]!["rival"]);
        Assert.Empty(Directory.GetDirectories(_directory, "ambrosia-perf-*"));
    }

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    private (int Code, string Output, string Error) Run(string line)
    {
        var start = new ProcessStartInfo(Path.Combine(AppContext.BaseDirectory, "Ambrosia.Perf"))
        {
            RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = _directory,
        };
        foreach (string word in line.Split(' ')) start.ArgumentList.Add(word);
        using Process process = Process.Start(start)!;
        Task<string> error = process.StandardError.ReadToEndAsync();
        string output = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return (process.ExitCode, output, error.GetAwaiter().GetResult());
    }
}
