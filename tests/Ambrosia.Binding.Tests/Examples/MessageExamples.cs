using System.Collections;
using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Examples;

#region data
public enum Binding { Paper, Cloth }

[Data]
public sealed record Book(string Title, int Pages, Binding Binding = Binding.Paper, Author? Author = null);

[Data]
public sealed record Author([property: Field(1)] string Name, [property: Field(2)] int? Born = null); // by number: free to be renamed

public interface IArchive
{
    Book[] By(string author);

    void Add(Book book, List<string> subjects, string shelf = "new"); // the shelf came later: callers that do not know of it send none
}
#endregion

public sealed partial class Archive : Immortal<IArchive>, IArchive
{
    private readonly List<(Book Book, string Shelf)> _books = [];

    internal string Shelves => string.Join(' ', _books.Select(static each => each.Shelf));

    public Book[] By(string author) => [.. _books.Select(static each => each.Book).Where(book => book.Author?.Name == author)];

    public void Add(Book book, List<string> subjects, string shelf = "new") => _books.Add((book, shelf));
}

#region calls to oneself
public interface ICensus
{
    [MethodId(1)] // its id without this is a hash of its name, and with it the name is free
    void Count(int from);
}

public sealed partial class Census : Immortal<ICensus>, ICensus
{
    private const int Step = 100;

    private readonly int[] _ages = [.. Enumerable.Range(0, 250)];
    private long _sum;

    public void Count(int from)
    {
        foreach (int age in _ages.Skip(from).Take(Step)) _sum += age;
        if (from + Step < _ages.Length) thisProxy.CountFork(from + Step); // what has arrived meanwhile has its turn before
        else Told = _sum;
    }
}
#endregion

public sealed partial class Census
{
    internal long Told { get; private set; }
}

#region large arguments
public interface IVault
{
    void Keep(ReadOnlySpan<byte> file); // where it arrived: valid until the handler returns

    Call<long> Forward(string vault, ReadOnlyMemory<byte> file); // a copy, which may be kept
}

public sealed partial class Vault : Immortal<IVault>, IVault
{
    private long _bytes;

    public void Keep(ReadOnlySpan<byte> file) => _bytes += file.Length;

    public async Call<long> Forward(string vault, ReadOnlyMemory<byte> file)
    {
        IVaultProxy other = GetProxy<IVault>(vault);
        await other.KeepAsync(file.Span);
        return file.Length;
    }
}
#endregion

public sealed partial class Vault
{
    internal long Bytes => _bytes;
}

public sealed class MessageExamples
{
    [Fact]
    public void Data_FromACallerOfAnOldVersion_HasItsDefaults()
    {
        FakeCoordinator archive = Started<Archive>();
        archive.Deliver(
            Fork(MethodIds.Of("IArchive", "Add"),
                new Hashtable { ["Title"] = "The Dispossessed", ["Pages"] = 341, ["Author"] = new Hashtable { [1] = "Le Guin" } },
                new[] { "sf" }));
        archive.Deliver(Call(MethodIds.Of("IArchive", "By"), 1, "Le Guin"));

        Assert.Equal(0, archive.Session.FailedForks);
        Assert.Equal("new", archive.Immortal<Archive>().Shelves);
        Assert.Contains("The Dispossessed", archive.Said.Single(static line => line.StartsWith("result ", StringComparison.Ordinal)),
            StringComparison.Ordinal);
        Assert.Equal("The Dispossessed Paper",
            string.Join(' ', archive.Immortal<Archive>().By("Le Guin").Select(static book => $"{book.Title} {book.Binding}")));
    }

    [Fact]
    public void CallsToOneself_GoOnStepByStep()
    {
        FakeCoordinator census = Started<Census>();
        census.Deliver(Fork(1, 0));
        Assert.Equal(["fork bank1 1 100"], census.Said.Where(static line => line.StartsWith("fork", StringComparison.Ordinal)));
        census.Deliver(Run(MessageKind.Fork, 0, (1, 0, Cbor.Of(100))), Run(MessageKind.Fork, 0, (1, 0, Cbor.Of(200))));

        Assert.Equal(249 * 250 / 2, census.Immortal<Census>().Told);
    }

    [Fact]
    public void LargeArguments_AreTakenAndPassedOn()
    {
        FakeCoordinator vault = Started<Vault>();
        byte[] file = [.. Enumerable.Range(0, 100_000).Select(static n => (byte)n)];
        vault.Deliver(Run(MessageKind.Fork, 1, (MethodIds.Of("IVault", "Keep"), 0, file)));
        vault.Deliver(Call(MethodIds.Of("IVault", "Forward"), 7, "bank3", file));

        Assert.Equal(100_000, vault.Immortal<Vault>().Bytes);
        Assert.Contains(vault.Said,
            static line => line.StartsWith($"call bank3 {MethodIds.Of("IVault", "Keep")} #1", StringComparison.Ordinal));
    }
}
