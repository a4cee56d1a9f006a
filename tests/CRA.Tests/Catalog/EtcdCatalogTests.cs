using System.Security.Cryptography;
using System.Text;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA.Catalog;
using CRA.Etcd;

namespace CRA.Tests;

/// <summary>The contract, kept by an etcd of one member; each case has a prefix of its own.</summary>
public sealed class EtcdCatalogContractTests(EtcdCatalogContractTests.OneMember server) : IClassFixture<EtcdCatalogContractTests.OneMember>
{
    public static TheoryData<string> Cases => CatalogContract.CasesOf(EtcdFixture.Has);

    [EtcdTheory]
    [MemberData(nameof(Cases))]
    public void Catalog_InEtcd_KeepsTheContract(string name)
    {
        using var fixture = new EtcdFixture(server.Etcd!);
        CatalogContract.Run(name, fixture);
    }

    public sealed class OneMember : IDisposable
    {
        public EtcdServers? Etcd { get; } = EtcdServers.WhyNot is null ? new EtcdServers(1) : null;

        public void Dispose() => Etcd?.Dispose();
    }
}

/// <summary>A prefix of an etcd as the place of a catalog; its requests fail on their way, below the client.</summary>
internal sealed class EtcdFixture(EtcdServers etcd) : CatalogFixture
{
    public const CatalogFeatures Has =
        CatalogFeatures.Raw | CatalogFeatures.Faults | CatalogFeatures.Swaps | CatalogFeatures.Network | CatalogFeatures.Restart;

    private readonly string _prefix = $"test/{Guid.NewGuid():N}";

    public override int ProgramsOfARelease => 60;

    public override CatalogFeatures Features => Has;

    public CatalogPlace Place => CatalogPlace.Parse($"etcd://{etcd.Endpoints}/{_prefix}");

    public override ICatalog NewCatalog(CatalogFaults? faults = null, bool mayMakeSecret = true)
    {
        HttpMessageHandler handler = EtcdHandler.Make(CatalogCredentials.None, TimeProvider.System);
        return new StoreCatalog(
            new EtcdStore(Place, new EtcdClient(Place, CatalogCredentials.None, faults is null ? handler : new FaultyHandler(handler, faults))),
            new CatalogAccess(static _ => throw new InvalidOperationException(), RandomNumberGenerator.Fill, TimeProvider.System, Logger)
            {
                MayMakeSecret = mayMakeSecret,
            });
    }

    public override void PutEntry(InstanceId instance, ulong epoch, string text)
    {
        Put($"instance:{instance.Name}", Encoding.UTF8.GetBytes(text));
        Put($"label/instance:{instance.Name}", Encoding.UTF8.GetBytes($"{epoch}"));
    }

    public override void PutSecret(byte[] secret) => Put("secret", secret);

    public override void PutForeign() => Put("config", [1]);

    public override void Kill() => etcd.KillAll();

    public override void Start() => etcd.StartAll();

    private void Put(string name, byte[] value)
    {
        string key = Convert.ToBase64String(Encoding.UTF8.GetBytes($"{_prefix}/{name}"));
        Assert.NotNull(etcd.Post(0, "/v3/kv/put", $$"""{"key":"{{key}}","value":"{{Convert.ToBase64String(value)}}"}"""));
    }
}

/// <summary>What is particular to etcd: members that die, pages, users, TLS, and whoever answers in its place.</summary>
public sealed class EtcdCatalogTests
{
    private static readonly InstanceId s_counter = new("counter");

    private static StoreCatalog Open(string place, CatalogCredentials? credentials = null)
    {
        CatalogPlace parsed = CatalogPlace.Parse(place);
        return new StoreCatalog(
            new EtcdStore(parsed, EtcdClient.Open(parsed, credentials ?? CatalogCredentials.None, TimeProvider.System)),
            new CatalogAccess(static _ => throw new InvalidOperationException(), RandomNumberGenerator.Fill, TimeProvider.System,
                EventRecorder.OfTexts(static line => Assert.Fail(line))));
    }

    [EtcdFact]
    public void Catalog_WhoseLeaderIsKilledAgainAndAgain_GoesOnAndLosesNothing()
    {
        using var etcd = new EtcdServers(3);
        string place = $"etcd://{etcd.Endpoints}/shop";
        StoreCatalog writer = Open(place), reader = Open(place);
        ulong epoch = 1, seen = 0;
        byte[] secret = writer.Secret.ToArray();
        for (int kill = 0; kill < TestScale.Rounds(20) + 1; kill++)
        {
            int leader = etcd.FindLeader();
            etcd.Kill(leader);
            ulong next = ++epoch;
            // No answer while there is no leader is a failure of I/O; the publisher tries again with its next heartbeat.
            Deadline.Await(() => IsPublished(writer, next), "a publication");
            Deadline.Await(() => TryFind(reader) is { } found && found.Epoch.Value is var now && now >= seen
                && (seen = now) == next,
                $"epoch {next} after {seen}");
            etcd.Start(leader);
        }
        etcd.KillAll();
        etcd.StartAll();
        Assert.Equal(new Epoch(epoch), reader.Find(s_counter)!.Epoch);
        Assert.Equal(secret, Open(place).Secret.ToArray());
    }

    [EtcdFact]
    public void All_OfMoreThanOneAnswerHolds_IsReadInPages()
    {
        using var etcd = new EtcdServers(1, "--max-request-bytes", "4000000");
        StoreCatalog catalog = Open($"etcd://{etcd.Endpoints}/shop");
        ReplicaEntry[] replicas = [.. Enumerable.Range(0, CatalogLimits.ReplicasMax).Select(static i => new ReplicaEntry(
            $"r{i}".PadRight(Names.CharsMax, 'x'), new string('\u00e9', CatalogLimits.AddressCharsMax),
                new string('"', CatalogLimits.RoleCharsMax), new Epoch(1)))];
        CatalogEntry[] entries = [.. Enumerable.Range(0, 90).Select(i => CatalogContract.Entry(1, $"i{i:000}") with
        {
            LogPath = new string('\u00e9', CatalogLimits.LogPathCharsMax), Replicas = replicas,
        })];
        foreach (CatalogEntry entry in entries) Assert.Equal(PublishResult.Published, catalog.Publish(entry));
        Assert.Equal(entries, catalog.All());
        Assert.Equal(entries.Length, catalog.Epochs().Count);
    }

    [EtcdFact]
    public void Catalogs_OfNeighbouringPrefixes_AreApart()
    {
        using var etcd = new EtcdServers(1);
        StoreCatalog one = Open($"etcd://{etcd.Endpoints}/shop"), other = Open($"etcd://{etcd.Endpoints}/shop2"), below = Open($"etcd://{etcd.Endpoints}/shops/a");
        foreach (StoreCatalog catalog in new[] { one, other, below }) _ = catalog.Secret;
        one.Publish(CatalogContract.Entry(1));
        Assert.Empty(other.All());
        Assert.Empty(below.All());
        Assert.NotEqual(one.Secret.ToArray(), other.Secret.ToArray());
        Assert.Throws<CatalogException>(Open($"etcd://{etcd.Endpoints}/shops").CheckSecret);
    }

    [EtcdFact]
    public void Users_WithAndWithoutRights_AreLetInOrToldWhy()
    {
        using var etcd = new EtcdServers(1);
        foreach ((string path, string json) in new[]
        {
            ("user/add", """{"name":"root","password":"r"}"""), ("user/add", """{"name":"ann","password":"a secret"}"""),
            ("user/add", """{"name":"bob","password":"b"}"""), ("role/add", """{"name":"shop"}"""), ("role/add", """{"name":"root"}"""),
            ("role/grant", $$"""{"name":"shop","perm":{"permType":"READWRITE","key":"{{Text("shop/")}}","range_end":"{{Text("shop0")}}"} }"""),
            ("user/grant", """{"user":"ann","role":"shop"}"""), ("user/grant", """{"user":"root","role":"root"}"""), ("enable", "{}"),
        }) Assert.NotNull(etcd.Post(0, "/v3/auth/" + path, json));
        string place = $"etcd://{etcd.Endpoints}/shop";
        StoreCatalog ann = Open(place, User("ann", "a secret\n"));
        Assert.Equal(PublishResult.Published, ann.Publish(CatalogContract.Entry(1)));
        Assert.Equal(DirectoryCatalog.SecretBytes, ann.Secret.Length);
        AssertRefused("anybody without a name", Open(place));
        AssertRefused("'bob'", Open(place, User("bob", "b")));
        AssertRefused("'ann'", Open($"etcd://{etcd.Endpoints}/other", User("ann", "a secret")));
        AssertRefused("refuses user 'ann'", Open(place, User("ann", "wrong")));
        etcd.KillAll(); // the tokens of a member are gone with it
        etcd.StartAll();
        Assert.Equal(new Epoch(1), ann.Find(s_counter)!.Epoch);
    }

    private static void AssertRefused(string said, StoreCatalog catalog)
    {
        string message = Assert.Throws<CatalogException>(() => catalog.Find(s_counter)).Message;
        Assert.Contains(said, message, StringComparison.Ordinal);
        Assert.Contains(CatalogCredentials.UserVariable, message, StringComparison.Ordinal);
    }

    private static CatalogCredentials User(string name, string password) => CatalogCredentials.Read(
        variable => variable switch
        {
            CatalogCredentials.UserVariable => name, CatalogCredentials.PasswordFileVariable => "password", _ => null,
        }, (_, _) => password);

    private static string Text(string key) => Convert.ToBase64String(Encoding.UTF8.GetBytes(key));

    /// <summary>False: there was no answer. It is told apart by hand, since the enumeration's default says that all went well.</summary>
    internal static bool IsPublished(StoreCatalog catalog, ulong epoch)
    {
        try
        {
            return catalog.Publish(CatalogContract.Entry(epoch)) == PublishResult.Published;
        }
        catch (IOException)
        {
            return false;
        }
    }

    private static CatalogEntry? TryFind(StoreCatalog catalog)
    {
        try
        {
            return catalog.Find(s_counter);
        }
        catch (IOException)
        {
            return null;
        }
    }
}
