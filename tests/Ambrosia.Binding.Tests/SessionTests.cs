using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

public sealed class SessionTests
{
    private readonly FakeCoordinator _coordinator = Started<Bank>();

    private Bank Bank => _coordinator.Immortal<Bank>();

    [Fact]
    public void Session_Begins_WithHelloThenFirstStart()
    {
        var fresh = new FakeCoordinator(ImmortalDefinition.Of<Bank>());
        fresh.Welcome();
        fresh.Deliver(FirstStart());

        Assert.Equal(["hello True", "contract ISeller", "destination bank1", $"processed {fresh.Next}"], fresh.Said);
        Assert.Equal(["first start of bank1"], fresh.Immortal<Bank>().Log);
    }

    [Fact]
    public void Fork_Arrives_ChangesState()
    {
        _coordinator.Deliver(Fork(1, "ann", 5), Fork(1, "ann", -2));

        Assert.Equal(3, Bank.Balance("ann"));
        Assert.Equal([$"processed {_coordinator.Next}"], _coordinator.Said);
    }

    [Fact]
    public void Call_ValueHandler_AnswersCaller()
    {
        _coordinator.Deliver(Fork(1, "ann", 5), Call(2, 41, "ann"), Call(1, 42, "ann", 1));

        Assert.Equal(["destination bank2", "result bank2 2 #41 5", "result bank2 1 #42", $"processed {_coordinator.Next}"],
            _coordinator.Said);
    }

    [Fact]
    public void Call_OfOneself_ComesBackThroughTheLog()
    {
        _coordinator.Deliver(Call(3, 7, "bank1", "ann"));
        Assert.Contains("call bank1 2 #1 'ann'", _coordinator.Said);
        _coordinator.Deliver(Run(MessageKind.Call, 0, (2, 1, Cbor.Of("ann"))));
        Assert.Contains("result bank1 2 #1 0", _coordinator.Said);

        _coordinator.Deliver(Result(2, 1, 0, 99));

        Assert.Equal("result bank2 3 #7 99", _coordinator.Said[^2]);
    }

    [Fact]
    public void Handler_Awaits_AnswersWhenResultArrives()
    {
        _coordinator.Deliver(Call(3, 7, "bank3", "ann"));
        Assert.Equal(["destination bank3", "call bank3 2 #1 'ann'", $"processed {_coordinator.Next}"], _coordinator.Said);
        _coordinator.Said.Clear();

        _coordinator.Deliver(Result(2, 1, 2, 12));

        Assert.Equal(["destination bank2", "result bank2 3 #7 12", $"processed {_coordinator.Next}"], _coordinator.Said);
    }

    [Fact]
    public void Result_FromAnotherThanCalled_IsDropped()
    {
        _coordinator.Deliver(Call(3, 7, "bank3", "ann"));
        _coordinator.Said.Clear();

        _coordinator.Deliver(Result(2, 1, 1, 12), Result(2, 99, 2, 12));
        Assert.Equal([$"processed {_coordinator.Next}"], _coordinator.Said);
        Assert.Equal(2, _coordinator.Session.DroppedResults);

        _coordinator.Deliver(Result(2, 1, 2, 13), Result(2, 1, 2, 14));
        Assert.Contains("result bank2 3 #7 13", _coordinator.Said);
        Assert.Equal(3, _coordinator.Session.DroppedResults);
    }

    [Fact]
    public void WhenAll_ResultsInAnyOrder_AnswersOnce()
    {
        _coordinator.Deliver(Call(4, 7, new[] { "bank2", "bank3", "bank1" }, "ann"));
        _coordinator.Said.Clear();

        _coordinator.Deliver(Result(2, 3, 0, 100), Result(2, 1, 1, 1));
        Assert.DoesNotContain(_coordinator.Said, line => line.StartsWith("result", StringComparison.Ordinal));
        _coordinator.Deliver(Result(2, 2, 2, 10));

        Assert.Contains("result bank2 4 #7 111", _coordinator.Said);
        Assert.Equal("total of 3", Bank.Log[^1]);
    }

    [Fact]
    public void Chain_OfNestedMethods_UnwindsInOneRecord()
    {
        _coordinator.Deliver(Call(15, 7, 5, "bank3"));
        _coordinator.Deliver(Result(2, 1, 2, 20));

        Assert.Contains("result bank2 15 #7 25", _coordinator.Said);
    }

    [Fact]
    public void Handler_Throws_CallGetsFailureForkIsCounted()
    {
        _coordinator.Deliver(Call(6, 7, "oh"), Fork(6, "ah"), Fork(6, "again"), Call(2, 8, "ann"));

        Assert.Equal("failure bank2 6 #7 ['System.InvalidOperationException' 'oh' ['System.ArgumentException' 'inner' null]]",
            _coordinator.Said[1]);
        Assert.Equal("result bank2 2 #8 0", _coordinator.Said[2]);
        Assert.Equal(2, _coordinator.Session.FailedForks);
        Assert.Single(_coordinator.Lines,
            line => line.Contains("ah", StringComparison.Ordinal) && line.Contains("Lsn", StringComparison.Ordinal));
    }

    [Fact]
    public void Handler_ThrowsAfterAwait_CallGetsFailure()
    {
        _coordinator.Deliver(Call(7, 7, "bank3"), Result(2, 1, 2, 0));

        Assert.Contains("failure bank2 7 #7 ['System.NotSupportedException' 'later' null]", _coordinator.Said);
    }

    [Fact]
    public void Handler_AwaitsSomethingElse_FailsClearly()
    {
        _coordinator.Deliver(Call(18, 7));

        string failure = Assert.Single(_coordinator.Said, line => line.StartsWith("failure", StringComparison.Ordinal));
        Assert.Contains("Bank.Foreign awaits", failure, StringComparison.Ordinal);
        Assert.Contains("only a Call can be awaited", failure, StringComparison.Ordinal);
    }

    [Fact]
    public void Failure_Arrives_AwaiterGetsRemoteCallException()
    {
        var stack = new System.Buffers.ArrayBufferWriter<byte>();
        var writer = new PayloadWriter(stack);
        new FailureStack(0, "at There()").Write(ref writer);
        writer.Flush();
        _coordinator.Deliver(Call(13, 7, "bank3"));

        _coordinator.Deliver(
            RunWith(stack.WrittenSpan.ToArray(), MessageKind.Failure, 2,
                (6, 1, Cbor.Of((object)new object?[] { "T", "m", new object?[] { "I", "i", null } }))));

        Assert.Contains("result bank2 13 #7 'T: m (i)'", _coordinator.Said);
        Assert.Equal("at There()", _coordinator.Immortal<Bank>().CaughtStack);
    }

    [Fact]
    public void Failure_OfAHandler_TellsItsStackToWhoAwaits()
    {
        FakeCoordinator called = Started<Bank>();
        called.Deliver(Call(6, 7, "oh"));
        _coordinator.Deliver(Call(13, 7, "bank3"));
        _coordinator.Deliver(RunWith(called.Extensions, MessageKind.Failure, 2, (6, 1, Cbor.Of((object)new object?[] { "T", "m", null }))));

        Assert.Contains("Bank.Break(String why)", _coordinator.Immortal<Bank>().CaughtStack, StringComparison.Ordinal);
    }

    /// <summary>Nobody checks the content of a block before it is in the log, and behind that every replay meets it.</summary>
    [Fact]
    public void Failure_WithAStackThatIsMalformed_IsThatFailureWithoutIt()
    {
        _coordinator.Deliver(Call(13, 7, "bank3"));
        _coordinator.Deliver(
            RunWith([2, 1, 2, 0, 0xFF], MessageKind.Failure, 2, (6, 1, Cbor.Of((object)new object?[] { "T", "m", null }))));

        Assert.Equal(SessionState.Running, _coordinator.Session.State);
        Assert.Null(_coordinator.Immortal<Bank>().CaughtStack);
    }

    [Fact]
    public void Result_ThatCannotBeDecoded_FailsTheAwaiter()
    {
        _coordinator.Deliver(Call(3, 7, "bank3", "ann"), Result(2, 1, 2, "not a number"));

        Assert.Contains(_coordinator.Said,
            line => line.StartsWith("failure bank2 3 #7", StringComparison.Ordinal)
                && line.Contains("The result of method 0x2 cannot be decoded.", StringComparison.Ordinal));
    }

    [Fact]
    public void Method_Unknown_CallGetsFailureForkIsCounted()
    {
        _coordinator.Deliver(Call(999, 7), Fork(999), Fork(1, 3));

        Assert.Contains(_coordinator.Said,
            line => line == "failure bank2 999 #7 ['Ambrosia.NoMethod' 'Method 0x3E7 is not in the contract.' null]");
        Assert.Equal(2, _coordinator.Session.FailedForks);
    }

    [Fact]
    public void Arguments_MissingOrSurplus_DefaultOrSkipped()
    {
        var entry = new System.Collections.Hashtable { ["Account"] = "ann", ["Amount"] = 10, ["Unknown"] = new[] { 1, 2 } };
        _coordinator.Deliver(Call(10, 7, entry), Call(10, 8, entry, 3, 1, "surplus"));

        Assert.Equal("result bank2 10 #7 {1 null 'Notes' ['2 Green'] 'Amount' 10 'Account' 'ann'}", _coordinator.Said[1]);
        Assert.Equal("result bank2 10 #8 {1 null 'Notes' ['3 Red'] 'Amount' 10 'Account' 'ann'}", _coordinator.Said[2]);
        Assert.Equal(50, Bank.Balance("ann"));
    }

    [Fact]
    public void Arguments_OfAllShapes_ComeBack()
    {
        _coordinator.Deliver(Call(
            16, 7, new object?[] { 1, "four" }, new object[] { new object?[] { "a", 1 }, new object?[] { "b", null } },
            new object[] { new[] { 1, 2 }, Array.Empty<int>() }));

        Assert.Equal("result bank2 16 #7 [5 [['b' null] ['a' 1]] [[] [1 2]]]", _coordinator.Said[1]);
    }

    [Fact]
    public void Bytes_Alone_TravelRaw()
    {
        byte[] bytes = [0xFF, 1, 2];
        _coordinator.Deliver(Fork(8, bytes), Call(9, 7, bytes));

        Assert.Equal(bytes, Bank.LastRaw);
        Assert.Equal("result bank2 9 #7 2 1 raw", Said(1));

        string Said(int i) => _coordinator.Said[i].Replace("raw 0201FF", "2 1 raw", StringComparison.Ordinal);
    }

    [Fact]
    public void HandlerCallingImpulseHandler_IsNumbered()
    {
        _coordinator.Deliver(Call(17, 7, "bank3"));

        Assert.Contains("fork bank3 11 'from a handler'", _coordinator.Said);
        Assert.Contains("call bank3 12 #1", _coordinator.Said);
        Assert.Contains("outside the handlers", Bank.LoggedRefusal!.Message, StringComparison.Ordinal);
    }

    [Fact]
    public void Frame_InWrongState_EndsWithViolation()
    {
        var fresh = new FakeCoordinator(ImmortalDefinition.Of<Bank>());
        fresh.Deliver(FirstStart());

        Assert.Equal(SessionState.Ended, fresh.Session.State);
        Assert.Equal(GoodbyeCode.ProtocolViolation, fresh.Session.End!.Code);
        Assert.StartsWith("goodbye ProtocolViolation: Deliver frame in state AwaitingWelcome (P2.4)", fresh.Said[^1],
            StringComparison.Ordinal);
    }

    /// <summary>Behind Goodbye nothing is sent any more (P5.12), so the output must not be told of a message there.</summary>
    [Fact]
    public void Executing_OfASessionThatEndedInARecord_IsNothing()
    {
        byte[] unknown = [1, 0, 0, 0, 99, 0, 0, 0, 0];
        _coordinator.Deliver(Fork(1, "ann", 5), unknown);

        Assert.Equal(GoodbyeCode.ProtocolViolation, _coordinator.Session.End!.Code);
        Assert.Null(_coordinator.Session.Executing);
    }

    [Fact]
    public void Goodbye_FromCoordinator_EndsTheSession()
    {
        _coordinator.Send(new Goodbye(GoodbyeCode.CleanStop, "bye"));
        _coordinator.Deliver(Fork(1, "ann", 5));

        Assert.Equal(new SessionEnd(GoodbyeCode.CleanStop, "bye", true), _coordinator.Session.End);
        Assert.Empty(_coordinator.Said);
        Assert.Equal(0, Bank.Balance("ann"));
    }

    [Fact]
    public void Run_OfUnknownOrigin_IsAViolation()
    {
        _coordinator.Deliver(Run(MessageKind.Fork, 9, (1, 0, Cbor.Of("ann", 1))));

        Assert.Contains("L5.4", _coordinator.Session.End!.Why, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(-1)]
    public void Processed_AtMarks_IsExact(int offset)
    {
        byte[] first = Call(2, 1, "ann"), second = Call(2, 2, "ann");
        ulong boundary = _coordinator.Next.Value + (ulong)first.Length;
        ulong mark = (ulong)((long)boundary + offset);

        _coordinator.DeliverWith(mark, 0, first, second);

        // A mark inside the second record is reached when its end is.
        string[] expected = offset <= 0
            ? ["destination bank2", "result bank2 2 #1 0", $"processed {mark}", "result bank2 2 #2 0", $"processed {_coordinator.Next}"]
            : ["destination bank2", "result bank2 2 #1 0", "result bank2 2 #2 0", $"processed {mark}", $"processed {_coordinator.Next}"];
        Assert.Equal(expected, _coordinator.Said);
    }

    [Fact]
    public void Processed_MarkBehindTheFrame_IsSaidAtItsEnd()
    {
        ulong mark = _coordinator.Next.Value + 4096;
        _coordinator.DeliverWith(mark, 0, Fork(1, "ann", 1));

        Assert.Equal([$"processed {mark}"], _coordinator.Said);
    }

    [Fact]
    public void Processed_EachMiB_IsSaidBetween()
    {
        byte[] big = Run(MessageKind.Fork, 1, (8, 0, new byte[400_000]));
        ulong start = _coordinator.Next.Value;
        _coordinator.Deliver(big, big, big, big);

        Assert.Equal([$"processed {start + 3 * (ulong)big.Length}", $"processed {_coordinator.Next}"], _coordinator.Said);
    }

    [Fact]
    public void Feed_ByteByByte_EqualsWhole()
    {
        List<string> whole = OutputOf(byteByByte: false), bytes = OutputOf(byteByByte: true);

        Assert.Equal(whole, bytes);
        Assert.NotEmpty(whole);
    }

    [Fact]
    public void Replay_OfTheSameRecords_SaysTheSame() => Assert.Equal(OutputOf(byteByByte: false), OutputOf(byteByByte: false));

    /// <summary>The negative control: a handler that is not deterministic makes two replays differ.</summary>
    [Fact]
    public void Replay_OfARandomHandler_IsSeenToDiffer()
    {
        List<string> Once()
        {
            FakeCoordinator dice = Started<Dice>();
            dice.Deliver(Call(1, 7));
            return dice.Said;
        }

        Assert.NotEqual(Once(), Once());
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void Feed_OfDamagedFrames_EndsOrGoesOnButNeverThrows(int seed)
    {
        var random = new Random(seed);
        for (int round = 0; round < 400; round++)
        {
            FakeCoordinator damaged = Started<Bank>();
            byte[][] records = [Call(3, 7, "bank3", "ann"), Fork(1, "ann", 5), Call(4, 9, new[] { "bank2", "bank3" }, "ann"), Mark(),
                Result(2, 1, 2, 3), Peer(3, "bank4")];
            byte[] record = records[random.Next(records.Length)];
            for (int i = random.Next(1, 4); i > 0; i--) record[random.Next(record.Length)] ^= (byte)random.Next(1, 256);

            damaged.Deliver(records);

            Assert.True(damaged.Session.State is SessionState.Running or SessionState.Ended);
            if (damaged.Session.End is { } end) Assert.Equal(GoodbyeCode.ProtocolViolation, end.Code);
        }
    }

    /// <summary>The position may lie in the padding behind the last record: the frame's place in the stream counts (P5.10).</summary>
    [Fact]
    public void BecomePrimary_AtAPlaceInThePadding_IsAnsweredWithThatPlace()
    {
        FakeCoordinator coordinator = Started<Bank>();
        Lsn padding = coordinator.Next + 100;
        coordinator.Send(new BecomePrimary(padding));

        Assert.Contains($"primary at {padding}", coordinator.Said);
    }

    private static List<string> OutputOf(bool byteByByte)
    {
        FakeCoordinator coordinator = Started<Bank>(byteByByte: byteByByte);
        coordinator.Deliver(Fork(1, "ann", 5), Call(3, 7, "bank3", "ann"), Call(6, 8, "no"), Call(4, 9, new[] { "bank2", "bank3" }, "ann"));
        coordinator.DeliverWith(coordinator.Next.Value + 10, 5, Result(2, 2, 1, 4), Mark(), Result(2, 1, 2, 3));
        coordinator.Deliver(Result(2, 3, 2, 3), Call(9, 10, new byte[] { 1, 2, 3 }));
        coordinator.BecomePrimary();
        return coordinator.Said;
    }
}
