using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>What the pump that feeds a reader is to do next.</summary>
internal enum ReadAnswer
{
    /// <summary>Receive more.</summary>
    More,

    /// <summary>Wait until the log has room, then <see cref="AppReader.Continue"/>.</summary>
    LogFull,

    /// <summary>Wait until outboxes have room, then <see cref="AppReader.Continue"/>.</summary>
    OutboxFull,

    /// <summary>Wait until the checkpoint on its way has room, then <see cref="AppReader.Continue"/>.</summary>
    CheckpointFull,

    /// <summary>Another app is live: wait until its session has ended, or patience has, then <see cref="AppReader.Continue"/>.</summary>
    AppIsLive,

    /// <summary>A secondary's app: wait until more of the log was read, then <see cref="AppReader.Continue"/>.</summary>
    LogUnread,
}

/// <summary>
/// Step 3 of a call: the app's stream, received into blocks and split by destination without decoding; runs stay where they were received.
/// Owns the block being filled. Frames are handed on whole and in order; one that cannot be taken now is handed on again.
/// The thread that reads the app.
/// </summary>
internal sealed class AppReader(BlockPool pool, IAppFrames frames) : IDisposable
{
    /// <summary>Below this much room a new block is begun, so that receives stay large.</summary>
    private const int RoomMin = 64 * 1024;

    private BlockPool.Block block = pool.TakeSmall(FrameHeader.Bytes + Frames.ControlBytesMax);

    /// <summary>Received: [start, fill) of the block; everything before start has been handed on.</summary>
    private int start, fill;

    /// <summary>Of the frame handed on last: the next one may well be as long, and is best received where it fits.</summary>
    private int lastFrameBytes;

    /// <summary>The last receive left room: the socket had no more.</summary>
    private bool isDrained;

    /// <summary>Where the pump receives the next bytes.</summary>
    public Memory<byte> Space()
    {
        int wanted = WantedBytes();
        if (frames.IsStranger && fill < block.Bytes.Length) return block.Bytes.AsMemory(fill); // the hello, and nothing else, fits
        if (block.Bytes.Length - fill < Math.Min(RoomMin, wanted)) MoveToBlock(wanted);
        return block.Bytes.AsMemory(fill);
    }

    /// <summary>Bytes that must follow what is there to make the first frame whole, or a guess.</summary>
    private int WantedBytes()
    {
        int have = fill - start;
        if (have < FrameHeader.Bytes) return Math.Max(RoomMin, lastFrameBytes <= BlockPool.LargeBytes ? lastFrameBytes - have : 0);
        FrameHeader header = FrameHeader.Read(block.Bytes.AsSpan(start), 0, frames.PayloadBytesMax);
        return (int)Math.Max(FrameHeader.Bytes + (long)header.Length - have, 1);
    }

    private void MoveToBlock(int wanted)
    {
        int have = fill - start;
        BlockPool.Block next = pool.Take(Math.Max(BlockPool.BlockBytes, have + wanted));
        block.Bytes.AsSpan(start, have).CopyTo(next.Bytes);
        block.Release();
        block = next;
        start = 0;
        fill = have;
    }

    /// <summary>The pump has received this many bytes into <see cref="Space"/>.</summary>
    /// <exception cref="ProtocolViolation">The app broke the protocol.</exception>
    public ReadAnswer Received(int bytes)
    {
        Crash.Hit("out.recvFromApp");
        fill += bytes;
        isDrained = fill < block.Bytes.Length;
        return Continue();
    }

    /// <summary>Hands on what is there.</summary>
    public ReadAnswer Continue()
    {
        ReadAnswer answer = ReadAnswer.More;
        while (answer == ReadAnswer.More)
        {
            DecodeStatus status = FrameReader.TryRead(
                block.Bytes.AsSpan(start, fill - start), 0, frames.PayloadBytesMax, checkPayload: false, out FrameHeader header,
                out ReadOnlySpan<byte> payload, out int size);
            if (status != DecodeStatus.Ok) break;
            FrameTypes.Check(header.Type, FrameSender.App);
            answer = header.Type == FrameType.Run
                ? frames.Run(block, start, RunView.Read(payload), payload.Length)
                : frames.Control(header.Type, payload);
            if (answer != ReadAnswer.More) break;
            start += size;
            lastFrameBytes = size;
        }
        frames.Pause(isDrained);
        return answer == ReadAnswer.More && frames.LogWaits ? ReadAnswer.LogFull : answer;
    }

    public void Dispose() => block.Release();
}

/// <summary>Who takes the app's frames.</summary>
internal interface IAppFrames
{
    /// <summary>Limit of a frame's payload in the session's present stage.</summary>
    uint PayloadBytesMax { get; }

    /// <summary>A run whose frame stands at <paramref name="frameAt"/> of the block.</summary>
    ReadAnswer Run(BlockPool.Block block, int frameAt, in RunView run, int runBytes);

    ReadAnswer Control(FrameType type, ReadOnlySpan<byte> payload);

    /// <summary>It is not known yet who speaks: what may be received is one hello.</summary>
    bool IsStranger { get; }

    /// <summary>What was handed on does not fit the log yet; see <see cref="ReadAnswer.LogFull"/>.</summary>
    bool LogWaits { get; }

    /// <summary>All that was received has been handed on: a good time to wake those who send.</summary>
    /// <param name="drained">The app has sent no more so far: the time to commit on this thread, which has nothing else to do.</param>
    void Pause(bool drained);
}
