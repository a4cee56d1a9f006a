// What handlers see of the world as a function of the log: time, randomness. Part of the image. Thread: the scheduler's.
// Invariant: the time never falls, whatever a page says.
using System.Security.Cryptography;

namespace Ambrosia;

internal sealed class Surroundings(Guid instance, Scheduler scheduler)
{
    private ReplayedRandom random = ReplayedRandom.Seeded(Seed(instance));

    /// <summary>Of the record that is, or was last, executed: µs since 1970.</summary>
    internal long NowUs { get; private set; }

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
            return random;
        }
    }

    /// <summary>Where the random numbers are, for the image.</summary>
    internal ReplayedRandom State => random;

    internal Guid NewGuid()
    {
        CheckHandler();
        Span<byte> bytes = stackalloc byte[16];
        random.NextBytes(bytes);
        bytes[6] = (byte)(bytes[6] & 0x0F | 0x40);
        bytes[8] = (byte)(bytes[8] & 0x3F | 0x80);
        return new Guid(bytes, bigEndian: true);
    }

    /// <summary>The records to come were logged then.</summary>
    internal void AdvanceTo(long timeUs) => NowUs = Math.Max(NowUs, timeUs);

    internal void Restore(long nowUs, ReplayedRandom continued)
    {
        NowUs = nowUs;
        random = continued;
    }

    internal void CheckHandler()
    {
        if (Scheduler.IsAnyQuerying) throw Queries.Refusal("uses randomness, a timer or a task");
        if (!scheduler.IsExecuting)
            throw new InvalidOperationException(
                "Time, randomness, timers and tasks of an immortal are for its handlers: what other threads saw of them, replay would not.");
    }

    /// <summary>Random and Guid are streams of one instance; others that will be derived from its UUID get another label.</summary>
    private static byte[] Seed(Guid instance)
    {
        Span<byte> text = stackalloc byte[22];
        instance.TryWriteBytes(text, bigEndian: true, out int size);
        "random"u8.CopyTo(text[size..]);
        return SHA256.HashData(text);
    }
}
