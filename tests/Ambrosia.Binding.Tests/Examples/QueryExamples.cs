using System.Buffers;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Binding.Tests.Examples;

#region a query
public interface ILibrary
{
    void Add(string title);

    [Query]
    string[] Titles(string beginning);
}

public sealed partial class Library : Immortal<ILibrary>, ILibrary
{
    private readonly SortedSet<string> _titles = new(StringComparer.Ordinal);

    public void Add(string title) => _titles.Add(title);

    public string[] Titles(string beginning) => [.. _titles.Where(title => title.StartsWith(beginning, StringComparison.Ordinal))];
}
#endregion

/// <summary>The example of docs/programming-model.md about queries, executed.</summary>
public sealed class QueryExamples
{
    [Fact]
    public void Query_AsTheDocumentShows_IsAnswered()
    {
        FakeCoordinator coordinator = FakeCoordinator.Started<Library>();
        uint add = MethodIds.Of("ILibrary", "Add"), titles = MethodIds.Of("ILibrary", "Titles");
        coordinator.Deliver(FakeCoordinator.Fork(add, "Faust"), FakeCoordinator.Fork(add, "Emma"),
            FakeCoordinator.Fork(add, "Felix Krull"));
        var payload = new ArrayBufferWriter<byte>();
        new QueryFrame(1, coordinator.Next, 0, titles, Cbor.Of("F")).Write(payload);
        coordinator.Send(FrameType.Query, payload.WrittenSpan);
        Assert.Contains($"answer 1 value at {coordinator.Next} ['Faust' 'Felix Krull']", coordinator.Said);
    }
}
