namespace Ambrosia.Simulation;

/// <summary>Bytes on their way in one direction: what was sent and has not arrived, in order, delivered in pieces of any size.</summary>
internal sealed class Wire
{
    private readonly List<byte> _bytes = [];

    public int Count => _bytes.Count;

    public void Send(ReadOnlySpan<byte> more)
    {
        foreach (byte b in more) _bytes.Add(b);
    }

    public byte[] Take(int count)
    {
        byte[] taken = _bytes.GetRange(0, count).ToArray();
        _bytes.RemoveRange(0, count);
        return taken;
    }
}
