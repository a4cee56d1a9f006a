using Ambrosia.Protocol;
using Ambrosia.Failures;

namespace Ambrosia.Quarantine;

/// <summary>
/// Holds the messages that were set aside (log-format L5.12). It is part of the image, and the same on every replica. Thread: the
/// scheduler's. Invariants: decisions are numbered in the order of execution; those above Met have no Quarantine record yet, and their
/// messages are all here.
/// </summary>
internal sealed class QuarantinedMessages
{
    internal const int MessagesMax = 1_000;
    internal const long BytesMax = 64 << 20;

    private readonly SortedDictionary<MessagePlace, SetAsideMessage> _messages = [];

    /// <summary>The messages in the order of their places in the log.</summary>
    internal IReadOnlyCollection<SetAsideMessage> Messages => _messages.Values;

    /// <summary>The bytes of all arguments that are kept.</summary>
    internal long Bytes { get; private set; }

    /// <summary>The number of times that a message was set aside.</summary>
    internal ulong Decisions { get; private set; }

    /// <summary>The number of decisions that stand in records that were executed.</summary>
    internal ulong Met { get; private set; }

    internal bool HasRoom(int argumentBytes) => _messages.Count == 0 || (_messages.Count < MessagesMax && argumentBytes <= BytesMax - Bytes);

    internal void Add(SetAsideMessage message)
    {
        if (!HasRoom(message.Arguments.Length))
            throw new InvalidOperationException($"the quarantine is full and is given message {message.Place}");
        message.Decision = ++Decisions;
        _messages.Add(message.Place, message);
        Bytes += message.Arguments.Length;
    }

    internal bool TryTake(MessagePlace place, out SetAsideMessage message)
    {
        if (!_messages.Remove(place, out message!)) return false;
        Bytes -= message.Arguments.Length;
        return true;
    }

    /// <summary>Compares the next decision with that which the log states.</summary>
    /// <exception cref="Diverged">This execution has decided something else.</exception>
    internal void Meet(MessagePlace place)
    {
        if (!_messages.TryGetValue(place, out SetAsideMessage? message) || message.Decision != Met + 1)
            throw new Diverged(
                $"the log says that message {place} was set aside as number {Met + 1}; this execution has {(message is null ? "it not set aside" : $"it as number {message.Decision}")} (L5.12)");
        Met++;
    }

    /// <summary>The messages that are here and in no record yet, in the order in which they were set aside.</summary>
    internal IEnumerable<SetAsideMessage> Unmet() =>
        _messages.Values.Where(message => message.Decision > Met).OrderBy(static message => message.Decision);

    /// <exception cref="InvalidDataException">The image contradicts itself.</exception>
    internal void Restore(ulong decisions, ulong met, IEnumerable<SetAsideMessage> held)
    {
        if (met > decisions) throw new InvalidDataException($"The image says that {met} of {decisions} decisions are in the log.");
        (Decisions, Met) = (decisions, met);
        foreach (SetAsideMessage message in held)
        {
            if (message.Decision == 0 || message.Decision > decisions || !_messages.TryAdd(message.Place, message))
                throw new InvalidDataException($"The image holds message {message.Place} with decision {message.Decision}.");
            Bytes += message.Arguments.Length;
        }
    }
}
