using Ambrosia.Coordinator.Links;
using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

public sealed class AbsentPeerLogTests
{
    private readonly FakeTime _time = new();
    private readonly List<string> _lines = [];
    private readonly AbsentPeerLog _log;

    public AbsentPeerLogTests() => _log = new AbsentPeerLog(EventRecorder.OfTexts(_lines.Add), _time);

    [Fact]
    public void Note_ThousandsOfPeers_GivesALineForTheFirstAndOneForTheRest()
    {
        for (int i = 0; i < 18_000; i++) _log.Note(new InstanceId($"away{i}"), DialFailure.Unlisted, "");
        Assert.Equal("away0 is not in the catalog: calls to it are kept until it appears", Assert.Single(_lines));
        _time.Advance(TimeSpan.FromSeconds(1));
        _log.WriteDue();
        Assert.Equal(
            "17999 more peers are not in the catalog: away1, away2, away3, away4, away5, away6, away7, away8, away9, away10 and 17989 more. Calls to them are kept until they appear",
            Assert.Single(_lines[1..]));
    }

    [Fact]
    public void Note_PeersThatDoNotAnswer_AreALineOfTheirOwnWithTheLastReason()
    {
        _log.Note(new InstanceId("away"), DialFailure.NoAddress, "");
        for (int i = 0; i < 3; i++) _log.Note(new InstanceId($"dead{i}"), DialFailure.NoAnswer, $"refused {i}");
        _time.Advance(TimeSpan.FromSeconds(1));
        _log.WriteDue();
        Assert.Equal("dead0 cannot be reached: refused 0", _lines[1]);
        Assert.Equal("2 more peers cannot be reached: dead1, dead2. Of the last: refused 2", Assert.Single(_lines[2..]));
    }

    [Fact]
    public void Note_APeerEachSecondForAnHour_IsToldOfEverMoreSeldom()
    {
        for (int i = 0; i < 3600; i++)
        {
            _log.Note(new InstanceId($"away{i}"), DialFailure.Unlisted, "");
            _time.Advance(TimeSpan.FromSeconds(1));
        }
        Assert.InRange(_lines.Count, 50, 75);
        _lines.Clear();
        _time.Advance(TimeSpan.FromMinutes(5));
        _log.WriteDue();
        _time.Advance(TimeSpan.FromMinutes(5));
        _log.Note(new InstanceId("later"), DialFailure.Unlisted, "");
        Assert.Contains("later", _lines[^1]); // behind a quiet time the next one is told of at once
    }
}
