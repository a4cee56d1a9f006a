using System.Buffers;

namespace Ambrosia.Protocol.Tests;

/// <summary>
/// A growable buffer that never gives more room than was asked for, each time in another array: growing happens all the time.
/// </summary>
internal sealed class TinySteps : IBufferWriter<byte>
{
    private byte[] _stretch = [];

    public List<byte> Bytes { get; } = [];

    public void Advance(int count)
    {
        Bytes.AddRange(_stretch.AsSpan(0, count));
        _stretch = _stretch[count..];
    }

    public Memory<byte> GetMemory(int sizeHint = 0) => _stretch = new byte[Math.Max(1, sizeHint)];

    public Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;
}
