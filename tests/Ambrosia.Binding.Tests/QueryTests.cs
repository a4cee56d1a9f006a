using System.Buffers;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Queries;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// Queries as an app meets them between its records: what they see, what they are refused, and how a change of the state is found.
/// </summary>
public sealed class QueryTests
{
    private const uint Add = 1, Wait = 2, Words = 3, Mirror = 4, Try = 5, Touch = 6, Time = 8;

    private readonly FakeCoordinator _coordinator = Made(QueryChecking.Always);

    private static FakeCoordinator Made(QueryChecking? checking)
    {
        var coordinator = new FakeCoordinator(ImmortalDefinition.Of<Reader>()) { QueryChecking = checking };
        coordinator.Welcome();
        coordinator.Deliver(FirstStart(), Peer(1, "bank2"), Peer(2, "bank3"), Fork(Add, "one"), Fork(Add, "two"));
        coordinator.Said.Clear();
        return coordinator;
    }

    private static void Ask(FakeCoordinator of, ulong query, uint method, params object?[] arguments) =>
        AskRaw(of, query, of.Next, method, Cbor.Of(arguments));

    private static void AskRaw(FakeCoordinator of, ulong query, Lsn position, uint method, byte[] arguments)
    {
        var payload = new ArrayBufferWriter<byte>();
        new QueryFrame(query, position, 0, method, arguments).Write(payload);
        of.Send(FrameType.Query, payload.WrittenSpan);
    }

    private string Asked(uint method, params object?[] arguments)
    {
        _coordinator.Said.Clear();
        Ask(_coordinator, 1, method, arguments);
        return Assert.Single(_coordinator.Said, static line => line.StartsWith("answer", StringComparison.Ordinal));
    }

    [Fact]
    public void Query_IsAnsweredOutOfTheStateOfItsPlace()
    {
        Lsn before = _coordinator.Next;
        Ask(_coordinator, 7, Words, 0, 10);
        _coordinator.Deliver(Fork(Add, "three"));
        Ask(_coordinator, 8, Words, 1);
        Assert.Equal(
            [$"answer 7 value at {before} ['one' 'two']", $"answer 8 value at {_coordinator.Next} ['two' 'three']"],
            _coordinator.Said.Where(static line => line.StartsWith("answer", StringComparison.Ordinal)));
    }

    [Fact]
    public void Query_ByteByByte_IsAnsweredAllTheSame()
    {
        var slow = new FakeCoordinator(ImmortalDefinition.Of<Reader>(), byteByByte: true) { QueryChecking = QueryChecking.Always };
        slow.Welcome();
        slow.Deliver(FirstStart(), Peer(1, "bank2"), Fork(Add, "one"));
        Ask(slow, 1, Words, 0);
        Assert.Contains($"answer 1 value at {slow.Next} ['one']", slow.Said);
    }

    /// <summary>A position behind the last record, in which there is nothing: pages end there.</summary>
    [Fact]
    public void Query_OfAPositionBehindTheLastRecord_StatesIt()
    {
        Lsn behind = _coordinator.Next + 100;
        AskRaw(_coordinator, 1, behind, Words, Cbor.Of(0));
        Assert.Contains($"answer 1 value at {behind} ['one' 'two']", _coordinator.Said);
    }

    [Fact]
    public void Query_OfRawBytes_GetsThemRaw()
    {
        _coordinator.Said.Clear();
        AskRaw(_coordinator, 1, _coordinator.Next, Mirror, [1, 2, 3]);
        Assert.Contains($"answer 1 value at {_coordinator.Next} 3 2 1", _coordinator.Said);
    }

    [Fact]
    public void Query_SeesTheTimeOfTheLastRecord()
    {
        _coordinator.DeliverWith(0, 5_000_000, Fork(Add, "late"));
        Assert.Contains("value", Asked(Time), StringComparison.Ordinal);
    }

    public static TheoryData<string, string> Effects => new()
    {
        { "fork", "A query sends" }, { "call", "A query sends" }, { "impulse fork", "A query sends" }, { "impulse call", "A query sends" },
        { "logged impulse", "A query sends" }, { "keyed impulse", "A query sends" }, { "proxy", "A query gets a proxy" },
        { "delay", "A query uses randomness, a timer or a task" }, { "every", "A query uses" }, { "stop a timer", "A query uses" },
        { "task", "A query uses" }, { "task method", "A query uses" }, { "random", "A query uses" }, { "guid", "A query uses" },
        { "checkpoint", "A query asks for a checkpoint" },
        { "cancel", "A query waits" }, { "helper", "A query sends" },
    };

    [Theory]
    [MemberData(nameof(Effects))]
    public void Query_ThatWantsAnEffect_IsRefusedAndNothingHappens(string what, string why)
    {
        _coordinator.BecomePrimary();
        _coordinator.Said.Clear();
        Ask(_coordinator, 1, Try, what);
        string said = Assert.Single(_coordinator.Said);
        Assert.StartsWith("answer 1 failure at ", said, StringComparison.Ordinal);
        Assert.Contains(why, said, StringComparison.Ordinal);
        Assert.Contains("A method that is no query may do that.", said, StringComparison.Ordinal);
        Assert.Equal(["one", "two"], _coordinator.Immortal<Reader>().Contents);
        Assert.Equal(SessionState.Running, _coordinator.Session.State);
    }

    [Fact]
    public void Query_ThatThrows_IsAFailureAndTheSessionGoesOn()
    {
        Assert.Contains("'System.ArgumentException' 'no such word'", Asked(Try, "throw").Replace(",", "", StringComparison.Ordinal),
            StringComparison.Ordinal);
        Assert.Contains("'nothing happened'", Asked(Try, "nothing"), StringComparison.Ordinal);
        Assert.Equal(0, _coordinator.Session.FailedForks);
    }

    [Theory]
    [InlineData(99u, "'Method 0x63 is not in the contract.'")]
    [InlineData(Add, "'Method 0x1 is not in the contract.'")] // a handler is no query
    public void Query_OfWhatIsNoQuery_IsAFailure(uint method, string why) =>
        Assert.Contains(why, Asked(method, "x"), StringComparison.Ordinal);

    /// <summary>And what comes from the log is never a query: the id of one is unknown there.</summary>
    [Fact]
    public void Record_WithTheMethodOfAQuery_IsUnknown()
    {
        _coordinator.Deliver(Call(Words, 1, 0));
        Assert.Contains(_coordinator.Said,
            static line => line.StartsWith("failure bank2 3 #1", StringComparison.Ordinal)
                && line.Contains("'Ambrosia.NoMethod'", StringComparison.Ordinal));
    }

    [Fact]
    public void Query_ThatChangesTheState_EndsTheAppAfterItsCallerIsTold()
    {
        Assert.Contains("failure", Asked(Touch, false), StringComparison.Ordinal);
        Assert.Contains(_coordinator.Said,
            static line => line.Contains("'Ambrosia.QueryChangedState'", StringComparison.Ordinal)
                && line.Contains("has changed the state", StringComparison.Ordinal));
        Assert.Equal((SessionState.Ended, GoodbyeCode.AppFailed), (_coordinator.Session.State, _coordinator.Session.End!.Code));
        Assert.Contains("Reader.Touch has changed the state", _coordinator.Session.End.Why, StringComparison.Ordinal);
    }

    /// <summary>What is marked [NotState] is no state, so a query may keep something at hand.</summary>
    [Fact]
    public void Query_ThatChangesWhatIsNotState_IsAnswered()
    {
        Assert.Contains("value", Asked(Touch, true), StringComparison.Ordinal);
        Assert.Equal(1, _coordinator.Immortal<Reader>().Touched);
        Assert.Equal(SessionState.Running, _coordinator.Session.State);
    }

    /// <summary>The first, second and fourth of a method are held against the state, the third is not.</summary>
    [Fact]
    public void Query_Sampled_IsFoundAtPowersOfTwo()
    {
        FakeCoordinator sampled = Made(QueryChecking.Sampled);
        Ask(sampled, 1, Touch, true);
        Ask(sampled, 2, Touch, true);
        Ask(sampled, 3, Touch, false);
        Assert.Equal((SessionState.Running, 3), (sampled.Session.State, sampled.Immortal<Reader>().Touched)); // not looked at
        Ask(sampled, 4, Touch, false);
        Assert.Equal(SessionState.Ended, sampled.Session.State);
    }

    /// <summary>Negative control: unchecked, a change of the state goes by unseen.</summary>
    [Fact]
    public void Query_NeverChecked_ChangesTheStateUnseen()
    {
        FakeCoordinator unchecked_ = Made(QueryChecking.Never);
        for (ulong query = 1; query <= 4; query++) Ask(unchecked_, query, Touch, false);
        Assert.Equal((SessionState.Running, 4), (unchecked_.Session.State, unchecked_.Immortal<Reader>().Touched));
    }

    /// <summary>These tests are built for debugging, and then every query is checked.</summary>
    [Fact]
    public void Query_InAnAppBuiltForDebugging_IsAlwaysChecked()
    {
        FakeCoordinator unsaid = Made(null);
        Ask(unsaid, 1, Touch, true);
        Ask(unsaid, 2, Touch, true);
        Ask(unsaid, 3, Touch, false);
        bool isDebug =
            ((System.Diagnostics.DebuggableAttribute?)Attribute.GetCustomAttribute(typeof(Reader).Assembly,
                typeof(System.Diagnostics.DebuggableAttribute)))?.IsJITOptimizerDisabled ?? false;
        Assert.Equal(isDebug ? SessionState.Ended : SessionState.Running, unsaid.Session.State);
    }

    /// <summary>Handlers that wait are part of the state: their images are the same before and behind, and they go on.</summary>
    [Fact]
    public void Query_BetweenAwaits_LeavesThemAlone()
    {
        _coordinator.Deliver(Call(Wait, 9, "bank3"));
        Assert.Contains("['one' 'two']", Asked(Words, 0), StringComparison.Ordinal);
        _coordinator.Deliver(Result(Wait, 1, 2, 42));
        Assert.Contains(_coordinator.Said, static line => line.StartsWith("result bank2 2 #9 42", StringComparison.Ordinal));
    }

    [Fact]
    public void Query_LeavesNoTraceInImageOrOutput()
    {
        FakeCoordinator other = Made(QueryChecking.Always);
        for (ulong query = 1; query < 5; query++) Ask(_coordinator, query, Words, 0);
        foreach (FakeCoordinator each in new[] { _coordinator, other }) each.Deliver(Fork(Add, "three"), Mark());
        Assert.NotEmpty(other.Image);
        Assert.Equal(other.Image, _coordinator.Image);
    }

    [Fact]
    public void Answer_LongerThanAMessageMayBe_IsAFailure()
    {
        var small = new FakeCoordinator(ImmortalDefinition.Of<Reader>()) { QueryChecking = QueryChecking.Always };
        small.Welcome(messageBytesMax: 200);
        small.Deliver(FirstStart(), Peer(1, "bank2"));
        foreach (int n in Enumerable.Range(0, 5)) small.Deliver(Fork(Add, new string('w', 100)));
        Ask(small, 1, Words, 0, 5);
        Ask(small, 2, Words, 0, 1);
        string[] answers = [.. small.Said.Where(static line => line.StartsWith("answer", StringComparison.Ordinal))];
        Assert.Contains("longer than the limit of 200 bytes", answers[0], StringComparison.Ordinal);
        Assert.StartsWith("answer 2 value", answers[1], StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("query 0")]
    [InlineData("before the first record")]
    public void Frame_ThatIsWrong_EndsTheSession(string what)
    {
        FakeCoordinator fresh = new(ImmortalDefinition.Of<Reader>());
        fresh.Welcome();
        if (what == "query 0") _coordinator.Send(FrameType.Query, new byte[QueryFrame.HeadBytes]);
        else Ask(fresh, 1, Words, 0);
        Assert.Equal(GoodbyeCode.ProtocolViolation, (what == "query 0" ? _coordinator : fresh).Session.End!.Code);
    }

    [Theory]
    [InlineData(null, null)]
    [InlineData("", null)]
    [InlineData("always", QueryChecking.Always)]
    [InlineData("sampled", QueryChecking.Sampled)]
    [InlineData("never", QueryChecking.Never)]
    public void Setting_IsRead(string? text, QueryChecking? expected) => Assert.Equal(expected, QueryChecks.Parse("X", text));

    [Fact]
    public void Setting_ThatIsNone_SaysWhichThereAre() =>
        Assert.Contains("always, sampled or never", Assert.Throws<FormatException>(static () => QueryChecks.Parse("X", "often")).Message,
            StringComparison.Ordinal);

    /// <summary>Callers say the ids, so what is remembered of them has a bound.</summary>
    [Fact]
    public void Checks_OfMethodsWithoutEnd_RememberAsManyAsAContractMayHave()
    {
        var checks = new QueryChecks(QueryChecking.Sampled, typeof(QueryTests).Assembly);
        for (uint method = 1; method <= 10_000; method++) checks.Wants(method);

        Assert.InRange(checks.Methods, 1_000, 4_096);
        Assert.True(checks.Wants(1)); // the second of that method
        Assert.False(checks.Wants(20_000));
    }
}
