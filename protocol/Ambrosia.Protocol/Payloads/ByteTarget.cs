using System.Buffers;
using System.Runtime.CompilerServices;

namespace Ambrosia.Protocol.Payloads;

/// <summary>
/// The destination of the writers' bytes: a fixed span, or a growable buffer of which it holds one stretch at a time. It allocates nothing.
/// Invariant: <c>_at ≤ _stretch.Length</c>; the bytes before <c>_at</c> are written, but the growable buffer gets them only with
/// <see cref="Flush"/>.
/// </summary>
internal ref struct ByteTarget
{
    private readonly IBufferWriter<byte>? _growable;
    private Span<byte> _stretch;
    private int _at;
    private long _flushed;

    public ByteTarget(Span<byte> fixedSpan) => _stretch = fixedSpan;

    public ByteTarget(IBufferWriter<byte> growable)
    {
        _growable = growable;
        _stretch = growable.GetSpan();
    }

    /// <summary>The number of bytes written since the beginning.</summary>
    public readonly long Written => _flushed + _at;

    /// <summary>The number of bytes that can be reserved without asking the growable buffer for more.</summary>
    public readonly int Room => _stretch.Length - _at;

    /// <summary>
    /// Returns room for at least <paramref name="count"/> bytes at the end; <see cref="Advance"/> says how much of it was written.
    /// </summary>
    /// <exception cref="InvalidOperationException">The fixed span is full, so the caller gave too little room.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public Span<byte> Reserve(int count)
    {
        if (_stretch.Length - _at < count) Grow(count);
        return _stretch[_at..];
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Advance(int count) => _at += count;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Put(byte value)
    {
        if (_at == _stretch.Length) Grow(1);
        _stretch[_at++] = value;
    }

    public void Put(scoped ReadOnlySpan<byte> bytes)
    {
        bytes.CopyTo(Reserve(bytes.Length));
        _at += bytes.Length;
    }

    /// <summary>Hands what was written to the growable buffer, which has nothing of it until then.</summary>
    public void Flush()
    {
        if (_growable is null) return;
        _growable.Advance(_at);
        _flushed += _at;
        _stretch = _stretch[_at..];
        _at = 0;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void Grow(int count)
    {
        if (_growable is null)
            throw new InvalidOperationException($"{count} bytes do not fit in the {_stretch.Length - _at} that are left");
        Flush();
        _stretch = _growable.GetSpan(count);
    }
}
