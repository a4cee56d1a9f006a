using Ambrosia.Coordinator.Replica;
using Ambrosia.Hosting.Configuration;
using Ambrosia.Hosting.Replicas;
using Ambrosia.Log.Files;
using Microsoft.Extensions.Hosting;

namespace Ambrosia.Hosting.Running;

/// <summary>
/// Starts and stops the immortals with their host. They start before the servers that were added behind them, and end after these: so a
/// server answers what it has taken while they still run. What stops first is readiness. The host calls it.
/// </summary>
internal sealed class ImmortalsService(
    CheckedOptions options, ImmortalSurroundings surroundings, HostEnd end, IHostApplicationLifetime lifetime) : IHostedLifecycleService
{
    private IRunningForm? _form;
    private volatile bool _isStopping;

    /// <summary>The host is about to stop: nothing new is to come here. Any thread.</summary>
    internal bool IsStopping => _isStopping || lifetime.ApplicationStopping.IsCancellationRequested;

    /// <summary>The replicas that run; none before the start. Any thread.</summary>
    internal IReadOnlyList<HostedReplica> Replicas => _form?.Replicas ?? [];

    internal AmbrosiaOptions Options => options.Given;

    /// <summary>A view executes the past in this process alone: the servers that would start behind this must not.</summary>
    public Task StartingAsync(CancellationToken cancellationToken)
    {
        _form = NewForm();
        if (!options.Form.IsView || _form is null) return Task.CompletedTask;
        // The start never comes back: the process ends with the view, or when it is asked to.
        lifetime.ApplicationStopping.Register(() => end.EndNow(ExitCodes.Ok));
        _form.Start();
        return Task.Delay(Timeout.Infinite, CancellationToken.None);
    }

    public Task StartAsync(CancellationToken cancellationToken)
    {
        _form?.Start();
        return Task.CompletedTask;
    }

    public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppingAsync(CancellationToken cancellationToken)
    {
        _isStopping = true;
        return Task.CompletedTask;
    }

    public Task StopAsync(CancellationToken cancellationToken) =>
        _form is { } form ? Task.Factory.StartNew(
            form.Stop, CancellationToken.None, TaskCreationOptions.LongRunning, TaskScheduler.Default) : Task.CompletedTask;

    public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    private IRunningForm? NewForm()
    {
        var files = new PosixFileSystem();
        if (options.Form.IsApp)
            return options.Form.AppOf(options.Immortals) is { } app ? new AppForm(options, app, surroundings, end, files) : null;
        return options.Immortals.Count == 0 ? null : new EmbeddedForm(options, surroundings, end, files);
    }
}
