using Ambrosia.Hosting.Configuration;
using Ambrosia.Session;
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
        where TImmortal : Immortal, IImmortal<TImmortal> => Add(name, ImmortalDefinition.Of<TImmortal>(), former: null, configure);

    /// <summary>
    /// Adds an immortal as the other overload does, for an upgrade that a coordinator makes whose app this program is: while the log is of
    /// the version before, the former class executes its records, or holds what the build before gives of its state.
    /// </summary>
    /// <typeparam name="TFormer">The class of the version before, as for <c>AmbrosiaApp.Run</c>.</typeparam>
    /// <typeparam name="TImmortal">
    /// The class of the new version: with a constructor that takes a <typeparamref name="TFormer"/>, or the same fields by their names.
    /// </typeparam>
    /// <param name="name">Name of the instance, and of its log's directory.</param>
    /// <param name="configure">Sets what is otherwise for this immortal than for all; it goes before the configuration.</param>
    public AmbrosiaBuilder AddImmortal<TFormer, TImmortal>(string name, Action<ImmortalOptions>? configure = null)
        where TFormer : Immortal, IImmortal<TFormer>
        where TImmortal : Immortal, IImmortal<TImmortal> =>
        Add(name, ImmortalDefinition.Of<TImmortal>(), FormerVersion.Of<TFormer, TImmortal>, configure);

    private AmbrosiaBuilder Add(string name, ImmortalDefinition definition, Func<FormerVersion>? former, Action<ImmortalOptions>? configure)
    {
        ArgumentNullException.ThrowIfNull(name);
        Services.AddSingleton(new AddedImmortal(name, definition, former));
        if (configure is not null) Services.Configure<AmbrosiaOptions>(options => configure(options.Immortal(name)));
        return this;
    }
}
