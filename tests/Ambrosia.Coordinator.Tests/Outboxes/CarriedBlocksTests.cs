using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Blocks of a run, known or not, come to the peer as the app wrote them, whatever of the run is cut off (P3.7, P6.6).</summary>
public sealed class CarriedBlocksTests
{
    private static readonly byte[][] s_messages =
        [.. Enumerable.Range(1, 5).Select(static i => Made.Message(MessageKind.Call, (ulong)i, 9))];

    private static byte[] Blocks
    {
        get
        {
            byte[] cause = new byte[RunCause.BlockBytes];
            new RunCause(new Lsn(64), new Lsn(192)).WriteBlock(cause);
            return [.. cause, .. Made.Extension(6)];
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(4)]
    public void Resume_InsideARun_SendsItsBlocks(int known)
    {
        using var bench = new OutboxBench();
        bench.Append(Made.Run(MessageKind.Call, 0, 0, s_messages, Blocks));

        Assert.Equal((Convert.ToHexString(Blocks), 5 - known), Sent(bench, (ulong)known));
    }

    /// <summary>Behind a restart the app makes what is known again, in one run with what is new.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(4)]
    public void Append_RunThatIsKnownInPart_KeepsTheBlocksOfTheRest(int known)
    {
        using var bench = new OutboxBench();
        bench.Append(Made.Run(MessageKind.Call, 0, 0, s_messages[..known]));
        bench.Outbox.BeginSession(default);
        bench.Append(Made.Run(MessageKind.Call, 0, 0, s_messages, Blocks));

        Assert.Equal((Convert.ToHexString(Blocks), 5 - known), Sent(bench, (ulong)known));
    }

    [Fact]
    public void Known_RunsWithAndWithoutBlocks_HaveOneHash()
    {
        using var with = new OutboxBench();
        using var without = new OutboxBench();
        with.Append(Made.Run(MessageKind.Call, 0, 0, s_messages, Blocks));
        without.Append(Made.Run(MessageKind.Call, 0, 0, s_messages[..2]));
        without.Append(Made.Run(MessageKind.Call, 0, 0, s_messages[2..]));

        Assert.Equal(with.Outbox.Known, without.Outbox.Known);
    }

    /// <summary>The blocks, and the number of messages, of the run that a peer is sent that has so many calls.</summary>
    private static (string, int) Sent(OutboxBench bench, ulong known)
    {
        var cursor = new SendCursor(bench.Outbox, 77, SizeLimits.MessageBytesMaxDefault);
        cursor.Resume(known, 0);
        Assert.True(cursor.TryTake(out ReadOnlyMemory<byte> bytes));
        RunView run = RunView.ReadWhole(bytes.Span[FrameHeader.Bytes..], SizeLimits.MessageBytesMaxDefault);
        (string, int) sent = (Convert.ToHexString(run.Extensions), (int)run.Header.Count);
        cursor.End();
        return sent;
    }
}
