using Ambrosia.Tasks;
using Microsoft.Extensions.DependencyInjection;

namespace Ambrosia.Hosting.Services;

/// <summary>
/// The services of one run of a task's body, or of the process: keyed ones, too. It owns its scope, if it has one. A handler that was given
/// it is refused.
/// </summary>
internal sealed class ScopedServices(IServiceProvider services, IAsyncDisposable? scope)
    : IKeyedServiceProvider, IAsyncDisposable
{
    /// <summary>Makes the services of one run.</summary>
    internal static ScopedServices OfScope(IServiceProvider root)
    {
        AsyncServiceScope scope = root.CreateAsyncScope();
        return new ScopedServices(scope.ServiceProvider, scope);
    }

    public object? GetService(Type serviceType)
    {
        HostServices.RefuseInHandlers();
        return services.GetService(serviceType);
    }

    public object? GetKeyedService(Type serviceType, object? serviceKey)
    {
        HostServices.RefuseInHandlers();
        return services.GetKeyedService(serviceType, serviceKey);
    }

    public object GetRequiredKeyedService(Type serviceType, object? serviceKey)
    {
        HostServices.RefuseInHandlers();
        return services.GetRequiredKeyedService(serviceType, serviceKey);
    }

    public ValueTask DisposeAsync() => scope?.DisposeAsync() ?? ValueTask.CompletedTask;
}
