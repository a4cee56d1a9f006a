using System.Text;
using Ambrosia.Client.Requests;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;
using CRA.Links;

namespace Ambrosia.Client.Tests;

/// <summary>What becomes of requests on their way, with connections that come and go: transcripts of both sides.</summary>
public sealed class RequestTests
{
    private readonly List<ClientRequest> _left = [];
    private readonly InFlightRequests _requests;

    public RequestTests() => _requests = new InFlightRequests(_left.Add);

    private ClientRequest Add(string text, bool isImpulse = false, string? key = null)
    {
        var message = new ClientMessage(7, Encoding.UTF8.GetBytes(key ?? ""));
        Encoding.UTF8.GetBytes(text).CopyTo(message.Reserve(text.Length));
        message.Advance(text.Length);
        ClientRequest request = message.ToRequest(isImpulse);
        _requests.TryAdd(request);
        return request;
    }

    private FakeInstance Connected(uint requestsMax = 100)
    {
        var instance = new FakeInstance(_requests);
        Assert.Equal(["ClientHello"], instance.Heard());
        Assert.True(instance.Connection.HeartbeatFrame.IsEmpty);
        instance.Welcome(requestsMax);
        Assert.False(instance.Connection.HeartbeatFrame.IsEmpty);
        return instance;
    }

    private static string Outcome(ClientRequest request) => request.Completion.Task switch
    {
        { IsCompletedSuccessfully: true } done => $"answer {Encoding.UTF8.GetString(done.Result)}",
        { IsCanceled: true } => "canceled",
        { IsFaulted: true } failed => failed.Exception!.InnerException!.GetType().Name,
        _ => "waits",
    };

    /// <summary>Order numbers that a front end has cut inside an emoji are such keys: as U+FFFD they would all be one request.</summary>
    [Fact]
    public void Key_WithHalfASurrogate_IsRefused()
    {
        var proxy = new ClientProxy<IDisposable>(null!, default);
        foreach (string key in (string[])["\ud83d-1", "1-\ud83d", "\udc00\ud83d"])
        {
            Assert.Contains("half of a surrogate pair", Assert.Throws<ArgumentException>(() => proxy.WithKey(key)).Message,
                StringComparison.Ordinal);
        }
        Assert.NotNull(proxy.WithKey("\ud83d\ude00-1"));
        Assert.NotNull(proxy.WithKey("\ufffd-1"));
    }

    [Fact]
    public void Requests_AreNumberedTogether_AndCompletedByTheirAnswers()
    {
        FakeInstance instance = Connected();
        ClientRequest a = Add("a"), b = Add("b"), c = Add("c", isImpulse: true), d = Add("d", key: "k");
        Assert.Equal(["1 ClientRequest a", "2 ClientRequest b", "3 Impulse c", "4 ClientRequest d key k"], instance.Heard());
        instance.Answer(2, "B");
        instance.Logged(3);
        Assert.Equal(("waits", "answer B", "answer ", "waits"), (Outcome(a), Outcome(b), Outcome(c), Outcome(d)));
        instance.Answer(4, "not CBOR", MessageKind.ClientFailure);
        instance.Answer(1, "A");
        Assert.Equal(("answer A", nameof(RequestFailedException)), (Outcome(a), Outcome(d)));
        Assert.Equal([b, c, d, a], _left);
        Assert.Equal(0, _requests.Count);
    }

    /// <summary>The instance knows the number alone, and the client knows what its contract calls it.</summary>
    [Fact]
    public void Failure_OfAMethodThatTheInstanceLacks_NamesIt()
    {
        var bytes = new System.Buffers.ArrayBufferWriter<byte>();
        var writer = new CborWriter(bytes);
        ListedFailures.NoMethod(999).Write(ref writer);
        writer.Flush();
        RequestFailedException failure = RequestFailedException.Of(bytes.WrittenSpan);

        Assert.True(failure.IsNoMethod);
        Assert.Equal(("Ambrosia.NoMethod", "Method 0x3E7 is not in the contract."), (failure.TypeName, failure.Message));
        Assert.Equal("IShop.Order is not in the contract that the instance has: another version of it, or another service. (Method 0x3E7 is not in the contract.)",
            failure.Naming("IShop.Order").Message);
        Assert.Equal("IShop.Order", new ClientMessage(999, [], "IShop.Order").ToRequest(isImpulse: false).Name);
    }

    [Fact]
    public void Requests_MoreThanMayBeUnderWay_WaitForTheirTurn()
    {
        FakeInstance instance = Connected(requestsMax: 2);
        foreach (string text in new[] { "a", "b", "c" }) Add(text);
        Assert.Equal(2, instance.Heard().Count);
        Assert.Empty(instance.Heard());
        instance.Answer(1, "");
        Assert.Equal(["3 ClientRequest c"], instance.Heard());
    }

    /// <summary>It would be malformed there and end the connection, and one with a key every later one, too.</summary>
    [Fact]
    public void Request_LongerThanTheInstanceTakes_FailsAndHoldsNobodyUp()
    {
        ClientRequest early = Add(new string('x', 1 << 20), key: "k");
        FakeInstance instance = Connected();
        ClientRequest a = Add("a"), long1 = Add(new string('x', 1 << 20)), long2 = Add(new string('x', 1 << 20), isImpulse: true),
            b = Add("b"), last = Add(new string('x', 2_000_000));
        ClientRequest longest = Add(new string('y', (1 << 20) - 1), key: "l"), fits = Add(new string('y', (1 << 20) - 1));
        Assert.Equal(["1 ClientRequest a", "2 ClientRequest b", $"3 ClientRequest {new string('y', (1 << 20) - 1)}"], instance.Heard());
        foreach (ClientRequest each in new[] { early, long1, long2, last, longest })
            Assert.Equal(nameof(MessageTooLongException), Outcome(each));
        Assert.Equal([early, long1, long2, last, longest], _left);
        Assert.Equal(("waits", "waits", "waits"), (Outcome(a), Outcome(b), Outcome(fits)));
    }

    [Fact]
    public void Connection_Lost_RepeatsKeysInOrderAndTellsTheRest()
    {
        FakeInstance first = Connected(requestsMax: 4);
        ClientRequest a = Add("a"), b = Add("b", key: "kb"), c = Add("c", isImpulse: true), d = Add("d", isImpulse: true, key: "kd"),
            late = Add("late"), keyedLate = Add("keyed late", key: "kl");
        first.Heard();
        first.Connection.Ended("broke");
        Assert.Equal("broke", first.Why);
        Assert.Equal((nameof(OutcomeUnknownException), "waits", nameof(OutcomeUnknownException), "waits", "waits"),
            (Outcome(a), Outcome(b), Outcome(c), Outcome(d), Outcome(late)));

        FakeInstance second = Connected();
        Assert.Equal(["1 ClientRequest b key kb", "2 Impulse d key kd", "3 ClientRequest late", "4 ClientRequest keyed late key kl"],
            second.Heard());
        second.Logged(4);
        second.Answer(1, "B");
        Assert.Equal(("answer B", "answer ", "waits", "waits"), (Outcome(b), Outcome(d), Outcome(late), Outcome(keyedLate)));
    }

    [Fact]
    public void Request_Abandoned_IsNotSentIfItWasNot()
    {
        FakeInstance instance = Connected(requestsMax: 1);
        ClientRequest a = Add("a", key: "ka"), b = Add("b", key: "kb");
        instance.Heard();
        _requests.Abandon(a, new CancellationToken(canceled: true));
        _requests.Abandon(b, new CancellationToken(canceled: true));
        Assert.Equal(("canceled", "canceled"), (Outcome(a), Outcome(b)));
        Assert.Equal([b], _left); // a is under way still, and counts until it is answered
        instance.Answer(1, "A");
        Assert.Equal([b, a], _left);
        Assert.Empty(instance.Heard());
    }

    [Fact]
    public void Request_AbandonedAndThenLost_IsNotRepeated()
    {
        FakeInstance instance = Connected();
        ClientRequest a = Add("a", key: "ka");
        instance.Heard();
        _requests.Abandon(a, new CancellationToken(canceled: true));
        instance.Connection.Ended("broke");
        Assert.Equal([a], _left);
        Assert.Empty(Connected().Heard());
    }

    [Fact]
    public void Refused_WhatWaitsFailsWithTheReason()
    {
        ClientRequest a = Add("a");
        var instance = new FakeInstance(_requests);
        instance.Heard();
        Assert.Equal(FeedResult.Close, instance.Send(new Goodbye(GoodbyeCode.Refused, "no room")));
        Assert.Equal("no room", instance.Told!.Why);
        _requests.Refused(new ClientRefusedException("no room"));
        Assert.Equal(nameof(ClientRefusedException), Outcome(a));
    }

    [Fact]
    public void End_EverythingFails_AndNothingMoreIsTaken()
    {
        FakeInstance instance = Connected(requestsMax: 1);
        ClientRequest sent = Add("sent"), keyed = Add("keyed", key: "k"), unsent = Add("unsent");
        instance.Heard();
        _requests.End(new ObjectDisposedException("client"));
        Assert.Equal((nameof(OutcomeUnknownException), nameof(ObjectDisposedException), nameof(ObjectDisposedException)),
            (Outcome(sent), Outcome(keyed), Outcome(unsent)));
        ClientRequest late = Add("late");
        Assert.Equal(nameof(ObjectDisposedException), Outcome(late));
        Assert.Equal(3, _left.Count);
    }

    [Theory]
    [InlineData("logged beyond", "P10.5")]
    [InlineData("answer to nobody", "P10.6")]
    [InlineData("answer to an impulse", "P10.6")]
    [InlineData("another session's", "P10.6")]
    [InlineData("request", "P3.2")]
    [InlineData("second welcome", "P2.4")]
    [InlineData("ack", "P2.4")]
    public void Feed_WhatAnInstanceMustNotSay_IsMalformed(string what, string section)
    {
        FakeInstance instance = Connected();
        Add("a");
        Add("i", isImpulse: true);
        instance.Heard();
        Assert.Equal(section, Assert.Throws<ProtocolViolation>(() =>
        {
            switch (what)
            {
                case "logged beyond": instance.Logged(3); break;
                case "answer to nobody": instance.Answer(3, ""); break;
                case "answer to an impulse": instance.Answer(2, ""); break;
                case "another session's": instance.Answer(1, "", session: new ClientSessionId(new Epoch(3), 8)); break;
                case "request": instance.Answer(1, "", MessageKind.ClientRequest); break;
                case "second welcome": instance.Welcome(); break;
                default: instance.Send(FrameType.Ack, new byte[24]); break;
            }
        }).Section);
    }

    [Fact]
    public void Runs_OfManyMessages_KeepTheirBound()
    {
        FakeInstance instance = Connected(requestsMax: 5000);
        for (int n = 0; n < 2000; n++) Add($"{n} {new string('x', n % 300)}");
        List<string> heard = instance.Heard(); // ReadWhole refuses runs that are too long
        Assert.Equal(Enumerable.Range(1, 2000).Select(static n => $"{n}"), heard.Select(static each => each.Split(' ')[0]));
    }

    /// <summary>
    /// At random: whatever happens to connections, each request ends once, keyed ones by their answer, and none
    /// without a key is sent twice.
    /// </summary>
    [Fact]
    public void Requests_ConnectionsComeAndGo_EachEndsOnce()
    {
        for (ulong seed = 1; seed <= (ulong)Math.Max(50, TestScale.Rounds(2000)); seed++)
        {
            Assert.Null(new RequestTests().WhatGoesWrong(new SimulatedRandom(seed), seed));
        }
    }

    /// <summary>Negative control: what has a key and is taken for something without one is found to be sent twice.</summary>
    [Fact]
    public void Requests_KeysTakenForNone_AreFoundToBeSentTwice() =>
        Assert.Contains(Enumerable.Range(1, 20),
            static seed => new RequestTests().WhatGoesWrong(new SimulatedRandom((ulong)seed), (ulong)seed, keysCount: false) is { } found
                && found.Contains("was sent", StringComparison.Ordinal));

    private string? WhatGoesWrong(SimulatedRandom random, ulong seed, bool keysCount = true)
    {
        var requests = new List<(ClientRequest Request, string Text)>();
        var sent = new Dictionary<string, int>();
        FakeInstance? instance = null;
        var open = new List<(ulong Number, string Text, bool IsImpulse)>();
        for (int step = 0; step < 300 || _requests.Count > 0; step++)
        {
            int dice = random.Next(0, 100);
            if (dice < 40 && step < 300)
            {
                string text = $"{requests.Count}";
                requests.Add((Add(text, random.Chance(30), random.Chance(50) ? "k" + text : null), text));
            }
            if (instance is null)
            {
                (instance, int max) = (Connected((uint)random.Next(1, 10)), 0);
                open.Clear();
            }
            foreach (string heard in instance.Heard())
            {
                string[] parts = heard.Split(' ');
                sent[parts[2]] = sent.GetValueOrDefault(parts[2]) + 1;
                open.Add((ulong.Parse(parts[0]), parts[2], parts[1] == "Impulse"));
            }
            if (dice is >= 40 and < 70 && open.Find(static o => !o.IsImpulse) is { Text: not null } asked)
            {
                open.Remove(asked);
                instance.Answer(asked.Number, asked.Text);
            }
            if (dice is >= 70 and < 85 && open.Find(static o => o.IsImpulse) is { Text: not null } impulse)
            {
                open.RemoveAll(o => o.IsImpulse && o.Number <= impulse.Number);
                instance.Logged(impulse.Number);
            }
            if (dice < 95) continue;
            instance.Connection.Ended("chance");
            instance = null;
        }
        if (_left.Distinct().Count() != requests.Count)
            return $"seed {seed}: {_left.Distinct().Count()} of {requests.Count} requests ended";
        foreach ((ClientRequest request, string text) in requests)
        {
            bool isKeyed = keysCount && request.IsKeyed;
            string outcome = Outcome(request), wanted = request.IsImpulse ? "answer " : $"answer {text}";
            if (outcome != wanted && (isKeyed || outcome != nameof(OutcomeUnknownException)))
                return $"seed {seed}: {text} ended as {outcome}";
            if (!isKeyed && sent[text] != 1) return $"seed {seed}: {text} was sent {sent[text]} times";
        }
        return null;
    }
}
