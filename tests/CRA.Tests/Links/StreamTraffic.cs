using System.Buffers.Binary;
using System.Runtime.InteropServices;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Hashing;
using CRA.Links;

namespace CRA.Tests;

/// <summary>
/// Is one end of a stream across connections: endless numbered frames whose content follows from their number.
/// </summary>
internal sealed class StreamEnd(int seed, ulong framesToSend)
{
    public int Seed { get; } = seed;

    public ulong FramesToSend { get; } = framesToSend;

    // Frames of the other end that arrived, in order and whole. Written by the in thread.
    public ulong Received;
    public long ReceivedBytes;

    // Bytes after which Reached is set once.
    public long Threshold = long.MaxValue;
    public readonly ManualResetEventSlim Reached = new(false);

    // The faults that were found; they are the oracle of these tests.
    public volatile string? Fault;

    public bool ResumesOneTooEarly { get; init; } // the planted bug

    public int PayloadBytes(ulong number)
    {
        ulong x = Mix((ulong)Seed ^ (number * 0x9E3779B97F4A7C15));
        return x % 97 == 0 ? (int)(x >> 40) % 3_000_000 : (int)(x >> 40) % 60_000;
    }

    public void Fill(Span<byte> payload, ulong number)
    {
        ulong state = Mix((ulong)Seed + number);
        foreach (ref ulong word in MemoryMarshal.Cast<byte, ulong>(payload))
            word = state = (state * 6364136223846793005) + 1442695040888963407;
        payload[(payload.Length & ~7)..].Fill((byte)state);
    }

    private static ulong Mix(ulong x)
    {
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
        return x ^ (x >> 31);
    }
}

/// <summary>Is the traffic of one connection between two ends, which resumes from what the other end has received.</summary>
internal sealed class StreamTraffic : ILinkTraffic
{
    private readonly StreamEnd _own;
    private readonly StreamEnd _other;
    private readonly uint _seed;
    private readonly Random _random;
    private readonly byte[] _heartbeat = new byte[FrameHeader.Bytes];
    private readonly byte[] _expected = new byte[3_000_000];
    private readonly byte[] _frame = new byte[3_000_000 + FrameHeader.Bytes + 8];
    private ulong _next;
    private int _left;
    private int _ended;

    public StreamTraffic(StreamEnd own, StreamEnd other, uint seed)
    {
        (_own, _other, _seed) = (own, other, seed);
        _random = new Random(own.Seed);
        ulong received = Volatile.Read(ref other.Received);
        _next = own.ResumesOneTooEarly && received > 0 ? received - 1 : received;
        new FrameHeader(0, FrameType.Heartbeat, 0).Write(_heartbeat, seed);
    }

    public bool HasEnded => Volatile.Read(ref _ended) > 0;

    public string? Why { get; private set; }

    public int FrameBytesWanted { get; private set; }

    public ReadOnlyMemory<byte> HeartbeatFrame => _heartbeat;

    public FeedResult Feed(ReadOnlySpan<byte> bytes, bool drained, out int consumed)
    {
        consumed = 0;
        FrameBytesWanted = 0;
        if (HasEnded) _own.Fault = "fed after its end";
        while (bytes.Length - consumed >= FrameHeader.Bytes)
        {
            var header = FrameHeader.Read(bytes[consumed..], _seed, 3_000_100);
            int whole = FrameHeader.Bytes + (int)header.Length;
            if (bytes.Length - consumed < whole)
            {
                FrameBytesWanted = whole;
                return FeedResult.Continue;
            }
            if (_random.Next(200) == 0) return FeedResult.NoRoom;
            if (header.Type == FrameType.Run) Check(bytes.Slice(consumed + FrameHeader.Bytes, (int)header.Length), header.PayloadCrc);
            consumed += whole;
        }
        return FeedResult.Continue;
    }

    private void Check(ReadOnlySpan<byte> payload, uint crc)
    {
        ulong number = BinaryPrimitives.ReadUInt64LittleEndian(payload);
        Span<byte> expected = _expected.AsSpan(0, payload.Length - 8);
        _other.Fill(expected, number);
        if (number != _own.Received) _own.Fault ??= $"frame {number} where {_own.Received} was due";
        if (Crc32C.Of(payload) != crc || !payload[8..].SequenceEqual(expected)) _own.Fault ??= $"frame {number} has another content";
        Volatile.Write(ref _own.Received, number + 1);
        _own.ReceivedBytes += payload.Length;
        if (_own.ReceivedBytes >= Volatile.Read(ref _own.Threshold)) _own.Reached.Set();
    }

    public void WaitForRoom(CancellationToken stop)
    {
        stop.ThrowIfCancellationRequested();
        Thread.Yield();
    }

    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        if (_left != 0) _own.Fault = $"asked for more with {_left} bytes not taken";
        if (HasEnded) _own.Fault = "asked after its end";
        if (_next >= _own.FramesToSend) return false;
        int payload = 8 + _own.PayloadBytes(_next);
        Span<byte> to = _frame.AsSpan(FrameHeader.Bytes, payload);
        BinaryPrimitives.WriteUInt64LittleEndian(to, _next);
        _own.Fill(to[8..], _next);
        new FrameHeader((uint)payload, FrameType.Run, Crc32C.Of(to)).Write(_frame, _seed);
        _left = FrameHeader.Bytes + payload;
        bytes = _frame.AsMemory(0, _left);
        _next++;
        return true;
    }

    public void Taken(int bytes)
    {
        _left -= bytes;
        if (bytes <= 0 || _left < 0) _own.Fault = $"{bytes} bytes taken, {_left} left";
    }

    public void Ended(string why)
    {
        Why = why;
        if (Interlocked.Increment(ref _ended) > 1) _own.Fault = "ended twice";
    }
}
