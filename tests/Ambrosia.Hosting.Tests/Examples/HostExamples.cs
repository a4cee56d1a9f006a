using Ambrosia.Client;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Diagnostics.HealthChecks;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Hosting.Tests.Examples;

#region a program
public interface ICounter
{
    long Add(long amount);

    Call<string> Pay(long cents);

    [Query]
    long Read();
}

internal static class Program
{
    internal static WebApplication Build(string[] args)
    {
        WebApplicationBuilder builder = WebApplication.CreateBuilder(args);
        builder.AddAmbrosia().AddImmortal<Counter>("counter");
        builder.Services.AddImmortalClient<ICounter>("counter");

        WebApplication app = builder.Build();
        app.MapPost("/counter", async (long amount, string key, ClientProxy<ICounter> counter) => await counter.WithKey(key).AddAsync(amount));
        app.MapGet("/counter", async (ClientProxy<ICounter> counter) => (await counter.ReadAsync()).Value);
        return app; // and app.Run();
    }
}
#endregion

#region services
public sealed partial class Counter : Immortal<ICounter>, ICounter
{
    private long _value;

    public long Add(long amount)
    {
        _value += amount;
        CounterLines.Added(Logger.AsILogger(), amount, _value); // silent when the record is executed again
        return _value;
    }

    public async Call<string> Pay(long cents) => await NondetTask(
        async context => await context.Services.GetRequiredService<IPayments>().PayAsync(context.IdempotencyKey, cents));

    public long Read() => _value;
}
#endregion

#region lines
internal static partial class CounterLines
{
    [LoggerMessage(EventId = 1, Level = LogLevel.Information, Message = "{Amount} added, {Value} by now")]
    internal static partial void Added(ILogger logger, long amount, long value);
}
#endregion

/// <summary>A service outside.</summary>
public interface IPayments
{
    Task<string> PayAsync(string key, long cents);
}

internal static class MorePrograms
{
    internal static void Configure(WebApplicationBuilder builder)
    {
        #region options in code
        builder.AddAmbrosia(all => all.Log = "/var/lib/shop")
            .AddImmortal<Counter>("counter", own => own.ForkPolicy = "quarantine");
        #endregion
    }

    internal static void AddClients(IServiceCollection services)
    {
        #region clients
        services.AddImmortalClient<ICounter>("counter", client => client with { ConnectWithin = TimeSpan.FromMinutes(1) });
        services.AddImmortalClient<ICounter>("other"); // [FromKeyedServices("other")] ClientProxy<ICounter> in a constructor or an endpoint
        #endregion
    }

    internal static void MapHealth(WebApplicationBuilder builder, Func<WebApplication> build)
    {
        #region health
        builder.Services.AddHealthChecks().AddAmbrosia();
        WebApplication app = build();
        foreach (string tag in new[] { "startup", "live", "ready" })
            app.MapHealthChecks($"/health/{tag}", new HealthCheckOptions { Predicate = check => check.Tags.Contains(tag) });
        #endregion
    }
}
