using System.Buffers;
using Ambrosia.Coordinator.Upgrades;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>The state goes from the old app to the new one, whole or not at all, and each question has one answer.</summary>
public sealed class StateHandoverTests
{
    private const string Spool = "/data/log/upgrade.r0";
    private static readonly Lsn s_at = new(640);
    private static readonly ConvertFrame s_asked = new(s_at, 1, 2, ConversionUse.Rehearsal);
    private static readonly byte[] s_state = [.. Enumerable.Range(0, 200_000).Select(static i => (byte)(i * 31))];

    private readonly SimulatedFileSystem _disk = new();
    private readonly StateHandover _handover;
    private readonly List<(string Why, bool ByApp)> _answers = [];

    public StateHandoverTests()
    {
        _disk.CreateDirectory("/data/log");
        _handover = new StateHandover(UpgradeRehearsalTests.InputsOf(_disk, new FakeTime()));
        _handover.Answered += (answer, byApp) => _answers.Add((answer.Why, byApp));
    }

    [Fact]
    public void State_OfTheOldApp_ComesToTheNewOneAsItWas()
    {
        Assert.Equal(new ConvertFrame(s_at, 1, 1, ConversionUse.State), _handover.Begin(s_asked));
        Assert.True(_handover.AwaitsOldApp);
        Assert.Null(_handover.TryGive());
        OldAppSends(s_state);
        Assert.False(_handover.AwaitsOldApp);
        HandedState given = _handover.TryGive()!;
        Assert.Null(_handover.TryGive());
        Assert.Equal(s_state, ReadAll(given.Spool));
        Assert.Equal((s_asked, s_at), (given.Asked, given.Spool.Position));

        _handover.Answer(given, new ConvertedFrame(s_at, ConversionUse.Rehearsal, 1, 2, ""));
        _handover.NewAppEnded(given); // an answer was given: its end means nothing
        Assert.Equal(("", true), Assert.Single(_answers));
        Assert.False(_disk.Exists(Spool));
    }

    [Fact]
    public void OldApp_SaysWhyNot_IsTheAnswer()
    {
        _handover.Begin(s_asked);
        _handover.OldAppAnswers(new ConvertedFrame(s_at, ConversionUse.State, 0, 0, "an iterator is suspended"));
        Assert.Equal(("an iterator is suspended", true), Assert.Single(_answers));
        Assert.Null(_handover.TryGive());
    }

    [Fact]
    public void NewApp_DiesOverIt_IsToldAndMayBeAskedAgain()
    {
        _handover.Begin(s_asked);
        OldAppSends(s_state);
        _handover.NewAppEnded(_handover.TryGive()!);
        (string why, bool byApp) = Assert.Single(_answers);
        Assert.Equal(("the app of version 2 ended while it converted the state; its own lines say why", false), (why, byApp));
        Assert.False(_disk.Exists(Spool));

        _handover.Begin(s_asked);
        OldAppSends(s_state);
        Assert.NotNull(_handover.TryGive());
    }

    /// <summary>What comes of an earlier question is let go: its state, its answer, and its end.</summary>
    [Fact]
    public void Question_ThatWasReplaced_HasNoAnswer()
    {
        _handover.Begin(s_asked);
        OldAppSends(s_state);
        HandedState before = _handover.TryGive()!;
        ConvertFrame next = s_asked with { Use = ConversionUse.Image };
        _handover.Begin(next);
        _handover.Answer(before, new ConvertedFrame(s_at, ConversionUse.Rehearsal, 1, 2, ""));
        _handover.NewAppEnded(before);
        Assert.Empty(_answers);
        OldAppSends(s_state);
        Assert.Equal(next, _handover.TryGive()!.Asked);
    }

    [Fact]
    public void State_AskedForTwiceBeforeItCame_IsThatOfTheSecondQuestion()
    {
        _handover.Begin(s_asked);
        _handover.Begin(s_asked with { Position = s_at + 64 });
        OldAppSends(s_state);
        Assert.Null(_handover.TryGive());
        OldAppSends([1, 2, 3], s_at + 64);
        Assert.Equal([1, 2, 3], ReadAll(_handover.TryGive()!.Spool));
    }

    [Fact]
    public void State_WithAnotherHashThanItsEndSays_IsMalformed()
    {
        _handover.Begin(s_asked);
        _handover.OldAppAnswers(new ConvertedFrame(s_at, ConversionUse.State, 0, 0, ""));
        _handover.Take(new ImageBegin(s_at, 1));
        _handover.TakeChunk(s_state);
        Assert.Throws<ProtocolViolation>(() => _handover.Take(new ImageEnd((ulong)s_state.Length, 7)));
        _handover.OldAppEnded();
        Assert.Null(_handover.TryGive());
        Assert.False(_disk.Exists(Spool));
    }

    [Fact]
    public void State_ThatNobodyAskedFor_IsMalformed() => Assert.Throws<ProtocolViolation>(
        () => _handover.OldAppAnswers(new ConvertedFrame(s_at, ConversionUse.State, 0, 0, "")));

    /// <summary>The upgrade is given up: what is on its way leaves no file behind.</summary>
    [Fact]
    public void Drop_StateIsThere_RemovesItAndSaysNothing()
    {
        _handover.Begin(s_asked);
        OldAppSends(s_state);
        Assert.True(_disk.Exists(Spool));
        _handover.Drop();
        Assert.False(_disk.Exists(Spool));
        Assert.Empty(_answers);
    }

    /// <summary>
    /// The file is no part of the log: whatever its disk reports, whoever asked is told, and the next question finds it mended.
    /// </summary>
    [Theory]
    [InlineData(FileOperationKind.Create)]
    [InlineData(FileOperationKind.Write)]
    [InlineData(FileOperationKind.Delete)]
    public void Disk_ThatFailsUnderTheState_IsTheAnswer(FileOperationKind kind)
    {
        _handover.Begin(s_asked);
        _disk.Faults.FailNth(1, FileFault.InputOutput, forGood: true, operation => operation.Path == Spool && operation.Kind == kind);
        OldAppSends(s_state);
        (string why, bool byApp) = Assert.Single(_answers);
        Assert.StartsWith($"{Spool}, in which the state goes from the old app to the new one, has failed: ", why, StringComparison.Ordinal);
        Assert.False(byApp);
        Assert.Null(_handover.TryGive());
        _disk.Faults.Clear();
        AssertHandsOver();
    }

    [Fact]
    public void Disk_ThatFailsAtTheEnd_LeavesAFileThatTheNextStateReplaces()
    {
        _handover.Begin(s_asked);
        OldAppSends(s_state);
        _disk.Faults.FailNth(1, FileFault.InputOutput, where: static operation => operation is { Path: Spool, Kind: FileOperationKind.Delete });
        _handover.Drop();
        Assert.True(_disk.Exists(Spool));
        AssertHandsOver();
    }

    [Fact]
    public void State_ThatCannotBeReadAgain_IsTheAnswer()
    {
        _handover.Begin(s_asked);
        OldAppSends(s_state);
        HandedState given = _handover.TryGive()!;
        _handover.Lost(given, new IOException("it is broken"));
        _handover.NewAppEnded(given); // which ends by that, and is not why
        Assert.EndsWith("has failed: it is broken", Assert.Single(_answers).Why, StringComparison.Ordinal);
        AssertHandsOver();
    }

    private void AssertHandsOver()
    {
        _handover.Begin(s_asked);
        OldAppSends(s_state);
        Assert.Equal(s_state, ReadAll(_handover.TryGive()!.Spool));
    }

    private void OldAppSends(byte[] state, Lsn? at = null)
    {
        _handover.OldAppAnswers(new ConvertedFrame(at ?? s_at, ConversionUse.State, 0, 0, ""));
        Assert.True(_handover.TakesImage);
        _handover.Take(new ImageBegin(at ?? s_at, 1));
        foreach (byte[] chunk in state.Chunk(60_000)) _handover.TakeChunk(chunk);
        _handover.Take(new ImageEnd((ulong)state.Length, ChannelHash.Append(0, state)));
        Assert.False(_handover.TakesImage);
    }

    /// <summary>The image as the new app is sent it.</summary>
    private static byte[] ReadAll(StateSpool spool)
    {
        var frames = new ArrayBufferWriter<byte>();
        while (spool.TryWriteNext(frames)) { }
        List<(FrameType Type, byte[] Payload)> all = Made.FramesOf(frames.WrittenSpan, 0, checkPayload: false);
        Assert.Equal(FrameType.ImageBegin, all[0].Type);
        Assert.Equal(FrameType.ImageEnd, all[^1].Type);
        return [.. all.Skip(1).SkipLast(1).SelectMany(static frame => frame.Payload)];
    }
}
