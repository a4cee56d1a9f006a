using Microsoft.Extensions.Logging;

namespace Ambrosia.TestKit;

/// <summary>What was told to operators: an event as every logger gets it.</summary>
/// <param name="Name">Its dotted name, for instance link.lost.</param>
public readonly record struct RecordedEvent(LogLevel Level, string Name, string Text)
{
    public override string ToString() => $"{Level} {Name} {Text}";
}

/// <summary>A logger that hands each event to its owner at once, on the thread that logs.</summary>
public sealed class EventRecorder(Action<RecordedEvent> take) : ILogger
{
    /// <summary>Hands on the texts alone.</summary>
    public static EventRecorder OfTexts(Action<string> take) => new(happened => take(happened.Text));

    public bool IsEnabled(LogLevel logLevel) => true;

    public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        take(new RecordedEvent(logLevel, eventId.Name ?? "", formatter(state, exception)));
}
