using System.Threading.Channels;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Protocol.Texts;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Hosting.Logs;

/// <summary>
/// Passes what coordinators and immortals log on to the host's loggers, which may block and throw: those who log here never wait. Events
/// wait in a queue with a bound, and one thread passes them on. What finds no room, or cannot be passed on, is counted, and a later event
/// says how many were lost. Any thread may log.
/// </summary>
internal sealed class EventForwarder : IDisposable
{
    /// <summary>So many events wait at most.</summary>
    internal const int EventsMax = 4_096;

    private static readonly TimeSpan s_flushMax = TimeSpan.FromSeconds(1);

    private readonly Channel<Action> _waiting = Channel.CreateBounded<Action>(
        new BoundedChannelOptions(EventsMax) { SingleReader = true, FullMode = BoundedChannelFullMode.Wait });
    private readonly Thread _thread;
    private long _lost;

    public EventForwarder()
    {
        _thread = new Thread(Loop) { Name = "events", IsBackground = true };
        _thread.Start();
    }

    /// <summary>Returns a logger that passes its events on to another one.</summary>
    /// <param name="words">Puts the texts of events into other words; their parts stay as they are.</param>
    internal ILogger To(ILogger logger, Func<string, string>? words = null) => new Forwarding(this, logger, words ?? (static text => text));

    /// <summary>Waits a moment until everything logged so far is passed on, for a process that is about to end.</summary>
    internal void Flush()
    {
        using var passed = new ManualResetEventSlim();
        if (_waiting.Writer.TryWrite(passed.Set)) passed.Wait(s_flushMax);
        else Thread.Sleep(s_flushMax / 10);
    }

    private void Enqueue(Action pass)
    {
        if (!_waiting.Writer.TryWrite(pass)) Interlocked.Increment(ref _lost);
    }

    private void Loop()
    {
        while (_waiting.Reader.WaitToReadAsync().AsTask().GetAwaiter().GetResult())
            while (_waiting.Reader.TryRead(out Action? pass)) Pass(pass);
    }

    private void Pass(Action pass)
    {
        try
        {
            pass();
        }
        catch (Exception)
        {
            // Whatever a provider throws concerns it alone; the next event is tried again.
            Interlocked.Increment(ref _lost);
        }
    }

    /// <summary>Passes nothing more on.</summary>
    public void Dispose()
    {
        Flush();
        _waiting.Writer.TryComplete();
    }

    /// <summary>
    /// Copies an event's state as it is: the parts log values, and the text is put together by the thread that passes it on. It is
    /// made harmless, since many a provider writes it to a terminal.
    /// </summary>
    private sealed class Forwarding(EventForwarder owner, ILogger logger, Func<string, string> words) : ILogger
    {
        public bool IsEnabled(LogLevel logLevel) => logger.IsEnabled(logLevel);

        public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (!logger.IsEnabled(logLevel)) return;
            owner.Enqueue(() =>
            {
                if (Interlocked.Exchange(ref owner._lost, 0) is var lost and > 0) logger.EventsLost(lost);
                logger.Log(logLevel, eventId, state, exception, (all, failure) => HarmlessText.Lines(words(formatter(all, failure))));
            });
        }
    }
}
