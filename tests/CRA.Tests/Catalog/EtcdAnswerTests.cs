using System.Net;
using Ambrosia.Protocol;
using CRA.Catalog;
using CRA.Etcd;
using Microsoft.Extensions.Logging.Abstractions;

namespace CRA.Tests;

/// <summary>What answers in the place of an etcd, or of another version of it, and what answers rubbish.</summary>
public sealed class EtcdAnswerTests
{
    private const string Version = """{"etcdserver":"3.4.23","etcdcluster":"3.4.0"}""";
    private static readonly InstanceId s_counter = new("counter");

    [Theory]
    [InlineData("""{"etcdserver":"3.3.27","etcdcluster":"3.3.0"}""", "3.3.27", "Upgrade")]
    [InlineData("""{"etcdserver":"2.3.8"}""", "2.3.8", "Upgrade")]
    [InlineData("""{"etcdserver":"newest"}""", "no etcd", ":2379")]
    [InlineData("""{"version":"3.4.23"}""", "no etcd", ":2379")]
    [InlineData("<html>Welcome to nginx!</html>", "no etcd", ":2379")]
    [InlineData("", "no etcd", ":2379")]
    public void Version_ThatWillNotDo_IsRefusedWithAdvice(string answer, params string[] said)
    {
        StoreCatalog catalog = Open(path => path == "/version" ? Ok(answer) : throw new InvalidOperationException("nothing more is asked"));
        string message = Assert.Throws<CatalogException>(catalog.CheckSecret).Message;
        Assert.All(said, each => Assert.Contains(each, message, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("3.5.0-rc.1")]
    [InlineData("3.6.1")]
    [InlineData("4.0.0")]
    public void Version_ThatIsNewer_IsTaken(string version) => Assert.Null(
        Open(path => Ok(path == "/version" ? $$"""{"etcdserver":"{{version}}"}""" : """{"header":{"revision":"1"}}""")).Find(s_counter));

    [Theory]
    [InlineData("")]
    [InlineData("rubbish")]
    [InlineData("null")]
    [InlineData("[]")]
    [InlineData("{}")]
    [InlineData("""{"header":1}""")]
    [InlineData("""{"header":{"revision":"x"}}""")]
    [InlineData("""{"header":{},"kvs":[{"key":"%%%"}]}""")]
    [InlineData("""{"header":{},"kvs":"none"}""")]
    [InlineData("""{"header":{},"kvs":[null]}""")]
    public void Answers_ThatMakeNoSense_AreFailuresOfTheStore(string answer)
    {
        StoreCatalog catalog = Open(path => Ok(path == "/version" ? Version : answer));
        Assert.ThrowsAny<IOException>(() => catalog.Find(s_counter));
        Assert.ThrowsAny<IOException>(() => catalog.All());
        Assert.ThrowsAny<IOException>(() => catalog.Epochs());
        Assert.ThrowsAny<IOException>(() => catalog.Publish(CatalogContract.Entry(1)));
        Assert.ThrowsAny<IOException>(() => catalog.Secret);
    }

    [Fact]
    public void Answers_WithKeysOfOthers_AreFailuresOfTheStore()
    {
        StoreCatalog catalog = Open(static path => Ok(path == "/version" ? Version : """{"header":{},"kvs":[{"key":"Zm9yZWlnbg==","value":"AA=="}]}"""));
        Assert.ThrowsAny<IOException>(() => catalog.All());
        Assert.ThrowsAny<IOException>(() => catalog.Epochs());
    }

    [Fact]
    public void Answers_ThatHaveNoEnd_AreFailuresOfTheStore()
    {
        StoreCatalog catalog = Open(static path => path == "/version" ? Ok(Version) : Long());
        Assert.ThrowsAny<IOException>(() => catalog.Find(s_counter));
        Assert.ThrowsAny<IOException>(() => catalog.All());
    }

    [Theory]
    [InlineData(503, """{"error":"etcdserver: no leader","message":"etcdserver: no leader","code":14}""", "no leader")]
    [InlineData(500, "boom", "500")]
    [InlineData(400, "boom", "400")]
    public void Errors_OfTheStore_AreToldInItsWords(int status, string text, string said)
    {
        StoreCatalog catalog = Open(path => path == "/version" ? Ok(Version) : Answer(status, text));
        Assert.Contains(said, Assert.ThrowsAny<IOException>(() => catalog.Find(s_counter)).Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Endpoints_OfWhichTheFirstIsGone_AreTriedInTurn_AndTheOneThatAnsweredFirst()
    {
        var asked = new List<int>();
        StoreCatalog catalog = Open(static path => Ok(path == "/version" ? Version : """{"header":{"revision":"1"}}"""), (port, path) =>
        {
            if (path != "/version") asked.Add(port);
            if (port == 1) throw new HttpRequestException("planted: nobody is there");
        });
        Assert.Null(catalog.Find(s_counter));
        Assert.Null(catalog.Find(s_counter));
        Assert.Equal([2, 2], asked);
    }

    private static StoreCatalog Open(Func<string, HttpResponseMessage> answer, Action<int, string>? asked = null)
    {
        CatalogPlace place = CatalogPlace.Parse("etcd://127.0.0.1:1,127.0.0.1:2/shop");
        return new StoreCatalog(
            new EtcdStore(place, new EtcdClient(place, CatalogCredentials.None, new Answering(answer, asked ?? (static (_, _) => { })))),
            new CatalogAccess(static _ => throw new InvalidOperationException(), static fill => fill.Fill(1), TimeProvider.System,
                NullLogger.Instance));
    }

    private static HttpResponseMessage Ok(string text) => Answer(200, text);

    private static HttpResponseMessage Answer(int status, string text) => new((HttpStatusCode)status) { Content = new StringContent(text) };

    private static HttpResponseMessage Long() =>
        new(HttpStatusCode.OK) { Content = new ByteArrayContent(new byte[EtcdClient.AnswerBytesMax + 1]) };

    /// <summary>Answers each request as the test wants it, without a network.</summary>
    private sealed class Answering(Func<string, HttpResponseMessage> answer, Action<int, string> asked) : HttpMessageHandler
    {
        protected override HttpResponseMessage Send(HttpRequestMessage request, CancellationToken cancellationToken)
        {
            asked(request.RequestUri!.Port, request.RequestUri.AbsolutePath);
            return answer(request.RequestUri.AbsolutePath);
        }

        protected override Task<HttpResponseMessage> SendAsync(HttpRequestMessage request, CancellationToken cancellationToken) =>
            throw new NotSupportedException();
    }
}
