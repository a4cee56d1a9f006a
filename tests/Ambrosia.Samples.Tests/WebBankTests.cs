using System.Net;
using System.Text.RegularExpressions;

namespace Ambrosia.Samples.Tests;

/// <summary>The web API in front of an immortal, with the commands of its README.</summary>
public sealed partial class WebBankTests
{
    [Fact]
    public async Task Deposit_RepeatedThroughKills_IsMadeOnce()
    {
        using var logs = new TemporaryDirectory();
        using ProgramRun web = new("WebBank", "web", Path.Combine(logs.Path, "catalog"), "http://127.0.0.1:0"); // the bank comes later
        using (ProgramRun bank = Start(logs))
        {
            web.AwaitLine("listening on ");
            using HttpClient first = Client(web);
            Assert.Equal((HttpStatusCode.OK, "500\n"), await Post(first, "salary", "/accounts/ann/deposits?cents=500"));
            Assert.Equal((HttpStatusCode.OK, "500\n"), await Post(first, "salary", "/accounts/ann/deposits?cents=500"));
            Assert.Equal((HttpStatusCode.OK, "700\n"), await Post(first, "bonus", "/accounts/ann/deposits?cents=200"));
            Assert.Equal((HttpStatusCode.OK, "600\n"), await Post(first, "rent", "/accounts/ann/transfers?to=bob&cents=100"));
            (HttpStatusCode refused, string why) = await Post(first, "yacht", "/accounts/ann/transfers?to=bob&cents=9999");
            Assert.Equal((HttpStatusCode.Conflict, "ann has 600 cents, not 9999\n"), (refused, why));
            Assert.Equal(HttpStatusCode.BadRequest, (await Post(first, null, "/accounts/ann/deposits?cents=500")).Code);
            bank.Kill();
        }
        using HttpClient client = Client(web);
        Task<(HttpStatusCode, string)> waiting = Post(client, "later", "/accounts/ann/deposits?cents=1");
        using ProgramRun again = Start(logs);
        Assert.Equal((HttpStatusCode.OK, "601\n"), await waiting);
        Assert.Equal((HttpStatusCode.OK, "500\n"), await Post(client, "salary", "/accounts/ann/deposits?cents=500"));
        Assert.Equal("601 cents, seen 1 times\n", await client.GetStringAsync("/accounts/ann"));
        Assert.Equal("100 cents, seen 1 times\n", await client.GetStringAsync("/accounts/bob"));
    }

    private static ProgramRun Start(TemporaryDirectory logs) => new(
        "ImmortalCoordinator", "--log", Path.Combine(logs.Path, "bank"), "--", Path.Combine(AppContext.BaseDirectory, "WebBank"), "bank");

    private static HttpClient Client(ProgramRun web) => new() { BaseAddress = new Uri(Listening().Match(web.Output).Groups[1].Value), Timeout = TimeSpan.FromSeconds(60) };

    private static async Task<(HttpStatusCode Code, string Text)> Post(HttpClient client, string? key, string path)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, path);
        if (key is not null) request.Headers.Add("Idempotency-Key", key);
        using HttpResponseMessage response = await client.SendAsync(request);
        return (response.StatusCode, await response.Content.ReadAsStringAsync());
    }

    [GeneratedRegex(@"listening on (http://\S+)")]
    private static partial Regex Listening();
}
