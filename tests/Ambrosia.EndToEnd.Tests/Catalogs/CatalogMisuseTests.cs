using System.Text;
using Ambrosia.TestKit;
using CRA.Catalog;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// A store that will not do, or is somebody else's: a coordinator says what, why and how to mend it, ends with 2, and has made nothing.
/// What is wrong with the text of a place alone stands in <see cref="CommandLineTests"/>.
/// </summary>
public sealed class CatalogMisuseTests
{
    private static readonly Dictionary<string, string> s_none = [];

    [Fact]
    public void Coordinator_WithAnEtcdThatIsTooOld_IsRefusedAndMakesNothing()
    {
        using var old = new StoreRelay("127.0.0.1:1") { Answering = """{"etcdserver":"3.3.27","etcdcluster":"3.3.0"}""" };
        old.Turn(StoreRelay.Manner.Rubbish);
        AssertRefused($"etcd://{old.Address}/shop", s_none, "is version 3.3.27", "Upgrade it");
    }

    [Fact]
    public void Coordinator_WithWhatIsNoEtcd_IsRefusedAndMakesNothing()
    {
        using var other = new StoreRelay("127.0.0.1:1") { Answering = "<html>Welcome!</html>" };
        other.Turn(StoreRelay.Manner.Rubbish);
        AssertRefused($"etcd://{other.Address}/shop", s_none, "is no etcd", ":2379");
    }

    [Fact]
    public void Coordinator_WithACertificateThatHasExpired_IsRefusedAndMakesNothing()
    {
        using var cluster = new Cluster();
        (string certificate, string key) = Certified.Make("ledger", Certified.Ours, DateTimeOffset.UtcNow.AddDays(-3));
        var settings = new Dictionary<string, string>
        {
            [CatalogCredentials.AuthoritiesVariable] = Put(cluster, "ca", Certified.Ours.Certificate),
            [CatalogCredentials.CertificateVariable] = Put(cluster, "certificate", certificate),
            [CatalogCredentials.KeyVariable] = Put(cluster, "key", key),
        };
        AssertRefused("etcd://127.0.0.1:1/shop", settings, CatalogCredentials.CertificateVariable, "expired at", "Renew it");
        cluster.Passed();
    }

    [EtcdFact]
    public void Coordinator_WithAPrefixOfOthers_IsRefusedAndMakesNothing()
    {
        using var etcd = new EtcdServers(1);
        string Base64(string text) => Convert.ToBase64String(Encoding.UTF8.GetBytes(text));
        Assert.NotNull(etcd.Post(0, "/v3/kv/put", $$"""{"key":"{{Base64("shop/config")}}","value":"{{Base64("theirs")}}"}"""));
        AssertRefused($"etcd://{etcd.Endpoints}/shop", s_none, "holds 'config'", "a place of its own", "nothing was written");
        string? all = etcd.Post(0, "/v3/kv/range", """{"key":"AA==","range_end":"AA==","count_only":true}""");
        Assert.Contains("\"count\":\"1\"", all, StringComparison.Ordinal);
    }

    internal static void AssertMisuse(Tool refused, string log, params string[] said)
    {
        Assert.True(refused.Code == 2, $"exit {refused.Code}: {refused.Error}{refused.Output}");
        foreach (string words in said) Assert.Contains(words, refused.Error, StringComparison.Ordinal);
        Assert.DoesNotContain("   at ", refused.Error, StringComparison.Ordinal);
        Assert.False(Directory.Exists(log));
    }

    private static void AssertRefused(string place, Dictionary<string, string> settings, params string[] said)
    {
        using var cluster = new Cluster();
        string log = Path.Combine(cluster.Root, "log");
        AssertMisuse(Tool.Of(Executables.Coordinator, ["--log", log, "--catalog", place, "--insecure"], settings: settings), log, said);
        Assert.Empty(Directory.EnumerateFileSystemEntries(cluster.Root));
        cluster.Passed();
    }

    private static string Put(Cluster cluster, string name, string text)
    {
        string path = Path.Combine(cluster.Root, name);
        File.WriteAllText(path, text);
        File.SetUnixFileMode(path, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        return path;
    }
}
