namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// An app that dies at one message again and again: its coordinator names the message, and prints the command that stops just before it.
/// </summary>
public sealed class DeathTests : IDisposable
{
    private const int Fatal = 100;

    private readonly Cluster _cluster = new();

    public void Dispose()
    {
        _cluster.Passed();
        _cluster.Dispose();
    }

    /// <summary>
    /// By an exception, behind which the app says where it was; and by a death without a word, behind which the message has to be found.
    /// </summary>
    [Theory]
    [InlineData("THROW")]
    [InlineData("DIE_AT")]
    public void App_ThatDiesAtOneMessage_IsNamedWithTheCommandThatStopsBeforeIt(string how)
    {
        (Replica source, Replica ledger) = _cluster.Pair(300, burst: 150);
        ledger.Settings[how] = $"{Fatal}";
        ledger.Options.AddRange(["--fork-policy", "stop"]);
        ledger.Start();
        source.Start();
        PrintedCommand printed = PrintedCommand.Of(ledger, "the app dies at ");
        Assert.Contains($"ILedger.Put(number: {Fatal}, ", printed.Line, StringComparison.Ordinal);
        Assert.StartsWith($"stopped before {printed.Place}  ", printed.Stop(ledger), StringComparison.Ordinal);
        Assert.StartsWith($"stopped before {printed.Place}  ", printed.With("crash").Stop(ledger), StringComparison.Ordinal);
    }

    /// <summary>Its process ends at the first time, and whoever looks then has the class.</summary>
    [Fact]
    public void Host_ThatDiesAtAMessage_NamesItWithTheLineThatStopsBeforeIt()
    {
        Replica source = _cluster.Add("source", "source"), ledger = _cluster.AddHost("ledger", "ledger");
        (source.Settings["CALLS"], source.Settings["BURST"], ledger.Settings["THROW"]) = ("300", "150", $"{Fatal}");
        ledger.Options.AddRange(["--fork-policy", "stop"]);
        ledger.Start();
        source.Start();
        string line = ledger.AwaitLine("the message", static line => line.Contains("the app dies at ", StringComparison.Ordinal));
        Assert.Equal(1, ledger.AwaitExit());
        Assert.Contains($"ILedger.Put(number: {Fatal}, ", line, StringComparison.Ordinal);
        string place = line.Split("the app dies at ")[1].Split(' ')[0];
        Assert.EndsWith(
            $"stop just before it: AmbrosiaHost.Debug<Ledger>(\"{ledger.LogDirectory}\", \"{place}\")", line, StringComparison.Ordinal);
        string app = $"env THROW={Fatal} {Executables.App} ledger";
        Tool state = Tool.Run("state", ledger.LogDirectory, "--at", "crash", "--app", app, "--path", "_count", "--json");
        Assert.True(state.Code == 0, state.Error);
        Assert.Equal(Fatal - 1, state.Json.GetProperty("value").GetInt32());
    }
}
