using Ambrosia.Hosting.Configuration;
using Microsoft.Extensions.DependencyInjection;

namespace Ambrosia.Hosting;

/// <summary>Adds immortals to a host. The thread that builds the host uses it.</summary>
public sealed class AmbrosiaBuilder
{
    internal AmbrosiaBuilder(IServiceCollection services) => Services = services;

    /// <summary>The services of the host.</summary>
    public IServiceCollection Services { get; }

    /// <summary>
    /// Adds an immortal: with its coordinator in this process, or as the app of the coordinator that has started it.
    /// </summary>
    /// <typeparam name="TImmortal">Its class.</typeparam>
    /// <param name="name">Name of the instance, and of its log's directory.</param>
    /// <param name="configure">Sets what is otherwise for this immortal than for all; it goes before the configuration.</param>
    public AmbrosiaBuilder AddImmortal<TImmortal>(string name, Action<ImmortalOptions>? configure = null)
        where TImmortal : Immortal, IImmortal<TImmortal>
    {
        ArgumentNullException.ThrowIfNull(name);
        Services.AddSingleton(new AddedImmortal(name, ImmortalDefinition.Of<TImmortal>()));
        if (configure is not null) Services.Configure<AmbrosiaOptions>(options => configure(options.Immortal(name)));
        return this;
    }
}
