using Ambrosia.Client;
using Ambrosia.EndToEnd.App;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>The console asks the app's queries at the place where it stands.</summary>
public sealed class QueryOfThePastTests : IAsyncLifetime
{
    private readonly Cluster _cluster = new();
    private Replica _bank = null!;

    public async Task InitializeAsync()
    {
        _bank = _cluster.Add("bank", "bank").Start();
        _bank.AwaitReady();
        await using ImmortalClient client = await _cluster.ConnectAsync("bank");
        ClientProxy<IBank> bank = client.GetProxy<IBank>();
        for (int i = 0; i < 5; i++) await bank.DepositAsync(i % 2 == 0 ? "even" : "odd").WaitAsync(Cluster.Patience);
        Signals.Terminate(_bank.Coordinator.Id);
        _bank.AwaitExit();
    }

    public Task DisposeAsync()
    {
        _cluster.Passed();
        _cluster.Dispose();
        return Task.CompletedTask;
    }

    [Fact]
    public void Query_AtAPlace_IsAnsweredOutOfTheStateThere()
    {
        Tool console = Console("method:Deposit#4", "query Total()", "query Seen([\"even\", \"odd\", \"none\"])", "next",
            "query IBank.Total", "query Seen(ids: [])", "to method:Deposit#2", "query Total()");
        Assert.True(console.Code == 0, console.Output + console.Error);
        Assert.Equal(["3", "[2,1,0]", "4", "[]", "1"], AnswersIn(console));
    }

    /// <summary>Whoever errs is told what there is, and stays where he stands.</summary>
    [Theory]
    [InlineData("query Totl()", "there is no query 'Totl'; the nearest are IBank.Total")]
    [InlineData("query Deposit(\"x\")", "'Deposit' is no query")]
    [InlineData("query Seen(5)", "ids is no list<text>; 5 was given; write an array")]
    [InlineData("query Seen([\"a\", 5])", "ids[1] is no text; 5 was given; write a text in quotes")]
    [InlineData("query Seen(names: [])", "IBank.Seen has no argument 'names'; it is IBank.Seen(ids: list<text>)")]
    [InlineData("query Seen()", "ids of IBank.Seen is missing; it is IBank.Seen(ids: list<text>)")]
    [InlineData("query Total(1)", "IBank.Total takes 0 arguments")]
    [InlineData("query Seen([\"a\")", "ids is no JSON")]
    public void Query_ThatIsMistaken_SaysWhatThereIs(string query, string expected)
    {
        Tool console = Console("end", query, "query Total()");
        Assert.Equal(2, console.Code);
        Assert.Contains(expected, console.Output, StringComparison.Ordinal);
        Assert.Equal(["5"], AnswersIn(console).TakeLast(1));
    }

    /// <summary>There is no state yet, and nobody dies of the question.</summary>
    [Fact]
    public void Query_BeforeTheFirstStart_IsRefused()
    {
        Tool console = Console("start", "query Total()", "to end", "query Total()");
        Assert.Equal(2, console.Code);
        Assert.Contains("there is no state before the first record", console.Output, StringComparison.Ordinal);
        Assert.Equal(["5"], AnswersIn(console).TakeLast(1));
    }

    /// <summary>As in life: what has changed the state is no query, and the state that is left is none that ever was.</summary>
    [Fact]
    public void Query_ThatChangesTheState_EndsTheView()
    {
        Tool console = Console("end", "query Meddle()", "query Total()");
        Assert.Equal(74, console.Code);
        Assert.Contains("failed: Ambrosia.QueryChangedState", console.Output, StringComparison.Ordinal);
    }

    private Tool Console(string until, params string[] commands)
    {
        string file = Path.Combine(_cluster.Root, Guid.NewGuid().ToString("n"));
        File.WriteAllLines(file, commands);
        return Tool.Debug("--log", _bank.LogDirectory, "--until", until, "--commands", file, "--", Executables.App, _bank.Role);
    }

    /// <summary>What stands in the output behind where it has begun and is no stop.</summary>
    private static string[] AnswersIn(Tool console) =>
        [.. console.Output.Split('\n').Where(static line => line.Length > 0 && (char.IsAsciiDigit(line[0]) || line[0] == '['))];
}
