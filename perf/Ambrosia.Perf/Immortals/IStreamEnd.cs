namespace Ambrosia.Perf;

/// <summary>What the driver, the other end and the end itself ask of an end of a stream.</summary>
public interface IStreamEnd
{
    /// <summary>One message: its first 8 bytes, little-endian, are its lane (the high 16 bits) and its number there, 1, 2, 3, …</summary>
    [MethodId(1)]
    void Take(ReadOnlySpan<byte> message);

    /// <summary>Sends the next burst.</summary>
    [MethodId(2)]
    void GoOn();

    /// <summary>A round of so many messages follows on a lane.</summary>
    [MethodId(3)]
    void Begin(int round, int lane, long messages);

    /// <summary>
    /// Sends <paramref name="messages"/> messages of <paramref name="bytes"/> bytes each, at least 8, on each lane, so many on one
    /// before it goes on to the next.
    /// </summary>
    /// <param name="lanes">Number and receiver of each, like 0:left,1:right.</param>
    [ImpulseHandler]
    void Stream(int round, long messages, int bytes, int turn, string lanes);

    /// <summary>Makes the state so many bytes large.</summary>
    [ImpulseHandler]
    void Hold(long bytes);

    /// <summary>Answers with a line: an input that was accepted and executed.</summary>
    [ImpulseHandler]
    void Poke(int number);

    /// <summary>Makes the receiver answer <see cref="Poke"/> with its line: a message that comes over the link.</summary>
    [ImpulseHandler]
    void Reach(int number, string receiver);

    /// <summary>One of many impulses; <paramref name="sent"/> is the monotonic clock's when it was to be sent.</summary>
    [ImpulseHandler]
    void Tick(long sent);
}
