// One immortal and what its handlers and proxies use: scheduler, destinations, outstanding calls, output. It executes runs and answers
// callers; of frames, images and progress it knows nothing. Thread: the scheduler's, except Impulses (any).
using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia;

internal sealed class ImmortalRuntime
{
    [ThreadStatic]
    private static ImmortalRuntime? constructing;

    private readonly ImmortalDefinition definition;
    private readonly ArrayBufferWriter<byte> extension = new(256);
    private readonly int schedulerThread = Environment.CurrentManagedThreadId;

    internal ImmortalRuntime(ImmortalDefinition definition, AppWelcome welcome, OutboundBuffer outbound, ImpulseDoor impulses, SessionOptions options)
    {
        this.definition = definition;
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

    internal static ImmortalRuntime TakeConstructing() => constructing
        ?? throw new InvalidOperationException("An immortal is made by AmbrosiaApp.Run, once in the life of its instance, not by new.");

    /// <summary>The FirstStart record: the constructor and OnFirstStart are part of it.</summary>
    internal void Construct()
    {
        if (Immortal is not null) throw new ProtocolViolation("L5.5", "a second FirstStart record");
        constructing = this;
        try
        {
            Immortal = definition.Create();
        }
        finally
        {
            constructing = null;
        }
        Immortal.RunFirstStart();
        Scheduler.Drain();
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
        if (image.Immortal?.GetType() != definition.Type) throw new InvalidDataException($"The image holds a {image.Immortal?.GetType()}, this app is a {definition.Type}.");
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

    /// <summary>Executes a run: its messages in order, and after each what became ready by it.</summary>
    internal void Execute(RunView run, ReadOnlyMemory<byte> messages, ulong lsn)
    {
        ExecutingLsn = lsn;
        InstanceId origin = Origins[run.Header.Peer];
        switch (run.Header.Kind)
        {
            case MessageKind.Impulse when run.Header.Keyed:
                Outside.Execute(run, messages);
                break;
            case MessageKind.Fork or MessageKind.Call or MessageKind.Impulse:
                Dispatch(run, messages, run.Header.Peer);
                break;
            case MessageKind.Result:
                TakeResults(run, origin);
                break;
            case MessageKind.Failure:
                TakeFailures(run, origin);
                break;
            default:
                throw new ProtocolViolation("L5.2", $"run of kind {run.Header.Kind} in the log");
        }
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
        string first = Calls.All.FirstOrDefault() is { } call ? $"; the oldest outstanding call is {call.Id}, method 0x{call.Method:X} of {call.Proxy}" : "";
        return $"{Scheduler.AnswersOwed} handlers and {Scheduler.FramesSuspended} methods are suspended{first}";
    }

    internal ProxyTarget TargetOf(InstanceId id)
    {
        if (Environment.CurrentManagedThreadId != schedulerThread && !Scheduler.IsExecuting)
            throw new InvalidOperationException("GetProxy is for constructors, handlers and BecomingPrimary: keep the proxy and give it to other threads.");
        return new ProxyTarget(this, Destinations.Get(id));
    }

    internal void RequestCheckpoint()
    {
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

    internal OutgoingMessage BeginResult(InstanceId caller, ulong call, uint method)
    {
        Outbound.Begin(Destinations.Get(caller), MessageKind.Result);
        Outbound.WriteVarint(method);
        Outbound.WriteVarint(call);
        return new OutgoingMessage(Outbound, call, method);
    }

    internal void AnswerLater(Source handler, in IncomingMessage message)
    {
        if (!handler.IsDone)
        {
            Scheduler.AnswersOwed++;
            handler.AwaitedBy(new OwedAnswer(handler, message.Origin, message.CallId, message.Method, message.CallId == 0 ? Forks.KeptOf(message) : null));
        }
        else if (handler.Error is { } failure) Fail(failure, message);
        else if (message.CallId != 0) Answer(handler, message.Caller, message.CallId, message.Method);
    }

    /// <summary>A suspended handler is finished.</summary>
    internal void Answer(Source handler, uint origin, ulong call, uint method, SetAsideMessage? kept)
    {
        Scheduler.AnswersOwed--;
        InstanceId caller = Origins[origin];
        if (call == 0)
        {
            if (handler.Error is { } unheard) Forks.FailedLate(kept, method, caller, unheard);
        }
        else if (caller == Origins.Forgotten) return; // whoever has its name now did not ask
        else if (handler.Error is { } failure) Fail(failure, caller, call, method);
        else Answer(handler, caller, call, method);
    }

    private void Answer(Source handler, InstanceId caller, ulong call, uint method)
    {
        try
        {
            OutgoingMessage result = BeginResult(caller, call, method);
            Started().Encode(new FinishedCall(handler, method), result);
            Outbound.Commit();
        }
        catch (Exception e) when (IsOfHandler(e))
        {
            Fail(e, caller, call, method);
        }
    }

    private void Dispatch(RunView run, ReadOnlyMemory<byte> messages, uint origin)
    {
        Immortal immortal = Started();
        var reader = new MessageReader(run);
        var message = new IncomingMessage(this, origin, messages) { Kind = run.Header.Kind };
        bool isCall = run.Header.Kind == MessageKind.Call;
        uint count = 0;
        while (reader.Next())
        {
            message.Place = new MessagePlace(new Lsn(ExecutingLsn), count);
            message.Method = reader.Method;
            message.CallId = isCall ? CheckedCall(reader.CallId) : 0;
            message.Arguments = reader.Arguments;
            Run(immortal, ref message);
            count++;
        }
        CheckCount(run.Header, count);
    }

    private void Run(Immortal immortal, ref IncomingMessage message)
    {
        try
        {
            immortal.Take(ref message);
        }
        catch (Exception e) when (IsOfHandler(e))
        {
            Fail(e, message);
        }
        Scheduler.Drain();
    }

    /// <summary>A Quarantine record: what it says is done here, at its place in the log.</summary>
    internal void Take(QuarantineRecord record, ulong lsn)
    {
        ExecutingLsn = lsn;
        Forks.Take(record, RunAgain);
    }

    private void RunAgain(SetAsideMessage kept)
    {
        var message = new IncomingMessage(this, kept.Origin, kept.Arguments)
        {
            Kind = kept.Kind, Place = kept.Place, Tries = kept.Tries, Method = kept.Method, Arguments = kept.Arguments,
        };
        Run(Started(), ref message);
    }

    private void TakeResults(RunView run, InstanceId origin)
    {
        var reader = new MessageReader(run);
        uint count = 0;
        while (reader.Next())
        {
            count++;
            if (!Calls.TryTake(reader.CallId, origin, out IPendingCall pending)) continue;
            try
            {
                pending.Proxy.Take(new ArrivedResult(pending, reader.Arguments));
            }
            catch (Exception e) when (IsOfHandler(e))
            {
                // What came is not what this version of the contract says; who awaits it must learn that, like any other failure.
                pending.Source.Fail(new RemoteCallException(e.GetType().FullName!, $"The result of method 0x{reader.Method:X} could not be decoded: {e.Message}"));
            }
            Scheduler.Drain();
        }
        CheckCount(run.Header, count);
    }

    private void TakeFailures(RunView run, InstanceId origin)
    {
        var reader = new MessageReader(run);
        uint index = 0;
        while (reader.Next())
        {
            uint fromEnd = run.Header.Count - 1 - index++;
            if (!Calls.TryTake(reader.CallId, origin, out IPendingCall pending)) continue;
            pending.Source.Fail(Failures.Read(reader.Arguments, run.Extensions, fromEnd));
            Scheduler.Drain();
        }
        CheckCount(run.Header, index);
    }

    /// <summary>
    /// A Forget record: calls that nobody will answer any more fail here, at their place in the log, alike on every replica. What they had
    /// done there nobody can say.
    /// </summary>
    internal void Forget(ForgetRecord record)
    {
        InstanceId peer = Origins.Forget(record.Origin);
        Impulses.Forget(peer);
        foreach (IPendingCall pending in Calls.TakeAll(peer))
        {
            pending.Source.Fail(new RemoteCallException(RemoteCallException.PeerForgotten,
                $"An operator has given up {peer} ({record.Uuid}): its answer will not come, and whether the call took effect there is unknown."));
            Scheduler.Drain();
        }
    }

    private void Fail(Exception failure, in IncomingMessage message)
    {
        if (message.CallId == 0) Forks.Failed(message, failure);
        else Fail(failure, message.Caller, message.CallId, message.Method);
    }

    private void Fail(Exception failure, InstanceId caller, ulong call, uint method)
    {
        extension.ResetWrittenCount();
        var writer = new PayloadWriter(extension);
        new FailureStack(0, Failures.StackOf(failure)).Write(ref writer);
        writer.Flush();
        Outbound.BeginAlone(Destinations.Get(caller), MessageKind.Failure, extension.WrittenSpan);
        Outbound.WriteVarint(method);
        Outbound.WriteVarint(call);
        Failures.Write(Outbound, failure);
        Outbound.CommitAlone();
    }

    /// <summary>A handler failed that no message called.</summary>
    internal void FailUnheard(string handler, Exception failure) => Forks.FailedUncalled(handler, failure);

    internal Immortal Started() => Immortal ?? throw new ProtocolViolation("L5.5", "a record to execute before FirstStart or an image");

    private static ulong CheckedCall(ulong call) => call != 0 ? call : throw new ProtocolViolation("P3.4", "a call with call id 0");

    internal static void CheckCount(RunHeader header, uint count)
    {
        if (count != header.Count) throw new ProtocolViolation("P3.1", $"run says {header.Count} messages and holds {count}");
    }

    /// <summary>A user's failure, which replay repeats; the others end the process.</summary>
    internal static bool IsOfHandler(Exception e) => e is not (OutOfMemoryException or ChannelEnded or AppFailed);
}
