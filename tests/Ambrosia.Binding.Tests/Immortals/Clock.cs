using System.Globalization;

namespace Ambrosia.Binding.Tests;

public interface IClock
{
    /// <summary>Waits and then notes it.</summary>
    [MethodId(1)]
    Call Wait(string name, long us);

    /// <summary>Begins to tick.</summary>
    [MethodId(2)]
    void Tick(string how, long us);

    [MethodId(3)]
    void Stop();

    /// <summary>Keeps a delay in the state without awaiting it.</summary>
    [MethodId(4)]
    void Keep(long us);

    [MethodId(5)]
    void Note();

    /// <summary>Sets so many timers at once.</summary>
    [MethodId(6)]
    void Fill(int count);

    /// <summary>Waits for a delay that may be given up: cancelled, or by a deadline, or both.</summary>
    [MethodId(7)]
    Call WaitUnless(string how, long us, long within);

    [MethodId(8)]
    void Cancel();
}

/// <summary>Does everything that timers can.</summary>
public sealed partial class Clock : Immortal<IClockProxy>, IClock
{
    internal readonly List<string> Seen = [];

    internal RecurringTimer Ticker;
    internal Call Kept;
    internal string Refused = "";

    private CallCancellation _cancellation = new();
    private IClockProxy? _other;

    public async Call Wait(string name, long us)
    {
        await Delay(TimeSpan.FromMicroseconds(us));
        See(name);
    }

    public void Tick(string how, long us)
    {
        TimeSpan period = TimeSpan.FromMicroseconds(us);
        try
        {
            Ticker = how switch
            {
                "plain" => Every(period, Ticked),
                "slow" => Every(period, TickedSlowly),
                "failing" => Every(period, TickFails),
                "lambda" => Every(period, () => See("lambda")),
                "static" => Every(period, Static),
                _ => Every(period, new Action(new List<int>().Clear)),
            };
        }
        catch (ArgumentException e)
        {
            Refused = e.Message;
        }
    }

    public async Call WaitUnless(string how, long us, long within)
    {
        Call delay = Delay(TimeSpan.FromMicroseconds(us));
        TimeSpan limit = TimeSpan.FromMicroseconds(within);
        try
        {
            await (how switch
            {
                "cancel" => delay.CancelledBy(_cancellation),
                "within" => delay.Within(limit),
                _ => delay.Within(limit).CancelledBy(_cancellation),
            });
            See("over");
        }
        catch (Exception e) when (e is OperationCanceledException or TimeoutException)
        {
            See(e.GetType().Name);
        }
        try
        {
            await delay;
        }
        catch (Exception e) when (e is OperationCanceledException or TimeoutException)
        {
            See("again " + e.GetType().Name);
        }
    }

    public void Cancel()
    {
        _cancellation.Cancel();
        _cancellation = new CallCancellation();
    }

    public void Stop() => Ticker.Stop();

    public void Keep(long us) => Kept = Delay(TimeSpan.FromMicroseconds(us));

    public void Note() => See($"kept {Kept.IsCompleted} ticking {Ticker.IsRunning}");

    public void Fill(int count)
    {
        for (int i = 0; i < count; i++) _ = Delay(TimeSpan.FromDays(1));
    }

    private static void Static()
    {
    }

    private void Ticked() => See("tick");

    private async Call TickedSlowly()
    {
        See("begin");
        _other ??= GetProxy<IClock>("bank2");
        await _other.WaitAsync("", 0);
        See("end");
    }

    private async Call TickFails()
    {
        await Delay(TimeSpan.Zero);
        throw new InvalidOperationException("tick failed");
    }

    private void See(string what) =>
        Seen.Add(string.Create(CultureInfo.InvariantCulture, $"{what}@{(Now - DateTimeOffset.UnixEpoch).Ticks / 10}"));

    internal Call DelayOutside() => Delay(TimeSpan.Zero);
}
