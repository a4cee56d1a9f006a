using Ambrosia.Log.Commit;
using Ambrosia.Log.Format;
using Ambrosia.Log.Pages;
using Ambrosia.TestKit;

namespace Ambrosia.Log.Tests;

/// <summary>
/// The space pump works while the committer begins a group: what it prepares, or cannot, in between changes nothing about where the group
/// goes.
/// </summary>
public sealed class SpaceRaceTests
{
    private static readonly LogOptions s_options = Primary.Small with
    {
        AllocateStepBytes = 36 << 10, ZeroWindowBytes = 8 << 10, SparesMax = 2
    };

    /// <summary>
    /// The disk is full and the next segment stands ready. Space comes back at every possible place while the group is stamped, and the
    /// pump sets some aside in the segment that the group was not to go to any more.
    /// </summary>
    [Fact]
    public void Begin_SpaceComesBackMeanwhile_GoesWhereItWasDecided() => Assert.True(Race(isFullAtFirst: true) > 0, "the disk was never short");

    /// <summary>The other way round: the disk fills up after the place was found.</summary>
    [Fact]
    public void Begin_DiskFillsUpMeanwhile_GoesWhereItWasDecided() => Race(isFullAtFirst: false);

    /// <summary>Returns how often the disk was short when the pump ran beside the committer.</summary>
    private static int Race(bool isFullAtFirst)
    {
        int shorts = 0;
        for (int filled = 8; filled < 20; filled++)
            for (int look = 1; look <= 3; look++)
                if (RaceAt(filled, look, isFullAtFirst)) shorts++;
        return shorts;
    }

    /// <param name="filled">Groups that were written before.</param>
    /// <param name="look">The pump runs when the committer looks at the clock for this time.</param>
    private static bool RaceAt(int filled, int look, bool isFullAtFirst)
    {
        const long plenty = 1L << 40;
        bool wasShort = false;
        var disk = new SimulatedFileSystem(1);
        disk.MakeDirectory("/data");
        var time = new HookedTime();
        using Primary primary = Primary.Start(disk.ForProcess("a"), TruncationScenario.Dir, s_options, time: time);
        primary.Fill(filled);
        while (primary.Writer.PrepareSpace()) { }
        if (isFullAtFirst) disk.CapacityBytes = plenty - disk.FreeBytes("/data");
        int looks = 0;
        time.Hook = () =>
        {
            if (++looks != look) return;
            wasShort = primary.Writer.IsSpaceShort;
            disk.CapacityBytes = isFullAtFirst ? plenty : disk.CapacityBytes - disk.FreeBytes("/data");
            var pump = new Thread(() => primary.Writer.PrepareSpace());
            pump.Start();
            pump.Join();
        };
        int before = 0;
        for (int i = 0; i < 60 && primary.TryAppend(new byte[9_000]) is not null; i++)
            while (TryBegin(primary.Writer) is { } group)
            {
                Primary.Steps(group);
                primary.Writer.Complete(group);
                before++;
            }
        Assert.True(before > 0 || !isFullAtFirst, $"{filled} groups, look {look}: nothing was committed");
        return wasShort;
    }

    private static CommitGroup? TryBegin(LogWriter writer)
    {
        if (writer.Begin(out CommitGroup? group) != CommitReadiness.AwaitingSpace) return group;
        writer.PrepareSpace();
        writer.Begin(out group);
        return group;
    }

    private sealed class HookedTime : TimeProvider
    {
        private DateTimeOffset _now = new(2026, 1, 2, 3, 4, 5, TimeSpan.Zero);

        public Action? Hook { get; set; }

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override DateTimeOffset GetUtcNow()
        {
            Hook?.Invoke();
            return _now += TimeSpan.FromMilliseconds(1);
        }

        public override long GetTimestamp() => _now.UtcTicks;
    }
}
