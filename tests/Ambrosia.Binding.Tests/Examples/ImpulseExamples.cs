using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Examples;

#region impulses
public interface ITerminal
{
    [ImpulseHandler]
    void Typed(string line);
}

public sealed partial class Terminal : Immortal<ITerminal>, ITerminal
{
    private readonly List<string> _lines = [];

    protected override async Task WhilePrimary(CancellationToken ended)
    {
        while (await Console.In.ReadLineAsync(ended) is { } line)
            await thisProxy.TypedLogged(line); // comes back when the line is logged: from then on it cannot be lost
    }

    public void Typed(string line) => _lines.Add(line);
}
#endregion

public interface IInbox
{
    [ImpulseHandler]
    void Received(string name, string text);
}

public sealed partial class Inbox : Immortal<IInbox>, IInbox
{
    private readonly List<string> _texts = [];

    internal static string Folder { get; set; } = "";

    #region impulse keys
    protected override async Task WhilePrimary(CancellationToken ended)
    {
        foreach (string file in Directory.EnumerateFiles(Folder).Order())
        {
            (string name, string text) = (Path.GetFileName(file), await File.ReadAllTextAsync(file, ended));
            await thisProxy.WithKey(name).ReceivedLogged(name, text); // sent again after a crash, it counts once
            File.Delete(file);
        }
    }
    #endregion

    public void Received(string name, string text) => _texts.Add(text);
}

public sealed class ImpulseExampleTests
{
    [Fact]
    public void ImpulseKeys_OfAFolder_AreTheNamesOfItsFiles()
    {
        Inbox.Folder = Directory.CreateTempSubdirectory("inbox-").FullName;
        string letter = Path.Combine(Inbox.Folder, "letter");
        File.WriteAllText(letter, "Dear all");
        FakeCoordinator inbox = Started<Inbox>("inbox");
        for (int run = 0; run < 2; run++) // the first dies before the file is deleted
        {
            if (run == 1) inbox = Started<Inbox>("inbox");
            inbox.BecomePrimary();
            _ = inbox.Tasks.RunNext();
            Assert.True(
                SpinWait.SpinUntil(
                    () => { inbox.Listen(); return inbox.Said.Any(static line => line.StartsWith("impulse", StringComparison.Ordinal)); },
                    TimeSpan.FromSeconds(30)));
            Assert.Contains(inbox.Said, static line => line.Contains("key 6C6574746572", StringComparison.Ordinal)); // letter
        }
        inbox.Send(new Protocol.Frames.ImpulseLogged(0, 1));
        Assert.True(SpinWait.SpinUntil(() => !File.Exists(letter), TimeSpan.FromSeconds(30)));
        Directory.Delete(Inbox.Folder, recursive: true);
    }

    [Fact]
    public void Impulse_AsTheDocumentShows_Acts()
    {
        FakeCoordinator terminal = Started<Terminal>("terminal");
        terminal.Deliver(Request(0, null, MethodIds.Of("ITerminal", "Typed"), "hello"),
            Request(0, "k", MethodIds.Of("ITerminal", "Typed"), "twice"),
            Request(0, "k", MethodIds.Of("ITerminal", "Typed"), "twice"));
        terminal.Deliver(Mark());
        Assert.Equal(0, terminal.Session.FailedForks);
        Assert.Contains("hello", System.Text.Encoding.UTF8.GetString(terminal.Image), StringComparison.Ordinal);
    }
}
