using Microsoft.Extensions.Logging;

namespace Ambrosia.Tools.Output;

/// <summary>Shows warnings of a library beside what a command shows.</summary>
internal sealed class NoteLogger(Screen screen) : ILogger
{
    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel level) => level >= LogLevel.Warning;

    public void Log<TState>(LogLevel level, EventId id, TState state, Exception? exception, Func<TState, Exception?, string> format)
    {
        if (IsEnabled(level)) screen.Note(format(state, exception));
    }
}
