using Ambrosia.Coordinator.Replica;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Protocol;

namespace Ambrosia.Tools.Tests;

/// <summary>What is not there is refused with what, why, and the two nearest that are.</summary>
public sealed class PlaceRefusalTests : IDisposable
{
    private readonly TemporaryDirectory _temporary = new();
    private readonly PlaceLog _log;
    private readonly Lsn _forks, _calls;

    public PlaceRefusalTests()
    {
        _log = new PlaceLog(_temporary.Of("counter"));
        _forks = _log.Forks();
        _log.Commit();
        _calls = _log.Calls(2, 17, 25);
        _log.Commit();
    }

    public void Dispose()
    {
        _log.Dispose();
        _temporary.Dispose();
    }

    [Fact]
    public void Index_BeyondTheRun_NamesItsFirstAndLast() => Refused($"{_forks}:3", $"there is no message {_forks}:3", "the record has 3",
        $"the nearest are {_forks}:0 (fork of method 1 from ada) and {_forks}:2 (fork of method 99 from ada)");

    [Fact]
    public void Position_WhereNoRecordBegins_NamesThoseAround()
    {
        Refused($"{_forks + 8}:1", $"there is no message {_forks + 8}:1", $"no record begins at {_forks + 8}",
            $"{_forks}:2 (fork of method 99 from ada) and {_log.Finder.Find("end").Place} (the end)");
        _log.Maker.Mark();
        Refused($"{_forks + 8}:1", $"there is no message {_forks + 8}:1", $"no record begins at {_forks + 8}",
            $"the nearest are {_forks}:2 (fork of method 99 from ada) and {_calls}:0 (call of method 3 from bob)");
        Refused("8:0", "there is no message 8:0", "no record begins at 8", "the nearest are 64:0 (firstStart) and ", " (peer)");
    }

    [Fact]
    public void Position_BehindTheEnd_NamesTheLastAndTheEnd()
    {
        _log.Maker.Mark();
        Lsn end = _log.Maker.Writer.Stated;
        foreach (string position in (string[])[$"{end + 1}", $"{end + 1}:0", $"{end}:1"])
            Refused(position, "there is no", $"{end} is the end of what the log states as durable",
                $"the nearest are {_calls}:1 (call of method 3 from bob) and {end}:0 (the end)");
    }

    /// <summary>A page that is whole and that nothing states was told to nobody: the next primary may drop it.</summary>
    [Fact]
    public void Position_OnAPageThatIsNotStated_IsBehindTheEnd()
    {
        Lsn end = _log.Finder.Find("end").Place.Record;
        Assert.True(end < _calls);
        Refused($"{_calls}:1", "there is nothing at", $"{end} is the end", $"{_forks}:2 (fork of method 99 from ada) and {end}:0 (the end)");
        Refused("call:17", "there is no call 17", "no call is in this log", "start, 0:0 (firstStart) and end");
        Refused("method:3", "there is no message that calls 3", "others call", "method:1 at");
        _log.Maker.Mark();
        Assert.Equal(new MessagePlace(_calls, 0), _log.Finder.Find("call:17").Place);
    }

    [Theory]
    [InlineData("2026-11-21T07:59:59Z")]
    [InlineData("2026-11-21T09:00:00Z")] // an hour from now
    [InlineData("1h")]
    public void Time_OutsideOfTheLog_NamesItsFirstAndLast(string time)
    {
        _log.Maker.Mark();
        Refused(time, "is outside of what this log tells",
            "it was logged from 2026-11-21T08:00:01.000000Z to 2026-11-21T08:00:03.000000Z", "the nearest are start, 0:0 (firstStart) and end, ");
    }

    [Fact]
    public void Call_Unknown_NamesThoseWithTheNearestIds()
    {
        _log.Maker.Mark();
        Refused("call:20", "there is no call 20", "other calls are in this log",
            $"the nearest are call:bob#17 at {_calls}:0 and call:bob#25 at {_calls}:1");
        Refused("call:bob#9", "there is no call 9 of bob", "other calls of bob", $"the nearest is call:bob#17 at {_calls}:0");
        Refused("call:ada#20", "there is no call 20 of ada", "no call of ada is in this log", $"call:bob#17 at {_calls}:0 and call:bob#25");
        Refused("call:ada#17", "there is no call 17 of ada", "no call of ada", $"the nearest is {_calls}:0 (call of method 3 from bob)");
        Lsn more = _log.Calls(1, 11, 19, 18, 40, 22, 23);
        _log.Maker.Mark();
        Refused("call:20", "there is no call 20", "other calls", $"the nearest are call:ada#19 at {more}:1 and call:ada#22 at {more}:4");
    }

    [Fact]
    public void Key_Unknown_NamesThoseThatBeginAlike()
    {
        Refused("key:order-5", "no message with the key 'order-5'", "no message with a key is in this log", "start, ");
        Lsn keyed = _log.Keyed("invoice-1", "order-40", "order-31", "order-40", "or");
        _log.Maker.Mark();
        Refused("key:order-3", "no message with the key 'order-3'", "others", $"key:order-31 at {keyed}:2 and key:order-40 at {keyed}:1");
    }

    [Fact]
    public void Method_WithFewerMessages_NamesTheLastTwo()
    {
        _log.Maker.Mark();
        Refused("method:3#7", "there is no message 7 that calls 3", "this log has 2", $"method:3 at {_calls}:0 and method:3#2 at {_calls}:1");
        Refused("method:2#2", "there is no message 2 that calls 2", "this log has 1", $"the nearest is method:2 at {_forks}:1");
    }

    [Fact]
    public void Method_Unknown_NamesThoseThatAreSpeltAlike()
    {
        Refused("method:Answr", "cannot be found by this name alone", "no contract", "by its id");
        Directory.CreateDirectory(Path.Combine(_log.Directory, "contracts"));
        File.WriteAllText(Path.Combine(_log.Directory, "contracts", "00000000000000a1.json"), Manifest.Json);
        _log.Maker.Mark();

        Refused("method:Answr", "there is no method 'Answr'", "contracts of this log", "the nearest are method:IShop.Answer and method:IShop.");
        Refused("method:Two", "no message that calls Two", "others", $"method:IShop.Raw at {_forks}:1");
        Refused("method:Raw#0", "'Raw#0' is no method", "from 1 on", "method:NAME#N");
    }

    [Fact]
    public void Checkpoint_Unknown_NamesTheNearestTwo()
    {
        Refused("ckpt:1", "there is no checkpoint '1'", "this log has no checkpoint", "start, 0:0 (firstStart)");
        CheckpointFileName[] taken = [_log.Checkpoint(), _log.Checkpoint(), _log.Checkpoint()];
        Refused("ckpt:4", "'4' is no checkpoint", "", $"ckpt:{taken[0]}, {taken[0].Lsn}:0", $"ckpt:{taken[1]}, {taken[1].Lsn}:0");
        Refused($"ckpt:{taken[2].Lsn.Value + 5}", "is no checkpoint", "", $"ckpt:{taken[2]}", $"ckpt:{taken[1]}");
    }

    [Theory]
    [InlineData("crash", "no app of this log has died at work")]
    [InlineData("divergence", "no replica of this log was found diverged")]
    public void Incident_ThatNobodyHadWritten_NamesTheEnds(string position, string why) =>
        Refused(position, $"there is no {position}", why, "start, 0:0 (firstStart) and end");

    [Theory]
    [InlineData("")]
    [InlineData("yesterday")]
    [InlineData("100:")]
    [InlineData("100:x")]
    [InlineData("-1")]
    [InlineData("4611686018427387904")] // behind every position
    [InlineData("cell:4")]
    public void Text_ThatIsNoPlace_NamesTheForms(string text) => Refused(text, $"'{text}' is no place of a log", "", "give LSN, LSN:INDEX, a time");

    [Theory]
    [InlineData("call:x", "is no call id")]
    [InlineData("call:bob#", "is no call id")]
    [InlineData("key:", "a key has one byte at least")]
    [InlineData("method:2#x", "is no method")]
    public void Text_OfAFormThatIsMalformed_SaysTheForm(string text, string what) => Refused(text, what, "", "give ");

    private void Refused(string position, params string[] says)
    {
        MisuseException refusal = Assert.Throws<MisuseException>(() => _log.Finder.Find(position));
        Assert.All(says, said => Assert.Contains(said, refusal.Message, StringComparison.Ordinal));
        Assert.Contains(says[0], refusal.What, StringComparison.Ordinal);
        Assert.Contains(says[^1], refusal.Mend, StringComparison.Ordinal);
    }
}
