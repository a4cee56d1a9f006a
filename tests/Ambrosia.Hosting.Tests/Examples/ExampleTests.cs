using System.Net.Http.Json;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.DependencyInjection;

namespace Ambrosia.Hosting.Tests.Examples;

/// <summary>The examples of docs/hosting.md do what the document says.</summary>
public sealed class ExampleTests
{
    [Fact]
    public async Task Program_OfTheDocument_CountsOnceForAKey()
    {
        using var logs = new TemporaryDirectory();
        await using WebApplication app = Program.Build(["--Ambrosia:Log", logs.Path, "--urls", "http://127.0.0.1:0"]);
        await app.StartAsync();
        using var client = new HttpClient { BaseAddress = new Uri(app.Urls.First()), Timeout = TimeSpan.FromSeconds(60) };
        for (int i = 0; i < 2; i++)
        {
            using HttpResponseMessage answer = await client.PostAsync("/counter?amount=5&key=a", null);
            Assert.Equal(5, await answer.Content.ReadFromJsonAsync<long>());
        }
        Assert.Equal(5, await client.GetFromJsonAsync<long>("/counter"));
        await app.StopAsync();
    }

    [Fact]
    public async Task Health_OfTheDocument_HasThreePaths()
    {
        using var logs = new TemporaryDirectory();
        WebApplicationBuilder builder = WebApplication.CreateBuilder(["--urls", "http://127.0.0.1:0"]);
        MorePrograms.Configure(builder);
        builder.Services.PostConfigure<AmbrosiaOptions>(options => options.Log = logs.Path);
        MorePrograms.AddClients(builder.Services);
        WebApplication? app = null;
        MorePrograms.MapHealth(builder, () => app = builder.Build());
        await using WebApplication built = app!;
        await built.StartAsync();
        using var client = new HttpClient { BaseAddress = new Uri(built.Urls.First()) };
        await Running.RunningHost.Until(async () => (await client.GetAsync("/health/ready")).IsSuccessStatusCode);
        Assert.True((await client.GetAsync("/health/live")).IsSuccessStatusCode);
        Assert.True((await client.GetAsync("/health/startup")).IsSuccessStatusCode);
        await built.StopAsync();
    }
}
