using Ambrosia.Client;
using Ambrosia.Hosting.Configuration;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;

namespace Ambrosia.Hosting;

/// <summary>Adds clients of immortals to the services of a host.</summary>
public static class ImmortalClientServiceExtensions
{
    /// <summary>
    /// Adds a <see cref="ClientProxy{TContract}"/> for an immortal, in this process or in another one: as it is, if it is the first of its
    /// contract, and keyed by the instance's name. It connects when it is called first. The catalog, and what certificates there are, are
    /// those of the options of Ambrosia.
    /// </summary>
    /// <param name="services">Those of the host, to which <c>AddAmbrosia</c> belongs, too.</param>
    /// <param name="instance">Name of the instance.</param>
    /// <param name="configure">Changes the options of the client.</param>
    public static IServiceCollection AddImmortalClient<TContract>(
        this IServiceCollection services, string instance, Func<ClientOptions, ClientOptions>? configure = null)
        where TContract : class
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(instance);
        services.AddSingleton(new AddedClient(instance, typeof(TContract)));
        services.TryAddKeyedSingleton(instance, (provider, _) => Connect(provider, instance, configure));
        services.AddKeyedSingleton(
            instance, (provider, _) => provider.GetRequiredKeyedService<ImmortalClient>(instance).GetProxy<TContract>());
        services.TryAddSingleton(provider => provider.GetRequiredKeyedService<ClientProxy<TContract>>(instance));
        return services;
    }

    private static ImmortalClient Connect(IServiceProvider provider, string instance, Func<ClientOptions, ClientOptions>? configure)
    {
        CheckedOptions options = provider.GetService<CheckedOptions>() ?? throw new InvalidOperationException(
            "A client of an immortal needs the options of Ambrosia: call AddAmbrosia of the host's builder, too.");
        AmbrosiaOptions given = options.Given;
        var client = new ClientOptions
        {
            TlsCertificate = given.TlsCert, TlsKey = given.TlsKey, TlsAuthorities = given.TlsCa,
            Insecure = bool.TryParse(given.Insecure, out bool isInsecure) && isInsecure,
        };
        return ImmortalClient.Create(options.Catalog, instance, configure?.Invoke(client) ?? client);
    }
}
