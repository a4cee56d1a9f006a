using Ambrosia.Hosting.Health;
using Ambrosia.Hosting.Running;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Ambrosia.Hosting;

/// <summary>Adds the health of the immortals to that of a host.</summary>
public static class HealthChecksBuilderExtensions
{
    /// <summary>
    /// Adds three checks, whose tags are <c>startup</c>, <c>live</c> and <c>ready</c>: the first until all immortals have executed what
    /// their logs held, the second for as long as nothing hangs, the third while they can answer.
    /// </summary>
    public static IHealthChecksBuilder AddAmbrosia(this IHealthChecksBuilder builder)
    {
        ArgumentNullException.ThrowIfNull(builder);
        Add(builder, "startup", static immortals => new ReadyCheck(immortals, isForStart: true));
        Add(builder, "live", static immortals => new LiveCheck(immortals));
        Add(builder, "ready", static immortals => new ReadyCheck(immortals, isForStart: false));
        return builder;
    }

    private static void Add(IHealthChecksBuilder builder, string tag, Func<ImmortalsService, IHealthCheck> make) =>
        builder.Add(new HealthCheckRegistration(
            $"ambrosia-{tag}", services => make(services.GetRequiredService<ImmortalsService>()), HealthStatus.Unhealthy, [tag]));
}
