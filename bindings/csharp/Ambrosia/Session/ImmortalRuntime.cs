using Ambrosia.Calls;
using Ambrosia.Checkpoints;
using Ambrosia.ClientCalls;
using Ambrosia.Dispatch;
using Ambrosia.Failures;
using Ambrosia.Immortals;
using Ambrosia.Impulses;
using Ambrosia.Messages;
using Ambrosia.Outbound;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Protocol.Runs;
using Ambrosia.Proxies;
using Ambrosia.Quarantine;
using Ambrosia.Queries;
using Ambrosia.Replay;
using Ambrosia.State;
using Ambrosia.Tasks;
using Ambrosia.Timers;

namespace Ambrosia.Session;

/// <summary>
/// Owns one immortal with everything that executes its records: it connects scheduler, output, proxies, timers, tasks, dispatch, quarantine
/// and queries, and collects what an image holds of them. Of frames and progress it knows nothing. Thread: the scheduler's.
/// </summary>
internal sealed class ImmortalRuntime : IHandlerSession
{
    private readonly ImmortalHost _host;
    private readonly MessageSender _sender;
    private readonly AnswerSender _answers;
    private readonly MessageDispatcher _dispatcher;
    private readonly ResultDispatcher _results;
    private readonly StateWatch _watch;

    /// <summary>It executes a former class whose name the newest one may have in images; null: it does not.</summary>
    private readonly RenamedClass? _renamed;

    /// <param name="former">This runtime goes on in the place of that one, on the same output; null: it is the session's first.</param>
    internal ImmortalRuntime(
        ImmortalDefinition definition, AppWelcome welcome, OutboundBuffer outbound, ImpulseIngress impulses, SessionOptions options,
        ImmortalRuntime? former = null)
    {
        StateSerializers.Read(definition.Type.Assembly);
        _host = new ImmortalHost(definition);
        if (options.Former is { } older && older.Definition.Type == definition.Type)
            _renamed = new RenamedClass(older.Successor, definition.Type);
        var replay = new ReplayContext(welcome.Uuid, new Scheduler(this));
        _sender = new MessageSender(replay.Scheduler, outbound, impulses, former?._sender.Destinations);
        Context = new ImmortalContext(
            welcome.Instance, _sender, replay,
            new OutstandingTimers(outbound, replay, _host.Started, FailUncalled),
            new OutstandingTasks(replay, welcome.Uuid, new TaskReports(impulses, outbound, options.Log), options.TaskRunner, AttachProxy),
            new ImmortalLogger(() => impulses.IsOpen, options.LogsDuringReplay, options.LogOfImmortal)
            {
                Sink = options.TaskRunner?.Services?.LogSink,
            });
        Peers = new PeerTable(welcome.Instance);
        Failures = new ForkFailures(_host, _sender, replay, options.Log);
        if (former is not null) Failures.Policies.LearnFrom(former.Failures.Policies);
        ClientCalls = new ClientCallExecutor(_host, _sender, replay, Peers, Failures);
        _answers = new AnswerSender(_host, _sender, Peers, Failures);
        _dispatcher = new MessageDispatcher(_host, Scheduler, Peers, _answers, Failures);
        _results = new ResultDispatcher(_sender, Peers);
        _watch = new StateWatch(options.StateChecking);
        Queries = new QueryExecutor(
            _host, _sender, Peers, Failures, new QueryChecks(options.QueryChecking, definition.Type.Assembly), Fingerprint);
    }

    internal ImmortalContext Context { get; }

    internal PeerTable Peers { get; }

    /// <summary>The module that decides what becomes of forks and impulses whose handlers threw.</summary>
    internal ForkFailures Failures { get; }

    internal ClientCallExecutor ClientCalls { get; }

    internal QueryExecutor Queries { get; }

    internal string TypeName => _host.TypeName;

    /// <summary>The class of immortal that it runs.</summary>
    internal ImmortalDefinition Definition => _host.Definition;

    internal Scheduler Scheduler => _sender.Scheduler;

    internal OutboundBuffer Outbound => _sender.Outbound;

    internal OutstandingCalls Calls => _sender.Calls;

    internal OutstandingTimers Timers => Context.Timers;

    internal OutstandingTasks Tasks => Context.Tasks;

    /// <summary>The immortal; null until the first record or the image.</summary>
    internal Immortal? Immortal => _host.Immortal;

    internal bool IsPrimary => Context.IsPrimary;

    /// <summary>Makes the immortal, at the FirstStart record: the constructor and OnFirstStart are part of it.</summary>
    internal void Construct()
    {
        _host.Construct(Context);
        Scheduler.Drain();
    }

    /// <summary>Executes the Upgrade record: OnUpgraded is part of it.</summary>
    /// <param name="from">The version before.</param>
    internal void Upgraded(uint from)
    {
        _host.Started().RunUpgraded(from);
        Scheduler.Drain();
    }

    /// <summary>Becomes primary. This runs outside the scheduler: what BecomingPrimary sends are impulses.</summary>
    internal void BecomePrimary()
    {
        _sender.Impulses.Open();
        Failures.BecamePrimary();
        Immortal immortal = _host.Started();
        immortal.RunBecomingPrimary();
        if (immortal.HasWorkWhilePrimary) Tasks.StartWork(immortal.RunWhilePrimary);
        Tasks.StartAll();
    }

    /// <summary>Begins a record of any kind: what is emitted from here on is made by it.</summary>
    internal void BeginRecord(Lsn lsn)
    {
        Context.Replay.ExecutingLsn = lsn.Value;
        Context.Replay.CountKeyTime();
        Outbound.BeginRecord(lsn);
        Scheduler.MessageIndex = 0;
    }

    /// <summary>Everything that has come is executed, and the app waits for more.</summary>
    internal void Rest()
    {
        if (Immortal is { } immortal && Scheduler.IsDrained) _watch.Rest(immortal);
        Tasks.Unheard.Look();
    }

    /// <summary>More has come.</summary>
    /// <exception cref="AppFailed">The state was changed meanwhile.</exception>
    internal void GoOn()
    {
        if (Immortal is { } immortal) _watch.GoOn(immortal);
    }

    internal void EndRecord() => Scheduler.MessageIndex = Scheduler.NoMessage;

    /// <summary>Gives a run to the module that its kind belongs to (log-format L5.2).</summary>
    internal void Execute(RunView run, Lsn lsn)
    {
        InstanceId origin = Peers[run.Header.Peer];
        switch (run.Header.Kind)
        {
            case MessageKind.Impulse when run.Header.Keyed:
                ClientCalls.Execute(run);
                break;
            case MessageKind.Fork or MessageKind.Call or MessageKind.Impulse:
                _dispatcher.Execute(run, lsn);
                break;
            case MessageKind.Result:
                _results.TakeResults(run, origin);
                break;
            case MessageKind.Failure:
                _results.TakeFailures(run, origin);
                break;
            default:
                throw new ProtocolViolation("L5.2", $"run of kind {run.Header.Kind} in the log");
        }
    }

    /// <summary>Does what an operator or the policy decided about a message that was set aside, at its place in the log.</summary>
    internal void Take(QuarantineRecord record) => _dispatcher.Take(record);

    /// <summary>Fails the calls to a peer that an operator has given up.</summary>
    internal void Forget(ForgetRecord record) => _results.Forget(record);

    internal void Fire(TimerFiredRecord record)
    {
        Context.Replay.AdvanceTo(record.DueUs);
        Context.Replay.CountKeyTime();
        Timers.Fire(record);
        Scheduler.Drain();
    }

    internal void TakeResult(NondetResultRecord record)
    {
        Tasks.Take(record);
        Scheduler.Drain();
    }

    /// <summary>Says, for the operator, what a checkpoint waits for.</summary>
    internal string WhyNotQuiet()
    {
        string first = Calls.All.FirstOrDefault() is { } call
            ? $"; the oldest outstanding call is {call.Id}, method 0x{call.Method:X} of {call.Proxy}" : "";
        return $"{Scheduler.AnswersOwed} handlers and {Scheduler.FramesSuspended} methods are suspended{first}";
    }

    /// <summary>
    /// Writes the image of everything that is executed. Handlers go on undisturbed, and a second image has the same bytes.
    /// </summary>
    /// <exception cref="NotWritableException">Something reachable from the state or from a suspended method cannot be written.</exception>
    internal WrittenImage WriteImage(bool isReflective = false, bool tellsPlaces = false, bool looksAllKeysUp = false) =>
        StateImage.Write(ToImage(), isReflective, tellsPlaces: tellsPlaces, looksAllKeysUp: looksAllKeysUp);

    /// <summary>Returns the length and the hash of the present image.</summary>
    private (long Length, ulong Hash) Fingerprint()
    {
        using WrittenImage image = WriteImage();
        ImageEnd measured = image.Measure();
        return ((long)measured.Length, measured.Hash);
    }

    /// <summary>
    /// Makes the image of an immortal of another class that takes the place of this one, between two records. The new immortal is made of
    /// this one by its constructor, with the suspended methods, timers, tasks and outstanding calls as they are. The two share objects, and
    /// the constructor may use up randomness, so this runtime must execute nothing more: <see cref="StateConversion"/> gives it a copy.
    /// </summary>
    /// <exception cref="NotInConversionException">The constructor sends, waits, or begins a timer or a task.</exception>
    /// <exception cref="NotWritableException">Something refers to the immortal that is replaced, or cannot be written.</exception>
    internal WrittenImage Succeed(Func<Immortal, Immortal> make, bool tellsPlaces = false)
    {
        Immortal successor;
        using (Scheduler.Conversion conversion = Scheduler.EnterConversion())
        {
            successor = ImmortalHost.Constructed(Context, () => make(_host.Started()));
            conversion.Finish();
        }
        return StateImage.WriteFor(successor, ToImage(), tellsPlaces);
    }

    /// <summary>Restores an image, and returns a line for each method that goes on in a body which is kept for it.</summary>
    /// <exception cref="InvalidDataException">The image is another app's, or contradicts itself.</exception>
    /// <exception cref="OtherImageFormatException">Another binding, or another version of this one, has written the image.</exception>
    /// <exception cref="SuspendedCallsChangedException">Methods that are suspended in it have other bodies now; nothing
    /// was restored.</exception>
    internal IReadOnlyList<string> Restore(LargeBuffer image, bool acceptSource, bool isReflective = false) =>
        StateImage.Restore(image, acceptSource, AttachProxy, Adopt, _renamed, isReflective);

    /// <summary>Collects everything that a checkpoint holds of this side. It shares the objects, so it is to be written at once.</summary>
    private ImageRoot ToImage()
    {
        if (!Scheduler.IsDrained) throw new InvalidOperationException("An image is taken between records, when nothing runs.");
        return new ImageRoot
        {
            Immortal = Immortal,
            Origins = [.. Peers.Peers],
            NextCall = Calls.Next,
            Outstanding = [.. Calls.All],
            FramesSuspended = Scheduler.FramesSuspended,
            AnswersOwed = Scheduler.AnswersOwed,
            NowUs = Context.Replay.NowUs,
            KeyTimeUs = Context.Replay.KeyTimeUs,
            Random = Context.Replay.State,
            KeyedCalls = ClientCalls.Window.ToImage(),
            Window = ClientCalls.Window.Limits,
            NextTimer = Timers.Next,
            Timers = [.. Timers.All],
            NextTask = Tasks.Next,
            Tasks = [.. Tasks.All],
            ForkPolicy = Failures.Policies.InForce,
            SetAside = [.. Failures.Quarantine.Messages],
            Decisions = Failures.Quarantine.Decisions,
            DecisionsMet = Failures.Quarantine.Met,
        };
    }

    /// <summary>Takes everything that an image holds of this side.</summary>
    /// <exception cref="InvalidDataException">The image is another app's, or contradicts itself.</exception>
    private void Adopt(ImageRoot image)
    {
        if (image.Immortal?.GetType() != _host.Type)
            throw new OtherImmortalException(image.Immortal?.GetType(), _host.Type);
        for (int i = 0; i < image.Origins.Length; i++) Peers.Add((uint)i + 1, image.Origins[i]);
        Calls.Restore(image.NextCall, image.Outstanding);
        Scheduler.Restore(image.FramesSuspended, image.AnswersOwed);
        Context.Replay.Restore(image.NowUs, image.KeyTimeUs, image.Random ?? throw new InvalidDataException("The image holds no random state."));
        ClientCalls.Window.Restore(image.Window, image.KeyedCalls);
        Tasks.Restore(image.NextTask, image.Tasks);
        Failures.Policies.InForce = image.ForkPolicy;
        Failures.Quarantine.Restore(image.Decisions, image.DecisionsMet, image.SetAside);
        _host.Adopt(Context, image.Immortal);
        Timers.Restore(image.NextTimer, image.Timers); // periodic ones look for their methods in the immortal
    }

    private void AttachProxy(object proxy, InstanceId instance) => ((ImmortalProxy)proxy).Attach(Context.TargetOf(instance));

    /// <summary>Reports a failure of a handler that no message called.</summary>
    private void FailUncalled(string handler, Exception failure) => Failures.FailedUncalled(handler, failure);

    Source<Nothing> IHandlerSession.BeginDelay(TimeSpan time) => Timers.Delay(time);

    void IHandlerSession.CancelDelay(Source<Nothing> timer) => Timers.Cancel((DelayTimer)timer);

    /// <summary>A primary alone tells: a replay tells what its primary told, and others would tell the same.</summary>
    void IHandlerSession.FailedUnawaited(Source failed)
    {
        if (IsPrimary) Tasks.Unheard.Add(failed);
    }

    void IHandlerSession.SendOwed(Source owed)
    {
        if (owed is OwedAnswer answer) _answers.Answer(answer);
        else ClientCalls.Answer((OwedOutsideAnswer)owed);
    }
}

/// <summary>Counts what an immortal waits for.</summary>
/// <param name="Methods">Methods that are suspended: handlers, and what they await of their own.</param>
/// <param name="Timers">Timers that have not fired.</param>
/// <param name="Tasks">Tasks without a result.</param>
internal readonly record struct WaitingWork(int Methods, int Timers, int Tasks);
