using Ambrosia.Client;
using Ambrosia.Hosting;
using Ambrosia.Hosting.App;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Diagnostics.HealthChecks;
using Microsoft.AspNetCore.Http;
using Microsoft.Extensions.DependencyInjection;

WebApplicationBuilder builder = WebApplication.CreateBuilder(args);
AmbrosiaBuilder immortals = builder.AddAmbrosia();
if (Environment.GetEnvironmentVariable("TILL_VERSION") == "2") immortals.AddImmortal<NextTill>("till");
else immortals.AddImmortal<Till>("till");
switch (Environment.GetEnvironmentVariable("TILL_FAULT"))
{
    case "twice": immortals.AddImmortal<Till>("till"); break;
    case "name": immortals.AddImmortal<Till>("../till"); break;
    case "contract": builder.Services.AddImmortalClient<Ambrosia.Hosting.App.Newer.ITill>("till"); break;
}
builder.Services.AddImmortalClient<ITill>("till");
builder.Services.AddSingleton<Ledger>();
builder.Services.AddHealthChecks().AddAmbrosia();

WebApplication app = builder.Build();
app.MapPost("/pay/{key}", async (string key, long cents, ClientProxy<ITill> till) => await till.WithKey(key).PayAsync(cents));
app.MapPost("/record/{key}", async (string key, long cents, ClientProxy<ITill> till) => await till.WithKey(key).RecordAsync(cents));
app.MapGet("/sum", async (ClientProxy<ITill> till) => (await till.SumAsync()).Value);
foreach (string tag in new[] { "startup", "live", "ready" })
    app.MapHealthChecks($"/health/{tag}", new HealthCheckOptions
    {
        Predicate = check => check.Tags.Contains(tag),
        ResponseWriter = static (context, report) => context.Response.WriteAsync(
            $"{report.Status}: {string.Join("; ", report.Entries.Values.Select(static entry => entry.Description))}"),
    });
app.Lifetime.ApplicationStarted.Register(() => Console.WriteLine($"serving {app.Urls.First()}"));
app.Run();
