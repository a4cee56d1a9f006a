namespace Ambrosia.Perf;

/// <summary>What the sender asks of the receiver of a stream.</summary>
public interface IStreamReceiver
{
    /// <summary>A round of so many messages follows.</summary>
    [MethodId(1)]
    void Begin(int round, long messages);

    /// <summary>One message: it begins with its number in the round, 1, 2, 3, …, in 8 bytes, little-endian.</summary>
    [MethodId(2)]
    void Take(ReadOnlySpan<byte> message);
}
