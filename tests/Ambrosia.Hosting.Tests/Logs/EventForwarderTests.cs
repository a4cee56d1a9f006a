using Ambrosia.Hosting.Logs;
using Ambrosia.Hosting.Tests.Running;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Hosting.Tests.Logs;

/// <summary>Whoever logs never waits for the host's loggers, and hears nothing of their faults.</summary>
public sealed class EventForwarderTests
{
    [Fact]
    public void Events_OfALoggerThatHangs_AreLostAndCounted()
    {
        using var mayGoOn = new ManualResetEventSlim();
        var kept = new RecordedLogs();
        using var forwarder = new EventForwarder();
        ILogger logger = forwarder.To(new Gate(mayGoOn, kept.CreateLogger("x")));
        const int Over = 100;
        for (int i = 0; i < EventForwarder.EventsMax + Over; i++) logger.LogInformation("{I}", i); // none of these comes back late
        mayGoOn.Set();
        forwarder.Flush();
        while (!kept.Lines.Any(static line => line.Text == $"{EventForwarder.EventsMax - 1}")) forwarder.Flush();
        logger.LogInformation("{I}", "behind");
        forwarder.Flush();
        (string Category, LogLevel Level, EventId Id, string Text) lost = kept.Lines.Single(static line => line.Id.Name == "coordinator.events.lost");
        Assert.Matches(@"^events: \d+ could not be written", lost.Text);
        Assert.Equal(int.Parse(lost.Text.Split(' ')[1], System.Globalization.CultureInfo.InvariantCulture),
            EventForwarder.EventsMax + Over - (kept.Lines.Count - 2));
    }

    [Fact]
    public void Events_OfALoggerThatThrows_HarmNobody()
    {
        var kept = new RecordedLogs();
        using var forwarder = new EventForwarder();
        forwarder.To(new Gate(null, kept.CreateLogger("x"))).LogInformation("{I}", "bad");
        forwarder.To(kept.CreateLogger("x")).LogInformation("{I}", "good");
        forwarder.Flush();
        Assert.Equal(
            ["events: 1 could not be written to the standard output and are lost", "good"], kept.Lines.Select(static line => line.Text));
    }

    /// <summary>A logger that waits for the test, or throws where there is nothing to wait for.</summary>
    private sealed class Gate(ManualResetEventSlim? mayGoOn, ILogger logger) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            (mayGoOn ?? throw new IOException("planted")).Wait();
            logger.Log(logLevel, eventId, state, exception, formatter);
        }
    }
}
