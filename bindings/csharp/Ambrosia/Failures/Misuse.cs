using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;

// What the binding says where an app uses it as it may not be used. It travels by the list of protocol P4.6, and the words here go no
// further than the stack. The exceptions keep no words either: a handler may catch one and keep it in its state, and so in an image. Hence
// the names of these types, and the numbers of the misuses, are data there: new ones come behind the last.
namespace Ambrosia;

/// <summary>Numbers the ways in which a handler may misuse the binding.</summary>
internal enum Misuse : byte
{
    CallAwaitedTwice, CallNotAwaited, NoCallToAwait, ImmortalByNew, NoSession, SessionInHandler, NotAName,
    ProxyElsewhere, CheckpointElsewhere, ContextElsewhere, RandomElsewhere, NotInHandler, LoggedInHandler,
    KeyInHandler, KeyLength, KeyText, ImpulseTooEarly, NotAnImpulse, SentTooEarly, TimerHandler, TaskBody, TaskAttempts,
    TaskBackoff, TaskDeadline, ServicesInHandler, NoServices,
}

/// <summary>What is done is not allowed there.</summary>
internal sealed class BindingMisuseException(Misuse misuse) : InvalidOperationException, IListedFailure
{
    private readonly Misuse _misuse = misuse;

    public override string Message => Misuses.Wording(_misuse, "");

    FailureInfo IListedFailure.Failure => ListedFailures.Misuse(Misuses.What(_misuse));
}

/// <summary>What is given is not allowed there.</summary>
/// <param name="given">What was given, in the app's words.</param>
internal sealed class MisusedArgumentException(Misuse misuse, string given = "") : ArgumentException, IListedFailure
{
    private readonly Misuse _misuse = misuse;
    private readonly string _given = given;

    public override string Message => Misuses.Wording(_misuse, _given);

    FailureInfo IListedFailure.Failure => ListedFailures.Misuse(Misuses.What(_misuse));
}

/// <summary>There are as many destinations, timers or tasks as there may be.</summary>
/// <param name="what">Their name in the list.</param>
internal sealed class LimitReachedException(int limit, string what) : InvalidOperationException, IListedFailure
{
    private readonly int _limit = limit;
    private readonly string _what = what;

    public override string Message => $"There are {_limit} {_what} already, which is the limit.";

    FailureInfo IListedFailure.Failure => ListedFailures.LimitReached(_limit, _what);
}

/// <summary>Names what is misused as the list in P4.6 does, and says to developers what is wrong.</summary>
internal static class Misuses
{
    internal static string What(Misuse misuse) => misuse switch
    {
        Misuse.CallAwaitedTwice or Misuse.CallNotAwaited or Misuse.NoCallToAwait or Misuse.NotInHandler => "a call",
        Misuse.ImmortalByNew or Misuse.NoSession or Misuse.SessionInHandler => "an immortal",
        Misuse.NotAName => "a name",
        Misuse.ProxyElsewhere => "a proxy",
        Misuse.CheckpointElsewhere => "a checkpoint",
        Misuse.ContextElsewhere or Misuse.RandomElsewhere => "time, randomness, a timer or a task",
        Misuse.LoggedInHandler or Misuse.ImpulseTooEarly or Misuse.NotAnImpulse or Misuse.SentTooEarly => "an impulse",
        Misuse.KeyInHandler or Misuse.KeyLength or Misuse.KeyText => "a key",
        Misuse.TimerHandler => "a timer",
        Misuse.TaskBody or Misuse.TaskAttempts or Misuse.TaskBackoff or Misuse.TaskDeadline
            or Misuse.ServicesInHandler or Misuse.NoServices => "a task",
        _ => throw new ArgumentOutOfRangeException(nameof(misuse), misuse, null),
    };

    internal static string Wording(Misuse misuse, string given) => misuse switch
    {
        Misuse.CallAwaitedTwice => "A Call is awaited twice: keep its result in a variable instead.",
        Misuse.CallNotAwaited => "The result of a Call was asked for before it was there: await the Call.",
        Misuse.NoCallToAwait => "WhenAny needs at least one call.",
        Misuse.NotInHandler => "Methods that return Call run only as handlers of an immortal, on its scheduler.",
        Misuse.ImmortalByNew => "A handler makes an immortal by new: call another instance by GetProxy. Outside of handlers new makes one for a unit test.",
        Misuse.NoSession => "This immortal has no session: it is made by AmbrosiaApp.Run, not by new.",
        Misuse.SessionInHandler => "A handler drives an app session: one session feeds another.",
        Misuse.NotAName => $"'{given}' is not an instance name: 1 to {Names.CharsMax} letters, digits, '_' and '-'.",
        Misuse.ProxyElsewhere =>
            "GetProxy is for constructors, handlers and BecomingPrimary: keep the proxy and give it to other threads.",
        Misuse.CheckpointElsewhere => "A checkpoint is asked for by handlers.",
        Misuse.ContextElsewhere =>
            "Time, randomness, timers and tasks of an immortal are for its handlers: what other threads saw of them, replay would not.",
        Misuse.RandomElsewhere => "The Random of an immortal is for its handlers.",
        Misuse.LoggedInHandler => "A method …Logged is for code outside the handlers. What a handler sends takes effect exactly once: "
            + "await its answer with …Async, or send it with …Fork.",
        Misuse.KeyInHandler => "A key is for impulses from outside; what a handler sends takes effect exactly once without one.",
        Misuse.KeyText => "A key has half of a surrogate pair, which UTF-8 cannot encode: it was cut inside a character. Give it whole, or as bytes.",
        Misuse.KeyLength => $"A key of {given} bytes where 1 to {MessageReader.KeyBytesMax} are allowed.",
        Misuse.ImpulseTooEarly => "Impulses are accepted only by a primary: start what sends them in BecomingPrimary.",
        Misuse.NotAnImpulse => "Outside the handlers only methods marked [ImpulseHandler] can be called, by …Fork or …Logged: "
            + "what they are given is logged before it acts, and nobody there can wait for an answer.",
        Misuse.SentTooEarly => "Only handlers send before the immortal is primary; start what sends from elsewhere in BecomingPrimary, "
            + "to methods marked [ImpulseHandler].",
        Misuse.TimerHandler =>
            $"{given} is not a method of the immortal: a periodic timer keeps its handler by name, since no lambda outlives the process.",
        Misuse.TaskBody => $"{given} is not a static method: the task keeps its body by name. NondetTask takes lambdas.",
        Misuse.TaskAttempts => $"Attempts is {given}; the body runs at least once.",
        Misuse.TaskBackoff => $"Backoff and BackoffMax are {given}: from zero, and not falling; TimeSpan.MaxValue is the longest.",
        Misuse.TaskDeadline => $"Deadline is {given}: a time above zero, or null for a task that may take as long as it does.",
        Misuse.ServicesInHandler => "Services are not for handlers, whose effects must be the same at every replay: ask context.Services in "
            + "the body of a NondetTask, or OutsideServices on a thread that BecomingPrimary starts.",
        Misuse.NoServices => "This process has no services: add the immortal to a host, with AddAmbrosia().AddImmortal of Ambrosia.Hosting.",
        _ => throw new ArgumentOutOfRangeException(nameof(misuse), misuse, null),
    };
}
