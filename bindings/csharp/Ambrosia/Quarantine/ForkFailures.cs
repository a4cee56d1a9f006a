using Ambrosia.Failures;
using Ambrosia.Immortals;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.Proxies;
using Ambrosia.Replay;

namespace Ambrosia.Quarantine;

/// <summary>
/// Decides what becomes of forks and impulses whose handlers throw: they are counted, end the app, or are set aside, as the log's policy
/// says (L5.12). What a handler had changed and sent before it threw stays. Thread: the scheduler's, inside a record.
/// </summary>
internal sealed class ForkFailures(ImmortalHost host, MessageSender sender, ReplayContext replay, Action<string> log)
{
    /// <summary>The number of characters of an exception that are kept and shown.</summary>
    private const int WhyCharsMax = 1_000;

    private readonly FailureLog _counted = new(log);

    internal ForkPolicies Policies { get; } = new();

    internal QuarantinedMessages Quarantine { get; } = new();

    /// <summary>The number of failures that were counted, and nothing else.</summary>
    internal long Counted => _counted.Count;

    /// <summary>
    /// Returns the copy with which a handler that is being suspended may be set aside, should it fail later. Null: it will only be counted
    /// then.
    /// </summary>
    internal SetAsideMessage? KeptOf(in IncomingMessage message) => Policies.InForce == ForkPolicy.Quarantine ? Copy(message) : null;

    /// <summary>Decides about a message whose handler threw before it was suspended.</summary>
    /// <exception cref="AppFailed">The policy is to stop.</exception>
    internal void Failed(in IncomingMessage message, Exception failure)
    {
        ulong at = replay.ExecutingLsn;
        ForkPolicy policy = Policies.At(new Lsn(at), Quarantine.HasRoom(message.Arguments.Length));
        if (policy == ForkPolicy.Quarantine) SetAside(Copy(message), failure);
        else if (policy == ForkPolicy.Stop) throw Stop(message.Place.ToString(), message.Method, message.Caller, failure);
        else _counted.Add(host.NameOf(message.Method), at, failure);
    }

    /// <summary>Counts a message that was not executed, whatever the policy is.</summary>
    internal void Count(in IncomingMessage message, Exception why) => _counted.Add(host.NameOf(message.Method), replay.ExecutingLsn, why);

    /// <summary>
    /// Logs what does not travel: a caller outside is given no stack, and of the framework's words and of ours none (protocol P4.7), so
    /// nobody else would ever read them.
    /// </summary>
    /// <param name="sent">The failure as it travels.</param>
    internal void Tell(uint method, Exception failure, FailureInfo sent)
    {
        if (ListedFailures.NeedsWords(sent) || (failure is not IListedFailure && FailureCodec.IsReworded(failure, sent)))
            _counted.Tell(host.NameOf(method), replay.ExecutingLsn, failure);
    }

    /// <summary>Decides about a handler that failed after it had been suspended.</summary>
    /// <exception cref="AppFailed">The policy is to stop.</exception>
    internal void FailedLate(SetAsideMessage? kept, uint method, InstanceId caller, Exception failure)
    {
        ulong at = replay.ExecutingLsn;
        ForkPolicy policy = Policies.At(new Lsn(at), kept is null || Quarantine.HasRoom(kept.Arguments.Length));
        if (policy == ForkPolicy.Stop)
            throw Stop(kept is null ? $"of the record at {at}" : $"{kept.Place} (continued at {at})", method, caller, failure);
        if (policy == ForkPolicy.Quarantine && kept is not null) SetAside(kept, failure);
        else _counted.Add(host.NameOf(method), at, failure);
    }

    /// <summary>Decides about a handler that failed and that no message called: there is nothing to set aside.</summary>
    /// <exception cref="AppFailed">The policy is to stop.</exception>
    internal void FailedUncalled(string handler, Exception failure)
    {
        ulong at = replay.ExecutingLsn;
        if (Policies.At(new Lsn(at), hasRoom: true) == ForkPolicy.Stop) throw Stop($"{handler} threw at the record at {at}", failure);
        _counted.Add(handler, at, failure);
    }

    /// <summary>Executes a Quarantine record. A message to try again is given to <paramref name="run"/>.</summary>
    internal void Take(QuarantineRecord record, Action<SetAsideMessage> run)
    {
        if (record.Action == QuarantineAction.SetAside)
        {
            Quarantine.Meet(record.Message);
            return;
        }
        if (!Quarantine.TryTake(record.Message, out SetAsideMessage message)) return;
        ulong decisions = Quarantine.Decisions;
        if (record.Action == QuarantineAction.Retry) run(message);
        if (Quarantine.Decisions == decisions) sender.Outbound.Write(new ReleasedFrame(record.Message));
    }

    /// <summary>Tells the coordinator, behind an image, what is kept.</summary>
    internal void ReportAll()
    {
        foreach (SetAsideMessage message in Quarantine.Messages) Report(message, isUnlogged: false);
    }

    /// <summary>
    /// Makes this replica's decisions those that are logged from now on. It tells first those that nobody has logged yet.
    /// </summary>
    internal void BecamePrimary()
    {
        foreach (SetAsideMessage message in Quarantine.Unmet()) Report(message, isUnlogged: true);
    }

    private void SetAside(SetAsideMessage message, Exception failure)
    {
        message.Tries++;
        message.TimeUs = replay.NowUs;
        message.Why = FailureCodec.Writable(Short(failure));
        Quarantine.Add(message);
        Report(message, isUnlogged: sender.Impulses.IsOpen);
        if (sender.Impulses.IsOpen)
            log($"Message {message.Place} of {message.Caller} is set aside: {host.NameOf(message.Method)} threw ('ambrosia quarantine' lists such messages, tries them again, drops them): {failure}");
    }

    private void Report(SetAsideMessage message, bool isUnlogged) => sender.Outbound.Write(new SetAsideFrame(
        message.Decision, message.Place, isUnlogged, message.TimeUs, message.Caller, message.Kind, message.Method, message.Tries,
        (ulong)message.Arguments.Length, message.Why));

    private AppFailed Stop(string place, uint method, InstanceId caller, Exception failure) =>
        Stop($"{host.NameOf(method)} threw at message {place} of {caller}", failure);

    private AppFailed Stop(string what, Exception failure)
    {
        string why = Policies.InForce == ForkPolicy.Stop ? "the fork policy is to stop"
            : $"the quarantine is full with {Quarantine.Messages.Count} messages of {Quarantine.Bytes} bytes";
        return new AppFailed(
            $"{what} and {why}; a coordinator started with another --fork-policy lets the app go on: {failure.GetType().FullName}",
            failure);
    }

    private static SetAsideMessage Copy(in IncomingMessage message) => new()
    {
        Place = message.Place, Kind = message.Kind, Origin = message.Origin, Caller = message.Caller, Method = message.Method,
        Arguments = message.Arguments.ToArray(), Tries = message.Tries,
    };

    private static string Short(Exception failure)
    {
        // The text is part of the image, which replicas compare, so it is what would travel.
        FailureInfo info = FailureWording.Describe(failure);
        string text = $"{info.TypeName}: {info.Message}";
        return text.Length <= WhyCharsMax ? text : text[..WhyCharsMax];
    }
}

/// <summary>
/// Says which fork policy governs a failure (log-format L5.13): that in force at its record, and where that one would stop the app, the
/// next in the log that does not. So the answer follows from the log, whoever asks and however often the app has been stopped there.
/// </summary>
internal sealed class ForkPolicies
{
    private IReadOnlyList<PolicyChange> _ahead = [];

    /// <summary>The policy of the last Policy record that was executed.</summary>
    internal ForkPolicy InForce { get; set; } = PolicyRecord.Default.Forks;

    /// <summary>Takes what the coordinator knows of the log ahead.</summary>
    internal void Learn(PolicyAhead ahead) => _ahead = ahead.Changes;

    /// <summary>Takes what another runtime of this session was told.</summary>
    internal void LearnFrom(ForkPolicies former) => _ahead = former._ahead;

    /// <param name="at">The record that is being executed.</param>
    /// <param name="hasRoom">The quarantine takes the message.</param>
    internal ForkPolicy At(Lsn at, bool hasRoom)
    {
        if (!Stops(InForce, hasRoom)) return InForce;
        foreach (PolicyChange change in _ahead)
            if (change.Position > at && !Stops(change.Forks, hasRoom)) return change.Forks;
        return ForkPolicy.Stop;
    }

    private static bool Stops(ForkPolicy policy, bool hasRoom) =>
        policy == ForkPolicy.Stop || (policy == ForkPolicy.Quarantine && !hasRoom);
}

/// <summary>
/// Counts failures of handlers that nobody awaited. It logs each sort of them once, with the place in the log that repeats it, and so each
/// sort of failures whose callers are told less than the exception says.
/// </summary>
internal sealed class FailureLog(Action<string> log)
{
    /// <summary>The limit of sorts that are remembered; a service that fails in more ways than this has said enough.</summary>
    private const int SortsMax = 256;

    private readonly HashSet<(string Handler, string Type)> _logged = [];

    internal long Count { get; private set; }

    internal void Add(string handler, ulong lsn, Exception failure)
    {
        Count++;
        if (IsNew(handler, failure))
            log(
                $"A handler that nobody awaits failed ({handler}, record at Lsn {lsn}); the service goes on: {FailureCodec.Whole(failure)}");
    }

    /// <summary>Logs a failure whose caller is told less than the exception says.</summary>
    internal void Tell(string handler, ulong lsn, Exception failure)
    {
        if (IsNew(handler, failure))
            log($"A handler failed ({handler}, record at Lsn {lsn}), and its caller is not told all of it: {FailureCodec.Whole(failure)}");
    }

    private bool IsNew(string handler, Exception failure) =>
        _logged.Count < SortsMax && _logged.Add((handler, failure.GetType().FullName ?? ""));
}
