// The messages that were set aside (log-format L5.12): part of the image, the same on every replica. Thread: the scheduler's.
// Invariants: decisions are numbered in the order of execution; those above Met have no Quarantine record yet, and
// their messages are all here.
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class Quarantine
{
    internal const int MessagesMax = 1_000;
    internal const long BytesMax = 64 << 20;

    private readonly SortedDictionary<MessagePlace, SetAsideMessage> messages = [];

    /// <summary>In the order of their places.</summary>
    internal IReadOnlyCollection<SetAsideMessage> Messages => messages.Values;

    /// <summary>Of arguments.</summary>
    internal long Bytes { get; private set; }

    /// <summary>How often a message was set aside.</summary>
    internal ulong Decisions { get; private set; }

    /// <summary>Decisions whose records were executed.</summary>
    internal ulong Met { get; private set; }

    internal bool HasRoom(int argumentBytes) => messages.Count == 0 || (messages.Count < MessagesMax && argumentBytes <= BytesMax - Bytes);

    internal void Add(SetAsideMessage message)
    {
        if (!HasRoom(message.Arguments.Length))
            throw new InvalidOperationException($"the quarantine is full and is given message {message.Place}");
        message.Decision = ++Decisions;
        messages.Add(message.Place, message);
        Bytes += message.Arguments.Length;
    }

    internal bool TryTake(MessagePlace place, out SetAsideMessage message)
    {
        if (!messages.Remove(place, out message!)) return false;
        Bytes -= message.Arguments.Length;
        return true;
    }

    /// <summary>The log states the next decision.</summary>
    /// <exception cref="Diverged">This execution has decided something else.</exception>
    internal void Meet(MessagePlace place)
    {
        if (!messages.TryGetValue(place, out SetAsideMessage? message) || message.Decision != Met + 1)
            throw new Diverged(
                $"the log says that message {place} was set aside as number {Met + 1}; this execution has {(message is null ? "it not set aside" : $"it as number {message.Decision}")} (L5.12)");
        Met++;
    }

    /// <summary>What is here and in no record yet, in the order in which it was decided.</summary>
    internal IEnumerable<SetAsideMessage> Unmet() =>
        messages.Values.Where(message => message.Decision > Met).OrderBy(static message => message.Decision);

    /// <exception cref="InvalidDataException">The image contradicts itself.</exception>
    internal void Restore(ulong decisions, ulong met, IEnumerable<SetAsideMessage> held)
    {
        if (met > decisions) throw new InvalidDataException($"The image says that {met} of {decisions} decisions are in the log.");
        (Decisions, Met) = (decisions, met);
        foreach (SetAsideMessage message in held)
        {
            if (message.Decision == 0 || message.Decision > decisions || !messages.TryAdd(message.Place, message))
                throw new InvalidDataException($"The image holds message {message.Place} with decision {message.Decision}.");
            Bytes += message.Arguments.Length;
        }
    }
}
