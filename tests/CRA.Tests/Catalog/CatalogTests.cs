using System.Security.Cryptography;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using Ambrosia.TestKit.Catalogs;
using CRA.Catalog;

namespace CRA.Tests;

/// <summary>The contract, kept by a directory on a real disk.</summary>
public sealed class DirectoryCatalogContractTests
{
    public static TheoryData<string> Cases => CatalogContract.CasesOf(DirectoryFixture.Has);

    [Theory]
    [MemberData(nameof(Cases))]
    public void Catalog_OfADirectory_KeepsTheContract(string name)
    {
        using var fixture = new DirectoryFixture();
        CatalogContract.Run(name, fixture);
    }

    private sealed class DirectoryFixture : CatalogFixture
    {
        public const CatalogFeatures Has = CatalogFeatures.Raw | CatalogFeatures.Faults;

        private readonly TestFolder _folder = new();

        public override CatalogFeatures Features => Has;

        public override ICatalog NewCatalog(CatalogFaults? faults = null, bool mayMakeSecret = true)
        {
            ICatalogFiles files = new RealCatalogFiles(_folder.Path);
            return new DirectoryCatalog(faults is null ? files : new FaultyCatalogFiles(files, faults), RandomNumberGenerator.Fill, Logger);
        }

        public override void PutEntry(InstanceId instance, ulong epoch, string text) =>
            new RealCatalogFiles(_folder.Path).Replace($"{instance.Name}.{epoch}", System.Text.Encoding.UTF8.GetBytes(text));

        public override void PutSecret(byte[] secret) => new RealCatalogFiles(_folder.Path).Replace(DirectoryCatalog.SecretName, secret);

        public override void Dispose() => _folder.Dispose();
    }
}

/// <summary>The contract, kept by the double; and what only the double can do.</summary>
public sealed class InMemoryCatalogTests
{
    private readonly InMemoryCatalog _store = new(RandomNumberGenerator.Fill);

    public static TheoryData<string> Cases => CatalogContract.CasesOf(CatalogFeatures.Swaps);

    [Theory]
    [MemberData(nameof(Cases))]
    public void Catalog_InMemory_KeepsTheContract(string name)
    {
        using var fixture = new InMemoryFixture(_store);
        CatalogContract.Run(name, fixture);
    }

    [Fact]
    public void Members_WhileTheStoreIsDown_Throw_AndNothingIsLost()
    {
        _store.Publish(CatalogContract.Entry(1));
        _store.IsDown = true;
        Assert.Throws<IOException>(() => _store.Find(new InstanceId("counter")));
        Assert.Throws<IOException>(() => _store.Publish(CatalogContract.Entry(2)));
        Assert.Throws<IOException>(() => _store.Secret);
        Assert.Throws<IOException>(_store.CheckSecret);
        _store.IsDown = false;
        Assert.Equal(CatalogContract.Entry(1), _store.Find(new InstanceId("counter")));
    }

    private sealed class InMemoryFixture(InMemoryCatalog store) : CatalogFixture
    {
        public override CatalogFeatures Features => CatalogFeatures.Swaps;

        public override ICatalog NewCatalog(CatalogFaults? faults = null, bool mayMakeSecret = true) => store;
    }
}

/// <summary>The contract, kept by the catalog over any store, with a store in memory whose requests are lost, late and doubled.</summary>
public sealed class StoreCatalogTests
{
    public static TheoryData<string> Cases => CatalogContract.CasesOf(MemoryStoreFixture.Has);

    [Theory]
    [MemberData(nameof(Cases))]
    public void Catalog_OfAStore_KeepsTheContract(string name)
    {
        using var fixture = new MemoryStoreFixture(new MemoryStore());
        CatalogContract.Run(name, fixture);
    }

    /// <summary>The planted bug is a store that writes without comparing; the property finds it.</summary>
    [Fact]
    public void Control_AStoreThatDoesNotCompare_IsFoundByTheSameProperty()
    {
        int found = 0;
        for (ulong seed = 1; seed <= 40 && found == 0; seed++)
        {
            using var fixture = new MemoryStoreFixture(new MemoryStore { Compares = false });
            if (new CatalogModel(fixture, seed).Run() is not null) found++;
        }
        Assert.True(found > 0, "no seed has found it");
    }

    private sealed class MemoryStoreFixture(MemoryStore store) : CatalogFixture
    {
        public const CatalogFeatures Has = CatalogFeatures.Raw | CatalogFeatures.Faults | CatalogFeatures.Swaps | CatalogFeatures.Network;

        public override CatalogFeatures Features => Has;

        public override ICatalog NewCatalog(CatalogFaults? faults = null, bool mayMakeSecret = true) => new StoreCatalog(
            faults is null ? store : new FaultyStore(store, faults),
            new CatalogAccess(static _ => throw new InvalidOperationException(), RandomNumberGenerator.Fill, TimeProvider.System, Logger)
            {
                MayMakeSecret = mayMakeSecret,
            });

        public override void PutEntry(InstanceId instance, ulong epoch, string text) =>
            store.Put($"instance:{instance.Name}", System.Text.Encoding.UTF8.GetBytes(text), epoch);

        public override void PutSecret(byte[] secret) => store.Put("secret", secret, 0);

        public override void PutForeign() => store.Put("something", [1], 0);
    }
}
