using System.Buffers;
using System.Numerics;
using System.Reflection;
using System.Security.Cryptography;
using Ambrosia.Failures;
using Ambrosia.State;
using Ambrosia.Tasks;

namespace Ambrosia.Checkpoints;

/// <summary>
/// Finds state that another thread has changed: while the app waits for input nothing may change, so each field must have the same image
/// before and behind the wait. Messages cost nothing; of the waits the 16th, 32nd, 64th … are looked at, or all. Thread: the scheduler's,
/// between records.
/// </summary>
internal sealed class StateWatch(QueryChecking checking)
{
    /// <summary>
    /// The limit of the bytes that all fields take. A larger state is not looked at again, where not every wait is: it would take too long.
    /// </summary>
    private const long SampledBytesMax = 16 * 1024 * 1024;

    /// <summary>
    /// Where not every wait is looked at, none before this one is: a session begins with a few, while callers wait for it to be ready.
    /// </summary>
    private const ulong FirstSampled = 16;

    private const int NamesMax = 3;

    private ulong _waits;
    private bool _isTooLarge;

    /// <summary>What the fields held when the present wait began; null: this wait is not looked at.</summary>
    private string?[]? _atRest;

    /// <summary>The app has executed everything that it has, and waits.</summary>
    internal void Rest(object immortal)
    {
        if (checking == QueryChecking.Never || _atRest is not null) return;
        _waits++;
        bool isSampled = checking == QueryChecking.Sampled;
        if (isSampled && (_isTooLarge || _waits < FirstSampled || !BitOperations.IsPow2(_waits))) return;
        _atRest = Look(immortal);
        if (isSampled && _isTooLarge) _atRest = null;
    }

    /// <summary>The app goes on.</summary>
    /// <exception cref="AppFailed">Another thread has changed the state.</exception>
    internal void GoOn(object immortal)
    {
        if (_atRest is null) return;
        string?[] before = _atRest;
        _atRest = null;
        Compare(immortal, before);
    }

    private void Compare(object immortal, string?[] before)
    {
        string?[] now = Look(immortal);
        string[] names = StateFields.NamesOf(immortal.GetType());
        string[] changed = [.. names.Where((_, place) => before[place] != now[place]).Select(NameOf)];
        if (changed.Length == 0) return;
        string which = string.Join(", ", changed.Take(NamesMax))
            + (changed.Length > NamesMax ? $" and {changed.Length - NamesMax} more" : "");
        throw new AppFailed($"The state of {immortal.GetType().Name} was changed while no handler ran, in {which}",
            new InvalidOperationException(
                "another thread has touched it: a body of a NondetTask, a thread that BecomingPrimary started, or WhilePrimary. Let it send an impulse, or mark what it shares [NotState]"));
    }

    /// <summary>Gives a hash of the image of each field; null for one of which there is none at the moment.</summary>
    private string?[] Look(object immortal)
    {
        long bytes = 0;
        FieldInfo[] fields = StateFields.Of(immortal.GetType());
        var seen = new string?[fields.Length];
        for (int i = 0; i < fields.Length; i++) seen[i] = HashOf(fields[i], immortal, ref bytes);
        _isTooLarge |= bytes > SampledBytesMax;
        return seen;
    }

    private static string? HashOf(FieldInfo field, object immortal, ref long bytes)
    {
        var image = new ArrayBufferWriter<byte>();
        try
        {
            ValueImage.Write(image, field.GetValue(immortal));
        }
        catch (Exception e) when (HandlerFailure.Is(e))
        {
            // No checkpoint can hold it, or another thread changes it at this moment: then the second look has another outcome.
            return null;
        }
        bytes += image.WrittenCount;
        return Convert.ToHexString(SHA256.HashData(image.WrittenSpan));
    }

    /// <summary>Names a field as the app's source does: a property's name for the field behind it.</summary>
    private static string NameOf(string field) =>
        field.StartsWith('<') && field.IndexOf('>', StringComparison.Ordinal) is > 1 and var end ? field[1..end] : field;
}
