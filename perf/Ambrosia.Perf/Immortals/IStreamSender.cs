namespace Ambrosia.Perf;

/// <summary>What the driver and the sender itself ask of the sender of a stream.</summary>
public interface IStreamSender
{
    /// <summary>Begins a round of <paramref name="messages"/> messages of <paramref name="bytes"/> bytes each; at least 8.</summary>
    [ImpulseHandler]
    void Stream(int round, long messages, int bytes);

    /// <summary>Sends the next burst.</summary>
    [MethodId(1)]
    void GoOn();
}
