using Ambrosia.Protocol.Records;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// A message that no coordinator would take (P3.4): refused where it is sent, nothing of it goes out, and the immortal goes on.
/// </summary>
public sealed class MessageLimitTests
{
    private const int Limit = 1 << 20;

    private readonly FakeCoordinator _coordinator = new(ImmortalDefinition.Of<Shouter>());

    public MessageLimitTests()
    {
        _coordinator.Welcome(messageBytesMax: Limit);
        _coordinator.Deliver(FirstStart(), Peer(1, "bank2"));
        _coordinator.Said.Clear();
    }

    private Shouter Shouter => _coordinator.Immortal<Shouter>();

    /// <summary>Just over it, where the buffer only sees it at the end, and far over it, where it need not grow so far.</summary>
    [Theory]
    [InlineData(Limit)]
    [InlineData(10 * Limit)]
    public void Send_OverTheLimit_ThrowsWhereTheCallIsMadeAndSendsTheRest(int bytes)
    {
        _coordinator.Deliver(Fork(4, bytes), Fork(4, 10));

        Assert.Equal(3, Shouter.Caught.Count);
        Assert.All(Shouter.Caught,
            static said => Assert.Contains($"longer than the limit of {Limit} bytes", said, StringComparison.Ordinal));
        Assert.Equal(
            ["fork bank2 1 7", "fork bank2 2 'small' 2", "fork bank2 1 0 0 0 0 0 0 0 0 0 0", "fork bank2 2 'xxxxxxxxxx' 1",
                "call bank2 3 #1 'xxxxxxxxxx'", "fork bank2 1 7", "fork bank2 2 'small' 2"],
            _coordinator.Said.Where(
                static line => line.StartsWith("fork ", StringComparison.Ordinal) || line.StartsWith("call ", StringComparison.Ordinal)));
        Assert.Empty(_coordinator.Lines); // caught: nobody else hears of it
    }

    /// <summary>
    /// The limit is a policy of the log: what was refused before the record goes behind it, and the other way round, at every replay.
    /// </summary>
    [Fact]
    public void Send_BehindAPolicyOfAnotherLimit_ObeysThatOne()
    {
        _coordinator.Deliver(Fork(4, Limit), Policy(2 * Limit), Fork(4, Limit), Policy(Limit / 2), Fork(4, Limit / 2));

        Assert.Equal(6, Shouter.Caught.Count);
        Assert.Equal([Limit, Limit, Limit, Limit / 2, Limit / 2, Limit / 2],
            Shouter.Caught.Select(static said => int.Parse(said.Split("limit of ")[1].Split(' ')[0])));
    }

    private static byte[] Policy(uint messageBytesMax) =>
        RecordKinds.EncodeWhole(PolicyRecord.Default with { MessageBytesMax = messageBytesMax });

    [Fact]
    public void Send_OfTheLongestMessage_Goes()
    {
        const int method = 1;
        _coordinator.Deliver(Call(5, 9, Limit - method), Call(5, 10, Limit - method + 1));

        Assert.Contains(_coordinator.Said, static line => line.Length > 2 * (Limit - method));
        Assert.Contains("result bank2 5 #9 1048575", _coordinator.Said);
        Assert.DoesNotContain(_coordinator.Said, static line => line.StartsWith("result bank2 5 #10", StringComparison.Ordinal));
        Assert.Contains(_coordinator.Said,
            static line => line.StartsWith("failure bank2 5 #10", StringComparison.Ordinal)
                && line.Contains("longer than the limit", StringComparison.Ordinal));
    }

    [Fact]
    public void Result_OverTheLimit_IsAFailureToTheCaller()
    {
        _coordinator.Deliver(Call(6, 9, Limit), Call(6, 10, 3));

        Assert.Contains(_coordinator.Said,
            static line => line.StartsWith("failure bank2 6 #9", StringComparison.Ordinal)
                && line.Contains("longer than the limit", StringComparison.Ordinal));
        Assert.Contains("result bank2 6 #10 'xxx'", _coordinator.Said);
    }

    [Fact]
    public void Call_OverTheLimit_LeavesNoCallOutstanding()
    {
        _coordinator.Deliver(Call(7, 9, Limit));
        Assert.Contains("call bank2 3 #1 'small'", _coordinator.Said);

        _coordinator.Deliver(Result(3, 1, 1, 5));

        Assert.Contains("result bank2 7 #9 5", _coordinator.Said);
    }

    [Fact]
    public void Impulse_OverTheLimit_ThrowsInItsThreadAndTakesNoTicket()
    {
        _coordinator.BecomePrimary();
        InvalidOperationException? thrown = null;
        var outside = new Thread(() =>
        {
            thrown = Assert.ThrowsAny<InvalidOperationException>(() => Shouter.Self.PokeFork(new string('x', Limit)));
            Shouter.Self.PokeFork("small");
        });
        outside.Start();
        outside.Join();
        _coordinator.Listen();

        Assert.Contains($"longer than the limit of {Limit} bytes", thrown!.Message, StringComparison.Ordinal);
        Assert.Equal("impulse bank1 8 ticket 1 'small'",
            Assert.Single(_coordinator.Said, static line => line.StartsWith("impulse", StringComparison.Ordinal)));
    }
}
