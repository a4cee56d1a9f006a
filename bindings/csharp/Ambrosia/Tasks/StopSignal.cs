using Ambrosia.Failures;

namespace Ambrosia.Tasks;

/// <summary>
/// The cancellation that outside work of the app observes: raised at its deadline, or when the session ends. What a callback of the app
/// throws is told in a line, and ends neither the process nor the session. Any thread.
/// </summary>
internal sealed class StopSignal : IAsyncDisposable
{
    private readonly CancellationTokenSource _source = new();
    private readonly CancellationTokenRegistration _ended;
    private readonly string _work;
    private readonly Action<string> _log;

    /// <param name="work">The work, for the line: "task 7", "WhilePrimary".</param>
    /// <param name="log">Takes the line.</param>
    /// <param name="sessionEnded">Raises the signal, too.</param>
    internal StopSignal(string work, Action<string> log, CancellationToken sessionEnded)
    {
        (_work, _log) = (work, log);
        _ended = sessionEnded.UnsafeRegister(static signal => ((StopSignal)signal!).Raise(), this);
    }

    internal CancellationToken Token => _source.Token;

    internal bool IsRaised => _source.IsCancellationRequested;

    internal void Raise()
    {
        try
        {
            _source.Cancel();
        }
        catch (AggregateException e)
        {
            foreach (Exception each in e.Flatten().InnerExceptions)
                _log($"A callback on the cancellation token of {_work} has thrown; it has no effect on the work: {FailureCodec.Whole(each)}");
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _ended.DisposeAsync().ConfigureAwait(false);
        _source.Dispose();
    }
}
