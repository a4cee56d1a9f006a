using Ambrosia.Coordinator.Links;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using CRA.Links;

namespace Ambrosia.Coordinator.Tests;

/// <summary>
/// Two processes that each own a whole log of one instance meet the same peer, in either order and with nothing sent so far.
/// </summary>
public sealed class ClaimTests : IDisposable
{
    private const uint Seed = 42;
    private static readonly Guid s_uuid = Guid.Parse("99999999-8888-7777-6666-555555555555");
    private readonly Side _peer = new("b", claim: 5);

    private static Hello HelloOf(ulong epoch, ulong nonce, ClaimHistory claims) => new(
        1, 1, s_uuid, new InstanceId("x"), "r0", new Epoch(epoch), nonce, "b", Guid.Empty, default, 0, 0, 0, default, 0, 1 << 20)
    {
        Claims = claims,
    };

    private static ClaimHistory Claim(ulong epoch, ulong number, ClaimHistory? before = null) =>
        (before ?? ClaimHistory.None).With(new Epoch(epoch), number);

    /// <summary>Says a hello on a new connection; returns what is answered.</summary>
    private List<(FrameType Type, byte[] Payload)> Answers(Hello hello, out PeerLink link)
    {
        link = _peer.Accept(Seed);
        link.Feed(Made.Frame(hello, Seed, checkPayload: true), true, out _);
        var frames = new List<(FrameType, byte[])>();
        for (int i = 0; i < 3; i++) // the answer waits for the peer's record, which the first look appends
        {
            if (link.TryTake(out ReadOnlyMemory<byte> bytes))
            {
                frames.AddRange(Made.FramesOf(bytes.Span, Seed, checkPayload: true));
                link.Taken(bytes.Length);
            }
            _peer.Log.Commit();
        }
        return frames;
    }

    [Fact]
    public void Hello_OfTheSecondOfTwoClaims_IsAnsweredWithWhatWasSeenAndRefusedForGood()
    {
        ClaimHistory original = Claim(4, 40), first = Claim(5, 51, original), second = Claim(5, 52, original);
        Assert.Equal(FrameType.Hello, Assert.Single(Answers(HelloOf(4, 1, original), out PeerLink before)).Type);
        before.Ended("killed");
        Hello taken = Hello.Read(Assert.Single(Answers(HelloOf(5, 1, first), out PeerLink link)).Payload);
        Assert.Equal((new Epoch(5), 51ul), (taken.PeerEpoch, taken.PeerClaim));
        Assert.Equal(5ul, taken.Claims.Last.Number);

        ClaimHistory third = Claim(6, 62, second);
        foreach ((ulong epoch, ClaimHistory claims) in new[] { (5ul, second), (6ul, third), (7ul, Claim(7, 72, third)) })
        {
            List<(FrameType Type, byte[] Payload)> answers = Answers(HelloOf(epoch, 2, claims), out PeerLink late);
            Assert.Equal([FrameType.Hello, FrameType.Goodbye], answers.Select(static answer => answer.Type));
            Hello seen = Hello.Read(answers[0].Payload);
            Assert.Equal((new Epoch(5), 51ul), (seen.PeerEpoch, seen.PeerClaim));
            Assert.Contains("(P6.12)", Goodbye.Read(answers[1].Payload).Why);
            late.Ended("refused");
        }
        Assert.Equal(link, _peer.Table.OpenLinkTo(new InstanceId("x"))); // the first one's link is as it was
        link.Ended("killed");
        Assert.Equal(FrameType.Hello, Assert.Single(Answers(HelloOf(6, 1, Claim(6, 61, first)), out _)).Type);
        Assert.Equal(-1, _peer.ExitCode);
    }

    /// <summary>The one that is refused hears it from the hello ahead of the Goodbye, and ends.</summary>
    [Fact]
    public void Dial_ToAPeerThatHasTakenAnotherClaim_EndsThisProcessInWordsForBoth()
    {
        using var dialler = new Side("a", claim: 8);
        PeerLink link = dialler.Dial(_peer.Id, Seed);
        Assert.True(link.TryTake(out ReadOnlyMemory<byte> hello));
        link.Taken(hello.Length);
        var answer = new Hello(1, 1, _peer.Log.Identity.Uuid, _peer.Id, "r0", new Epoch(1), 1, "a", dialler.Log.Identity.Uuid,
            dialler.Log.Epoch, 0, 0, 0, default, 0, 1 << 20) { PeerClaim = 9 };
        Assert.Equal(FeedResult.Close, link.Feed(Made.Frame(answer, Seed, checkPayload: true), true, out _));
        Assert.Equal(75, dialler.ExitCode);
        Assert.Contains(dialler.Lines, static line => line.Contains("one of which is a copy", StringComparison.Ordinal));
    }

    /// <summary>
    /// A connection of the next epoch is admitted while a hello is written on another one: what it says was seen is one claim, and no
    /// mixture of two, which would end the rightful successor as a copy.
    /// </summary>
    [Fact]
    public void Hello_WrittenWhileTheNextEpochComes_SaysOneClaim()
    {
        const int Epochs = 200_000;
        var peer = new InstanceId("x");
        var handshake = new PeerHandshake(_peer.Log.InputsFor(new HandPumps(), _peer.Time), new OwnClaim(_peer.Log.Epoch, ClaimHistory.None),
            _peer.Log.Appender, _peer.Dedup, _peer.Bench.Set, _peer.Table);
        var mixtures = new List<string>();
        bool isOver = false;
        var admits = new Thread(() =>
        {
            for (ulong epoch = 1; epoch <= Epochs; epoch++) _peer.Dedup.TryAdmit(peer, s_uuid, new Epoch(epoch), out _, out _, epoch);
            Volatile.Write(ref isOver, true);
        });
        admits.Start();
        while (!Volatile.Read(ref isOver))
        {
            Hello hello = handshake.HelloTo(peer, 1);
            if (hello.PeerClaim != hello.PeerEpoch.Value) mixtures.Add($"claim {hello.PeerClaim} of epoch {hello.PeerEpoch}");
        }
        admits.Join();
        Assert.Empty(mixtures.Take(3));
    }

    public void Dispose() => _peer.Dispose();
}
