using Ambrosia.Coordinator.Replay;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator.Tests;

/// <summary>How long what is not executed has been durable.</summary>
public sealed class DurableHistoryTests
{
    private static readonly TimeSpan s_tick = TimeSpan.FromMilliseconds(250);

    /// <summary>Executing is ten seconds behind, always.</summary>
    [Fact]
    public void Age_BehindASteadyLag_IsTheLag()
    {
        var history = new DurableHistory();
        const int LagTicks = 40;
        for (int tick = 0; tick < 1_000; tick++)
        {
            Lsn executed = At(tick - LagTicks);
            history.Note(At(tick), executed, s_tick * tick);
            if (tick <= LagTicks) continue;
            Assert.InRange(history.AgeAt(executed), s_tick * (LagTicks * 0.8), s_tick * LagTicks);
        }
    }

    [Fact]
    public void Age_WhileNothingIsExecuted_GrowsFromTheFirst()
    {
        var history = new DurableHistory();
        for (int tick = 0; tick < 100_000; tick++) history.Note(At(tick + 1), At(0), s_tick * tick); // seven hours
        Assert.Equal(s_tick * 99_999, history.AgeAt(At(0)));
        Assert.InRange(history.AgeAt(At(50_000)), s_tick * 45_000, s_tick * 50_000);
    }

    [Fact]
    public void Age_OfWhatIsExecuted_IsZero()
    {
        var history = new DurableHistory();
        history.Note(At(5), At(5), s_tick);
        history.Note(At(9), At(5), s_tick * 2);
        Assert.Equal(TimeSpan.Zero, history.AgeAt(At(9)));
        history.Note(At(9), At(9), s_tick * 9);
        Assert.Equal(TimeSpan.Zero, history.AgeAt(At(9)));
        history.Note(At(10), At(9), s_tick * 20);
        Assert.Equal(TimeSpan.Zero, history.AgeAt(At(9))); // it has just become durable
    }

    private static Lsn At(int place) => new((ulong)Math.Max(0, place) * 4096);
}
