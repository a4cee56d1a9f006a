using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.AppSessions;

/// <summary>What the pump that feeds a reader is to do next.</summary>
internal enum ReadAnswer
{
    /// <summary>The pump receives more.</summary>
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

    private BlockPool.Block _block = pool.TakeSmall(FrameHeader.Bytes + SizeLimits.ControlBytesMax);

    /// <summary>The bytes [start, fill) of the block are received; everything before start has been handed on.</summary>
    private int _start, _fill;

    /// <summary>
    /// The length of the frame that was handed on last. The next one may well be as long, and is best received where it fits.
    /// </summary>
    private int _lastFrameBytes;

    /// <summary>The last receive left room: the socket had no more.</summary>
    private bool _isDrained;

    /// <summary>The memory into which the pump receives the next bytes.</summary>
    public Memory<byte> Space()
    {
        int wanted = WantedBytes();
        if (frames.IsStranger && _fill < _block.Bytes.Length) return _block.Bytes.AsMemory(_fill); // the hello, and nothing else, fits
        if (_block.Bytes.Length - _fill < Math.Min(RoomMin, wanted)) MoveToBlock(wanted);
        return _block.Bytes.AsMemory(_fill);
    }

    /// <summary>Returns how many bytes must follow what is there to make the first frame whole, or a guess.</summary>
    private int WantedBytes()
    {
        int have = _fill - _start;
        if (have < FrameHeader.Bytes) return Math.Max(RoomMin, _lastFrameBytes <= BlockPool.LargeBytes ? _lastFrameBytes - have : 0);
        FrameHeader header = FrameHeader.Read(_block.Bytes.AsSpan(_start), 0, frames.PayloadBytesMax);
        return (int)Math.Max(FrameHeader.Bytes + (long)header.Length - have, 1);
    }

    private void MoveToBlock(int wanted)
    {
        int have = _fill - _start;
        BlockPool.Block next = pool.Take(Math.Max(BlockPool.BlockBytes, have + wanted));
        _block.Bytes.AsSpan(_start, have).CopyTo(next.Bytes);
        _block.Release();
        _block = next;
        _start = 0;
        _fill = have;
    }

    /// <summary>The pump has received this many bytes into <see cref="Space"/>.</summary>
    /// <exception cref="ProtocolViolation">The app broke the protocol.</exception>
    public ReadAnswer Received(int bytes)
    {
        Crash.Hit("out.recvFromApp");
        _fill += bytes;
        _isDrained = _fill < _block.Bytes.Length;
        return Continue();
    }

    /// <summary>The reader hands on what is there.</summary>
    public ReadAnswer Continue()
    {
        ReadAnswer answer = ReadAnswer.More;
        while (answer == ReadAnswer.More)
        {
            DecodeStatus status = FrameReader.TryRead(
                _block.Bytes.AsSpan(_start, _fill - _start), 0, frames.PayloadBytesMax, checkPayload: false, out FrameHeader header,
                out ReadOnlySpan<byte> payload, out int size);
            if (status != DecodeStatus.Ok) break;
            FrameTypes.Check(header.Type, FrameSender.App);
            answer = header.Type == FrameType.Run
                ? frames.Run(_block, _start, RunView.Read(payload), payload.Length)
                : frames.Control(header.Type, payload);
            if (answer != ReadAnswer.More) break;
            _start += size;
            _lastFrameBytes = size;
        }
        frames.Pause(_isDrained);
        return answer == ReadAnswer.More && frames.LogWaits ? ReadAnswer.LogFull : answer;
    }

    public void Dispose() => _block.Release();
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
