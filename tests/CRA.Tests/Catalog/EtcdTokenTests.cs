using System.Security.Cryptography;
using System.Text;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA.Catalog;
using CRA.Etcd;

namespace CRA.Tests;

/// <summary>
/// What a client that lives goes through with an etcd that asks for users: each answer that means "log in again" is followed by a login.
/// None of them keeps a coordinator out until a token has run out. Signed tokens say of which state of the users they are.
/// </summary>
public sealed class EtcdTokenTests : IDisposable
{
    private static readonly InstanceId s_counter = new("counter");

    private readonly string _folder = Directory.CreateTempSubdirectory("ambrosia-etcd-token-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [EtcdFact]
    public void SignedToken_AfterAnotherUserIsAdded_IsRenewed()
    {
        using EtcdServers etcd = Signed("10m");
        StoreCatalog ann = Open(etcd);
        Assert.Equal(PublishResult.Published, ann.Publish(CatalogContract.Entry(1)));
        for (int i = 0; i < 3; i++)
        {
            Assert.NotNull(etcd.Post(0, "/v3/auth/user/add", $$"""{"name":"other{{i}}","password":"x"}""", Root(etcd)));
            Assert.Equal(new Epoch(1), ann.Find(s_counter)!.Epoch);
        }
        Assert.Equal(PublishResult.Published, ann.Publish(CatalogContract.Entry(2)));
    }

    [EtcdFact]
    public void SignedToken_ThatHasRunOut_IsRenewed()
    {
        using EtcdServers etcd = Signed("1s");
        StoreCatalog ann = Open(etcd);
        ann.Publish(CatalogContract.Entry(1));
        string token = etcd.LogIn(0, "ann", "secret"), request = $$"""{"key":"{{Text("shop/secret")}}"}""";
        Assert.NotNull(etcd.Post(0, "/v3/kv/range", request, token));
        Deadline.Await(() => etcd.Post(0, "/v3/kv/range", request, token) is null, "a later token to run out");
        Assert.Equal(new Epoch(1), ann.Find(s_counter)!.Epoch);
    }

    [EtcdFact]
    public void SignedToken_OfAMemberThatWasStartedAgainAndCompacted_GoesOn()
    {
        using EtcdServers etcd = Signed("10m");
        StoreCatalog ann = Open(etcd);
        ann.Publish(CatalogContract.Entry(1));
        etcd.KillAll();
        etcd.StartAll();
        Assert.Equal(new Epoch(1), ann.Find(s_counter)!.Epoch);
        Assert.Equal(PublishResult.Published, ann.Publish(CatalogContract.Entry(2)));
        string header = etcd.Post(0, "/v3/kv/range", $$"""{"key":"{{Text("shop/secret")}}"}""", Root(etcd))!;
        string revision = header.Split("\"revision\":\"")[1].Split('"')[0];
        Assert.NotNull(etcd.Post(0, "/v3/kv/compaction", $$"""{"revision":"{{revision}}"}""", Root(etcd)));
        Assert.Equal(new Epoch(2), ann.Find(s_counter)!.Epoch);
        Assert.Equal(PublishResult.Published, ann.Publish(CatalogContract.Entry(3)));
    }

    [EtcdFact]
    public void Users_SwitchedOffAndOnAgain_KeepNoClientOut()
    {
        using EtcdServers etcd = Signed("10m");
        StoreCatalog ann = Open(etcd);
        ann.Publish(CatalogContract.Entry(1));
        Assert.NotNull(etcd.Post(0, "/v3/auth/disable", "{}", Root(etcd)));
        Assert.Equal(new Epoch(1), ann.Find(s_counter)!.Epoch);
        Assert.Equal(new Epoch(1), Open(etcd).Find(s_counter)!.Epoch);
        Assert.NotNull(etcd.Post(0, "/v3/auth/enable", "{}"));
        Assert.Equal(new Epoch(1), ann.Find(s_counter)!.Epoch);
    }

    [EtcdFact]
    public void TwoThreads_WhileUsersChange_AreNeverRefused()
    {
        using EtcdServers etcd = Signed("10m");
        StoreCatalog ann = Open(etcd);
        ann.Publish(CatalogContract.Entry(1));
        string root = Root(etcd);
        using var over = new CancellationTokenSource();
        var failures = new System.Collections.Concurrent.ConcurrentQueue<Exception>();
        Thread[] readers = [.. Enumerable.Range(0, 2).Select(_ => new Thread(() =>
        {
            while (!over.IsCancellationRequested)
            {
                try { Assert.Equal(new Epoch(1), ann.Find(s_counter)!.Epoch); }
                catch (IOException) { } // the users have changed again before each of its logins was used: it is tried again
                catch (Exception e) { failures.Enqueue(e); return; }
            }
        }))];
        foreach (Thread reader in readers) reader.Start();
        for (int i = 0; i < 20; i++)
        {
            if (etcd.Post(0, "/v3/auth/user/add", $$"""{"name":"u{{i}}","password":"x"}""", root) is null) root = Root(etcd);
        }
        over.Cancel();
        foreach (Thread reader in readers) reader.Join();
        Assert.Empty(failures);
        Assert.Equal(new Epoch(1), ann.Find(s_counter)!.Epoch);
    }

    private static string Root(EtcdServers etcd) => etcd.LogIn(0, "root", "r");

    /// <summary>An etcd that signs its tokens, with ann, who may use the prefix, and root.</summary>
    private EtcdServers Signed(string timeToLive)
    {
        using RSA key = RSA.Create(2048);
        string publicKey = Path.Combine(_folder, "public"), privateKey = Path.Combine(_folder, "private");
        File.WriteAllText(publicKey, key.ExportSubjectPublicKeyInfoPem());
        File.WriteAllText(privateKey, key.ExportRSAPrivateKeyPem());
        var etcd = new EtcdServers(1, "--auth-token", $"jwt,pub-key={publicKey},priv-key={privateKey},sign-method=RS256,ttl={timeToLive}");
        foreach ((string path, string json) in new[]
        {
            ("user/add", """{"name":"root","password":"r"}"""), ("user/add", """{"name":"ann","password":"secret"}"""),
            ("role/add", """{"name":"shop"}"""), ("role/add", """{"name":"root"}"""),
            ("role/grant", $$"""{"name":"shop","perm":{"permType":"READWRITE","key":"{{Text("shop/")}}","range_end":"{{Text("shop0")}}"} }"""),
            ("user/grant", """{"user":"ann","role":"shop"}"""), ("user/grant", """{"user":"root","role":"root"}"""), ("enable", "{}"),
        }) Assert.NotNull(etcd.Post(0, "/v3/auth/" + path, json));
        return etcd;
    }

    private static StoreCatalog Open(EtcdServers etcd)
    {
        CatalogPlace place = CatalogPlace.Parse($"etcd://{etcd.Endpoints}/shop");
        CatalogCredentials credentials = CatalogCredentials.Read(static variable => variable switch
        {
            CatalogCredentials.UserVariable => "ann", CatalogCredentials.PasswordFileVariable => "password", _ => null,
        }, static (_, _) => "secret");
        return new StoreCatalog(new EtcdStore(place, EtcdClient.Open(place, credentials, TimeProvider.System)),
            new CatalogAccess(static _ => throw new InvalidOperationException(), RandomNumberGenerator.Fill, TimeProvider.System,
                EventRecorder.OfTexts(static line => Assert.Fail(line))));
    }

    private static string Text(string key) => Convert.ToBase64String(Encoding.UTF8.GetBytes(key));
}
