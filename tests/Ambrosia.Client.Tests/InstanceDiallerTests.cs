using Ambrosia.Client.Connections;
using Ambrosia.Protocol;
using CRA.Catalog;
using CRA.Links;

namespace Ambrosia.Client.Tests;

/// <summary>A client finds who has become primary as soon as the catalog says it, however long it would pause between two dials.</summary>
public sealed class InstanceDiallerTests
{
    private static readonly TimeSpan s_forEver = TimeSpan.FromDays(1);

    private readonly FakeCatalog _catalog = new();

    /// <summary>It would pause for a day: that it comes back at all is what is tested.</summary>
    [Fact]
    public void Rest_UntilTheCatalogNamesAnotherPrimary_IsOver()
    {
        InstanceDialler dialler = NewDialler();
        _catalog.Turns = [Entry(1, "127.0.0.1:1"), Entry(1, "127.0.0.1:1"), null, Entry(2, "127.0.0.1:2")];
        Assert.Throws<LinkUnreachableException>(() => dialler.TryDial(CancellationToken.None));
        dialler.Rest(s_forEver, CancellationToken.None);
        Assert.Equal(4, _catalog.Looks);
    }

    [Fact]
    public void Rest_OfOneThatWasNotInTheCatalog_IsOverWhenItIs()
    {
        InstanceDialler dialler = NewDialler();
        _catalog.Turns = [null, null, Entry(1, "127.0.0.1:1")];
        Assert.Null(dialler.TryDial(CancellationToken.None));
        dialler.Rest(s_forEver, CancellationToken.None);
        Assert.Equal(3, _catalog.Looks);
    }

    /// <summary>A catalog that cannot be read is no reason to dial, and none to fail: the pause goes on, and so do the looks.</summary>
    [Fact]
    public void Rest_WhileTheCatalogCannotBeRead_GoesOn()
    {
        InstanceDialler dialler = NewDialler();
        _catalog.Turns = [null, Entry(1, "127.0.0.1:1")];
        Assert.Null(dialler.TryDial(CancellationToken.None));
        _catalog.Broken = 1;
        dialler.Rest(s_forEver, CancellationToken.None);
        Assert.Equal(0, _catalog.Broken);
    }

    /// <summary>The same primary, and a secondary that has come: the pause is what it was to be, or ends with the client.</summary>
    [Fact]
    public void Rest_WhileThePrimaryIsTheSame_EndsWithItsTimeOrTheClient()
    {
        InstanceDialler dialler = NewDialler();
        CatalogEntry first = Entry(1, "127.0.0.1:1");
        _catalog.Turns = [first, first with { Replicas = [.. first.Replicas, new ReplicaEntry("r1", "127.0.0.1:2", "secondary", new Epoch(1))] }];
        Assert.Throws<LinkUnreachableException>(() => dialler.TryDial(CancellationToken.None));
        dialler.Rest(TimeSpan.FromMilliseconds(100), CancellationToken.None);
        using var stop = new CancellationTokenSource();
        stop.Cancel();
        dialler.Rest(s_forEver, stop.Token);
    }

    private InstanceDialler NewDialler() => new(_catalog, new InstanceId("bank"), new ClientOptions(), toPrimary: true);

    private static CatalogEntry Entry(ulong epoch, string address) => new(new InstanceId("bank"), FakeInstance.Uuid, "/log", new Epoch(epoch),
        [new ReplicaEntry($"r{epoch}", address, "primary", new Epoch(epoch))]);

    /// <summary>Answers each look with the next turn, and with the last one for ever.</summary>
    private sealed class FakeCatalog : ICatalog
    {
        public IReadOnlyList<CatalogEntry?> Turns { get; set; } = [];

        public int Looks { get; private set; }

        /// <summary>So many looks fail.</summary>
        public int Broken { get; set; }

        public CatalogEntry? Find(InstanceId instance)
        {
            if (Broken > 0)
            {
                Broken--;
                throw new IOException("it cannot be read");
            }
            return Turns[Math.Min(Looks++, Turns.Count - 1)];
        }

        public ReadOnlyMemory<byte> Secret => new byte[32];

        public PublishResult Publish(CatalogEntry entry) => throw new NotSupportedException();

        public void Forget(InstanceId instance) => throw new NotSupportedException();

        public IReadOnlyList<CatalogEntry> All() => throw new NotSupportedException();

        public IReadOnlyDictionary<InstanceId, Epoch> Epochs() => throw new NotSupportedException();

        public void CheckSecret() => throw new NotSupportedException();
    }
}
