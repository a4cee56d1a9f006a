using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Examples;

#region impulses
public interface ITerminal
{
    [ImpulseHandler]
    void Typed(string line);
}

public sealed partial class Terminal : Immortal<ITerminalProxy>, ITerminal
{
    private readonly List<string> lines = [];

    protected override void BecomingPrimary() => new Thread(Listen) { IsBackground = true }.Start();

    private async void Listen()
    {
        while (Console.ReadLine() is { } line)
            await thisProxy.TypedAsync(line); // comes back when the line is logged: from then on it cannot be lost
    }

    public void Typed(string line) => lines.Add(line);
}
#endregion

public sealed class ImpulseExampleTests
{
    [Fact]
    public void Impulse_AsTheDocumentShows_Acts()
    {
        FakeCoordinator terminal = Started<Terminal>("terminal");
        terminal.Deliver(Request(0, null, Protocol.MethodIds.Of("ITerminal", "Typed"), "hello"), Request(0, "k", Protocol.MethodIds.Of("ITerminal", "Typed"), "twice"), Request(0, "k", Protocol.MethodIds.Of("ITerminal", "Typed"), "twice"));
        terminal.Deliver(Mark());
        Assert.Equal(0, terminal.Session.FailedForks);
        Assert.Contains("hello", System.Text.Encoding.UTF8.GetString(terminal.Image), StringComparison.Ordinal);
    }
}
