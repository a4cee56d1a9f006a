// One immortal and what its handlers and proxies use: scheduler, destinations, outstanding calls, output. What it is
// told to do is in RunExecution and Queries, what it tells callers in Answers; of frames, images and progress it knows nothing. Thread: the
// scheduler's, except Impulses (any).
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class ImmortalRuntime
{
    [ThreadStatic]
    private static ImmortalRuntime? constructing;

    private readonly ImmortalDefinition definition;
    private readonly int schedulerThread = Environment.CurrentManagedThreadId;

    internal ImmortalRuntime(
        ImmortalDefinition definition, AppWelcome welcome, OutboundBuffer outbound, ImpulseDoor impulses, SessionOptions options)
    {
        this.definition = definition;
        StateSerializers.Read(definition.Type.Assembly);
        Id = welcome.Instance;
        Scheduler = new Scheduler(this);
        Surroundings = new Surroundings(welcome.Uuid, Scheduler);
        Logger = new ImmortalLogger(() => impulses.IsOpen, options.LogsDuringReplay, options.LogOfImmortal);
        Outbound = outbound;
        Impulses = impulses;
        Timers = new OutstandingTimers(this);
        Tasks = new OutstandingTasks(this, welcome.Uuid, new TaskReports(impulses, outbound), options.TaskRunner);
        Destinations = new DestinationTable(outbound);
        Origins = new Origins(Id);
        Outside = new OutsideCalls(this);
        Forks = new ForkFailures(this, options.Log);
        Answers = new Answers(this);
        Runs = new RunExecution(this);
        Queries = new Queries(this, new QueryChecks(options.QueryChecking, definition.Type.Assembly));
    }

    internal InstanceId Id { get; }

    internal string TypeName => definition.Type.Name;

    internal Scheduler Scheduler { get; }

    internal OutboundBuffer Outbound { get; }

    internal ImpulseDoor Impulses { get; }

    internal DestinationTable Destinations { get; }

    internal OutstandingCalls Calls { get; } = new();

    internal Origins Origins { get; }

    /// <summary>Time and randomness for handlers.</summary>
    internal Surroundings Surroundings { get; }

    internal OutstandingTimers Timers { get; }

    internal OutstandingTasks Tasks { get; }

    internal ImmortalLogger Logger { get; }

    internal OutsideCalls Outside { get; }

    /// <summary>Null until the first record or the image.</summary>
    internal Immortal? Immortal { get; private set; }

    internal bool IsPrimary => Impulses.IsOpen;

    /// <summary>Of the record that is being executed.</summary>
    internal ulong ExecutingLsn { get; set; }

    /// <summary>Forks and impulses whose handlers threw.</summary>
    internal ForkFailures Forks { get; }

    internal Answers Answers { get; }

    internal RunExecution Runs { get; }

    internal Queries Queries { get; }

    internal static ImmortalRuntime TakeConstructing() => constructing
        ?? throw new InvalidOperationException("An immortal is made by AmbrosiaApp.Run, once in the life of its instance, not by new.");

    /// <summary>The FirstStart record: the constructor and OnFirstStart are part of it.</summary>
    internal void Construct()
    {
        if (Immortal is not null) throw new ProtocolViolation("L5.5", "a second FirstStart record");
        Immortal = Constructed(definition.Create);
        Immortal.RunFirstStart();
        Scheduler.Drain();
    }

    /// <summary>
    /// The image of an immortal of another class that takes the place of this one, between two records: made of it by its constructor, with
    /// the suspended methods, timers, tasks and outstanding calls as they are. Whoever restores it refuses methods whose bodies differ. For
    /// upgrades, which are to come: until then tests alone call it, to hold the format of images to what an upgrade needs of it.
    /// </summary>
    /// <exception cref="NotWritableException">Something refers to the immortal that is replaced, or cannot be written.</exception>
    internal ReadOnlyMemory<byte> Succeed(Func<Immortal, Immortal> make)
    {
        Immortal successor;
        using (Scheduler.Enter()) successor = Constructed(() => make(Started()));
        return StateImage.WriteMoved(this, successor);
    }

    /// <summary>Everything that a checkpoint holds of this side; to be written at once, since it shares the objects.</summary>
    internal ImageRoot ToImage() => new()
    {
        Immortal = Immortal,
        Origins = [.. Origins.Peers],
        NextCall = Calls.Next,
        Outstanding = [.. Calls.All],
        FramesSuspended = Scheduler.FramesSuspended,
        AnswersOwed = Scheduler.AnswersOwed,
        NowUs = Surroundings.NowUs,
        Random = Surroundings.State,
        KeyedCalls = Outside.Window.ToImage(),
        Window = Outside.Window.Limits,
        NextTimer = Timers.Next,
        Timers = [.. Timers.All],
        NextTask = Tasks.Next,
        Tasks = [.. Tasks.All],
        ForkPolicy = Forks.Policies.InForce,
        SetAside = [.. Forks.Quarantine.Messages],
        Decisions = Forks.Quarantine.Decisions,
        DecisionsMet = Forks.Quarantine.Met,
    };

    /// <exception cref="InvalidDataException">The image is another app's, or contradicts itself.</exception>
    internal void Adopt(ImageRoot image)
    {
        if (image.Immortal?.GetType() != definition.Type)
            throw new InvalidDataException($"The image holds a {image.Immortal?.GetType()}, this app is a {definition.Type}.");
        for (int i = 0; i < image.Origins.Length; i++) Origins.Add((uint)i + 1, image.Origins[i]);
        Calls.Restore(image.NextCall, image.Outstanding);
        Scheduler.Restore(image.FramesSuspended, image.AnswersOwed);
        Surroundings.Restore(image.NowUs, image.Random ?? throw new InvalidDataException("The image holds no random state."));
        Outside.Window.Restore(image.Window, image.KeyedCalls);
        Tasks.Restore(image.NextTask, image.Tasks);
        Forks.Policies.InForce = image.ForkPolicy;
        Forks.Quarantine.Restore(image.Decisions, image.DecisionsMet, image.SetAside);
        image.Immortal.Attach(this);
        Immortal = image.Immortal;
        Timers.Restore(image.NextTimer, image.Timers); // periodic ones look for their methods in the immortal
    }

    /// <summary>Runs outside the scheduler: what it sends are impulses.</summary>
    internal void BecomePrimary()
    {
        Impulses.Open();
        Forks.BecamePrimary();
        Started().RunBecomingPrimary();
        Tasks.StartAll();
    }

    internal void Fire(TimerFiredRecord record, ulong lsn)
    {
        ExecutingLsn = lsn;
        Surroundings.AdvanceTo(record.DueUs);
        Timers.Fire(record);
        Scheduler.Drain();
    }

    internal void TakeResult(NondetResultRecord record, ulong lsn)
    {
        ExecutingLsn = lsn;
        Tasks.Take(record);
        Scheduler.Drain();
    }

    /// <summary>For the operator: what a checkpoint waits for.</summary>
    internal string WhyNotQuiet()
    {
        string first = Calls.All.FirstOrDefault() is { } call
            ? $"; the oldest outstanding call is {call.Id}, method 0x{call.Method:X} of {call.Proxy}" : "";
        return $"{Scheduler.AnswersOwed} handlers and {Scheduler.FramesSuspended} methods are suspended{first}";
    }

    internal ProxyTarget TargetOf(InstanceId id)
    {
        if (Scheduler.IsAnyQuerying) throw Queries.Refusal("gets a proxy");
        if (Environment.CurrentManagedThreadId != schedulerThread && !Scheduler.IsExecuting)
            throw new InvalidOperationException(
                "GetProxy is for constructors, handlers and BecomingPrimary: keep the proxy and give it to other threads.");
        return new ProxyTarget(this, Destinations.Get(id));
    }

    internal void RequestCheckpoint()
    {
        if (Scheduler.IsAnyQuerying) throw Queries.Refusal("asks for a checkpoint");
        if (!Scheduler.IsExecuting) throw new InvalidOperationException("A checkpoint is asked for by handlers.");
        Outbound.Write(FrameType.CheckpointWanted, []);
    }

    internal OutgoingMessage BeginFork(Destination destination, uint method, int argumentBytesHint)
    {
        Outbound.Begin(destination, MessageKind.Fork, argumentBytesHint == 0 ? 0 : argumentBytesHint + Varint.SizeOf(method));
        Outbound.WriteVarint(method);
        return new OutgoingMessage(Outbound, 0, method);
    }

    internal OutgoingMessage BeginCall(Destination destination, uint method, int argumentBytesHint)
    {
        ulong call = Calls.Next;
        int headBytes = Varint.SizeOf(method) + Varint.SizeOf(call);
        Outbound.Begin(destination, MessageKind.Call, argumentBytesHint == 0 ? 0 : argumentBytesHint + headBytes);
        Outbound.WriteVarint(method);
        Outbound.WriteVarint(call);
        return new OutgoingMessage(Outbound, call, method);
    }

    internal PendingCall<T> SendCall<T>(ImmortalProxy proxy, OutgoingMessage message)
    {
        Outbound.Commit();
        return Calls.Add<T>(proxy, message.CallId, message.Method);
    }

    /// <summary>A handler failed that no message called.</summary>
    internal void FailUnheard(string handler, Exception failure) => Forks.FailedUncalled(handler, failure);

    /// <summary>Immortals that are made meanwhile belong to this runtime.</summary>
    private Immortal Constructed(Func<Immortal> make)
    {
        constructing = this;
        try
        {
            return make();
        }
        finally
        {
            constructing = null;
        }
    }

    internal Immortal Started() => Immortal ?? throw new ProtocolViolation("L5.5", "a record to execute before FirstStart or an image");

    internal static void CheckCount(RunHeader header, uint count)
    {
        if (count != header.Count) throw new ProtocolViolation("P3.1", $"run says {header.Count} messages and holds {count}");
    }

    /// <summary>A user's failure, which replay repeats; the others end the process.</summary>
    internal static bool IsOfHandler(Exception e) => e is not (OutOfMemoryException or ChannelEnded or AppFailed);
}
