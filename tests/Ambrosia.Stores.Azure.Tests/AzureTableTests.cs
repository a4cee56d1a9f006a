using System.Security.Cryptography;
using System.Text;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using Azure.Core.Pipeline;
using Azure.Data.Tables;
using CRA.Catalog;
using CRA.Places;
using CRA.Tests;

namespace Ambrosia.Stores.Azure.Tests;

/// <summary>The contract, kept by a table of Azurite; each case has a table of its own.</summary>
public sealed class AzureTableTests(AzureTableTests.Server server) : IClassFixture<AzureTableTests.Server>
{
    public static TheoryData<string> Cases => CatalogContract.CasesOf(TableFixture.Has);

    [AzuriteTheory]
    [MemberData(nameof(Cases))]
    public void Catalog_InAzureTables_KeepsTheContract(string name)
    {
        using var fixture = new TableFixture(server.Azurite!);
        CatalogContract.Run(name, fixture);
    }

    [AzuriteFact]
    public void Catalog_WithTheKeyOfAnother_IsRefusedWithAdvice()
    {
        string wrong = server.Azurite!.Connection.Replace("AccountKey=Eby8", "AccountKey=AAAA", StringComparison.Ordinal);
        ICatalog catalog = AzureTables.Open(CatalogPlace.Parse($"azure-tables://{AzuriteServer.Account}/names"), Access(wrong), null);
        string message = Assert.Throws<CatalogException>(catalog.CheckSecret).Message;
        Assert.Contains(CatalogCredentials.ConnectionFileVariable, message, StringComparison.Ordinal);
    }

    [AzuriteFact]
    public void Members_WhileTheStoreIsAway_ThrowIOExceptions()
    {
        using var own = new AzuriteServer();
        ICatalog catalog =
            AzureTables.Open(CatalogPlace.Parse($"azure-tables://{AzuriteServer.Account}/names"), Access(own.Connection), null);
        Assert.Equal(PublishResult.Published, catalog.Publish(CatalogContract.Entry(1)));
        own.Kill();
        Assert.Throws<IOException>(() => catalog.Find(new InstanceId("counter")));
        Assert.Throws<IOException>(() => catalog.Publish(CatalogContract.Entry(2)));
        Assert.Throws<IOException>(() => catalog.All());
        Assert.Throws<IOException>(() => catalog.Epochs());
        Assert.Throws<IOException>(() => catalog.Secret);
        own.Start();
        Assert.Equal(PublishResult.Published, catalog.Publish(CatalogContract.Entry(3)));
    }

    [Fact]
    public void Open_WithTheConnectionOfAnotherAccount_IsRefused()
    {
        string text = $"DefaultEndpointsProtocol=https;AccountName=other;AccountKey={Convert.ToBase64String(new byte[32])};EndpointSuffix=core.windows.net";
        Assert.Contains("'other'", Refusal("azure-tables://shopnames/names", text), StringComparison.Ordinal);
    }

    [Fact]
    public void Open_WithWhatIsNoConnection_IsRefusedAndDoesNotRepeatIt()
    {
        string message = Refusal("azure-tables://shopnames/names", "my-key");
        Assert.Contains("no connection string", message, StringComparison.Ordinal);
        Assert.DoesNotContain("my-key", message, StringComparison.Ordinal);
    }

    [Fact]
    public void Use_MakesThePlaceKnown()
    {
        AzureTables.Use();
        Assert.IsType<StoreCatalog>(CatalogStores.Open(CatalogPlace.Parse("azure-tables://shopnames/names"), Access(null)));
    }

    private static string Refusal(string place, string connection) =>
        Assert.Throws<CatalogException>(() => AzureTables.Open(CatalogPlace.Parse(place), Access(connection), null)).Message;

    private static CatalogAccess Access(string? connection) =>
        new(static _ => throw new InvalidOperationException(), RandomNumberGenerator.Fill, TimeProvider.System,
            EventRecorder.OfTexts(static _ => { }))
        {
            Credentials = connection is null ? CatalogCredentials.None : Credentials(connection),
        };

    private static CatalogCredentials Credentials(string connection) =>
        CatalogCredentials.Read(static name => name == CatalogCredentials.ConnectionFileVariable ? "file" : null, (_, _) => connection);

    public sealed class Server : IDisposable
    {
        public AzuriteServer? Azurite { get; } = AzuriteServer.WhyNot is null ? new AzuriteServer() : null;

        public void Dispose() => Azurite?.Dispose();
    }

    /// <summary>A table as the place of a catalog; its requests fail on their way, below Azure's library and its retries.</summary>
    private sealed class TableFixture(AzuriteServer azurite) : CatalogFixture
    {
        /// <summary>Not Restart: an emulator that is killed has lost its last seconds.</summary>
        public const CatalogFeatures Has = CatalogFeatures.Raw | CatalogFeatures.Faults | CatalogFeatures.Swaps | CatalogFeatures.Network;

        private readonly string _table = $"t{Guid.NewGuid():N}";

        public override int ProgramsOfARelease => 30;

        public override CatalogFeatures Features => Has;

        public override ICatalog NewCatalog(CatalogFaults? faults = null, bool mayMakeSecret = true)
        {
            CatalogPlace place = CatalogPlace.Parse($"azure-tables://{AzuriteServer.Account}/{_table}");
            CatalogAccess access = Access(azurite.Connection) with { Logger = Logger, MayMakeSecret = mayMakeSecret };
            return AzureTables.Open(place, access, faults is null ? null : new HttpClientTransport(
                new HttpClient(new FaultyHandler(new SocketsHttpHandler { UseProxy = false }, faults))));
        }

        public override void PutEntry(InstanceId instance, ulong epoch, string text) =>
            Put($"instance:{instance.Name}", Encoding.UTF8.GetBytes(text), epoch);

        public override void PutSecret(byte[] secret) => Put("secret", secret, 0);

        public override void PutForeign() => Put("something", [1], 0);

        private void Put(string name, byte[] value, ulong label)
        {
            var table = new TableClient(azurite.Connection, _table);
            table.CreateIfNotExists();
            var entity = new TableEntity("ambrosia", name) { ["V0"] = value };
            if (label > 0) entity["Label"] = $"{label}";
            table.UpsertEntity(entity, TableUpdateMode.Replace);
        }
    }
}

/// <summary>A test that needs Azurite; skipped, with the reason, where it is not installed.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class AzuriteFactAttribute : FactAttribute
{
    public AzuriteFactAttribute() => Skip = AzuriteServer.WhyNot;
}

/// <summary>A theory that needs Azurite; skipped, with the reason, where it is not installed.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class AzuriteTheoryAttribute : TheoryAttribute
{
    public AzuriteTheoryAttribute() => Skip = AzuriteServer.WhyNot;
}
