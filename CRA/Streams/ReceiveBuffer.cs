using System.Buffers;
using System.Numerics;

namespace CRA.Streams;

/// <summary>
/// Holds the bytes that a connection has received and the traffic has not consumed. It has 4 KiB while little comes, so that connections
/// that are idle or have not said who they are cost next to nothing. A connection that fills it gets more, up to 512 KiB. For a big frame
/// it grows by doubling as the frame's bytes come in, so that a mere claim of size costs nothing. It shrinks when little has come for a
/// while. Invariant: <c>0 ≤ _start ≤ _end ≤ _bytes.Length</c>. The in thread uses it.
/// </summary>
/// <param name="shared">The bound over what all connections hold for big frames.</param>
internal sealed class ReceiveBuffer(SharedBytes shared) : IDisposable
{
    public const int BytesMin = 4 * 1024;

    /// <summary>The size for a busy connection; more does not make receives cheaper.</summary>
    public const int BytesBusy = 512 * 1024;

    /// <summary>The hard limit is the largest frame of P2.3, header included.</summary>
    public const int FrameBytesMax = (1024 * 1024 * 1024) + 65_536 + 16;

    /// <summary>A connection that has filled the buffer gets this many times as much.</summary>
    private const int GrowthOnFull = 8;

    /// <summary>Less free room than this part at the end is not worth a receive, so the rest is moved to the front first.</summary>
    private const int FreePartMin = 4;

    /// <summary>After this many receives in a row of little, or without a big frame, a large array goes back.</summary>
    private const int SmallBeforeShrink = 64;

    private byte[] _bytes = ArrayPool<byte>.Shared.Rent(BytesMin);
    private int _start;
    private int _end;
    private int _smallInARow, _withoutBig;

    /// <summary>The last receive took all the room there was, so that more may have arrived.</summary>
    private bool _wasFilled;

    /// <summary>The bytes that were received and not consumed.</summary>
    public ReadOnlySpan<byte> Held => _bytes.AsSpan(_start, _end - _start);

    /// <summary>The room for the next receive.</summary>
    public Memory<byte> Free => _bytes.AsMemory(_end);

    public int Capacity => _bytes.Length;

    public void Received(int bytes)
    {
        if ((uint)bytes > (uint)(_bytes.Length - _end))
            throw new InvalidOperationException($"{bytes} bytes received into {_bytes.Length - _end}.");
        _end += bytes;
        _wasFilled = _end == _bytes.Length;
        _smallInARow = bytes < BytesMin / 2 ? _smallInARow + 1 : 0;
    }

    public void Consume(int bytes)
    {
        if ((uint)bytes > (uint)(_end - _start))
            throw new InvalidOperationException($"The traffic consumed {bytes} of {_end - _start} bytes.");
        _start += bytes;
        if (_start == _end) _start = _end = 0;
    }

    /// <summary>
    /// Makes <see cref="Free"/> fit for the next receive, given the size of the frame under way (0: not known). False: the frame needs more
    /// than all connections may hold together.
    /// </summary>
    public bool MakeRoom(int frameBytesWanted)
    {
        if ((uint)frameBytesWanted > FrameBytesMax)
            throw new InvalidOperationException($"The traffic wants a frame of {frameBytesWanted} bytes.");
        int held = _end - _start;
        if (frameBytesWanted > 0 && held >= frameBytesWanted)
            throw new InvalidOperationException($"The traffic left {held} bytes that it wants {frameBytesWanted} of.");
        _withoutBig = frameBytesWanted > BytesBusy ? 0 : _withoutBig + 1;
        if (_wasFilled && _bytes.Length < BytesBusy)
            MoveTo(ArrayPool<byte>.Shared.Rent(Math.Min(BytesBusy, GrowthOnFull * _bytes.Length)));
        else if (frameBytesWanted > _bytes.Length && held >= _bytes.Length / 2)
        {
            if (!TryGrow((int)Math.Min(frameBytesWanted, 2L * _bytes.Length))) return false;
        }
        else if (_bytes.Length > BytesMin && _smallInARow > SmallBeforeShrink && held <= BytesMin / 2 && frameBytesWanted <= BytesMin)
            MoveTo(ArrayPool<byte>.Shared.Rent(BytesMin));
        else if (_bytes.Length > BytesBusy && _withoutBig > SmallBeforeShrink && held <= BytesBusy / 2)
            MoveTo(ArrayPool<byte>.Shared.Rent(BytesBusy));
        else if (_start > 0 && (_bytes.Length - _end < _bytes.Length / FreePartMin || _bytes.Length - _start < frameBytesWanted))
            MoveTo(_bytes);
        _wasFilled = false;
        if (_end == _bytes.Length) throw new InvalidOperationException($"{held} bytes held leave no room, and no frame is wanted.");
        return true;
    }

    private bool TryGrow(int bytes)
    {
        // The pool's arrays have sizes of powers of two.
        if (!shared.TryChange(SharedOf(_bytes.Length), SharedOf((long)BitOperations.RoundUpToPowerOf2((uint)bytes)))) return false;
        MoveTo(ArrayPool<byte>.Shared.Rent(bytes), isShared: true);
        return true;
    }

    /// <summary>What a buffer of this size holds of what connections share: all of it, where it is larger than a busy one's.</summary>
    private static long SharedOf(long bytes) => bytes > BytesBusy ? bytes : 0;

    private void MoveTo(byte[] bytes, bool isShared = false)
    {
        byte[] old = _bytes;
        if (!isShared) shared.TryChange(SharedOf(old.Length), SharedOf(bytes.Length));
        Held.CopyTo(bytes);
        (_bytes, _end, _start) = (bytes, _end - _start, 0);
        if (old != bytes) ArrayPool<byte>.Shared.Return(old);
    }

    public void Dispose()
    {
        byte[] bytes = _bytes;
        (_bytes, _start, _end) = ([], 0, 0);
        shared.TryChange(SharedOf(bytes.Length), 0);
        if (bytes.Length > 0) ArrayPool<byte>.Shared.Return(bytes);
    }
}
