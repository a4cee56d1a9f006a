using Ambrosia.Calls;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Ambrosia.Replay;
using Ambrosia.State;

namespace Ambrosia;

/// <summary>
/// A call from outside that has a caller who waits, or a key, or both. It is under way until its handler is finished; then it is its
/// answer. Thread: the scheduler's. Invariant: who asks is answered once, also those who ask later.
/// </summary>
internal sealed class OutsideCall : IImagePart
{
    /// <summary>The bytes that an entry of the window costs beside its key and its answer, for the limit in bytes.</summary>
    private const int EntryBytes = 64;

    // Fields, so that their names in an image are ours and not the compiler's.
    private readonly uint _method;
    private readonly byte[] _key;
    private readonly ulong _argumentsHash;

    /// <summary>
    /// The hash of the arguments as the build read them that executed the call (contract C1.9); 0: it does not say, as those before it.
    /// </summary>
    private readonly ulong _readHash;
    private readonly bool _isAwaited;
    private readonly List<Asker> _askers = [];
    private byte[] _answer = [];
    private bool _isDone, _isFailure;
    private long _timeUs;

    internal OutsideCall(uint method, byte[] key, ulong argumentsHash, ulong readHash, bool isAwaited)
    {
        _method = method;
        _key = key;
        _argumentsHash = argumentsHash;
        _readHash = readHash;
        _isAwaited = isAwaited;
    }

    internal uint Method => _method;

    /// <summary>The idempotency key; empty: there is none.</summary>
    internal byte[] Key => _key;

    /// <summary>The hash of the arguments, by which a key that comes with others is found out (protocol P10.8); 0 without a key.</summary>
    internal ulong ArgumentsHash => _argumentsHash;

    /// <summary>The hash of the arguments as they were read; 0: it is not known.</summary>
    internal ulong ReadHash => _readHash;

    /// <summary>
    /// True if the first who asked waits for the answer. Otherwise it is an impulse, whose failure is governed by the policy for forks.
    /// </summary>
    internal bool IsAwaited => _isAwaited;

    internal bool IsDone => _isDone;

    internal bool IsFailure => _isFailure;

    /// <summary>The encoded answer; it is kept only where there is a key.</summary>
    internal ReadOnlySpan<byte> Answer => _answer;

    /// <summary>The time for keys, in µs, at which the answer was made (<see cref="ReplayContext.KeyTimeUs"/>).</summary>
    internal long TimeUs => _timeUs;

    internal long Bytes => EntryBytes + _key.Length + _answer.Length;

    internal List<Asker> Askers => _askers;

    internal void Finish(bool failed, ReadOnlySpan<byte> bytes, long keyTimeUs)
    {
        if (_isDone) throw new InvalidOperationException("A call from outside was answered twice.");
        (_isDone, _isFailure, _timeUs) = (true, failed, keyTimeUs);
        if (_key.Length > 0) _answer = bytes.ToArray();
    }

    /// <summary>Names who waits for an answer: a request of a client's session.</summary>
    internal readonly record struct Asker(ulong Epoch, ulong Session, ulong Request)
    {
        internal ClientSessionId SessionId => new(new Epoch(Epoch), Session);
    }
}

/// <summary>Waits for a suspended handler of a call from outside, and tells its askers when the handler has finished.</summary>
internal sealed class OwedOutsideAnswer(Source handler, OutsideCall call, SetAsideMessage? kept) : Source
{
    // Fields, so that their names in an image are ours and not the compiler's.
    private readonly Source _handler = handler;
    private readonly OutsideCall _call = call;
    private readonly SetAsideMessage? _kept = kept;

    internal Source Handler => _handler;

    internal OutsideCall Call => _call;

    internal SetAsideMessage? Kept => _kept;

    internal override void Resume() => Scheduler.Current.Session.SendOwed(this);
}

/// <summary>The limits say how long, and how many, answers to keyed calls are kept.</summary>
/// <param name="AgeUs">In µs of log time.</param>
internal readonly record struct WindowLimits(ulong AgeUs, ulong EntriesMax, ulong BytesMax)
{
    internal static WindowLimits Of(PolicyRecord policy) => new(policy.WindowUs, policy.EntriesMax, policy.BytesMax);
}
