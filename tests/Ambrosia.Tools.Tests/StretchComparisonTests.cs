using Ambrosia.Coordinator.Views;
using Ambrosia.Inspection.Replays;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;
using Ambrosia.TestKit;

namespace Ambrosia.Tools.Tests;

/// <summary>Two builds are alike if they have emitted the same messages on each channel, however they were cut into runs.</summary>
public sealed class StretchComparisonTests
{
    private const int MessagesMax = 40;

    private static readonly InstanceId?[] s_channels = [new InstanceId("one"), new InstanceId("two"), null];

    private readonly Random _random = new(17);

    [Fact]
    public void SameMessages_CutOtherwise_AreAlike()
    {
        for (int round = TestScale.Rounds(2_000); round > 0; round--)
        {
            byte[][][] messages = [.. s_channels.Select(_ => Messages())];
            StretchComparison found = Compare(messages, messages);
            Assert.Empty(found.Differences);
            Assert.Equal((ulong)messages.Sum(static each => each.Length), found.Compared);
        }
    }

    [Fact]
    public void OtherArguments_AreTheOnlyDifference()
    {
        for (int round = TestScale.Rounds(2_000); round > 0; round--)
        {
            (byte[][][] then, byte[][][] now, int channel, int at) = TwoOf();
            now[channel][at] = Message.Of(Method(then[channel][at]), [0xFF, 0xFF]);
            CallDifference found = Assert.Single(Compare(then, now).Differences);
            Assert.Equal((s_channels[channel], (ulong)at + 1, true), (found.To, found.Number, found.IsAligned));
            Assert.Equal(now[channel][at], found.Now!.Whole);
        }
    }

    [Fact]
    public void OneLeftOut_EndsTheComparisonOfItsChannel()
    {
        for (int round = TestScale.Rounds(2_000); round > 0; round--)
        {
            (byte[][][] then, byte[][][] now, int channel, int at) = TwoOf();
            then[channel][at] = Message.Of(200, [1]); // no other message is this one
            now[channel] = [.. then[channel][..at], .. then[channel][(at + 1)..]];
            CallDifference found = Assert.Single(Compare(then, now).Differences);
            Assert.Equal((s_channels[channel], (ulong)at + 1, false), (found.To, found.Number, found.IsAligned));
            Assert.Equal(then[channel][at], found.Then!.Whole);
        }
    }

    /// <summary>Two equal sets of messages, and one place in them.</summary>
    private (byte[][][] Then, byte[][][] Now, int Channel, int At) TwoOf()
    {
        byte[][][] then = [.. s_channels.Select(_ => Messages())];
        int channel = _random.Next(then.Length);
        if (then[channel].Length == 0) then[channel] = [Message.Of(1, [])];
        return (then, [.. then.Select(static each => each.ToArray())], channel, _random.Next(then[channel].Length));
    }

    private byte[][] Messages() =>
        [.. Enumerable.Range(0, _random.Next(MessagesMax)).Select(_ => Message.Of((uint)_random.Next(1, 4), [(byte)_random.Next(3)]))];

    private static uint Method(byte[] message)
    {
        var reader = new MessageReader(message, MessageKind.Fork, keyed: false);
        reader.Next();
        return reader.Method;
    }

    private StretchComparison Compare(byte[][][] then, byte[][][] now) =>
        StretchComparison.OfBuilds(Emissions(then), Emissions(now));

    private ViewedEmissions Emissions(byte[][][] messages)
    {
        var runs = new List<ViewedRun>();
        for (int channel = 0; channel < messages.Length; channel++) runs.AddRange(Runs(s_channels[channel], messages[channel]));
        return ViewedEmissions.None with { Runs = runs };
    }

    private IEnumerable<ViewedRun> Runs(InstanceId? to, byte[][] messages)
    {
        for (int at = 0; at < messages.Length;)
        {
            int count = _random.Next(1, messages.Length - at + 1);
            var header = new RunHeader(MessageKind.Fork, Keyed: false, 0, 0, 7, (uint)count, 0, 9);
            byte[] bytes = [.. messages[at..(at + count)].SelectMany(static each => each)];
            yield return new ViewedRun(to, (ulong)at + 1, header, bytes, Cause: null);
            at += count;
        }
    }
}
