using System.Text.Json;

namespace Ambrosia.Samples.Tests;

/// <summary>Runs the ambrosia command on logs that real coordinators wrote, with the names that the app has left there.</summary>
public sealed class ToolTests
{
    private const int Calls = 3_000;

    [Fact]
    public void Log_OfARun_HoldsEachCallOnceByName()
    {
        using var logs = new TemporaryDirectory();
        (int code, _,
            string output) = ProgramRun.ToEnd("HelloWorld", "--calls", $"{Calls}", "--kills", "2", "--seed", "5", "--log", logs.Path);
        Assert.True(code == 0, output);
        Assert.Contains($"dotnet run --project tools/ambrosia -- log {Path.Combine(logs.Path, "server")}", output);
        string server = Path.Combine(logs.Path, "server");

        (int listed, _,
            string lines) = ProgramRun.ToEnd(BuiltPrograms.Tool, "log", server, "--method", "IHelloServer.Hello", "--json");
        Assert.True(listed == 0, lines);
        JsonElement[] calls = [
            .. lines.Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(static line => JsonDocument.Parse(line).RootElement)
                .Where(static line => line.TryGetProperty("method", out _))];
        Assert.Equal(Enumerable.Range(1, Calls).Select(static number => $"{number}"),
            calls.Select(static call => call.GetProperty("arguments")[0].GetProperty("value").GetString()));
        Assert.All(calls, static call => Assert.Equal("client", call.GetProperty("from").GetString()));
        foreach (string side in (string[])["server", "client"])
        {
            (int verified, string last, string report) = ProgramRun.ToEnd(BuiltPrograms.Tool, "verify", Path.Combine(logs.Path, side));
            Assert.True(verified == 0, report);
            Assert.StartsWith("ok: all that was read is sound", last);
        }
    }
}
