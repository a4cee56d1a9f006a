using System.Buffers;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// An app spoken by hand whose state is as large as one likes and never in memory as a whole: made, hashed and checked chunk by chunk. Each
/// record it gets from itself is answered with another to itself, so that the log never rests while it is busy. One thread.
/// </summary>
internal sealed class ImageApp : IDisposable
{
    private const uint SelfIndex = 0;
    private const ulong Mix = 0x9E37_79B9_7F4A_7C15;

    private readonly Socket _socket = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
    private readonly ArrayBufferWriter<byte> _said = new();
    private readonly byte[] _chunk = new byte[ImageChunk.BytesMax];
    private readonly byte[] _token;
    private byte[] _heard = new byte[4 << 20];
    private int _start, _fill;
    private AppWelcome? _welcome;
    private long _restored;
    private ulong _restoredHash;
    private bool _isImaging;

    public ImageApp(Replica replica, long imageBytes)
    {
        ImageBytes = imageBytes;
        _token = File.ReadAllBytes(Path.Combine(replica.LogDirectory, "app.r0.token"));
        _socket.Connect(new UnixDomainSocketEndPoint(Path.Combine(replica.LogDirectory, "app.r0.sock")));
        SendFrame(new AppHello(1, 1, _token, 1, 0, "image", "test", "", "", 0, (uint)Environment.ProcessId));
    }

    /// <summary>Size of its state.</summary>
    public long ImageBytes { get; set; }

    /// <summary>It answers itself.</summary>
    public bool IsBusy { get; set; }

    /// <summary>
    /// It answers each record by itself, in replay too: as much stays under way as was kicked, or said at the first start.
    /// </summary>
    public bool AnswersEach { get; set; }

    /// <summary>What it says at its first start, if it answers each.</summary>
    public int Seeds { get; set; }

    /// <summary>Lsn behind what it has executed.</summary>
    public long Executed { get; private set; }

    public bool IsPrimary { get; private set; }

    /// <summary>Records from itself.</summary>
    public long Turns { get; private set; }

    /// <summary>Images given away, whole.</summary>
    public int Images { get; private set; }

    /// <summary>Size of the state that the session began with; -1: it began with none.</summary>
    public long RestoredBytes { get; private set; } = -1;

    public Lsn Began => _welcome!.Checkpoint;

    /// <summary>Called between chunks.</summary>
    public Action BetweenChunks { get; set; } = static () => { };

    /// <summary>Bytes between pieces of work while an image is given away.</summary>
    public int ChunkBytes { get; set; } = ImageChunk.BytesMax;

    /// <summary>Works until it holds; an end of the connection is a failure.</summary>
    public void RunUntil(Func<bool> holds, TimeSpan? patience = null)
    {
        long until = Environment.TickCount64 + (long)(patience ?? Cluster.Patience).TotalMilliseconds;
        while (!holds())
        {
            if (Environment.TickCount64 > until) throw new TimeoutException("the app waits in vain");
            if (_socket.Poll(TimeSpan.FromMilliseconds(10), SelectMode.SelectRead)) Receive();
        }
    }

    /// <summary>Says something to itself.</summary>
    public void Kick() => Emit();

    public void AskForCheckpoint() => SendFrame(FrameType.CheckpointWanted, []);

    /// <summary>Of what it says to itself.</summary>
    public int MessageBytes { get; set; } = 6;

    private void Receive()
    {
        if (_heard.Length - _fill < 64 << 10)
        {
            _heard.AsSpan(_start, _fill - _start).CopyTo(_heard);
            (_start, _fill) = (0, _fill - _start);
        }
        int count = _socket.Receive(_heard.AsSpan(_fill));
        if (count == 0) throw new EndOfStreamException("the coordinator ended the app channel");
        _fill += count;
        while (FrameReader.TryRead(
            _heard.AsSpan(_start, _fill - _start), 0, (uint)_heard.Length, checkPayload: false, out FrameHeader header,
            out ReadOnlySpan<byte> payload, out int size) == DecodeStatus.Ok)
        {
            _start += size;
            Hear(header.Type, payload);
        }
        if (_start == _fill) _start = _fill = 0;
    }

    private void Hear(FrameType type, ReadOnlySpan<byte> payload)
    {
        switch (type)
        {
            case FrameType.AppWelcome:
                _welcome = AppWelcome.Read(payload);
                SendFrame(new DestinationFrame(SelfIndex, _welcome.Instance));
                break;
            case FrameType.ImageChunk: Restore(payload); break;
            case FrameType.ImageEnd:
                ImageEnd end = ImageEnd.Read(payload);
                if (end.Length != (ulong)_restored || end.Hash != _restoredHash)
                    throw new InvalidDataException($"an image of {_restored} bytes whose end says {end.Length}");
                ImageBytes = RestoredBytes = _restored;
                break;
            case FrameType.Deliver: Deliver(payload); break;
            case FrameType.BecomePrimary:
                SendFrame(new PrimaryReady(BecomePrimary.Read(payload).Position));
                IsPrimary = true;
                break;
            case FrameType.Goodbye: throw new InvalidOperationException(Goodbye.Read(payload).Why);
        }
    }

    private void Deliver(ReadOnlySpan<byte> payload)
    {
        DeliverHeader header = DeliverHeader.Read(payload);
        var records = new RecordReader(payload[DeliverHeader.Bytes..], header.First);
        bool marked = header.Mark == Lsn.Zero;
        int runs = 0;
        while (records.Next())
        {
            if (!marked && records.Lsn >= header.Mark) { SendFrame(new ProcessedFrame(header.Mark)); marked = true; }
            if (records.Kind == RecordKind.Run) { Turns++; runs++; }
            if (AnswersEach)
                for (int emit = records.Kind switch { RecordKind.Run => 1, RecordKind.FirstStart => Seeds, _ => 0 }; emit > 0; emit--)
                    Emit();
            if (records.Kind == RecordKind.CheckpointMark && records.Read<CheckpointMarkRecord>() is { } mark
                && mark.Epoch == _welcome!.Epoch && !_isImaging) GiveImage(records.End);
        }
        if (!marked) SendFrame(new ProcessedFrame(header.Mark));
        if (records.End > (marked ? header.Mark : Lsn.Zero)) SendFrame(new ProcessedFrame(records.End));
        Executed = (long)records.End.Value;
        if (runs > 0 && IsBusy && IsPrimary) Emit();
    }

    /// <summary>P5.7; what came in meanwhile is executed between the chunks, as an app that copies its state on write would.</summary>
    private void GiveImage(Lsn lsn)
    {
        _isImaging = true;
        SendFrame(new ImageBegin(lsn, 0));
        ulong hash = 0;
        for (long at = 0; at < ImageBytes;)
        {
            Span<byte> part = _chunk.AsSpan(0, (int)Math.Min(ChunkBytes, ImageBytes - at));
            Fill(part, at);
            hash = ChannelHash.Append(hash, part);
            SendFrame(FrameType.ImageChunk, part);
            at += part.Length;
            BetweenChunks();
        }
        SendFrame(new ImageEnd((ulong)ImageBytes, hash));
        _isImaging = false;
        Images++;
    }

    private void Restore(ReadOnlySpan<byte> part)
    {
        Span<byte> expected = _chunk.AsSpan(0, part.Length);
        Fill(expected, _restored);
        if (!part.SequenceEqual(expected)) throw new InvalidDataException($"the image differs in the {part.Length} bytes at {_restored}");
        _restoredHash = ChannelHash.Append(_restoredHash, part);
        _restored += part.Length;
    }

    /// <summary>What stands at a position of the state: never twice the same.</summary>
    private static void Fill(Span<byte> bytes, long position)
    {
        if (position % sizeof(ulong) != 0) throw new ArgumentException("chunks begin at multiples of 8");
        Span<ulong> words = MemoryMarshal.Cast<byte, ulong>(bytes);
        ulong word = (ulong)position / sizeof(ulong) * Mix;
        for (int i = 0; i < words.Length; i++, word += Mix) words[i] = word ^ (word >> 29);
        for (int i = words.Length * sizeof(ulong); i < bytes.Length; i++) bytes[i] = (byte)i;
    }

    private void Emit()
    {
        Span<byte> length = stackalloc byte[Varint.BytesMax];
        byte[] run = [.. new byte[RunHeader.Bytes], .. length[..Varint.Write(length, (ulong)MessageBytes)], 1,
            .. new byte[MessageBytes - 1]];
        new RunHeader(MessageKind.Fork, false, 0, SelfIndex, 0, 1, 0, 0).Write(run);
        SendFrame(FrameType.Run, run);
    }

    private void SendFrame<T>(T frame) where T : IFramePayload<T>
    {
        _said.ResetWrittenCount();
        FrameWriter.Write(_said, frame, 0, checkPayload: false);
        Send();
    }

    private void SendFrame(FrameType type, ReadOnlySpan<byte> payload)
    {
        _said.ResetWrittenCount();
        FrameWriter.Write(_said, type, payload, 0, checkPayload: false);
        Send();
    }

    private void Send()
    {
        for (int sent = 0; sent < _said.WrittenCount;) sent += _socket.Send(_said.WrittenSpan[sent..]);
    }

    public void Dispose() => _socket.Dispose();
}
