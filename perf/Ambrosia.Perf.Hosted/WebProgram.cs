using Ambrosia.Client;
using Ambrosia.Hosting;
using Microsoft.AspNetCore.Builder;
using Microsoft.Extensions.DependencyInjection;

namespace Ambrosia.Perf;

/// <summary>A small web application, with an immortal behind its one request, or with a field in its place.</summary>
internal static class WebProgram
{
    private static long s_sum;

    internal static WebApplication Build(bool isImmortal, string[] args) => isImmortal ? BuildImmortal(args) : BuildPlain(args);

    private static WebApplication BuildImmortal(string[] args)
    {
        WebApplicationBuilder builder = WebApplication.CreateBuilder(args);
        builder.AddAmbrosia().AddImmortal<Tally>("tally");
        builder.Services.AddImmortalClient<ITally>("tally");
        builder.Services.AddHealthChecks().AddAmbrosia();
        WebApplication app = builder.Build();
        app.MapPost("/add/{key}", async (string key, long amount, ClientProxy<ITally> tally) => await tally.WithKey(key).AddAsync(amount));
        app.MapHealthChecks("/ready");
        return app;
    }

    private static WebApplication BuildPlain(string[] args)
    {
        WebApplicationBuilder builder = WebApplication.CreateBuilder(args);
        builder.Services.AddHealthChecks();
        WebApplication app = builder.Build();
        app.MapPost("/add/{key}", static async (string key, long amount) => await Task.FromResult(Interlocked.Add(ref s_sum, amount)));
        app.MapHealthChecks("/ready");
        return app;
    }
}
