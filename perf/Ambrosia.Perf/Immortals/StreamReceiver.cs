using System.Buffers.Binary;

namespace Ambrosia.Perf;

/// <summary>
/// The receiving end of <c>stream</c>: checks every message's number, and at the last one prints <c>done ROUND COUNT BYTES DISORDER</c>.
/// A message that is lost keeps that line away; one that is doubled or swapped counts as disorder.
/// </summary>
public sealed partial class StreamReceiver : Immortal<IStreamReceiverProxy>, IStreamReceiver
{
    private int round;
    private long expected;
    private long taken;
    private long bytes;
    private long disorder;

    public void Begin(int round, long messages)
    {
        // A message of the round before that comes only now would be in this one's way, and is counted there.
        (this.round, expected, taken, bytes, disorder) = (round, messages, 0, 0, 0);
    }

    public void Take(ReadOnlySpan<byte> message)
    {
        taken++;
        bytes += message.Length;
        if (BinaryPrimitives.ReadInt64LittleEndian(message) != taken) disorder++;
        if (taken == expected) Console.WriteLine($"done {round} {taken} {bytes} {disorder}");
    }
}
