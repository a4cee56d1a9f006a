using System.Diagnostics;
using System.Net;
using System.Text;
using System.Text.Json;
using System.Text.RegularExpressions;

namespace Ambrosia.Samples.Tests;

/// <summary>Runs the web API in front of an immortal, with the commands of its README.</summary>
public sealed partial class WebBankTests
{
    [Fact]
    public async Task Deposit_RepeatedThroughKills_IsMadeOnce()
    {
        using var logs = new TemporaryDirectory();
        using (ProgramRun bank = Start(logs))
        {
            using HttpClient first = Client(bank);
            Assert.Equal((HttpStatusCode.OK, "500\n"), await Post(first, "salary", "/accounts/ann/deposits?cents=500"));
            Assert.Equal((HttpStatusCode.OK, "500\n"), await Post(first, "salary", "/accounts/ann/deposits?cents=500"));
            Assert.Equal((HttpStatusCode.OK, "700\n"), await Post(first, "bonus", "/accounts/ann/deposits?cents=200"));
            Assert.Equal((HttpStatusCode.OK, "600\n"), await Post(first, "rent", "/accounts/ann/transfers?to=bob&cents=100"));
            Assert.Equal(HttpStatusCode.Conflict, (await Post(first, "debt", "/accounts/ann/transfers?to=bob&cents=-100")).Code);
            (HttpStatusCode refused, string why) = await Post(first, "yacht", "/accounts/ann/transfers?to=bob&cents=9999");
            Assert.Equal((HttpStatusCode.PaymentRequired, "ann has 600 cents, not 9999\n"), (refused, why));
            Assert.Equal(HttpStatusCode.BadRequest, (await Post(first, null, "/accounts/ann/deposits?cents=500")).Code);
            bank.Kill();
        }
        using ProgramRun again = Start(logs);
        using HttpClient client = Client(again);
        Assert.Equal((HttpStatusCode.OK, "601\n"), await Post(client, "later", "/accounts/ann/deposits?cents=1"));
        Assert.Equal((HttpStatusCode.OK, "500\n"), await Post(client, "salary", "/accounts/ann/deposits?cents=500"));
        Assert.Equal("601 cents, seen 1 times, 0 transfers planned\n", await client.GetStringAsync("/accounts/ann"));
        Assert.Equal("100 cents, seen 1 times, 0 transfers planned\n", await client.GetStringAsync("/accounts/bob"));
    }

    /// <summary>Everything else that the sample shows, in one process that is killed in the middle of each.</summary>
    [Fact]
    public async Task Host_KilledInTheMiddleOfEverything_DoesEachThingOnce()
    {
        using var logs = new TemporaryDirectory();
        using var host = new Host(logs);
        HttpClient client = host.NewClient();

        Assert.Equal((HttpStatusCode.OK, "100000\n"), await Post(client, "salary", "/accounts/ann/deposits?cents=100000"));
        host.Run.Tell("slip-1 bob 50");
        host.Run.AwaitLine("slip slip-1 is taken");
        client = host.KillAndStart();
        host.Run.Tell("slip-1 bob 50"); // nobody remembers whether it was taken
        host.Run.AwaitLine("slip slip-1 is taken");
        Assert.Equal("50 cents", await Balance(client, "bob"));

        // A task: the network pays once, and the receipt is the same for whoever asks with the key.
        Task<(HttpStatusCode Code, string Text)> remitting = Post(client, "rent",
            "/accounts/ann/remittances?to=carl&cents=10000&currency=CHF");
        await Await(() => Task.FromResult(host.Paid.Length > 0)); // whether its result is logged by now, nobody knows
        client = host.KillAndStart();
        (HttpStatusCode paid, string receipt) = await Post(client, "rent", "/accounts/ann/remittances?to=carl&cents=10000&currency=CHF");
        Assert.Equal(HttpStatusCode.OK, paid);
        try
        {
            Assert.Equal((paid, receipt), await remitting); // it was faster than the kill
        }
        catch (HttpRequestException)
        {
            // The web server was gone, too.
        }
        Assert.Matches(@"^9\d{3} CHF to carl, .+, receipt ", receipt);
        Assert.Equal((HttpStatusCode.OK, receipt),
            await Post(client, "rent", "/accounts/ann/remittances?to=carl&cents=10000&currency=CHF"));
        Assert.Single(host.Paid);
        Assert.Equal(receipt.Split(' ')[0], (await client.GetStringAsync("/sold/CHF")).TrimEnd());
        (HttpStatusCode refused, string why) = await Post(client, "gift", "/accounts/ann/remittances?to=nobody&cents=10000&currency=USD");
        Assert.Equal((HttpStatusCode.Conflict, "10000 cents are back with ann: nobody has no bank\n"), (refused, why));
        Assert.Equal("90000 cents", await Balance(client, "ann"));
        Assert.Matches(@"^9\d\d 1\d\d\d\n$", await client.GetStringAsync("/rates?currencies=CHF,USD"));

        // Timers: one passes while the process is down, one is called off.
        Assert.Equal(HttpStatusCode.OK, (await Post(client, "p1", "/accounts/ann/plans?to=bob&cents=100&seconds=1")).Code);
        Assert.Equal(HttpStatusCode.OK, (await Post(client, "p2", "/accounts/ann/plans?to=bob&cents=100&seconds=36000")).Code);
        client = host.KillAndStart();
        await Await(async () => await Balance(client, "bob") == "150 cents");
        Assert.Contains("1 transfers planned", await client.GetStringAsync("/accounts/ann"));
        Assert.Equal((HttpStatusCode.OK, "1\n"), await Send(client, HttpMethod.Delete, "off", "/accounts/ann/plans"));
        Assert.Contains("0 transfers planned", await client.GetStringAsync("/accounts/ann"));

        // A transfer that nobody waits for, of somebody without money: it is set aside, and tried again when there is some.
        Assert.Equal(HttpStatusCode.OK, (await Post(client, "p3", "/accounts/dora/plans?to=bob&cents=500&seconds=0")).Code);
        string place = await AwaitSetAside(host.Bank);
        Assert.Equal((HttpStatusCode.OK, "500\n"), await Post(client, "late", "/accounts/dora/deposits?cents=500"));
        client = host.KillAndStart();
        host.AwaitReady();
        (int code, _, string output) = ProgramRun.ToEnd(BuiltPrograms.Tool, "quarantine", "retry", host.Bank, place);
        Assert.True(code == 0, output);
        await Await(async () => await Balance(client, "bob") == "650 cents");
        Assert.Equal(1, Regex.Count(host.Output, "ann has opened account")); // the logger is silent in replays

        // A build that uses the framework of web servers is held against its log.
        (code, _, output) = ProgramRun.ToEnd(BuiltPrograms.Tool, "checkpoint", host.Bank);
        Assert.True(code == 0, output);
        (code, _, output) = ProgramRun.ToEnd(BuiltPrograms.Tool, "upgrade", "check", host.Bank, "--build", AppContext.BaseDirectory);
        Assert.True(code == 1, output);
        Assert.Contains("version", output, StringComparison.Ordinal);
    }

    private static async Task<string> Balance(HttpClient client, string account) =>
        (await client.GetStringAsync($"/accounts/{account}")).Split(", ")[0];

    private static async Task<string> AwaitSetAside(string log)
    {
        string place = "";
        await Await(() =>
        {
            (_, _, string output) = ProgramRun.ToEnd(BuiltPrograms.Tool, "quarantine", "list", log, "--json");
            JsonElement[] messages = [.. JsonDocument.Parse(output).RootElement.GetProperty("messages").EnumerateArray()];
            if (messages.Length == 1) place = messages[0].GetProperty("message").GetString()!;
            return Task.FromResult(messages.Length == 1);
        });
        return place;
    }

    private static async Task Await(Func<Task<bool>> holds)
    {
        long begun = Stopwatch.GetTimestamp();
        while (!await holds())
        {
            Assert.True(Stopwatch.GetElapsedTime(begun) < TimeSpan.FromSeconds(60), "not within a minute");
            await Task.Delay(20);
        }
    }

    /// <summary>Both immortals in one process, which is killed and started again.</summary>
    private sealed class Host : IDisposable
    {
        private readonly string _log, _payments;
        private readonly StringBuilder _before = new();
        private readonly List<HttpClient> _clients = [];

        internal Host(TemporaryDirectory root)
        {
            _log = Path.Combine(root.Path, "log");
            _payments = Path.Combine(root.Path, "payments");
            Run = Start();
        }

        /// <summary>Returns what the payment network was paid.</summary>
        internal string[] Paid =>
            Directory.Exists(_payments) ? [.. Directory.GetFiles(_payments).Where(static path => !Path.HasExtension(path))] : [];

        internal string Bank => Path.Combine(_log, "bank");

        internal ProgramRun Run { get; private set; }

        /// <summary>Of all processes so far.</summary>
        internal string Output => _before + Run.Output;

        internal HttpClient KillAndStart()
        {
            Run.Kill();
            _before.Append(Run.Output);
            Run.Dispose();
            Run = Start();
            return NewClient();
        }

        /// <summary>Calls the web server of the process that runs.</summary>
        internal HttpClient NewClient()
        {
            _clients.Add(Client(Run)); // the one before has calls under way, which fail by themselves
            return _clients[^1];
        }

        internal void AwaitReady() => Run.AwaitLine("ready instance=bank");

        public void Dispose()
        {
            foreach (HttpClient client in _clients) client.Dispose();
            Run.Dispose();
        }

        private ProgramRun Start() => new("WebBank", "--Ambrosia:Log", _log, "--Payments", _payments, "--urls", AnyPort);
    }

    private const string AnyPort = "http://127.0.0.1:0";

    /// <summary>The bank alone, under a coordinator of its own; the web server is in the app's process.</summary>
    private static ProgramRun Start(TemporaryDirectory logs) => new(
        "ImmortalCoordinator", "--log", Path.Combine(logs.Path, "bank"), "--",
        Path.Combine(AppContext.BaseDirectory, "WebBank"), "--urls", AnyPort);

    private static HttpClient Client(ProgramRun web)
    {
        web.AwaitLine(Listening());
        return new HttpClient { BaseAddress = new Uri(Listening().Match(web.Output).Groups[1].Value), Timeout = TimeSpan.FromSeconds(60) };
    }

    private static Task<(HttpStatusCode Code, string Text)> Post(HttpClient client, string? key, string path) =>
        Send(client, HttpMethod.Post, key, path);

    private static async Task<(HttpStatusCode Code, string Text)> Send(HttpClient client, HttpMethod method, string? key, string path)
    {
        using var request = new HttpRequestMessage(method, path);
        if (key is not null) request.Headers.Add("Idempotency-Key", key);
        using HttpResponseMessage response = await client.SendAsync(request);
        return (response.StatusCode, await response.Content.ReadAsStringAsync());
    }

    [GeneratedRegex(@"Now listening on: (http://\S+)")]
    private static partial Regex Listening();
}
