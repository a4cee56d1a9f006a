// What becomes of forks and impulses whose handlers throw: counted, the end of the app, or set aside, as the log's policy says (L5.12).
// What a handler had changed and sent before it threw stays. Thread: the scheduler's, inside a record.
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class ForkFailures(ImmortalRuntime runtime, Action<string> log)
{
    /// <summary>Of what is kept and shown of an exception.</summary>
    private const int WhyCharsMax = 1_000;

    private readonly FailureLog counted = new(log);

    internal ForkPolicies Policies { get; } = new();

    internal Quarantine Quarantine { get; } = new();

    /// <summary>Failures that were counted, and nothing else.</summary>
    internal long Counted => counted.Count;

    /// <summary>
    /// What a handler that is being suspended may be set aside with, should it fail later; null: it will only be counted then.
    /// </summary>
    internal SetAsideMessage? KeptOf(in IncomingMessage message) => Policies.InForce == ForkPolicy.Quarantine ? Copy(message) : null;

    /// <exception cref="AppFailed">The policy is to stop.</exception>
    internal void Failed(in IncomingMessage message, Exception failure)
    {
        ulong at = runtime.ExecutingLsn;
        ForkPolicy policy = Policies.At(new Lsn(at), Quarantine.HasRoom(message.Arguments.Length));
        if (policy == ForkPolicy.Quarantine) SetAside(Copy(message), failure);
        else if (policy == ForkPolicy.Stop) throw Stop(message.Place.ToString(), message.Method, message.Caller, failure);
        else counted.Add(NameOf(message.Method), at, failure);
    }

    /// <summary>A handler that had been suspended.</summary>
    /// <exception cref="AppFailed">The policy is to stop.</exception>
    internal void FailedLate(SetAsideMessage? kept, uint method, InstanceId caller, Exception failure)
    {
        ulong at = runtime.ExecutingLsn;
        ForkPolicy policy = Policies.At(new Lsn(at), kept is null || Quarantine.HasRoom(kept.Arguments.Length));
        if (policy == ForkPolicy.Stop)
            throw Stop(kept is null ? $"of the record at {at}" : $"{kept.Place} (continued at {at})", method, caller, failure);
        if (policy == ForkPolicy.Quarantine && kept is not null) SetAside(kept, failure);
        else counted.Add(NameOf(method), at, failure);
    }

    /// <summary>A handler that no message called: there is nothing to set aside.</summary>
    /// <exception cref="AppFailed">The policy is to stop.</exception>
    internal void FailedUncalled(string handler, Exception failure)
    {
        ulong at = runtime.ExecutingLsn;
        if (Policies.At(new Lsn(at), hasRoom: true) == ForkPolicy.Stop) throw Stop($"{handler} threw at the record at {at}", failure);
        counted.Add(handler, at, failure);
    }

    /// <summary>A Quarantine record. A message to try again is given to <paramref name="run"/>.</summary>
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
        if (Quarantine.Decisions == decisions) runtime.Outbound.Write(new Released(record.Message));
    }

    /// <summary>Behind an image: the coordinator learns what is kept.</summary>
    internal void SayAll()
    {
        foreach (SetAsideMessage message in Quarantine.Messages) Say(message, isUnlogged: false);
    }

    /// <summary>From now on this replica's decisions are those that are logged; those that nobody has logged yet first.</summary>
    internal void BecamePrimary()
    {
        foreach (SetAsideMessage message in Quarantine.Unmet()) Say(message, isUnlogged: true);
    }

    private void SetAside(SetAsideMessage message, Exception failure)
    {
        message.Tries++;
        message.TimeUs = runtime.Surroundings.NowUs;
        message.Why = Failures.Writable(Short(failure));
        Quarantine.Add(message);
        Say(message, isUnlogged: runtime.IsPrimary);
        if (runtime.IsPrimary)
            log($"Message {message.Place} of {message.Caller} is set aside: {NameOf(message.Method)} threw ('ambrosia quarantine' lists such messages, tries them again, drops them): {failure}");
    }

    private void Say(SetAsideMessage message, bool isUnlogged) => runtime.Outbound.Write(new SetAside(
        message.Decision, message.Place, isUnlogged, message.TimeUs, message.Caller, message.Kind, message.Method, message.Tries,
        (ulong)message.Arguments.Length, message.Why));

    private AppFailed Stop(string place, uint method, InstanceId caller, Exception failure) =>
        Stop($"{NameOf(method)} threw at message {place} of {caller}", failure);

    private AppFailed Stop(string what, Exception failure)
    {
        string why = Policies.InForce == ForkPolicy.Stop ? "the fork policy is to stop"
            : $"the quarantine is full with {Quarantine.Messages.Count} messages of {Quarantine.Bytes} bytes";
        return new AppFailed(
            $"{what} and {why}; a coordinator started with another --fork-policy lets the app go on: {failure.GetType().FullName}",
            failure);
    }

    private string NameOf(uint method) => MethodNames.Of(runtime.Immortal!.GetType(), method);

    private static SetAsideMessage Copy(in IncomingMessage message) => new()
    {
        Place = message.Place, Kind = message.Kind, Origin = message.Origin, Caller = message.Caller, Method = message.Method,
        Arguments = message.Arguments.ToArray(), Tries = message.Tries,
    };

    private static string Short(Exception failure)
    {
        string text = $"{failure.GetType().FullName}: {failure.Message}";
        return text.Length <= WhyCharsMax ? text : text[..WhyCharsMax];
    }
}
