using System.Text;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Binding.Tests;

public interface IHoarder
{
    [MethodId(1)]
    void Raw(ReadOnlyMemory<byte> file);

    [MethodId(2)]
    void Seen(string way, string file);

    [MethodId(3)]
    long Two(int number, ReadOnlyMemory<byte> file);

    [MethodId(4)]
    ReadOnlyMemory<byte> Span(ReadOnlySpan<byte> file);
}

/// <summary>Keeps the bytes of a message beyond its handler, in each way that the language allows.</summary>
public sealed partial class Hoarder : Immortal<IHoarder>, IHoarder
{
    public void Raw(ReadOnlyMemory<byte> file)
    {
        _ = Later("helper", file);
        _ = Outside(file);
    }

    public long Two(int number, ReadOnlyMemory<byte> file)
    {
        _ = Later("second argument", file);
        return number;
    }

    public ReadOnlyMemory<byte> Span(ReadOnlySpan<byte> file) => file.ToArray();

    public void Seen(string way, string file)
    {
    }

    private async Call Later(string way, ReadOnlyMemory<byte> file)
    {
        await Delay(TimeSpan.FromSeconds(1));
        GetProxy<IHoarder>("bank2").SeenFork(way, Encoding.UTF8.GetString(file.Span));
    }

    private async Call Outside(ReadOnlyMemory<byte> file)
    {
        string seen = await NondetTask(_ => Encoding.UTF8.GetString(file.Span));
        GetProxy<IHoarder>("bank2").SeenFork("task", seen);
    }
}

/// <summary>
/// The bytes of a message are the handler's for ever: <see cref="FakeCoordinator"/> overwrites what it has given, as a socket does.
/// </summary>
public sealed class KeptBytesTests
{
    private readonly FakeCoordinator _coordinator = FakeCoordinator.Started<Hoarder>();

    [Fact]
    public async Task Memory_KeptBeyondTheHandler_StaysAsItCame()
    {
        _coordinator.Deliver(Raw("first"), Raw("second"), FakeCoordinator.Fork(3, 1, Encoding.UTF8.GetBytes("third")));
        _coordinator.BecomePrimary();
        for (int i = 0; i < 2; i++)
        {
            await _coordinator.Tasks.RunNext();
            _coordinator.Listen();
            _coordinator.Deliver(RecordKinds.EncodeWhole(_coordinator.Results[^1]));
        }
        _coordinator.DeliverWith(0, 1_000_001, [.. new ulong[] { 1, 2, 3 }.Select(static timer => FakeCoordinator.Fired(timer, 1_000_000))]);
        Assert.Equal(
            ["fork bank2 2 'task' 'first'", "fork bank2 2 'task' 'second'", "fork bank2 2 'helper' 'first'", "fork bank2 2 'helper' 'second'",
                "fork bank2 2 'second argument' 'third'"],
            _coordinator.Said.Where(static line => line.StartsWith("fork", StringComparison.Ordinal)));
    }

    private static byte[] Raw(string text) => FakeCoordinator.Run(MessageKind.Fork, 1, (1, 0, Encoding.UTF8.GetBytes(text)));
}
