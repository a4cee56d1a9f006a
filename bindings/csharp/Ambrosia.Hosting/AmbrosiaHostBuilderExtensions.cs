using Ambrosia.Coordinator.Replica;
using Ambrosia.Hosting.Configuration;
using Ambrosia.Hosting.Logs;
using Ambrosia.Hosting.Running;
using Ambrosia.Hosting.Telemetry;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Options;

namespace Ambrosia.Hosting;

/// <summary>Makes a host run immortals.</summary>
public static class AmbrosiaHostBuilderExtensions
{
    /// <summary>The host waits for the end of its immortals for so much longer than these may take.</summary>
    private static readonly TimeSpan s_stopMargin = TimeSpan.FromSeconds(10);

    /// <summary>
    /// Makes the host run the immortals that are added to what this returns. Options come from the section <c>Ambrosia</c> of the
    /// configuration, and so from the environment (<c>Ambrosia__Log</c>). Call it before servers and workers of your own are added: they
    /// then start behind the immortals, and stop before them.
    /// </summary>
    /// <param name="builder">Of a web application, or of any other host.</param>
    /// <param name="configure">Sets options in code; it goes before the configuration.</param>
    public static AmbrosiaBuilder AddAmbrosia(this IHostApplicationBuilder builder, Action<AmbrosiaOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        IServiceCollection services = builder.Services;
        var added = new AmbrosiaBuilder(services);
        if (configure is not null) services.PostConfigure(configure);
        if (services.Any(static each => each.ServiceType == typeof(ImmortalsService))) return added;
        services.AddOptions<AmbrosiaOptions>()
            .Configure(options => SectionReader.Read(builder.Configuration.GetSection(SectionReader.Section), options))
            .ValidateOnStart();
        services.AddSingleton(HostForm.Of(Environment.GetEnvironmentVariable));
        services.AddSingleton<IValidateOptions<AmbrosiaOptions>, StartCheck>();
        services.AddSingleton<CheckedOptions>();
        services.AddSingleton<EventForwarder>();
        services.AddSingleton<HostEnd>();
        services.AddSingleton<ImmortalSurroundings>();
        services.AddSingleton<ImmortalsService>();
        services.AddSingleton<IHostedService>(static provider => provider.GetRequiredService<ImmortalsService>());
        services.AddSingleton<ReplicaMeter>();
        services.AddSingleton<IHostedService>(static provider => provider.GetRequiredService<ReplicaMeter>());
        services.AddOptions<HostOptions>().PostConfigure<CheckedOptions>(static (host, options) => host.ShutdownTimeout = Longer(
            host.ShutdownTimeout, options.Each));
        return added;
    }

    private static TimeSpan Longer(TimeSpan given, IReadOnlyList<CoordinatorOptions> each)
    {
        TimeSpan needed = each.Select(static one => one.DrainWithin + one.StopWithin).DefaultIfEmpty().Max() + s_stopMargin;
        return given < needed ? needed : given;
    }
}
