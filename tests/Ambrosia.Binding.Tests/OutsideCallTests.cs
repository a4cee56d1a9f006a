using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>What callers outside ask, as an app meets it in its log; and the window of what had a key.</summary>
public sealed class OutsideCallTests
{
    private const uint Deposit = 1, Balance = 2, BalanceAt = 3, Break = 6, BreakLater = 7, UserInput = 11;
    private const long HourUs = 3_600_000_000, DayUs = 24 * HourUs;

    private readonly FakeCoordinator _coordinator = Started<Bank>();

    /// <summary>The lines since the last question that are neither progress nor destinations.</summary>
    private string[] Heard(FakeCoordinator? from = null)
    {
        List<string> said = (from ?? _coordinator).Said;
        string[] heard = [
            .. said.Where(
                static line => !line.StartsWith("processed", StringComparison.Ordinal)
                    && !line.StartsWith("destination", StringComparison.Ordinal))];
        said.Clear();
        return heard;
    }

    private static byte[] Policy(ulong windowUs = DayUs, ulong entries = 1000, ulong bytes = 1 << 20) =>
        RecordKinds.EncodeWhole(new PolicyRecord(ForkPolicy.Continue, windowUs, entries, bytes));

    [Fact]
    public void Request_OfEachSort_IsAnsweredToItsSession()
    {
        _coordinator.Deliver(Request(1, null, Deposit, "ann", 5), Request(2, null, Balance, "ann"), Request(3, null, Break, "no"),
            Request(4, null, 99));

        string[] heard = Heard();
        Assert.Equal(["clientanswer caller 3.1 1 #1", "clientanswer caller 3.1 2 #2 5"], heard[..2]);
        Assert.StartsWith("clientfailure caller 3.1 6 #3 ", heard[2], StringComparison.Ordinal);
        Assert.Contains("'System.InvalidOperationException' 'no'", heard[2].Replace(",", "", StringComparison.Ordinal),
            StringComparison.Ordinal);
        Assert.StartsWith("clientfailure caller 3.1 99 #4", heard[3], StringComparison.Ordinal);
        Assert.Equal(4, heard.Length);
        Assert.Equal(0, _coordinator.Session.FailedForks);
    }

    [Fact]
    public void Request_Suspended_IsAnsweredWhenItsHandlerIsFinished()
    {
        _coordinator.Deliver(Request(1, null, BalanceAt, "bank3", "ann"), Request(2, null, BreakLater, "bank3"));
        Assert.Equal(["call bank3 2 #1 'ann'", "call bank3 2 #2 'x'"], Heard());

        _coordinator.Deliver(Result(Balance, 2, 2, 0), Result(Balance, 1, 2, 7));
        string[] heard = Heard();
        Assert.StartsWith("clientfailure caller 3.1 7 #2", heard[0], StringComparison.Ordinal);
        Assert.Equal("clientanswer caller 3.1 3 #1 7", heard[1]);
    }

    [Fact]
    public void Impulse_OfACaller_ActsAndIsAnsweredToNobody()
    {
        _coordinator.Deliver(Request(0, null, UserInput, "one"), Request(0, null, Break, "counted"));

        Assert.Empty(Heard());
        Assert.Equal("input one", _coordinator.Immortal<Bank>().Log[^1]);
        Assert.Equal(1, _coordinator.Session.FailedForks);
    }

    [Fact]
    public void Key_AskedAgain_ActsOnceAndHasTheSameAnswer()
    {
        _coordinator.Deliver(Request(1, "k", Deposit, "ann", 5), Request(2, "f", Break, "first"));
        string failure = Heard()[1];

        _coordinator.Deliver(Request(3, "k", Deposit, "ann", 5), Request(4, "f", Break, "first"), Request(5, null, Balance, "ann"));
        Assert.Equal(
            ["clientanswer caller 3.1 1 #3", failure.Replace("#2", "#4", StringComparison.Ordinal), "clientanswer caller 3.1 2 #5 5"],
            Heard());
    }

    [Fact]
    public void Key_AskedDuringTheHandler_WaitsForTheSameAnswer()
    {
        _coordinator.Deliver(Request(1, "k", BalanceAt, "bank3", "ann"), Request(2, "k", BalanceAt, "bank3", "ann"),
            Request(0, "k", BalanceAt, "bank3", "ann"));
        Assert.Equal(["call bank3 2 #1 'ann'"], Heard());

        _coordinator.Deliver(Result(Balance, 1, 2, 7), Request(3, "k", BalanceAt, "bank3", "ann"));
        Assert.Equal(["clientanswer caller 3.1 3 #1 7", "clientanswer caller 3.1 3 #2 7", "clientanswer caller 3.1 3 #3 7"], Heard());
    }

    [Fact]
    public void Key_BelongsToItsMethod()
    {
        _coordinator.Deliver(Request(1, "k", Deposit, "ann", 5), Request(2, "k", Balance, "ann"));

        Assert.Equal(["clientanswer caller 3.1 1 #1", "clientanswer caller 3.1 2 #2 5"], Heard());
    }

    [Fact]
    public void KeyedImpulse_OfAPeerAndOfACaller_ShareTheWindow()
    {
        _coordinator.Deliver(KeyedImpulse("k", "one"), KeyedImpulse("k", "one"), Request(0, "k", UserInput, "one"),
            Request(1, "k", UserInput, "one"));

        Assert.Equal(["clientanswer caller 3.1 11 #1"], Heard());
        Assert.Equal(["first start of bank1", "input one"], _coordinator.Immortal<Bank>().Log);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Key_OfOtherArguments_IsRefusedAndNothingHappens(bool restored)
    {
        _coordinator.Deliver(Request(1, "k", Deposit, "ann", 5), Mark(bound: 1), Request(2, null, Balance, "ann"));
        FakeCoordinator next = _coordinator;
        if (restored) (next = new FakeCoordinator(ImmortalDefinition.Of<Bank>())).Welcome(_coordinator.Image);
        Heard(next);

        next.Deliver(Request(3, "k", Deposit, "ann", 6), Request(0, "k", Deposit, "ann", 7), Request(4, "k", Deposit, "ann", 5),
            Request(5, null, Balance, "ann"));

        string[] heard = Heard(next);
        Assert.StartsWith("clientfailure caller 3.1 1 #3 ", heard[0], StringComparison.Ordinal);
        Assert.Contains("'Ambrosia.KeyReused'", heard[0], StringComparison.Ordinal);
        Assert.Equal(["clientanswer caller 3.1 1 #4", "clientanswer caller 3.1 2 #5 5"], heard[1..]);
        Assert.Equal(1, next.Session.FailedForks);
    }

    [Fact]
    public void Key_OfOtherArgumentsDuringTheHandler_IsRefusedAtOnce()
    {
        _coordinator.Deliver(Request(1, "k", BalanceAt, "bank3", "ann"), Request(2, "k", BalanceAt, "bank3", "bob"));

        string[] heard = Heard();
        Assert.Equal(["call bank3 2 #1 'ann'"], heard[..1]);
        Assert.StartsWith("clientfailure caller 3.1 3 #2 ", heard[1], StringComparison.Ordinal);
    }

    /// <summary>Negative control: without keys each of them acts.</summary>
    [Fact]
    public void Impulses_WithoutKeys_AllAct()
    {
        _coordinator.Deliver(Run(MessageKind.Impulse, 1, (UserInput, 0, Cbor.Of("one")), (UserInput, 0, Cbor.Of("one"))),
            Request(0, null, UserInput, "one"));
        Assert.Equal(3, _coordinator.Immortal<Bank>().Log.Count(static line => line == "input one"));
    }

    [Fact]
    public void Window_EndsByLogTime()
    {
        _coordinator.DeliverWith(0, 1, Request(1, "k", Deposit, "ann", 5));
        for (int hour = 1; hour < 24; hour++) _coordinator.DeliverWith(0, hour * HourUs, Request(1, null, Balance, "bob"));
        _coordinator.DeliverWith(0, DayUs, Request(2, "k", Deposit, "ann", 5), Request(3, null, Balance, "ann"));
        Assert.Equal("clientanswer caller 3.1 2 #3 5", Heard()[^1]);

        _coordinator.DeliverWith(0, DayUs + 1, Request(4, "k", Deposit, "ann", 5), Request(5, null, Balance, "ann"));
        Assert.Equal("clientanswer caller 3.1 2 #5 10", Heard()[^1]);
    }

    /// <summary>
    /// A clock that is days ahead for a while, over a restart from a checkpoint as well, costs a key one hour of its window.
    /// </summary>
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void Window_ClockThatWasDaysAhead_KeepsTheAnswer(bool restored)
    {
        _coordinator.DeliverWith(0, 1, Request(1, "k", Deposit, "ann", 5));
        _coordinator.DeliverWith(0, 25 * DayUs, Mark(bound: 1), Fork(Deposit, "x", 1));
        FakeCoordinator next = _coordinator;
        if (restored) (next = new FakeCoordinator(ImmortalDefinition.Of<Bank>())).Welcome(_coordinator.Image);
        for (int hour = 1; hour < 23; hour++) next.DeliverWith(0, 25 * DayUs + hour * HourUs, Request(3, null, Balance, "bob"));
        next.DeliverWith(0, 25 * DayUs + 23 * HourUs - 1, Request(4, "k", Deposit, "ann", 5), Request(5, null, Balance, "ann"));
        Assert.Equal("clientanswer caller 3.1 2 #5 5", Heard(next)[^1]);

        next.DeliverWith(0, 25 * DayUs + 23 * HourUs, Request(6, "k", Deposit, "ann", 5), Request(7, null, Balance, "ann"));
        Assert.Equal("clientanswer caller 3.1 2 #7 10", Heard(next)[^1]);
    }

    [Fact]
    public void Window_AgeCountsFromTheAnswer()
    {
        _coordinator.DeliverWith(0, 1, Request(1, "k", BalanceAt, "bank3", "ann"));
        _coordinator.DeliverWith(0, DayUs, Result(Balance, 1, 2, 7));
        _coordinator.DeliverWith(0, DayUs + 2, Request(2, "k", BalanceAt, "bank3", "ann"));
        Assert.Equal("clientanswer caller 3.1 3 #2 7", Heard()[^1]);
    }

    [Theory]
    [InlineData(2, 1 << 20)] // entries
    [InlineData(1000, 2 * (64 + 2))] // bytes: two entries with keys of two bytes and no value
    public void Window_EndsByItsLimits_OldestFirst(ulong entries, ulong bytes)
    {
        _coordinator.Deliver(Policy(entries: entries, bytes: bytes), Request(1, "k1", Deposit, "a", 1), Request(2, "k2", Deposit, "b", 1),
            Request(3, "k3", Deposit, "c", 1));
        _coordinator.Deliver(Request(4, "k3", Deposit, "c", 1), Request(5, "k2", Deposit, "b", 1), Request(6, "k1", Deposit, "a", 1));
        _coordinator.Deliver(Request(7, null, Balance, "a"), Request(8, null, Balance, "b"), Request(9, null, Balance, "c"));
        Assert.Equal(["2 #7 2", "2 #8 1", "2 #9 1"], Heard()[^3..].Select(static line => line["clientanswer caller 3.1 ".Length..]));
    }

    [Fact]
    public void Window_MadeSmaller_TakesEffectAtItsRecord()
    {
        _coordinator.Deliver(Request(1, "k1", Deposit, "a", 1), Request(2, "k2", Deposit, "b", 1), Policy(entries: 1),
            Request(3, "k1", Deposit, "a", 1), Request(4, null, Balance, "a"));
        Assert.Equal("clientanswer caller 3.1 2 #4 2", Heard()[^1]);
    }

    [Fact]
    public void Checkpoint_HoldsWindowAndWhatIsUnderWay()
    {
        _coordinator.DeliverWith(0, 5, Policy(windowUs: HourUs), Request(1, "done", Deposit, "ann", 5), Request(2, "f", Break, "kept"),
            Request(3, "later", BalanceAt, "bank3", "ann"), Request(4, null, BalanceAt, "bank3", "bob"));
        _coordinator.DeliverWith(0, 6, Mark(bound: 1), Fork(Deposit, "x", 1));
        Assert.NotEmpty(_coordinator.Image);
        string failure = Heard().Single(static line => line.StartsWith("clientfailure", StringComparison.Ordinal));

        var restored = new FakeCoordinator(ImmortalDefinition.Of<Bank>());
        restored.Welcome(_coordinator.Image);
        Assert.Null(restored.Session.End);
        restored.DeliverWith(0, HourUs, Request(5, "done", Deposit, "ann", 5), Request(6, "f", Break, "kept"),
            Request(7, "later", BalanceAt, "bank3", "ann"), Result(Balance, 1, 2, 7), Result(Balance, 2, 2, 8));
        Assert.Equal(
            ["clientanswer caller 3.1 1 #5", failure.Replace("#2", "#6", StringComparison.Ordinal), "clientanswer caller 3.1 3 #3 7",
                "clientanswer caller 3.1 3 #7 7", "clientanswer caller 3.1 3 #4 8"],
            Heard(restored).Where(static line => line.StartsWith("client", StringComparison.Ordinal)));
        restored.DeliverWith(0, HourUs + 6, Request(8, "done", Deposit, "ann", 5), Request(9, null, Balance, "ann"));
        Assert.Equal("clientanswer caller 3.1 2 #9 10", Heard(restored)[^1]);
    }

    /// <summary>The order in which keys under way stand in an image is that of their content: replicas must have the same bytes.</summary>
    [Fact]
    public void Checkpoint_OfARestoredApp_HasTheSameBytes()
    {
        _coordinator.Deliver(
            [.. Enumerable.Range(1, 20).Select(static n => Request((ulong)n, $"k{n * 7919 % 101}", BalanceAt, "bank3", "a"))]);
        _coordinator.Deliver(Mark(bound: 1));
        byte[] image = _coordinator.Image;
        var restored = new FakeCoordinator(ImmortalDefinition.Of<Bank>());
        restored.Welcome(image);
        _coordinator.Deliver(Mark(bound: 1));
        restored.Deliver(Mark(bound: 1));
        Assert.True(_coordinator.Image.AsSpan().SequenceEqual(restored.Image));
    }

    /// <summary>The operator is told who called (P5.16): a peer by its name, and this instance for a caller outside.</summary>
    [Fact]
    public void Impulse_ThatIsSetAside_NamesWhoCalled()
    {
        _coordinator.Deliver(RecordKinds.EncodeWhole(PolicyRecord.Default with { Forks = ForkPolicy.Quarantine }));
        _coordinator.Deliver(KeyedImpulse("k", "one", method: 99), Request(0, "l", 98, "two"), Request(0, null, 97, "three"));

        string[] aside = [.. Heard().Where(static line => line.StartsWith("set aside", StringComparison.Ordinal))];
        Assert.Equal(3, aside.Length);
        Assert.Contains(" of bank2, Impulse 99,", aside[0], StringComparison.Ordinal);
        Assert.Contains(" of bank1, Impulse 98,", aside[1], StringComparison.Ordinal);
        Assert.Contains(" of bank1, Impulse 97,", aside[2], StringComparison.Ordinal);
    }

    private static byte[] KeyedImpulse(string key, string line, uint method = UserInput)
    {
        byte[] arguments = Cbor.Of(line);
        byte[] message = [(byte)(2 + key.Length + arguments.Length), (byte)method, (byte)key.Length,
            .. System.Text.Encoding.UTF8.GetBytes(key), .. arguments];
        byte[] record = new byte[RecordHeader.Bytes + RunHeader.Bytes + message.Length];
        new RecordHeader((uint)(record.Length - RecordHeader.Bytes), RecordKind.ImpulseRun).Write(record);
        new RunHeader(MessageKind.Impulse, true, 0, 1, 1, 1, 0, 1).Write(record.AsSpan(RecordHeader.Bytes));
        message.CopyTo(record, RecordHeader.Bytes + RunHeader.Bytes);
        return record;
    }
}
