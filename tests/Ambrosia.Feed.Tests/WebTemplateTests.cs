using System.Net;

namespace Ambrosia.Feed.Tests;

/// <summary>Makes a project of the template immortal-web, and does with it what its README says.</summary>
[Collection(FeedCollection.Name)]
public sealed class WebTemplateTests(Feed feed)
{
    private static readonly string[] s_files = ["contract.json", "suspend.json", "build.json"];

    /// <summary>One log, three processes: two that hold their coordinator, and one whose coordinator is the installed tool.</summary>
    [Fact]
    public async Task Project_KilledBetweenRequests_AnswersAKeyOnceAndForAll()
    {
        string project = NewProject("Shop");
        feed.Run(project, "dotnet", "build", "-v", "q");
        string output = Path.Combine(project, "bin", "Debug", "net10.0"), app = Path.Combine(output, "Shop.dll");
        Assert.Equal([true, true, true], s_files.Select(file => File.Exists(Path.Combine(output, $"Shop.{file}"))));

        using (Command first = feed.Start(project, "dotnet", app, "--urls", "http://127.0.0.1:0"))
        {
            using HttpClient client = Client(first);
            Assert.Equal((HttpStatusCode.BadRequest, false), await Add(client, null, 5));
            Assert.Equal((HttpStatusCode.OK, "5"), await Post(client, "first", 5));
            first.Kill();
        }
        using (Command second = feed.Start(project, "dotnet", app, "--urls", "http://127.0.0.1:0"))
        {
            using HttpClient client = Client(second);
            Assert.Equal((HttpStatusCode.OK, "5"), await Post(client, "first", 5));
            Assert.Equal("5", await client.GetStringAsync("/counters/visits"));
            Assert.Equal((HttpStatusCode.OK, "12"), await Post(client, "second", 7));
            second.Kill();
        }
        string coordinator = feed.Install("Ambrosia.ImmortalCoordinator", "ImmortalCoordinator");
        string[] behind = ["--log", ".ambrosia/counters", "--", "dotnet", app, "--urls", "http://127.0.0.1:0"];
        using (Command third = feed.Start(project, coordinator, behind))
        {
            using HttpClient client = Client(third);
            Assert.Equal((HttpStatusCode.OK, "12"), await Post(client, "second", 7));
            Assert.Equal("12", await client.GetStringAsync("/counters/visits"));
        }
        string tool = feed.Install("Ambrosia.Tool", "ambrosia");
        Assert.Contains("ICounters.Add", feed.Run(project, tool, "log", ".ambrosia/counters", "--records"));
    }

    [Fact]
    public void Build_OfWhatHasNotChanged_WritesNoFileAgain()
    {
        string project = NewProject("still-life");
        feed.Run(project, "dotnet", "build", "-v", "q");
        Dictionary<string, DateTime> before = WrittenAt(project);
        Assert.Equal(6, before.Count);
        feed.Run(project, "dotnet", "build", "-v", "q", "--no-restore");
        Assert.Equal(before, WrittenAt(project));

        File.AppendAllText(Path.Combine(project, "ICounters.cs"), "[Contract] public interface IMore { void Go(); }\n");
        feed.Run(project, "dotnet", "build", "-v", "q", "--no-restore");
        Assert.Contains("IMore", File.ReadAllText(Path.Combine(project, "bin", "Debug", "net10.0", "still-life.contract.json")));
    }

    [Fact]
    public void Publish_WithAndWithoutTheOptOut_HasTheFilesOrNot()
    {
        string project = NewProject("Counters"), with = Path.Combine(project, "with"), without = Path.Combine(project, "without");
        feed.Run(project, "dotnet", "publish", "-v", "q", "-o", with);
        Assert.Equal([true, true, true], s_files.Select(file => File.Exists(Path.Combine(with, $"Counters.{file}"))));
        feed.Run(project, "dotnet", "publish", "-v", "q", "-o", without, "-p:AmbrosiaBuildFiles=false");
        Assert.Equal([false, false, false], s_files.Select(file => File.Exists(Path.Combine(without, $"Counters.{file}"))));
        Assert.True(File.Exists(Path.Combine(without, "Counters.dll")));
    }

    private string NewProject(string name)
    {
        feed.Run(feed.Work, "dotnet", "new", "immortal-web", "-o", name);
        return Path.Combine(feed.Work, name);
    }

    private static Dictionary<string, DateTime> WrittenAt(string project) =>
        s_files.SelectMany(file => Directory.EnumerateFiles(project, $"{Path.GetFileName(project)}.{file}", SearchOption.AllDirectories))
            .ToDictionary(static path => path, File.GetLastWriteTimeUtc);

    private static HttpClient Client(Command server) => new()
    {
        BaseAddress = new Uri(server.AwaitText("Now listening on: ")), Timeout = TimeSpan.FromMinutes(2),
    };

    private static async Task<(HttpStatusCode, bool)> Add(HttpClient client, string? key, long amount)
    {
        (HttpStatusCode code, string text) = await Post(client, key, amount);
        return (code, long.TryParse(text, out _));
    }

    private static async Task<(HttpStatusCode Code, string Text)> Post(HttpClient client, string? key, long amount)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, $"/counters/visits?amount={amount}");
        if (key is not null) request.Headers.Add("Idempotency-Key", key);
        using HttpResponseMessage response = await client.SendAsync(request);
        return (response.StatusCode, await response.Content.ReadAsStringAsync());
    }
}
