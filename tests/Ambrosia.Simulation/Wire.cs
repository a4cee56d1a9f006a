using System.Runtime.InteropServices;

namespace Ambrosia.Simulation;

/// <summary>Bytes on their way in one direction: what was sent and has not arrived, in order, delivered in pieces of any size.</summary>
internal sealed class Wire
{
    private readonly List<byte> _bytes = [];

    public int Count => _bytes.Count;

    public void Send(ReadOnlySpan<byte> more) => _bytes.AddRange(more);

    public byte[] Take(int count)
    {
        byte[] taken = CollectionsMarshal.AsSpan(_bytes)[..count].ToArray();
        _bytes.RemoveRange(0, count);
        return taken;
    }
}
