using System.Globalization;
using Ambrosia.Coordinator.Views;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Inspection.Records;

/// <summary>Holds one message that an app has emitted: a call, a result, or an answer to a caller outside.</summary>
/// <param name="To">Null: a caller outside.</param>
/// <param name="Number">On its channel; of an answer, among all answers since the log began.</param>
/// <param name="Whole">As it stands in its run.</param>
/// <param name="Cause">The records that made the first and the last message of its run: bounds. Null: the app does not say it.</param>
internal sealed record EmittedMessage(InstanceId? To, ulong Number, MessageKind Kind, ReadOnlyMemory<byte> Whole, RunCause? Cause)
{
    /// <summary>The caller outside whom it answers.</summary>
    public ClientSessionId? Session { get; init; }

    public uint Method => Read().Method;

    public ulong CallId => Read().CallId;

    /// <summary>Returns the messages of what an app has emitted, in its order.</summary>
    public static IEnumerable<EmittedMessage> In(ViewedEmissions emitted) => emitted.Runs.SelectMany(In);

    private static List<EmittedMessage> In(ViewedRun run)
    {
        var messages = new List<EmittedMessage>();
        var cursor = new EmissionCursor([run]);
        for (; cursor.Is; cursor.Next()) messages.Add(cursor.Message());
        return messages;
    }

    /// <summary>Says in a line what it is.</summary>
    public string Describe(MessageFormatter text)
    {
        MessageReader message = Read();
        string what = string.Create(CultureInfo.InvariantCulture,
            $"{LogEntry.NameOf(Kind)} #{Number} to {To?.ToString() ?? $"caller {Session}"}: {text.MethodOf(message.Method)}");
        try
        {
            return what + Kind switch
            {
                MessageKind.Result or MessageKind.ClientAnswer => $" = {text.Value(message.Method, message.Arguments)}",
                MessageKind.Failure or MessageKind.ClientFailure => $" failed: {MessageFormatter.Failure(message.Arguments)}",
                _ => $"({string.Join(", ", text.Arguments(message.Method, message.Arguments))})",
            };
        }
        catch (CborException)
        {
            return $"{what} of {message.Arguments.Length} bytes that cannot be decoded";
        }
    }

    private MessageReader Read()
    {
        var message = new MessageReader(Whole.Span, Kind, keyed: false);
        message.Next();
        return message;
    }
}

/// <summary>Walks the messages that were emitted on one channel, run behind run, without copying them.</summary>
internal sealed class EmissionCursor(IReadOnlyList<ViewedRun> runs)
{
    private int _run;

    /// <summary>The message in its run, and where it begins.</summary>
    private int _index, _at;

    /// <summary>There is a message.</summary>
    public bool Is => _run < runs.Count;

    public MessageKind Kind => Run.Header.Kind;

    public ulong Number => Run.First + (ulong)_index;

    public ReadOnlySpan<byte> Whole
    {
        get
        {
            var reader = new MessageReader(Run.Messages.Span[_at..], Kind, keyed: false);
            reader.Next();
            return reader.Whole;
        }
    }

    private ViewedRun Run => runs[_run];

    /// <summary>The message as something that can be kept.</summary>
    public EmittedMessage Message() => new(Run.To, Number, Kind, Run.Messages.Slice(_at, Whole.Length), Run.Cause)
    {
        Session = Run.To is null ? Run.Header.ClientSession : null,
    };

    public void Next()
    {
        int length = Whole.Length;
        if (_index + 1 < Run.Header.Count) (_index, _at) = (_index + 1, _at + length);
        else NextRun();
    }

    /// <summary>
    /// Passes over a whole run where another cursor has the same one; returns the number of messages. 0: they are not the same, or one of
    /// the cursors stands inside a run.
    /// </summary>
    public uint SkipSame(EmissionCursor other)
    {
        if (_index != 0 || other._index != 0 || Run.Header.Count != other.Run.Header.Count || !HasSameReceiver(other)
            || !Run.Messages.Span.SequenceEqual(other.Run.Messages.Span)) return 0;
        uint count = Run.Header.Count;
        NextRun();
        other.NextRun();
        return count;
    }

    /// <summary>The messages are of one kind, and answers go to the same caller.</summary>
    public bool HasSameReceiver(EmissionCursor other) =>
        Kind == other.Kind && (Run.To is not null || Run.Header.ClientSession == other.Run.Header.ClientSession);

    private void NextRun()
    {
        _run++;
        (_index, _at) = (0, 0);
    }
}
