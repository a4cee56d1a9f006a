using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Hosting.Tests.Running;

/// <summary>Keeps what a host logs: category, level, id and text.</summary>
internal sealed class RecordedLogs : ILoggerProvider
{
    internal ConcurrentQueue<(string Category, LogLevel Level, EventId Id, string Text)> Lines { get; } = new();

    public ILogger CreateLogger(string categoryName) => new Recorder(this, categoryName);

    public void Dispose()
    {
    }

    private sealed class Recorder(RecordedLogs owner, string category) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            owner.Lines.Enqueue((category, logLevel, eventId, formatter(state, exception)));
    }
}
