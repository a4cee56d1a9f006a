// A caller outside, in this process, who calls at fixed moments whatever is outstanding (open-loop): so whoever makes him wait is seen by
// all the calls that fall into that time, and the time between two answers is how long nobody was served. His calls have keys, so one
// that a kill has interrupted is repeated by his client, and counts once.
using System.Buffers.Binary;
using System.Diagnostics;
using Ambrosia.Client;

namespace Ambrosia.Perf;

/// <summary>Calls the books every millisecond, and knows when each answer came. The thread that calls is its own.</summary>
internal sealed class SteadyCaller : IDisposable
{
    private static readonly long s_step = Stopwatch.Frequency / 1000;

    private readonly ClusterOptions _options;
    private readonly ImmortalClient _client;
    private readonly ClientProxy<IBooks> _books;
    private readonly Thread _thread;

    /// <summary>Answers in the order in which they came; it is the lock of all that several threads use.</summary>
    private readonly List<Answered> _answers = [];

    private Exception? _failed;
    private long _sent, _answered;
    private volatile bool _isOver;

    private SteadyCaller(ClusterOptions options, ImmortalClient client)
    {
        (_options, _client, _books) = (options, client, client.GetProxy<IBooks>());
        _thread = new Thread(Call) { IsBackground = true, Name = "steady caller" };
    }

    /// <exception cref="FailedRoundException">The books cannot be reached.</exception>
    public static SteadyCaller Start(ClusterOptions options, string instance)
    {
        SteadyCaller? caller = null;
        try
        {
            caller = new SteadyCaller(options, Connect(options, instance));
            caller._thread.Start();
            return caller;
        }
        catch
        {
            caller?.Dispose();
            throw;
        }
    }

    /// <exception cref="FailedRoundException">It cannot be reached.</exception>
    public static ImmortalClient Connect(ClusterOptions options, string instance)
    {
        // What waits for an answer while nobody is served must not make the caller wait with his next call.
        var settings = new ClientOptions { ConnectWithin = options.Limit, RequestsMax = 1 << 20 };
        try
        {
            return ImmortalClient.ConnectAsync(Path.Combine(options.Directory, "catalog"), instance, settings, options.Stop)
                .GetAwaiter().GetResult();
        }
        catch (TimeoutException late)
        {
            throw new FailedRoundException(late.Message);
        }
    }

    /// <summary>Waits until answers have come for so long, from the first one behind a moment on; returns the end of that time.</summary>
    public long AwaitAnswers(long since, TimeSpan steady)
    {
        long first = 0;
        Await(() => (first = _answers.Find(each => each.At >= since).At) != 0, "an answer");
        long until = first + (long)(steady.TotalSeconds * Stopwatch.Frequency);
        Pause.Until(until);
        Await(() => _answers[^1].At >= until, "an answer");
        return until;
    }

    /// <summary>
    /// The longest time between two answers, of which the later came behind the one moment and the earlier before the other.
    /// </summary>
    public double LongestMs(long from, long until) => Gaps(from, until).Max(static gap => Ms(gap.Before.At, gap.Behind.At));

    /// <summary>So many times an answer is of another build than the one before.</summary>
    public int Switches(long from, long until) => Gaps(from, until).Count(static gap => gap.Before.Build != gap.Behind.Build);

    /// <summary>What came so far is needed no more.</summary>
    public void Forget()
    {
        lock (_answers) _answers.Clear();
    }

    /// <summary>Calls no more, and returns how many calls were made, when all are answered.</summary>
    /// <exception cref="FailedRoundException">One was not.</exception>
    public long End()
    {
        _isOver = true;
        _thread.Join();
        Await(() => _answered == _sent, "the last answers");
        return _sent;
    }

    public void Dispose()
    {
        _isOver = true;
        if (_thread.IsAlive) _thread.Join();
        _client.Dispose();
    }

    private List<(Answered Before, Answered Behind)> Gaps(long from, long until)
    {
        lock (_answers)
        {
            List<(Answered, Answered)> found =
                [.. _answers.Zip(_answers.Skip(1)).Where(gap => gap.Second.At > from && gap.First.At < until)];
            return found.Count > 0 ? found : throw new FailedRoundException("no call was answered in the time that was to be measured");
        }
    }

    private void Await(Func<bool> isSo, string what)
    {
        for (long begun = Stopwatch.GetTimestamp(); ; Pause.Until(Stopwatch.GetTimestamp() + s_step))
        {
            lock (_answers)
            {
                if (_failed is not null) throw new FailedRoundException($"a call failed: {_failed.Message}");
                if (isSo()) return;
            }
            _options.Stop.ThrowIfCancellationRequested();
            if (Stopwatch.GetElapsedTime(begun) > _options.Limit)
                throw new FailedRoundException($"{what} did not come within {_options.Limit.TotalSeconds:F0} s");
        }
    }

    private void Call()
    {
        for (long next = Stopwatch.GetTimestamp(); !_isOver; next += s_step)
        {
            Pause.Until(next);
            _ = Ask(_sent++);
        }
    }

    private async Task Ask(long number)
    {
        byte[] key = new byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(key, number);
        try
        {
            int build = await _books.WithKey(key).AskAsync().ConfigureAwait(false);
            lock (_answers)
            {
                _answers.Add(new Answered(Stopwatch.GetTimestamp(), build));
                _answered++;
            }
        }
        catch (Exception e)
        {
            lock (_answers) _failed ??= e;
        }
    }

    private static double Ms(long from, long until) => Stopwatch.GetElapsedTime(from, until).TotalMilliseconds;

    /// <summary>An answer, when it came, and the build that gave it.</summary>
    private readonly record struct Answered(long At, int Build);
}
