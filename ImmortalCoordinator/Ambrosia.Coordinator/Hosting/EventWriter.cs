using System.Diagnostics.CodeAnalysis;
using Ambrosia.Protocol.Locking;
using CRA.Links;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Writes each event as one line to one writer, and keeps whatever that writer does away from those who log: no call of theirs throws,
/// blocks or ends anything. Lines wait in a queue with a bound, and one thread writes them. What finds no room, or cannot be written, is
/// counted, and a later line says how many were lost. Any thread may log.
/// </summary>
internal sealed class EventWriter : ILogger, IDisposable
{
    /// <summary>So many lines wait at most, and so many characters in them.</summary>
    internal const int LinesMax = 4_096, CharsMax = 1 << 20;

    /// <summary>Whoever ends the process waits this long at most for what is still to be written.</summary>
    internal static readonly TimeSpan FlushMax = TimeSpan.FromSeconds(1);

    private readonly TextWriter _output;
    private readonly EventFormat _format;
    private readonly RankedLock _gate = new(LockRank.EventWriter);
    private readonly AutoResetEvent _wake = new(false);

    /// <summary>Set while nothing waits and nothing is being written.</summary>
    private readonly ManualResetEventSlim _idle = new(true);

    /// <summary>The lines wait here with their ends, oldest first. Guarded by <see cref="_gate"/>, as are the three fields below.</summary>
    private readonly Queue<string> _waiting = new();

    /// <summary>The sum of the lengths in <see cref="_waiting"/>.</summary>
    private int _chars;

    /// <summary>The number of lines lost since a line last said how many.</summary>
    private long _lost;
    private bool _stopped;

    /// <summary>
    /// The writing thread; null: the system had none to give so far, and each line asks again. Guarded by <see cref="_gate"/>.
    /// </summary>
    private Thread? _thread;

    /// <summary>The last write failed, so a part of its line may stand at the end of the output. The writing thread uses it.</summary>
    private bool _isTorn;

    /// <param name="output">The writing thread alone uses it from now on; nobody disposes of it.</param>
    public EventWriter(TextWriter output, EventFormat format)
    {
        (_output, _format) = (output, format);
        StartWriting();
    }

    /// <summary>Nothing that a line does leaves the loop (<see cref="TryWrite"/>); one that has ended is begun by the next line.</summary>
    private void StartWriting() => _thread ??= Threads.TryStart("events", WriteLoop, _ => Ended());

    private void Ended()
    {
        using (_gate.Enter()) _thread = null;
    }

    public bool IsEnabled(LogLevel logLevel) => logLevel != LogLevel.None;

    /// <summary>There are no scopes: an event has all of its fields.</summary>
    public IDisposable? BeginScope<TState>(TState state) where TState : notnull => null;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        Enqueue(_format.LineOf(logLevel, eventId.Name, formatter(state, exception),
            state as IEnumerable<KeyValuePair<string, object?>> ?? []));

    /// <summary>Waits until everything logged so far is written or lost; false: it takes longer than <see cref="FlushMax"/>.</summary>
    public bool Flush() => _idle.Wait(FlushMax);

    /// <summary>Flushes, and takes nothing more.</summary>
    public void Dispose()
    {
        Flush();
        using (_gate.Enter()) _stopped = true;
        _wake.Set();
    }

    private void Enqueue(string line)
    {
        using (_gate.Enter())
        {
            if (_stopped) return;
            StartWriting();
            // The writing thread itself logs nothing but the count of what was lost, which must not be lost in turn.
            bool isCount = Environment.CurrentManagedThreadId == _thread?.ManagedThreadId;
            if (!isCount && (_waiting.Count >= LinesMax || _chars + line.Length > CharsMax))
            {
                _lost++;
                return;
            }
            _waiting.Enqueue(line);
            _chars += line.Length;
            _idle.Reset();
        }
        _wake.Set();
    }

    private void WriteLoop()
    {
        while (true)
        {
            _wake.WaitOne();
            while (TryTake(out string? line))
                if (TryWrite(line)) LogLost();
            using (_gate.Enter())
                if (_stopped) return;
        }
    }

    private bool TryTake([NotNullWhen(true)] out string? line)
    {
        using (_gate.Enter())
        {
            if (!_waiting.TryDequeue(out line))
            {
                _idle.Set();
                return false;
            }
            _chars -= line.Length;
            return true;
        }
    }

    /// <summary>Writes one line. Whatever is thrown concerns the output alone, and the next line tries it again.</summary>
    private bool TryWrite(string line)
    {
        try
        {
            _output.Write(_isTorn ? "\n" + line : line);
            _output.Flush();
            _isTorn = false;
            return true;
        }
        catch (Exception)
        {
            _isTorn = true;
            using (_gate.Enter()) _lost++;
            return false;
        }
    }

    private void LogLost()
    {
        long lost;
        using (_gate.Enter()) (lost, _lost) = (_lost, 0);
        if (lost > 0) this.EventsLost(lost);
    }
}
