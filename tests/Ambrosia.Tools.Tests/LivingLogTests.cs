using Ambrosia.Inspection.Places;
using Ambrosia.Log.Files;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol.Locking;
using Ambrosia.Tools.Listing;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Verification;

namespace Ambrosia.Tools.Tests;

/// <summary>
/// Reading beside a primary that truncates and recycles: before each single operation of a reader, in turn, a burst of work falls in. What
/// was there to be read may be gone; nothing is ever called damaged.
/// </summary>
[Collection(LocksCollection.Name)]
public sealed class LivingLogTests : IDisposable
{
    /// <summary>In memory where there is such a place: thousands of flushes are not what is tested.</summary>
    private readonly string _root = Directory.CreateDirectory(Path.Combine(
        Directory.Exists("/dev/shm") ? "/dev/shm" : Path.GetTempPath(), $"ambrosia-living-{Guid.NewGuid():N}")).FullName;

    private string LogDirectory => Path.Combine(_root, "log");

    public void Dispose() => Directory.Delete(_root, recursive: true);

    [Fact]
    public void Verify_LogRecycledBeforeAnyOfItsOperations_IsSound() => AtEachOperation(static place =>
    {
        VerifyReport report = VerifyToolCommand.Verify(place, static _ => { });
        Assert.True(report.Sound, System.Text.Json.JsonSerializer.Serialize(report));
        Assert.True(report.Messages > 10);
    });

    [Fact]
    public void Log_RecycledBeforeAnyOfItsOperations_ShowsNoDamage() => AtEachOperation(static place =>
    {
        LogSummary summary = LogSummary.Read(place, []);
        Assert.False(summary.HasDamage, System.Text.Json.JsonSerializer.Serialize(summary));
    });

    [Fact]
    public void Records_RecycledBeforeAnyOfItsOperations_AreReadWithoutDamage() => AtEachOperation(static place =>
    {
        var walk = new LogWalk(place);
        int pages = 0;
        Assert.IsType<ReadVerdict.CleanEnd>(walk.Run(new WalkStart(null, null), (_, _) => ++pages > 0, static _ => { }));
        Assert.False(walk.HasDamage);
        Assert.True(pages > 10);
    });

    [Fact]
    public void Places_RecycledBeforeAnyOfItsOperations_AreFound() => AtEachOperation(static place =>
    {
        var finder = new PlaceFinder(place.Location, TimeProvider.System);
        FoundPlace start = finder.Find("start");
        Assert.False(start.IsEnd);
        Assert.True(finder.Find("end").Place.Record > start.Place.Record);
    });

    private void AtEachOperation(Action<LogDirectory> read)
    {
        using var log = new LivingLog(LogDirectory);
        int bursts = 0;
        for (int at = 1; ; at++)
        {
            var files = new HookedFiles(new PosixFileSystem());
            files.Before = operation =>
            {
                if (operation != at) return;
                bursts++;
                LockChecks.AsAnotherThread(log.Work); // that of the primary
            };
            read(Logs.LogDirectory.Open(LogDirectory) with { Files = new ReadOnlyFiles(files) });
            if (files.Operations < at) break;
        }
        Assert.True(bursts > 30, $"{bursts} bursts");
        Assert.True(log.Recycled > bursts, $"{log.Recycled} files recycled in {bursts} bursts");
    }
}
