using Microsoft.Extensions.Logging;

namespace Ambrosia.Inspection.Debugging;

/// <summary>
/// Tells a person who looks at the past what a coordinator warns of; what it does in order is of no interest there. Any thread.
/// </summary>
internal sealed class ToldWarnings(Action<string> tell) : ILogger
{
    public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Warning;

    public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (IsEnabled(logLevel)) tell(formatter(state, exception));
    }
}
