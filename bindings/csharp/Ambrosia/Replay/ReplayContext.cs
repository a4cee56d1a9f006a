using System.Security.Cryptography;
using Ambrosia.Calls;

namespace Ambrosia.Replay;

/// <summary>
/// Gives handlers time and randomness as functions of the log, the same at every replay. It is part of the image. Thread: the scheduler's.
/// Invariant: the time never falls, whatever a page says.
/// </summary>
internal sealed class ReplayContext(Guid instance, Scheduler scheduler)
{
    /// <summary>
    /// Of the time between two records at most this much counts for keys, in µs. A clock that was wrong for a while drops no kept answer.
    /// </summary>
    private const long KeyTimeStepUsMax = 3_600_000_000;

    /// <summary>The part of <see cref="NowUs"/> that <see cref="KeyTimeUs"/> has counted; between two records all of it.</summary>
    private long _countedUs;

    private ReplayedRandom _random = ReplayedRandom.Seeded(Seed(instance));

    internal Scheduler Scheduler => scheduler;

    /// <summary>The page time of the record that is, or was last, executed, in µs since 1970.</summary>
    internal long NowUs { get; private set; }

    /// <summary>
    /// The time by which answers to keyed calls grow old, in µs. It passes with <see cref="NowUs"/> from record to record, by one hour at
    /// the most.
    /// </summary>
    internal long KeyTimeUs { get; private set; }

    /// <summary>The Lsn of the record that is, or was last, executed.</summary>
    internal ulong ExecutingLsn { get; set; }

    internal DateTimeOffset Now
    {
        get
        {
            if (!Scheduler.IsAnyQuerying) CheckHandler();
            return DateTimeOffset.UnixEpoch.AddMicroseconds(NowUs);
        }
    }

    internal Random Random
    {
        get
        {
            CheckHandler();
            return _random;
        }
    }

    /// <summary>The state of the random numbers, for the image.</summary>
    internal ReplayedRandom State => _random;

    internal Guid NewGuid()
    {
        CheckHandler();
        Span<byte> bytes = stackalloc byte[16];
        _random.NextBytes(bytes);
        bytes[6] = (byte)(bytes[6] & 0x0F | 0x40);
        bytes[8] = (byte)(bytes[8] & 0x3F | 0x80);
        return new Guid(bytes, bigEndian: true);
    }

    /// <summary>Says when the records to come were logged.</summary>
    internal void AdvanceTo(long timeUs) => NowUs = Math.Max(NowUs, timeUs);

    /// <summary>
    /// Counts the time since the record before. Every record begins with it, and a timer's does it again when it has told its time.
    /// </summary>
    internal void CountKeyTime()
    {
        long passed = NowUs - _countedUs;
        if (passed == 0) return;
        _countedUs = NowUs;
        KeyTimeUs += Math.Min(passed, KeyTimeStepUsMax);
    }

    internal void Restore(long nowUs, long keyTimeUs, ReplayedRandom continued)
    {
        (NowUs, _countedUs, KeyTimeUs) = (nowUs, nowUs, keyTimeUs);
        _random = continued;
    }

    /// <exception cref="InvalidOperationException">No handler of this immortal runs on this thread.</exception>
    internal void CheckHandler()
    {
        if (scheduler.IsExecuting || Scheduler.IsAnyConverting) return;
        if (Scheduler.IsAnyQuerying) throw Scheduler.QueryRefusal("uses randomness, a timer or a task");
        if (scheduler.IsOfTest)
        {
            scheduler.EnterTest();
            return;
        }
        throw new BindingMisuseException(Misuse.ContextElsewhere);
    }

    /// <summary>Checks what a conversion must not do either, which may use time and randomness.</summary>
    /// <param name="what">What it does, after "A conversion".</param>
    /// <exception cref="InvalidOperationException">No handler of this immortal runs on this thread.</exception>
    internal void CheckEffect(string what)
    {
        if (Scheduler.IsAnyConverting) Scheduler.RefuseOutsideHandlers(what);
        CheckHandler();
    }

    /// <summary>
    /// Derives the seed. Random and Guid are streams of one instance; others that will be derived from its UUID get another label.
    /// </summary>
    private static byte[] Seed(Guid instance)
    {
        Span<byte> text = stackalloc byte[22];
        instance.TryWriteBytes(text, bigEndian: true, out int size);
        "random"u8.CopyTo(text[size..]);
        return SHA256.HashData(text);
    }
}
