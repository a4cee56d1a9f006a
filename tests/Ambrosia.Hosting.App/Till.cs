using System.Globalization;
using Microsoft.Extensions.DependencyInjection;

namespace Ambrosia.Hosting.App;

/// <summary>Counts money, and has each payment written into a ledger outside.</summary>
public interface ITill
{
    /// <returns>The sum behind it.</returns>
    long Pay(long cents);

    /// <summary>Has a service of the host write a payment down.</summary>
    Call<string> Record(long cents);

    [Query]
    long Sum();
}

/// <summary>The immortal of the tests with real processes.</summary>
public sealed partial class Till : Immortal<ITillProxy>, ITill
{
    // What no handler may read, and what a test lets it read: the same log has other answers with it.
#pragma warning disable AMB101, AMB102, AMB103, AMB104, AMB105, AMB106
    private static readonly long s_skew = long.Parse(Environment.GetEnvironmentVariable("TILL_SKEW") ?? "0", CultureInfo.InvariantCulture);

    private long _sum;

    public long Pay(long cents) => _sum += cents + s_skew;
#pragma warning restore AMB101, AMB102, AMB103, AMB104, AMB105, AMB106

    public async Call<string> Record(long cents) => await NondetTask(
        async context => await context.Services.GetRequiredService<Ledger>().WriteAsync(context.IdempotencyKey, cents),
        new NondetOptions { Attempts = 3 });

    public long Sum() => _sum;
}
