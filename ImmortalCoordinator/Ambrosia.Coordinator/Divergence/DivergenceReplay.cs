using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Views;
using Ambrosia.Log.Pages;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Divergence;

/// <summary>
/// A stretch of the log in which an app has diverged, executed once more, record by record: each call is held against what its receiver
/// has, and the first that differs is named with the record whose execution made it. The thread that reads the app.
/// </summary>
/// <param name="from">Checkpoints behind this may hold the difference: the session begins at or below.</param>
internal sealed class DivergenceReplay(Lsn from, CallHistory history) : View(keepsOutputs: true)
{
    /// <summary>A message that names a record begins so.</summary>
    public const string Found = "executing the record at Lsn ";

    /// <summary>The record that is executed: the app has reported its beginning last.</summary>
    private Lsn _executing;

    /// <summary>For each channel this is the last record that made a call which its receiver's log does not hold.</summary>
    private readonly Dictionary<InstanceId, Lsn> _unknown = [];

    /// <summary>The record that the line of an end names, if this found one; null: it names none.</summary>
    public static Lsn? RecordIn(string line)
    {
        int at = line.IndexOf(Found, StringComparison.Ordinal);
        if (at < 0) return null;
        ReadOnlySpan<char> rest = line.AsSpan(at + Found.Length);
        int digits = rest.IndexOfAnyExceptInRange('0', '9');
        return ulong.TryParse(digits < 0 ? rest : rest[..digits], out ulong lsn) && lsn < Lsn.Limit ? new Lsn(lsn) : null;
    }

    /// <summary>Up to here the calls of this execution were those of the log.</summary>
    public Func<Lsn> Agreed { get; set; } = static () => Lsn.Zero;

    public override Lsn BeginsBelow => from;

    public override bool IsOneByOne => true;

    /// <summary>The app has executed everything below.</summary>
    public override void Executed(Lsn lsn) => _executing = lsn;

    /// <summary>The app has made calls.</summary>
    /// <param name="before">So many went there before.</param>
    /// <exception cref="DivergenceException">One of them is another than the receiver has.</exception>
    public override void Emitted(InstanceId to, ulong before, in RunView run)
    {
        if (history.Of(to) is not { } calls) return;
        var messages = new MessageReader(run);
        for (ulong number = before + 1; messages.Next(); number++)
        {
            if (!calls.TryFind(number, out MessageKind kind, out ReadOnlySpan<byte> expected))
                _unknown[to] = _executing;
            else if (DifferingCall.Of(to, number, kind, expected, run.Header.Kind, messages.Whole) is { } differs)
                throw new DivergenceException(
                    $"{Found}{_executing} ('ambrosia log DIR --from {_executing}' begins with it) the app makes {differs}{Reservation(to)}");
        }
    }

    private string Reservation(InstanceId to) =>
        !_unknown.TryGetValue(to, out Lsn last) || last < from || last < Agreed() ? ""
        : $" (calls before it are not in the log of {to} any more: of them one may differ, too)";

    /// <summary>
    /// The first call that differs among those that an outbox still holds: what can be said without executing anything again.
    /// </summary>
    public static DifferingCall? FirstDifference(Outbox outbox, ReceivedCalls calls)
    {
        var held = new List<OutboxEntry>();
        outbox.HoldCalls(outbox.Trimmed.Number, outbox.Known.Number, held);
        DifferingCall? found = null;
        foreach (OutboxEntry entry in held)
        {
            found ??= Compare(outbox, entry, calls);
            outbox.Release(entry);
        }
        return found;
    }

    /// <summary>Returns the first call that the log counts up to a position and this app has not made; null: it is not known.</summary>
    public static string? FirstMissing(InstanceId to, ulong made, ulong counted, ReceivedCalls calls) =>
        made < counted && calls.TryFind(made + 1, out MessageKind kind, out ReadOnlySpan<byte> expected)
            ? $"call {made + 1} to {to}: expected {CallText.Of(kind, expected, [])}; actual none" : null;

    private static DifferingCall? Compare(Outbox outbox, in OutboxEntry entry, ReceivedCalls calls)
    {
        byte[] frame = new byte[entry.FrameBytes];
        outbox.CopyFrame(entry, frame);
        RunView run = RunView.Read(frame.AsSpan(FrameHeader.Bytes));
        var messages = new MessageReader(run);
        for (ulong number = entry.First; messages.Next(); number++)
            if (calls.TryFind(number, out MessageKind kind, out ReadOnlySpan<byte> expected)
                && DifferingCall.Of(outbox.Destination, number, kind, expected, run.Header.Kind, messages.Whole) is { } differs)
                return differs;
        return null;
    }
}
