using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>
/// A call from outside that has a caller who waits, or a key, or both: under way until its handler is finished, then its answer. Thread:
/// the scheduler's. Invariant: who asks is answered once, those who come later too.
/// </summary>
internal sealed class OutsideCall : IImagePart
{
    /// <summary>What an entry of the window costs beside its key and its answer, for the limit in bytes.</summary>
    private const int EntryBytes = 64;

    // Fields, so that their names in an image are ours and not the compiler's.
    private readonly uint method;
    private readonly byte[] key;
    private readonly bool isAwaited;
    private readonly List<Asker> askers = [];
    private byte[] answer = [];
    private bool isDone, isFailure;
    private long timeUs;

    internal OutsideCall(uint method, byte[] key, bool isAwaited)
    {
        this.method = method;
        this.key = key;
        this.isAwaited = isAwaited;
    }

    internal uint Method => method;

    /// <summary>Empty: none.</summary>
    internal byte[] Key => key;

    /// <summary>
    /// The first who asked waits for the answer; otherwise it is an impulse, whose failure is governed by the policy for forks.
    /// </summary>
    internal bool IsAwaited => isAwaited;

    internal bool IsDone => isDone;

    internal bool IsFailure => isFailure;

    /// <summary>Kept only where there is a key.</summary>
    internal ReadOnlySpan<byte> Answer => answer;

    /// <summary>Page time of the record at which the answer was made, in µs.</summary>
    internal long TimeUs => timeUs;

    internal long Bytes => EntryBytes + key.Length + answer.Length;

    internal List<Asker> Askers => askers;

    internal void Finish(bool failed, ReadOnlySpan<byte> bytes, long nowUs)
    {
        if (isDone) throw new InvalidOperationException("A call from outside was answered twice.");
        (isDone, isFailure, timeUs) = (true, failed, nowUs);
        if (key.Length > 0) answer = bytes.ToArray();
    }

    /// <summary>Who waits for an answer: a request of a session.</summary>
    internal readonly record struct Asker(ulong Epoch, ulong Session, ulong Request)
    {
        internal ClientSessionId SessionId => new(new Epoch(Epoch), Session);
    }
}
