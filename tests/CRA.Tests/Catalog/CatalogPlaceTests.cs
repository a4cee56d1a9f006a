using CRA.Catalog;
using CRA.Places;
using Microsoft.Extensions.Logging.Abstractions;

namespace CRA.Tests;

/// <summary>What users write behind <c>--catalog</c>, and what they are told of what is none.</summary>
public sealed class CatalogPlaceTests
{
    [Theory]
    [InlineData("/var/ambrosia/catalog", "directory", "", "/var/ambrosia/catalog")]
    [InlineData("/a/../b/./c", "directory", "", "/b/c")]
    [InlineData("/odd:name@here", "directory", "", "/odd:name@here")]
    [InlineData("etcd://10.0.0.1:2379/shop", "etcd", "10.0.0.1:2379", "shop")]
    [InlineData("etcd://a.example:2379,b.example:2379,[::1]:2379/eu/shop.1/", "etcd", "a.example:2379,b.example:2379,[::1]:2379", "eu/shop.1")]
    [InlineData("azure-tables://shopnames/catalog", "azure-tables", "shopnames", "catalog")]
    public void TryParse_OfAPlace_GivesItsParts(string text, string scheme, string hosts, string path)
    {
        CatalogPlace place = CatalogPlace.TryParse(text, out string wrong)!;
        Assert.Equal("", wrong);
        Assert.Equal((scheme, hosts, path), (place.Scheme, string.Join(',', place.Hosts), place.Path));
        Assert.Equal(place, CatalogPlace.Parse(place.Text));
        Assert.Equal(scheme == "directory", place.IsDirectory);
    }

    [Fact]
    public void TryParse_OfARelativeDirectory_GivesAnAbsoluteOne() =>
        Assert.Equal(Path.Combine(Environment.CurrentDirectory, "catalog"), CatalogPlace.Parse("catalog").Path);

    [Theory]
    [InlineData("", "empty")]
    [InlineData("a\nb", "control characters")]
    [InlineData("http://host:2379/x", "'http'", "no kind of catalog")]
    [InlineData("etc://host:2379/x", "'etc'", "etcd://host:port")]
    [InlineData("etcd:/host:2379/x", "two slashes are missing")]
    [InlineData("azure-tables:account/table", "two slashes are missing")]
    [InlineData("etcd://host:2379/x,etcd://other:2379/x", "two schemes", "etcd://host:port,host:port/prefix")]
    [InlineData("etcd://host/x", "has no port")]
    [InlineData("etcd://host:/x", "has no port")]
    [InlineData("etcd://[::1]/x", "has no port")]
    [InlineData("etcd://::1:2379/x", "in brackets")]
    [InlineData("etcd://host:0/x", "no port; give 1")]
    [InlineData("etcd://host:65536/x", "no port; give 1")]
    [InlineData("etcd://host:2379x/x", "no port; give 1")]
    [InlineData("etcd://:2379/x", "no host")]
    [InlineData("etcd://a:1,,b:2/x", "has no port")]
    [InlineData("etcd://a:1,A:1/x", "twice")]
    [InlineData("etcd://a:1,a:2,a:3,a:4,a:5,a:6,a:7,a:8,a:9,a:10,a:11,a:12,a:13,a:14,a:15,a:16,a:17/x", "17 endpoints")]
    [InlineData("etcd://host:2379", "a prefix is missing")]
    [InlineData("etcd://host:2379/", "no prefix")]
    [InlineData("etcd://host:2379//", "no prefix")]
    [InlineData("etcd://host:2379/a/../b", "'..'")]
    [InlineData("etcd://host:2379/./b", "'.'")]
    [InlineData("etcd://host:2379/a//b", "''")]
    [InlineData("etcd://host:2379/a b", "'a b'")]
    [InlineData("etcd://host:2379/a%2e", "'a%2e'")]
    [InlineData("etcd://host:2379/x?y=1", "'?'")]
    [InlineData("etcd://host:2379/x#y", "'#'")]
    [InlineData("azure-tables://account", "a table is missing")]
    [InlineData("azure-tables://Account/table", "no storage account")]
    [InlineData("azure-tables://ab/table", "no storage account")]
    [InlineData("azure-tables://account.table.core.windows.net/table", "no storage account")]
    [InlineData("azure-tables://account/1table", "no table")]
    [InlineData("azure-tables://account/a-b", "no table")]
    [InlineData("azure-tables://account/table/more", "no table")]
    public void TryParse_OfWhatIsNone_SaysWhyAndHow(string text, params string[] said)
    {
        Assert.Null(CatalogPlace.TryParse(text, out string wrong));
        Assert.All(said, each => Assert.Contains(each, wrong, StringComparison.Ordinal));
        Assert.Equal(wrong, Assert.Throws<CatalogException>(() => CatalogPlace.Parse(text)).Message);
    }

    [Theory]
    [InlineData("etcd://ann:pass-word@host:2379/x", CatalogCredentials.PasswordFileVariable)]
    [InlineData("etcd://ann@host:2379/x", CatalogCredentials.UserVariable)]
    [InlineData("etcd://host:2379/pass-word@x", CatalogCredentials.UserVariable)]
    [InlineData("azure-tables://key:pass-word@account/table", CatalogCredentials.ConnectionFileVariable)]
    [InlineData("mongodb://ann:pass-word@host/x", "no kind of catalog")]
    public void TryParse_WithCredentials_IsRefusedAndDoesNotRepeatThem(string text, string said)
    {
        Assert.Null(CatalogPlace.TryParse(text, out string wrong));
        Assert.Contains(said, wrong, StringComparison.Ordinal);
        Assert.DoesNotContain("pass-word", wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void TryParse_OfALongPrefix_IsRefused()
    {
        Assert.Null(CatalogPlace.TryParse("etcd://host:2379/" + new string('a', 201), out string wrong));
        Assert.Contains("201 characters", wrong, StringComparison.Ordinal);
    }

    [Fact]
    public void Open_OfAStoreThatThisProgramHasNot_SaysSo()
    {
        var access = new CatalogAccess(static _ => throw new InvalidOperationException(), static _ => { }, TimeProvider.System,
            NullLogger.Instance);
        string message =
            Assert.Throws<CatalogException>(() => CatalogStores.Open(CatalogPlace.Parse("azure-tables://account/table"), access)).Message;
        Assert.Contains("no store for 'azure-tables'", message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("AMBROSIA_CATALOG_USER", "AMBROSIA_CATALOG_PASSWORD_FILE")]
    [InlineData("AMBROSIA_CATALOG_PASSWORD_FILE", "AMBROSIA_CATALOG_USER")]
    [InlineData("AMBROSIA_CATALOG_CERT", "AMBROSIA_CATALOG_KEY")]
    [InlineData("AMBROSIA_CATALOG_KEY", "AMBROSIA_CATALOG_CERT")]
    public void Credentials_WithOneOfTwo_AreRefused(string set, string missing) => Assert.Contains(missing,
        Assert.Throws<CatalogException>(() => CatalogCredentials.Read(name => name == set ? "x" : "", static (_, _) => "text")).Message,
        StringComparison.Ordinal);

    [Fact]
    public void Credentials_InAFileThatCannotBeRead_AreRefused()
    {
        string message = Assert.Throws<CatalogException>(() => CatalogCredentials.Read(
            static name => name == CatalogCredentials.AuthoritiesVariable ? "/no/ca.pem" : null,
            static (_, _) => throw new FileNotFoundException("it is not there."))).Message;
        Assert.Contains("'/no/ca.pem'", message, StringComparison.Ordinal);
        Assert.Contains(CatalogCredentials.AuthoritiesVariable, message, StringComparison.Ordinal);
    }

    [Fact]
    public void Credentials_OfAnEmptyEnvironment_AreNone() =>
        Assert.Equal(CatalogCredentials.None,
            CatalogCredentials.Read(static _ => null, static (_, _) => throw new InvalidOperationException()));
}
