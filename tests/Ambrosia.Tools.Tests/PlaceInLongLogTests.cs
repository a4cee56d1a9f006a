using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Places;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Protocol;

namespace Ambrosia.Tools.Tests;

/// <summary>Places in logs of many segments: whole, truncated, torn, and damaged ones.</summary>
public sealed class PlaceInLongLogTests : IDisposable
{
    private const int Pages = 40;

    private readonly TemporaryDirectory _temporary = new();
    private readonly PlaceLog _log;

    public PlaceInLongLogTests() => _log = new PlaceLog(_temporary.Of("counter"));

    public void Dispose()
    {
        _log.Dispose();
        _temporary.Dispose();
    }

    [Fact]
    public void Places_InEverySegment_AreFoundByPositionAndTime()
    {
        Lsn[] lsns = _log.Fill(Pages);
        _log.Maker.Mark();
        PlaceFinder finder = _log.Finder;
        Assert.True(_log.Maker.Log.Chain.Segments.Length > 4);
        for (int i = 0; i < Pages; i++)
        {
            Assert.Equal(lsns[i], finder.Find($"{lsns[i]}:0").Place.Record);
            Assert.Equal("ada", finder.Find($"{lsns[i].Value - 8}").Entry!.From); // known from before the segment
            Assert.Equal(lsns[i], finder.Find($"{PlaceLog.Begin.AddSeconds(i + 1):O}").Place.Record);
            Assert.Equal(lsns[i], finder.Find($"method:5#{i + 1}").Place.Record);
        }
    }

    /// <summary>A long log is read where the place is: the rest of it is neither needed nor seen.</summary>
    [Fact]
    public void Find_PositionOrTime_ReadsNearIt()
    {
        Lsn[] early = _log.Fill(Pages);
        _log.Checkpoint();
        Lsn[] late = _log.Fill(Pages);
        _log.Maker.Mark();
        long all = BytesRead("method:5#80"), position = BytesRead($"{early[20]}:0"), behind = BytesRead($"{late[3]}:0");
        long time = BytesRead($"{PlaceLog.Begin.AddSeconds(21):O}"), end = BytesRead("end");

        Assert.True(all > 80 * 6_000, $"{all} bytes");
        Assert.All([position, behind, time, end], read => Assert.True(read < all / 2, $"{read} of {all} bytes"));
    }

    [Fact]
    public void Places_OfATruncatedLog_BeginAtItsOldestCheckpoint()
    {
        Lsn[] gone = _log.Fill(Pages);
        CheckpointFileName oldest = _log.Checkpoint();
        Lsn[] kept = _log.Fill(Pages);
        _log.Checkpoint();
        _log.Truncate();
        Lsn firstKept = _log.Maker.Log.Chain.Segments[0].FirstLsn;

        Assert.Equal(new MessagePlace(oldest.Lsn, 0), _log.Finder.Find("start").Place);
        Assert.Equal(oldest.Lsn, _log.Finder.Find("ckpt:2").Place.Record);
        Assert.Equal(kept[3], _log.Finder.Find($"{kept[3]}:0").Place.Record);
        Assert.Equal("ada", _log.Finder.Find($"{kept[0]}").Entry!.From);
        Assert.Equal(new MessagePlace(oldest.Lsn, 0), _log.Finder.Find($"{oldest.Lsn}:0").Place);
        string[] below = [$"{gone[2]}", $"{firstKept.Value - 4}", $"{PlaceLog.Begin.AddSeconds(3):O}", "method:5", $"{gone[^1]}:0", "4:0"];
        foreach (string position in below)
        {
            MisuseException refusal = Assert.Throws<MisuseException>(() => _log.Finder.Find(position));
            Assert.Contains($"the nearest are start, {oldest.Lsn}:0 (fork of method 5 from ada) and end", refusal.Mend);
        }
        MessagePlace first = _log.Finder.Next(new MessagePlace(oldest.Lsn, 0)).Place;
        Assert.StartsWith($"the nearest are {first} (fork of method 5 from ada) and {kept[0]}:0 ", // not the last before the checkpoint
            Assert.Throws<MisuseException>(() => _log.Finder.Find($"{oldest.Lsn}:1")).Mend);
        MisuseException seen = Assert.Throws<MisuseException>(() => _log.Finder.Find($"{gone[^1]}:0"));
        Assert.Equal($"'{gone[^1]}:0' is below what can be executed", seen.What);
        Assert.Equal($"the log was truncated, and the oldest state that is kept is that at {oldest.Lsn}", seen.Why);
    }

    /// <summary>What is offered in the place of something else can be executed.</summary>
    [Fact]
    public void Offers_OfATruncatedLog_AreNotBelowItsOldestCheckpoint()
    {
        _log.Fill(Pages - 3);
        Lsn below = _log.Calls(2, 7);
        _log.Keyed("order-1");
        CheckpointFileName oldest = _log.Checkpoint();
        _log.Fill(Pages);
        Lsn call = _log.Calls(2, 9);
        _log.Checkpoint();
        _log.Truncate();
        Assert.True(_log.Maker.Log.Chain.Segments[0].FirstLsn < below && below < oldest.Lsn, "it is kept with what is needed");

        Assert.Equal($"the nearest is call:bob#9 at {call}:0", Refusal("call:8"));
        Assert.StartsWith($"the nearest are start, {oldest.Lsn}:0 ", Refusal("key:order-2"));
        Assert.Contains($"method:3 at {call}:0", Refusal("method:4"));
        Assert.StartsWith($"the nearest are start, {oldest.Lsn}:0 ", Refusal("method:2#9")); // that one has the key

        string Refusal(string position) => Assert.Throws<MisuseException>(() => _log.Finder.Find(position)).Mend;
    }

    [Fact]
    public void SpanningRecord_AndThatBehindIt_AreFound()
    {
        _log.Fill(3);
        Lsn spanning = _log.Spanning(100_000), behind = _log.Forks();
        _log.Commit();
        _log.Maker.Mark();

        Assert.Equal(spanning, _log.Finder.Find($"{spanning}:0").Place.Record);
        Assert.EndsWith("0,…  from bob  2026-11-21T08:00:05.000000Z", _log.Finder.Find("method:2").ToString());
        Assert.Equal(spanning, _log.Finder.Find("method:2").Place.Record);
        Assert.Equal(new MessagePlace(behind, 0), _log.Finder.Find($"{spanning + 50_000}").Place);
        Assert.Equal(new MessagePlace(behind, 0), _log.Finder.Next(new MessagePlace(spanning, 0)).Place);
        Assert.Equal(new MessagePlace(behind, 1), _log.Finder.Find("method:2#2").Place);
    }

    [Fact]
    public void TornTail_BehindWhatIsStated_IsNotThere()
    {
        Lsn[] lsns = _log.Fill(5);
        _log.Dispose();
        LogMaker.Tear(Path.Combine(_log.Directory, "log.1.1"), (long)lsns[^1].Value + 4_096);
        FoundPlace end = _log.Finder.Find("end");

        Assert.True(end.Place.Record <= lsns[^1]);
        Assert.Contains("is the end of what the log states", Assert.Throws<MisuseException>(() => _log.Finder.Find($"{lsns[^1]}:0")).Why);
        Assert.Equal(lsns[0], _log.Finder.Find($"{lsns[0]}:0").Place.Record);
    }

    [Fact]
    public void DamageInTheMiddle_OnTheWay_PassesThrough()
    {
        Lsn[] lsns = _log.Fill(Pages);
        _log.Checkpoint(); // it knows the names, so that no place needs what stands before its segment
        _log.Dispose();
        PlaceFinder finder = _log.Finder;
        string segment = _log.Maker.Log.Chain.Segments[1].Path;
        Lsn damaged = lsns.First(lsn => lsn > _log.Maker.Log.Chain.Segments[1].FirstLsn + 10_000);
        using (FileStream file = File.OpenWrite(segment))
        {
            file.Position = damaged - _log.Maker.Log.Chain.Segments[1].FirstLsn + 4_096 + 100;
            file.WriteByte(0xEE);
        }

        string time = $"{PlaceLog.Begin.AddSeconds(Array.IndexOf(lsns, damaged) + 1):O}";
        foreach (string position in (string[])[$"{damaged}:0", "method:5#40", "key:none", time])
            Assert.Equal(segment, Assert.Throws<LogDamage>(() => finder.Find(position)).File);
        Assert.Equal(lsns[0], finder.Find($"{lsns[0]}:0").Place.Record); // before it
        Assert.Equal(lsns[^1], finder.Find($"{lsns[^1]}:0").Place.Record); // behind it, in another segment
    }

    [Fact]
    public void Log_WithoutASegment_HasOnePlaceAlone()
    {
        string directory = _temporary.Of("new");
        InstanceIdentity identity = InstanceDirectory.Create(
            new PosixFileSystem(), directory, "new", 0, Guid.NewGuid(), 1_000_000, "r0", ICrashPoints.None);
        var finder = new PlaceFinder(new LogLocation(new ReadOnlyFiles(), directory, identity), _log.Time);

        Assert.Equal((default, true), (finder.Find("start").Place, finder.Find("start").IsEnd));
        Assert.Equal((default, true), (finder.Find("end").Place, finder.Find("end").IsEnd));
        Assert.Contains("0 is the end", Assert.Throws<MisuseException>(() => finder.Find("64:0")).Why);
    }

    private long BytesRead(string position)
    {
        var files = new HookedFiles(new PosixFileSystem());
        new PlaceFinder(new LogLocation(files, _log.Directory, _log.Maker.Identity), _log.Time).Find(position);
        return files.BytesRead;
    }
}
