using Ambrosia.Log.Fencing;

namespace Ambrosia.Log.Tests;

/// <summary>Two sides of a meeting on one file system and one clock; while one of them looks, the other goes on.</summary>
public sealed class MeetingTests
{
    private const int StepsMax = 10_000;
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(5), s_look = TimeSpan.FromMilliseconds(200);

    private readonly MemoryFileSystem _files = new();
    private readonly SteppingTime _time = new();
    private readonly IEnumerator<bool>?[] _steps = new IEnumerator<bool>?[2];
    private bool _isBetween;

    /// <summary>Where each look takes long one side must not look so often that the other loses patience.</summary>
    [Fact]
    public void Meeting_WhereEachLookTakesLong_ComesToItsEnd()
    {
        _files.CreateDirectory("/log");
        Meeting[] sides = [Join(0, "one"), Join(1, "two")];
        for (int i = 0; i < 2; i++) _steps[i] = sides[i].Steps().GetEnumerator();
        for (int i = 0; _steps is not [null, null]; i++)
        {
            Assert.True(i < StepsMax, "it comes to no end");
            Step(i % 2);
        }
        Assert.Equal(["two", "one"], sides.Select(static side => side.Token));
        Assert.All(sides, static side => Assert.True(side.Own.IsNone && side.Others.IsNone));
    }

    private Meeting Join(int side, string token) => Meeting.TryJoin(
        new InterceptedFiles(_files) { BeforeRead = (_, _) => Look(side) }, _time, "/log", "meet.", token, s_patience)!;

    private void Step(int side)
    {
        if (_steps[side] is { } steps && !steps.MoveNext()) _steps[side] = null;
    }

    /// <summary>A look of one side takes its time, in which the other takes a step.</summary>
    private void Look(int side)
    {
        _time.Now += s_look;
        if (_isBetween) return;
        _isBetween = true;
        Step(1 - side);
        _isBetween = false;
    }
}
