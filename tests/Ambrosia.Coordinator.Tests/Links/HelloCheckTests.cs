using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.Tests;

/// <summary>One conversation for each sentence of P6.3 to P6.5: what we know, what the peer says, what becomes of it.</summary>
public sealed class HelloCheckTests : IDisposable
{
    private static readonly InstanceId s_self = new("self"), s_peer = OutboxBench.Peer;
    private static readonly Guid s_ownUuid = Guid.Parse("11111111-2222-3333-4444-555555555555"),
        s_peerUuid = Guid.Parse("99999999-8888-7777-6666-555555555555");
    private readonly OutboxBench _bench = new();
    private readonly Channel _channel = Channel.Random(new TestKit.SimulatedRandom(1), 10);
    private readonly HelloFacts _facts;
    private readonly Hello _good;

    public HelloCheckTests()
    {
        _bench.AppendAll(_channel.RunsFrom(0, new TestKit.SimulatedRandom(2)));
        _bench.Outbox.Trim(4);
        _facts = new HelloFacts(s_self, s_ownUuid, new Epoch(5), null, s_peerUuid, new Epoch(7),
            new InputPosition(20, 0xAB, default, 0), _bench.Outbox);
        _good = new Hello(
            1, 1, s_peerUuid, s_peer, "r0", new Epoch(7), 1, "self", s_ownUuid, new Epoch(5), 6, _channel.Positions[6].Hash, 20,
            default, 0, 1 << 20);
    }

    private (HelloVerdict Verdict, string Why) Judge(Hello hello, HelloFacts? known = null) =>
        (HelloCheck.Judge(hello, known ?? _facts, out string why), why);

    private void Expect(HelloVerdict verdict, string sentence, Hello hello, HelloFacts? known = null)
    {
        (HelloVerdict found, string why) = Judge(hello, known);
        Assert.Equal((verdict, true), (found, why.EndsWith($"({sentence})", StringComparison.Ordinal)));
    }

    /// <summary>What the operator reads says what to do, for every reason there is.</summary>
    [Fact]
    public void Judge_EveryReasonToRefuse_SaysHowToMend()
    {
        (Hello Hello, HelloFacts Facts, string Remedy)[] cases =
        [
            (_good, _facts with { CertifiedNames = ["x"] }, "give it one with its own name"),
            (_good with { VersionMin = 2, VersionMax = 3 }, _facts, "upgrade the coordinator of the older side"),
            (_good with { PeerName = "other" }, _facts, "Give both the same --catalog, and start other"),
            (_good, _facts with { Expected = new InstanceId("other") }, "Start other, or give both the same --catalog"),
            (_good with { Instance = s_self }, _facts, "Give one another name"),
            (_good with { Epoch = default }, _facts with { KnownUuid = null, KnownEpoch = default }, "Replace it"),
            (_good, _facts with { WasForgotten = true }, "give it another name"),
            (_good, _facts with { IsLeaving = true }, "its name is free in a moment"),
            (_good with { Uuid = Guid.NewGuid() }, _facts, "here: 'ambrosia forget-peer DIR peer'"),
            (_good with { PeerUuid = Guid.NewGuid() }, _facts, "there: 'ambrosia forget-peer DIR self'"),
            (_good with { Epoch = new Epoch(6) }, _facts, "put the newer log back"),
            (_good, _facts with { BytesWanted = 2 << 20 }, "give it a larger limit"),
            (_good with { PeerEpoch = new Epoch(6) }, _facts, "Put the newer log back"),
            (_good with { Durable = 11 }, _facts, "Start the build that ran before"),
            (_good with { Durable = 11, PeerUuid = Guid.Empty }, _facts, "Put the newer log back"),
            (_good with { ImpulseEpoch = new Epoch(5), Impulses = 1 }, _facts, "Put the newer log back"),
            (_good with { Durable = 3, Hash = _channel.Positions[3].Hash }, AckedAt(100), "the next is taken"),
            (_good with { Durable = 3, Hash = _channel.Positions[3].Hash, Epoch = new Epoch(8) }, _facts, "Start it on the log that it had"),
            (_good with { Hash = 1 }, _facts, "find the statement that is not deterministic"),
            (_good with { Hash = 1, PeerUuid = Guid.Empty }, _facts, "Put the log back that was there before"),
            (_good with { Trimmed = 21 }, _facts, "there: 'ambrosia forget-peer DIR self'"),
            (_good with { Trimmed = 21, PeerUuid = Guid.Empty }, _facts, "Put the log back that was there before"),
            (_good with { Claims = Claimed(7, 71) }, _facts with { KnownClaim = 70 }, "start self again behind it"),
            (_good with { PeerClaim = 51 }, _facts with { OwnClaims = Claimed(5, 50) }, "start peer again behind it"),
        ];
        var reasons = new HashSet<string>();
        foreach ((Hello hello, HelloFacts known, string remedy) in cases)
        {
            (HelloVerdict verdict, string why) = Judge(hello, known);
            Assert.NotEqual(HelloVerdict.Accept, verdict);
            Assert.Contains(remedy, why);
            Assert.True(reasons.Add(why), $"two cases of one reason: {why}");
        }
    }

    [Fact]
    public void Hello_AllRight_IsAccepted()
    {
        Assert.Equal((HelloVerdict.Accept, ""), Judge(_good));
        Assert.Equal((HelloVerdict.Accept, ""), Judge(_good with { Epoch = new Epoch(8), VersionMax = 3 }));
        Assert.Equal((HelloVerdict.Accept, ""),
            Judge(_good with { PeerUuid = Guid.Empty, PeerEpoch = default }, _facts with { Expected = s_peer }));
        Assert.Equal((HelloVerdict.Accept, ""),
            Judge(_good with { Trimmed = 0 }, _facts with { KnownUuid = null, KnownEpoch = default, Durable = default }));
    }

    [Fact]
    public void Hello_EveryPositionBetweenTrimmedAndKnown_IsAcceptedWithItsHashOnly()
    {
        for (ulong number = 4; number <= 10; number++)
        {
            Assert.Equal(HelloVerdict.Accept, Judge(_good with { Durable = number, Hash = _channel.Positions[(int)number].Hash }).Verdict);
            Expect(HelloVerdict.WeDiffer, "P6.4", _good with { Durable = number, Hash = _channel.Positions[(int)number].Hash ^ 1 });
        }
    }

    /// <summary>
    /// It proves that our execution is another one only where each side knows the other as the instance that it is, and nothing says that
    /// our log has lost something.
    /// </summary>
    [Fact]
    public void Hello_WithOtherCallsOfOurs_EndsUsOnlyByOneWhoKnowsUs()
    {
        Hello other = _good with { Hash = 1 };
        (HelloVerdict verdict, string why) = Judge(other);
        Assert.Equal(HelloVerdict.WeDiffer, verdict);
        Assert.StartsWith("the app is not deterministic, or its code was changed: peer has other calls of self", why);
        Assert.DoesNotContain("forget-peer", why);
        Expect(HelloVerdict.Stop, "P6.3", other with { Uuid = Guid.NewGuid() }); // one that lost its log has no say
        Expect(HelloVerdict.Stop, "P6.3", other with { PeerUuid = Guid.NewGuid() });
        Expect(HelloVerdict.Stop, "P6.4", other with { PeerUuid = Guid.Empty });
        Expect(HelloVerdict.Stop, "P6.4", other, _facts with { KnownUuid = null, KnownEpoch = default });
        Expect(HelloVerdict.WeAreOld, "P6.4", other with { Trimmed = 21 });
        Expect(HelloVerdict.StopOlder, "P6.4", other with { Durable = 3 }); // it is behind, not different
    }

    [Theory]
    [InlineData(0, 0)]
    [InlineData(2, 9)]
    public void Hello_NoCommonVersion_IsRefused(ushort min, ushort max) =>
        Expect(HelloVerdict.Refuse, "P6.3", _good with { VersionMin = min, VersionMax = max });

    [Fact]
    public void Hello_ForAnotherName_IsRefused() => Expect(HelloVerdict.Refuse, "P6.3", _good with { PeerName = "other" });

    [Fact]
    public void Hello_FromAnotherThanWasDialled_IsRefused() =>
        Expect(HelloVerdict.Refuse, "P6.3", _good, _facts with { Expected = new InstanceId("other") });

    [Fact]
    public void Hello_InTheNameOfAnotherThanTheCertificate_IsRefusedBeforeAnythingElseCounts()
    {
        HelloFacts certified = _facts with { CertifiedNames = [s_peer.Name, "x"] };
        Assert.Equal((HelloVerdict.Accept, ""), Judge(_good, certified));
        foreach (string[] names in new string[][] { [], ["x"], [s_peer.Name.ToUpperInvariant()] })
        {
            Expect(HelloVerdict.Refuse, "P7.5", _good, _facts with { CertifiedNames = names });
            Expect(HelloVerdict.Refuse, "P7.5", _good with { PeerEpoch = new Epoch(50), Durable = 500, Uuid = Guid.NewGuid() },
                _facts with { CertifiedNames = names });
        }
    }

    [Fact]
    public void Hello_FromOurselves_IsRefused() => Expect(HelloVerdict.Refuse, "P6.3", _good with { Instance = s_self });

    [Fact]
    public void Hello_LowerEpoch_IsRefused() => Expect(HelloVerdict.RefuseOlder, "P6.3", _good with { Epoch = new Epoch(6) });

    [Fact]
    public void Hello_AnotherUuidUnderAKnownName_StopsTheLink()
    {
        (HelloVerdict verdict, string why) = Judge(_good with { Uuid = Guid.NewGuid() });
        Assert.Equal(HelloVerdict.Stop, verdict);
        Assert.Contains("ambrosia forget-peer DIR peer", why);
    }

    [Fact]
    public void Hello_OfAForgottenInstanceOrWhileOneIsBeingForgotten_IsRefusedAndNothingStops()
    {
        Expect(HelloVerdict.Refuse, "P6.3", _good with { Durable = 500 },
            _facts with { KnownUuid = null, KnownEpoch = default, WasForgotten = true });
        Expect(HelloVerdict.Refuse, "P6.3", _good, _facts with { IsLeaving = true });
        Expect(HelloVerdict.Refuse, "P6.3", _good with { Epoch = default }, _facts with { KnownUuid = null, KnownEpoch = default });
    }

    /// <summary>
    /// We were deleted and made again: it is the peer's operator who must act, and no reason for us to exit as if we were old.
    /// </summary>
    [Fact]
    public void Hello_ForAnotherUuidUnderOurName_StopsTheLinkBeforeAnythingElseCounts()
    {
        Expect(HelloVerdict.Stop, "P6.3", _good with { PeerUuid = Guid.NewGuid() });
        Expect(HelloVerdict.Stop, "P6.3", _good with { PeerUuid = Guid.NewGuid(), PeerEpoch = new Epoch(50), Durable = 500 });
    }

    [Fact]
    public void Hello_OfAnOlderLogThanWeTrimmedFor_StopsTheLink() =>
        Expect(HelloVerdict.StopOlder, "P6.4", _good with { Epoch = new Epoch(8), Durable = 3, Hash = _channel.Positions[3].Hash });

    /// <summary>
    /// Within one epoch positions only grow: such a hello was overtaken by another connection, and says nothing about a log.
    /// </summary>
    [Fact]
    public void Hello_OvertakenByAnotherConnection_IsRefusedAndNotStopped() =>
        Expect(HelloVerdict.Refuse, "P6.4", _good with { Durable = 3, Hash = _channel.Positions[3].Hash }, AckedAt(100));

    /// <summary>
    /// A restored log may claim the very epoch that was seen. Nothing was acknowledged since the connection began, so nothing
    /// has overtaken its hello.
    /// </summary>
    [Fact]
    public void Hello_OfAnOlderLogInTheSameEpoch_StopsTheLink()
    {
        Expect(HelloVerdict.StopOlder, "P6.4", _good with { Durable = 3, Hash = _channel.Positions[3].Hash }, AckedAt(99));
        _bench.Outbox.AckedAt = long.MinValue; // by the process before this one
        Expect(HelloVerdict.StopOlder, "P6.4", _good with { Durable = 3, Hash = _channel.Positions[3].Hash });
    }

    private HelloFacts AckedAt(long timestamp)
    {
        _bench.Outbox.AckedAt = timestamp;
        return _facts with { Begun = 100 };
    }

    /// <summary>What the peer dropped was acknowledged by our log, which lacks it now.</summary>
    [Fact]
    public void Hello_TrimmedBeyondOurInputs_SaysThatWeAreOld()
    {
        Expect(HelloVerdict.WeAreOld, "P6.4", _good with { Trimmed = 21 });
        HelloFacts before = _facts with { KnownUuid = null, KnownEpoch = default, Durable = default }; // put back to before we had met
        Expect(HelloVerdict.WeAreOld, "P6.4", _good with { Trimmed = 1 }, before);
        Expect(HelloVerdict.Stop, "P6.4", _good with { Trimmed = 1, PeerUuid = Guid.Empty }, before);
    }

    private static ClaimHistory Claimed(params (ulong Epoch, ulong Number)[] claims) =>
        claims.Aggregate(ClaimHistory.None, static (all, claim) => all.With(new Epoch(claim.Epoch), claim.Number));

    private static ClaimHistory Claimed(ulong epoch, ulong number) => Claimed((epoch, number));

    /// <summary>Of two claims of one epoch the second is refused, and so is what follows from it; a peer that says none is taken.</summary>
    [Fact]
    public void Hello_OfAnotherClaimOfTheEpochThatWasSeen_IsRefused()
    {
        HelloFacts seen = _facts with { KnownClaim = 70 };
        Hello later = _good with { Epoch = new Epoch(9) };
        Assert.Equal(HelloVerdict.Accept, Judge(_good with { Claims = Claimed(7, 70) }, seen).Verdict);
        Assert.Equal(HelloVerdict.Accept, Judge(_good, seen).Verdict);
        Assert.Equal(HelloVerdict.Accept, Judge(_good with { Claims = Claimed(7, 71) }).Verdict);
        Assert.Equal(HelloVerdict.Accept, Judge(later with { Claims = Claimed((7, 70), (8, 80), (9, 90)) }, seen).Verdict);
        Assert.Equal(HelloVerdict.Accept, Judge(later with { Claims = Claimed(9, 90) }, seen).Verdict); // it does not know its own past

        Expect(HelloVerdict.RefuseOlder, "P6.12", _good with { Claims = Claimed(7, 71) }, seen);
        Expect(HelloVerdict.RefuseOlder, "P6.12", later with { Claims = Claimed((7, 71), (8, 80), (9, 90)) }, seen);
        HelloFacts refused = seen with { RefusedClaim = (new Epoch(8), 81) };
        Expect(HelloVerdict.RefuseOlder, "P6.12", later with { Claims = Claimed((8, 81), (9, 90)) }, refused);
        Assert.Equal(HelloVerdict.Accept, Judge(later with { Claims = Claimed((7, 70), (8, 80), (9, 90)) }, refused).Verdict);
    }

    /// <summary>A copy of a peer must not end us by what its world has seen of a copy of us.</summary>
    [Fact]
    public void Hello_OfACopyThatSaysThatWeAreOld_IsRefusedBeforeAnythingElseCounts()
    {
        HelloFacts seen = _facts with { KnownClaim = 70, OwnClaims = Claimed(5, 50) };
        Hello copy = _good with { Claims = Claimed(7, 71) };
        foreach (Hello hello in new[] { copy with { PeerEpoch = new Epoch(6) }, copy with { Durable = 11 }, copy with { PeerClaim = 51 } })
            Expect(HelloVerdict.RefuseOlder, "P6.12", hello, seen);
    }

    /// <summary>The peer has taken another claim of our epoch: the words are right for the copy and for the original.</summary>
    [Fact]
    public void Hello_ThatHasSeenAnotherClaimOfOurs_EndsUs()
    {
        HelloFacts known = _facts with { OwnClaims = Claimed((4, 40), (5, 50)) };
        Assert.Equal(HelloVerdict.Accept, Judge(_good with { PeerClaim = 50 }, known).Verdict);
        Assert.Equal(HelloVerdict.Accept, Judge(_good with { PeerEpoch = new Epoch(3), PeerClaim = 30 }, known).Verdict);
        Assert.Equal(HelloVerdict.Accept, Judge(_good, known).Verdict);
        foreach (Hello hello in new[] { _good with { PeerClaim = 51 }, _good with { PeerEpoch = new Epoch(4), PeerClaim = 41, Hash = 1 } })
        {
            (HelloVerdict verdict, string why) = Judge(hello, known);
            Assert.Equal(HelloVerdict.WeAreOld, verdict);
            Assert.Contains("one of which is a copy", why);
        }
    }

    /// <summary>
    /// The app may make fewer calls than before. What the peer dropped of its own, and what it has seen of our claims, tell a log that was
    /// put back.
    /// </summary>
    [Fact]
    public void Hello_MoreThanWeMade_SaysThatWeDifferUnlessTheLogWasPutBack()
    {
        HelloFacts known = _facts with { OwnClaims = Claimed((4, 40), (5, 50)) };
        Hello more = _good with { Durable = 11, PeerEpoch = new Epoch(4), PeerClaim = 40 };
        Expect(HelloVerdict.WeDiffer, "P6.5", more, known);
        Expect(HelloVerdict.WeDiffer, "P6.5", more with { PeerClaim = 0 }, known);
        Expect(HelloVerdict.WeAreOld, "P6.5", more with { PeerClaim = 41 }, known);
        Expect(HelloVerdict.WeAreOld, "P6.4", more with { Trimmed = 21 }, known);
        Expect(HelloVerdict.WeAreOld, "P6.5", more with { PeerUuid = Guid.Empty }, known);
    }

    [Fact]
    public void Hello_HigherEpochOfOurs_SaysThatWeAreOld() => Expect(HelloVerdict.WeAreOld, "P6.5", _good with { PeerEpoch = new Epoch(6) });

    [Fact]
    public void Hello_MoreImpulsesOfOurEpochThanWeMade_SaysThatWeAreOld()
    {
        Expect(HelloVerdict.WeAreOld, "P6.5", _good with { ImpulseEpoch = _facts.OwnEpoch, Impulses = _facts.Outbox.ImpulsesNumbered + 1 });
        Assert.Equal(HelloVerdict.Accept, Judge(_good with { ImpulseEpoch = new Epoch(_facts.OwnEpoch.Value - 1), Impulses = 1000 }).Verdict);
    }

    public void Dispose() => _bench.Dispose();
}
