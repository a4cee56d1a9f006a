using Ambrosia.Inspection.Places;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Tools.Tests;

/// <summary>Places that are there are found, in each form in which a user may write them.</summary>
public sealed class PlaceFinderTests : IDisposable
{
    private readonly TemporaryDirectory _temporary = new();
    private readonly PlaceLog _log;
    private readonly Lsn _forks, _calls, _results, _keyed, _request;

    public PlaceFinderTests()
    {
        _log = new PlaceLog(_temporary.Of("counter"));
        _forks = _log.Forks();
        _log.Commit(); // two seconds behind the beginning
        _calls = _log.Calls(2, 17, 18, 25);
        _results = _log.Results(2, 5, 17);
        _log.Commit();
        _keyed = _log.Keyed("order-1", "order-2");
        _log.Request(1);
        _request = _log.Request(2, "order-3");
        _log.Calls(1, 18);
        _log.Commit();
    }

    public void Dispose()
    {
        _log.Dispose();
        _temporary.Dispose();
    }

    [Fact]
    public void Position_OfARecord_IsItsFirstMessage()
    {
        FoundPlace found = Found($"{_forks}");
        Assert.Equal((new MessagePlace(_forks, 0), false, null), (found.Place, found.IsEnd, found.NextBehind));
        Assert.Equal($"{found}", $"{Found($"{_forks}:0")}");
    }

    [Fact]
    public void Position_BetweenRecords_IsTheNextAndSaysSo()
    {
        FoundPlace found = Found($"{_forks + 1}");
        Assert.Equal((new MessagePlace(_calls, 0), _forks + 1), (found.Place, found.NextBehind));
        Assert.EndsWith($"(the next behind {_forks + 1})", found.ToString());
    }

    [Fact]
    public void Position_WithAnIndex_IsThatMessage()
    {
        FoundPlace found = Found($"{_forks}:1");
        Assert.Equal(new MessagePlace(_forks, 1), found.Place);
        Assert.Equal($"{_forks}:1  fork  method 2(h'fffe')  from ada  2026-11-21T08:00:02.000000Z", found.ToString());
    }

    [Fact]
    public void Line_WhereAContractStandsBesideTheLog_HasNames()
    {
        Directory.CreateDirectory(Path.Combine(_log.Directory, "contracts"));
        File.WriteAllText(Path.Combine(_log.Directory, "contracts", "00000000000000a1.json"), Manifest.Json);
        _log.Maker.Mark();

        Assert.Equal($"{_calls}:1  call  IShop.Answer()  from bob  call 18  2026-11-21T08:00:03.000000Z", Found("call:18").ToString());
        Assert.Equal($"{_results}:0  result  IShop.Answer = null  from bob  call 5  2026-11-21T08:00:03.000000Z", Found("call:5").ToString());
        Assert.Equal(new MessagePlace(_forks, 1), Found("method:IShop.Raw").Place);
        Assert.Equal(new MessagePlace(_keyed, 1), Found("method:Raw#3").Place);
    }

    /// <summary>Whoever executes it says what is wrong with it; its place is one all the same, and what is behind it is found.</summary>
    [Fact]
    public void Record_ThatCannotBeDecoded_IsAPlace()
    {
        Lsn broken = _log.Maker.Append([1, 2, 3], RecordKind.Run), behind = _log.Forks();
        _log.Commit();
        _log.Maker.Mark();

        Assert.Contains("run  CANNOT BE DECODED: ", Found($"{broken}:0").ToString());
        Assert.Equal(new MessagePlace(behind, 0), Found($"{broken + 1}").Place);
        Assert.Equal(new MessagePlace(behind, 2), Found("method:99#2").Place);
    }

    [Theory]
    [InlineData("2026-11-21T08:00:01Z", 2)] // that of the page before: all of it is executed
    [InlineData("2026-11-21T08:00:01.999999Z", 2)]
    [InlineData("2026-11-21T09:00:02+01:00", 3)]
    [InlineData("2s", 3)] // it is four seconds past eight
    public void Time_BetweenPages_IsTheFirstPlaceOfTheLater(string time, int second)
    {
        Lsn[] firsts = [_forks, _calls, _keyed];
        Assert.Equal(new MessagePlace(firsts[second - 2], 0), Found(time).Place);
    }

    [Fact]
    public void Time_OfTheLastPageOrLater_IsTheEnd()
    {
        _log.Maker.Mark();
        MessagePlace end = Found("end").Place;
        _log.Time.Advance(TimeSpan.FromMinutes(1));

        Assert.Equal((end, true), (Found("2026-11-21T08:00:04Z").Place, Found("2026-11-21T08:00:04Z").IsEnd));
        Assert.Equal(end, Found("1s").Place);
        Assert.Equal(end, Found("2026-11-21T08:01:04Z").Place);
    }

    [Fact]
    public void Checkpoint_ByNumberOrName_IsItsPosition()
    {
        CheckpointFileName older = _log.Checkpoint(), newer = _log.Checkpoint();

        Assert.Equal(new MessagePlace(newer.Lsn, 0), Found("ckpt:1").Place);
        Assert.Equal(new MessagePlace(older.Lsn, 0), Found("ckpt:2").Place);
        Assert.Equal(new MessagePlace(older.Lsn, 0), Found($"ckpt:{older}").Place);
        Assert.Equal($"{Found("ckpt:2")}", $"{Found($"{older.Lsn}:0")}"); // as it was printed
        Assert.Contains("  fork  method 5(1)  from ada", Found("ckpt:2").ToString());
    }

    [Theory]
    [InlineData("call:17", 0)]
    [InlineData("call:bob#25", 2)]
    [InlineData("call:18", 1)] // the first of two
    public void Call_WithItsId_IsTheFirst(string position, uint index)
    {
        _log.Maker.Mark();
        Assert.Equal(new MessagePlace(_calls, index), Found(position).Place);
    }

    [Fact]
    public void Call_OfOneOfTwoInstances_IsThatOnes()
    {
        _log.Maker.Mark();
        Assert.Equal("ada", Found("call:ada#18").Entry!.From);
    }

    [Fact]
    public void Call_ThatNoCallHas_IsItsAnswer()
    {
        _log.Maker.Mark();
        Assert.Equal(new MessagePlace(_results, 0), Found("call:5").Place);
        Assert.Equal(new MessagePlace(_results, 0), Found("call:bob#5").Place);
    }

    [Fact]
    public void Call_WhoseIdAnAnswerHasBefore_IsTheCall()
    {
        Lsn call = _log.Calls(1, 5);
        _log.Maker.Mark();
        Assert.Equal(new MessagePlace(call, 0), Found("call:5").Place);
        Assert.Equal(new MessagePlace(_results, 0), Found("call:bob#5").Place);
    }

    [Fact]
    public void Key_OfAnImpulseOrARequest_IsTheFirstMessageThatHasIt()
    {
        _log.Maker.Mark();
        Assert.Equal(new MessagePlace(_keyed, 1), Found("key:order-2").Place);
        Assert.Equal(new MessagePlace(_request, 0), Found("key:order-3").Place);
        Assert.Equal(new MessagePlace(_request, 0), Found("key:h'6f726465722d33'").Place); // as 'ambrosia log' shows it
    }

    [Theory]
    [InlineData("method:2", 1)]
    [InlineData("method:0x2#1", 1)]
    [InlineData("method:99", 2)]
    public void Method_ById_IsTheFirstMessageThatCallsIt(string position, uint index) =>
        Assert.Equal(new MessagePlace(_forks, index), Found(position).Place);

    /// <summary>Results name the method that they are of, and call nothing.</summary>
    [Fact]
    public void Method_WhoseResultsStandThereToo_CountsCallsAlone()
    {
        _log.Maker.Mark();
        Assert.Equal(new MessagePlace(_calls, 2), Found("method:3#3").Place);
        Assert.Equal("ada", Found("method:3#4").Entry!.From);
        Assert.Equal(new MessagePlace(_request, 0), Found("method:2#5").Place);
    }

    [Fact]
    public void Start_OfAWholeLog_IsBeforeItsFirstRecord()
    {
        FoundPlace start = Found("start");
        Assert.Equal((default, "firstStart"), (start.Place, start.Entry!.Kind));
        Assert.StartsWith("0:0  before 64:0  firstStart  instance=counter", start.ToString());
    }

    [Fact]
    public void End_OfALog_IsBehindWhatIsStated()
    {
        Assert.True(Found("end").Place.Record < _request); // the last page is not stated by any
        _log.Maker.Mark();
        FoundPlace end = Found("end");

        Assert.Equal((_log.Maker.Writer.Stated, true), (end.Place.Record, end.IsEnd));
        Assert.Equal($"{end.Place}  the end of the log  2026-11-21T08:00:04.000000Z", end.ToString());
        Assert.Equal(end, Found($"{end.Place}")); // as it was printed
        Assert.Equal(end.Place, Found($"{end.Place.Record}").Place);
    }

    [Fact]
    public void End_OfALogThatIsWritten_GoesOn()
    {
        for (int i = 0; i < 3; i++)
        {
            _log.Forks();
            _log.Commit();
            _log.Maker.Mark();
            Assert.Equal(_log.Maker.Writer.Stated, Found("end").Place.Record);
        }
    }

    [Theory]
    [InlineData("crash", "death.r0", "2", 2)]
    [InlineData("crash", "death.r1", "null", 0)]
    [InlineData("divergence", "divergence.r0", "1", 1)]
    public void Incident_ThatIsKeptBesideTheLog_IsItsPlace(string position, string file, string index, uint found)
    {
        WriteIncident($"{file[..^1]}7", 5, _calls, "0");
        WriteIncident(file, 6, _forks, index); // the newest counts
        Assert.Equal(new MessagePlace(_forks, found), Found(position).Place);
    }

    /// <summary>Without an index the coordinator knows how far the app was, which need be no record's beginning.</summary>
    [Fact]
    public void Crash_BetweenRecords_IsBeforeTheNext()
    {
        WriteIncident("death.r0", 6, _forks + 1, "null");
        Assert.Equal(new MessagePlace(_calls, 0), Found("crash").Place);
    }

    [Fact]
    public void MessageAt_PlaceWhereNothingStands_IsNull()
    {
        PlaceFinder finder = _log.Finder;
        Assert.Equal("ada", finder.MessageAt(new MessagePlace(_forks, 2))!.Entry!.From);
        Assert.Null(finder.MessageAt(new MessagePlace(_forks, 3)));
        Assert.Null(finder.MessageAt(new MessagePlace(_forks + 1, 0)));
        Assert.Null(finder.MessageAt(Found("end").Place));
    }

    [Fact]
    public void Next_FromTheBeginning_IsEachPlaceToTheEnd()
    {
        _log.Maker.Mark();
        var places = new List<string>();
        FoundPlace at = Found("64");
        for (; !at.IsEnd; at = _log.Finder.Next(at.Place)) places.Add($"{at.Place}");

        Assert.Equal(3 + 3 + 3 + 2 + 2 + 1 + 1 + 1, places.Distinct().Count());
        Assert.Equal(_log.Maker.Writer.Stated, at.Place.Record);
    }

    [Fact]
    public void Find_EveryForm_ChangesNothing()
    {
        _log.Maker.Mark();
        _log.Checkpoint();
        _log.Dispose(); // its lock keeps a file from being read
        string before = Snapshot.Of(_log.Directory);
        foreach (string position in (string[])[$"{_forks}", $"{_forks}:1", "1s", "ckpt:1", "call:17", "key:order-1", "method:2", "start", "end"])
            Assert.NotNull(Found(position));
        Assert.Equal(before, Snapshot.Of(_log.Directory));
    }

    private FoundPlace Found(string position) => _log.Finder.Find(position);

    private void WriteIncident(string file, long time, Lsn lsn, string index) => File.WriteAllText(Path.Combine(_log.Directory, file),
        $$"""{"time":{{time}},"replica":"r0","appVersion":7,"lsn":{{lsn}},"index":{{index}},"build":null,"exitCode":134,"signal":6}""" + "\n");
}
