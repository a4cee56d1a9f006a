using Ambrosia.Calls;

namespace Ambrosia.Tasks;

/// <summary>
/// Holds what a host gives to the code of an immortal that runs outside of its handlers, and to its logger. The binding knows of services
/// no more than the interface of the class library. Any thread.
/// </summary>
/// <param name="Root">The services of the whole process.</param>
/// <param name="NewScope">Makes services for one run of a task's body; they are disposed of behind it.</param>
/// <param name="LogSink">Takes the lines of the immortal; the host's logger finds it again.</param>
internal sealed record HostServices(IServiceProvider Root, Func<IServiceProvider> NewScope, object? LogSink)
{
    /// <summary>Refuses services where the same inputs must do the same.</summary>
    /// <exception cref="InvalidOperationException">This thread executes handlers, answers a query, or converts a state.</exception>
    internal static void RefuseInHandlers()
    {
        if (Scheduler.IsAnyExecuting || Scheduler.IsAnyQuerying || Scheduler.IsAnyConverting)
            throw new BindingMisuseException(Misuse.ServicesInHandler);
    }

    /// <summary>Returns the services of the process.</summary>
    /// <exception cref="InvalidOperationException">As above; or this process has no services.</exception>
    internal static IServiceProvider RootOf(HostServices? services)
    {
        RefuseInHandlers();
        return services?.Root ?? throw new BindingMisuseException(Misuse.NoServices);
    }
}

/// <summary>Holds the services of one run of a task's body, from the first time that they are asked for. One run at a time.</summary>
internal sealed class TaskScope(HostServices? services) : IAsyncDisposable
{
    private IServiceProvider? _scope;

    internal IServiceProvider Services
    {
        get
        {
            HostServices.RefuseInHandlers();
            return _scope ??= services?.NewScope() ?? throw new BindingMisuseException(Misuse.NoServices);
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (_scope is IAsyncDisposable scope) await scope.DisposeAsync().ConfigureAwait(false);
        else (_scope as IDisposable)?.Dispose();
    }
}
