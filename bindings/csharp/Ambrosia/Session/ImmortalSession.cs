using System.Globalization;
using System.Runtime.InteropServices;
using Ambrosia.Builds;
using Ambrosia.Checkpoints;
using Ambrosia.Contracts;
using Ambrosia.Failures;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;
using Ambrosia.Protocol.Records;
using Ambrosia.Session;

namespace Ambrosia;

/// <summary>
/// One session of an immortal with its coordinator: an app's side of the app channel (protocol P5), frames in, frames out. It executes
/// records, answers marks, takes and restores checkpoints. It never waits, reads no clock and starts no thread: pumps, or a simulator, feed
/// it and take its output. Thread: one, which runs all handlers; only TryTakeOutput and OutputTaken may be called by another, one thread at
/// a time.
/// </summary>
public sealed class ImmortalSession
{
    private const ushort ProtocolVersion = 1;

    private readonly ImmortalDefinition _definition;
    private readonly SessionOptions _options;
    private readonly SessionOutput _output;
    private uint _payloadBytesMax = SizeLimits.ControlBytesMax;
    private RecordExecutor? _executor;
    private VersionChange? _change;

    /// <summary>The session is there to convert an image, and executes nothing; null: it executes the log.</summary>
    private ImageConversion? _conversion;
    private ImageReceiver? _image;

    /// <summary>Makes a session whose output begins with AppHello.</summary>
    public ImmortalSession(ImmortalDefinition definition, SessionOptions options)
    {
        _definition = definition;
        _options = options;
        _output = new SessionOutput(options.ImpulseBytesMax);
        _output.Buffer.Write(Hello());
        if (options.Build is { } build) _output.Buffer.Write(FrameType.BuildMethods, build.Methods.Span);
    }

    public SessionState State { get; private set; } = SessionState.AwaitingWelcome;

    /// <summary>The reason for which the session ended; null until <see cref="State"/> is Ended.</summary>
    public SessionEnd? End { get; private set; }

    /// <summary>The coordinator's first frame; null until it has come.</summary>
    public AppWelcome? Welcome => _executor?.Welcome;

    internal ImmortalRuntime? Runtime => _executor?.Runtime;

    /// <summary>The stops of a view; null: the app lives, or the welcome has not come.</summary>
    internal ViewExecutor? View => _executor?.View;

    /// <summary>True once the coordinator has told this replica to become primary.</summary>
    internal bool IsPrimary => _executor?.Runtime.IsPrimary ?? false;

    /// <summary>The Lsn below which every record is executed.</summary>
    public Lsn Executed => _executor?.Progress.Executed ?? Lsn.Zero;

    /// <summary>The immortal; null before the first record or the image. It is here for tests and tools: its handlers own it.</summary>
    public Immortal? Immortal => _executor?.Runtime.Immortal;

    /// <summary>The number of forks and impulses that failed in their handlers and were only counted.</summary>
    public long FailedForks => _executor?.Runtime.Failures.Counted ?? 0;

    /// <summary>The number of forks and impulses that are set aside now.</summary>
    public int MessagesSetAside => _executor?.Runtime.Failures.Quarantine.Messages.Count ?? 0;

    /// <summary>The number of results that answered no outstanding call.</summary>
    public long DroppedResults => _executor?.Runtime.Calls.Dropped ?? 0;

    /// <summary>The number of times that a timer was said to be due and did not wait, or not for that time: each fires once.</summary>
    public long IgnoredTimers => _executor?.Runtime.Timers.Ignored ?? 0;

    /// <summary>The number of results that came for tasks that had one already: the first counts.</summary>
    public long IgnoredResults => _executor?.Runtime.Tasks.Ignored ?? 0;

    /// <summary>It counts what handlers wait for at the moment. Any thread: what it reads may be a moment old.</summary>
    internal WaitingWork Waiting => _executor?.Runtime is { } runtime
        ? new WaitingWork(runtime.Scheduler.FramesSuspended, runtime.Timers.Count, runtime.Tasks.Count) : default;

    /// <summary>The numbers of the tasks that have no result yet.</summary>
    internal IEnumerable<ulong> OutstandingTasks => _executor?.Runtime.Tasks.All.Select(static task => task.Number) ?? [];

    /// <summary>
    /// The number of awaited impulses that were under way when the session ended: who awaits them is told that their fate is unknown.
    /// </summary>
    internal int LostImpulses { get; private set; }

    /// <summary>The number of bytes of output that wait to be taken.</summary>
    public long OutputBacklog => _output.Buffer.Backlog;

    /// <summary>The number of bytes of impulses that wait to be taken.</summary>
    public long ImpulseBacklog => _output.Impulses.Backlog;

    /// <summary>The size in bytes of the frame that <see cref="Feed"/> left incomplete, as far as known; at least 16.</summary>
    public int FrameBytes { get; private set; } = FrameHeader.Bytes;

    /// <summary>
    /// The session calls it while handlers run, when closed runs wait in the output, with the backlog in bytes. A pump wakes its sender, or
    /// waits at a bound.
    /// </summary>
    public Action<long>? OutputClosed
    {
        get => _output.Buffer.Closed;
        set => _output.Buffer.Closed = value;
    }

    /// <summary>
    /// The session calls it on a sender's thread when impulses fill their bound; it returns when some were taken. Null: a full outbox is an
    /// error there.
    /// </summary>
    public Action? WaitForImpulseRoom
    {
        get => _output.WaitForImpulseRoom;
        set => _output.WaitForImpulseRoom = value;
    }

    /// <summary>The session calls it on a sender's thread when an impulse waits to be taken.</summary>
    public Action? ImpulseAdded
    {
        get => _output.ImpulseAdded;
        set => _output.ImpulseAdded = value;
    }

    /// <summary>
    /// Executes the whole frames at the front of <paramref name="bytes"/>; the rest is to be fed again with more behind it. Handlers may be
    /// given views on <paramref name="bytes"/>, valid until it returns.
    /// </summary>
    /// <returns>Bytes consumed. When the session has ended, <see cref="End"/> says why.</returns>
    public int Feed(ReadOnlyMemory<byte> bytes)
    {
        int consumed = 0;
        try
        {
            while (State != SessionState.Ended)
            {
                DecodeStatus status = FrameReader.TryRead(
                    bytes.Span[consumed..], 0, _payloadBytesMax, checkPayload: false, out FrameHeader header, out _, out int size);
                if (status != DecodeStatus.Ok)
                {
                    FrameBytes = FrameHeader.Bytes + (int)header.Length;
                    break;
                }
                FrameTypes.Check(header.Type, FrameSender.Coordinator);
                Take(header.Type, bytes.Slice(consumed + FrameHeader.Bytes, size - FrameHeader.Bytes));
                consumed += size;
            }
        }
        catch (Exception end) when (IsEnd(end))
        {
            EndBy(end);
        }
        return consumed;
    }

    /// <summary>A view has stopped where a debugger that is attached is to break, and has not yet.</summary>
    internal bool BreaksHere => State == SessionState.Running && View is { BreaksHere: true };

    /// <summary>The debugger's user goes on: the coordinator is told, and says what comes next.</summary>
    internal void GoBehindBreak() => View!.GoBehindBreak();

    private static bool IsEnd(Exception e) =>
        e is ProtocolViolation or SuspendedCallsChangedException or OtherImageFormatException or OtherImmortalException or Diverged
            or AppFailed or ImageUnrestorable;

    private void EndBy(Exception end)
    {
        // Its last report of a place may be a second old, and whoever looks for the message wants this one.
        if (end is AppFailed or Diverged && _executor?.Inside is { } place) _output.Buffer.Write(new ExecutingFrame(place));
        switch (end)
        {
            case Diverged: Finish(GoodbyeCode.Divergence, end.Message); break;
            case ProtocolViolation: Finish(GoodbyeCode.ProtocolViolation, end.Message); break;
            case SuspendedCallsChangedException changed:
                _options.Log(changed.Message);
                Finish(GoodbyeCode.Refused, Short(changed));
                break;
            case ImageUnrestorable:
                _options.Log($"The checkpoint cannot be restored: {end.InnerException}");
                Finish(GoodbyeCode.Refused, $"{Goodbye.OfImage}{end.Message}");
                break;
            case OtherImageFormatException or OtherImmortalException:
                _options.Log(end.Message);
                Finish(GoodbyeCode.Refused, end.Message);
                break;
            default:
                _options.Log(end.ToString());
                Finish(GoodbyeCode.AppFailed, end.Message);
                break;
        }
    }

    /// <summary>Says that all that was received has been fed: reports progress and makes all output ready to be taken.</summary>
    public void InputDry()
    {
        if (State == SessionState.Running)
        {
            _executor!.Progress.InputDry();
            if (View is null && _conversion is null) _executor.Runtime.Rest();
        }
        _output.Buffer.Flush();
    }

    /// <summary>
    /// The message that is being executed, or what follows next where no report of progress has said so much; null: there is none. Any
    /// thread may ask.
    /// </summary>
    internal MessagePlace? Executing => State == SessionState.Ended ? null : _executor?.Executing;

    /// <summary>Ends the session because the connection is gone, or because this side stops.</summary>
    public void Stop(GoodbyeCode code, string why) => Finish(code, why);

    /// <summary>
    /// Gives whole frames from the front of the output. They stay there until <see cref="OutputTaken"/> says that they are gone, in pieces
    /// or at once.
    /// </summary>
    public bool TryTakeOutput(out ReadOnlyMemory<byte> bytes) => _output.TryTake(out bytes);

    /// <summary>Says that the first <paramref name="count"/> bytes of what TryTakeOutput gave are sent.</summary>
    public void OutputTaken(int count) => _output.Taken(count);

    private void Take(FrameType type, ReadOnlyMemory<byte> payload)
    {
        _executor?.Runtime.GoOn();
        switch (type)
        {
            case FrameType.Heartbeat:
                FrameReader.ReadEmpty(type, payload.Span);
                break;
            case FrameType.Goodbye:
                Goodbye goodbye = Goodbye.Read(payload.Span);
                Finish(goodbye.Code, goodbye.Why, byCoordinator: true);
                break;
            case FrameType.AppWelcome when State == SessionState.AwaitingWelcome:
                Begin(AppWelcome.Read(payload.Span));
                break;
            case FrameType.ImageBegin when State == SessionState.AwaitingImage:
                _image = new ImageReceiver();
                _image.Begin(ImageBegin.Read(payload.Span), Welcome!.Checkpoint);
                State = SessionState.ReceivingImage;
                break;
            case FrameType.ImageChunk when State == SessionState.ReceivingImage:
                _image!.Add(ImageChunk.Read(payload.Span));
                break;
            case FrameType.ImageEnd when State == SessionState.ReceivingImage && _conversion is { } conversion:
                conversion.Keep(_image!, _image!.End(ImageEnd.Read(payload.Span)));
                _image = null;
                State = SessionState.Running;
                break;
            case FrameType.ImageEnd when State == SessionState.ReceivingImage:
                using (ImageReceiver image = _image!)
                {
                    _image = null;
                    _executor!.Restore(image.End(ImageEnd.Read(payload.Span)));
                }
                _executor.Runtime.Failures.ReportAll();
                State = SessionState.Running;
                _executor.View?.Begin();
                break;
            case FrameType.Deliver when State == SessionState.Running && _conversion is null:
                _executor!.Deliver(payload);
                break;
            case FrameType.Query when State == SessionState.Running:
                _executor!.Answer(payload.Span);
                break;
            case FrameType.PolicyAhead when State == SessionState.Running:
                _executor!.Runtime.Failures.Policies.Learn(PolicyAhead.Read(payload.Span));
                break;
            case FrameType.Look when View is { } view:
                view.Take(Look.Read(payload.Span));
                break;
            case FrameType.Go when View is { } view:
                FrameReader.ReadEmpty(type, payload.Span);
                view.Go();
                break;
            case FrameType.BecomePrimary when State == SessionState.Running && View is null && _conversion is null:
                _executor!.Become(BecomePrimary.Read(payload.Span));
                break;
            case FrameType.Convert when State == SessionState.Running:
                Convert(ConvertFrame.Read(payload.Span));
                break;
            case FrameType.ImpulseLogged when State == SessionState.Running:
                ImpulseLogged logged = ImpulseLogged.Read(payload.Span);
                _output.Impulses.Logged(logged.Destination, logged.Ticket);
                break;
            default:
                throw new ProtocolViolation("P2.4", $"{type} frame in state {State}");
        }
    }

    private void Convert(ConvertFrame frame)
    {
        if (_conversion is { } conversion) conversion.Take(frame);
        else if (frame.Use == ConversionUse.State) _executor!.SendState(frame);
        else if (_change is { } change) change.Take(frame);
        else throw new ProtocolViolation("P5.25", $"a conversion to version {frame.To}, of an app of one version");
    }

    private void Begin(AppWelcome welcome)
    {
        if (welcome.Version != ProtocolVersion) throw new ProtocolViolation("P5.3", $"protocol version {welcome.Version}");
        _payloadBytesMax = SizeLimits.PayloadBytesMax(SizeLimits.MessageBytesMaxLimit); // what an earlier limit allowed is in the log
        _output.Buffer.LimitMessages(welcome.MessageBytesMax);
        if (welcome.ConvertsFrom is { } earlier)
        {
            BeginConversion(welcome, earlier);
            return;
        }
        FormerVersion? former = _options.Former;
        bool isFormer = former is not null && welcome.RunsVersion == former.Version;
        if (former is not null && !isFormer && welcome.RunsVersion != _options.AppVersion)
            throw new ProtocolViolation("P5.25", $"a session with version {welcome.RunsVersion}, of an app that has {former.Version} and {_options.AppVersion}");
        _executor = new RecordExecutor(welcome, NewRuntime(isFormer ? former!.Definition : _definition, null), _options);
        if (isFormer)
            _change = new VersionChange(_executor, new StateConversion(former!.Definition, _definition, former.Convert, welcome, _options),
                (former.Version, _options.AppVersion), _options, replaced => NewRuntime(_definition, replaced));
        if (welcome.IsView) _executor.BeginView();
        State = welcome.HasImage ? SessionState.AwaitingImage : SessionState.Running;
        if (State == SessionState.Running) View?.Begin();
        if (former is not null) StateContracts(former.Definition);
        StateContracts(_definition);

        ImmortalRuntime NewRuntime(ImmortalDefinition definition, ImmortalRuntime? replaced) =>
            new(definition, welcome, _output.Buffer, _output.NewIngress(), _options, replaced);

        void StateContracts(ImmortalDefinition definition)
        {
            foreach (byte[] manifest in StatedContracts.Of(definition.Type)) _output.Buffer.Write(FrameType.Contract, manifest);
        }
    }

    /// <summary>The session is there to make a state of this app's version of an earlier one.</summary>
    private void BeginConversion(AppWelcome welcome, uint from)
    {
        if (from >= _options.AppVersion)
            throw new ProtocolViolation("P5.25", $"an image of version {from} to convert, for an app of version {_options.AppVersion}");
        _executor = new RecordExecutor(
            welcome, StateConversion.NewSilentRuntime(_definition, welcome, _options, _output), _options);
        StateConversion? reshaping = _options.Former is { } former && former.Version == from
            ? new StateConversion(former.Definition, _definition, former.Convert, welcome, _options) : null;
        _conversion = new ImageConversion(_executor, (from, _options.AppVersion), _options, reshaping,
            () => StateConversion.NewSilentRuntime(_definition, welcome, _options));
        State = SessionState.AwaitingImage;
    }

    private void Finish(GoodbyeCode code, string why, bool byCoordinator = false)
    {
        if (State == SessionState.Ended) return;
        State = SessionState.Ended;
        End = new SessionEnd(code, why, byCoordinator);
        _image?.Dispose();
        _conversion?.Dispose();
        if (!byCoordinator) _output.Buffer.Write(new Goodbye(code, why));
        _output.Buffer.Flush();
        LostImpulses = _output.Impulses.End(new InvalidOperationException(why));
        _executor?.Runtime.Tasks.End(); // behind the end of the output: what bodies report of their being stopped is dropped
    }

    /// <summary>Shortens the message to what fits into a Goodbye (P5.12); the app's own lines say all.</summary>
    private static string Short(SuspendedCallsChangedException changed) =>
        $"this build cannot continue {changed.Refusals.Count} sorts of suspended calls of the checkpoint, the first: {(changed.Refusals[0] is { Length: > 600 } first ? first[..600] : changed.Refusals[0])}";

    private AppHello Hello() => new(
        ProtocolVersion, ProtocolVersion, _options.Token, _options.AppVersion, StateImage.Version,
        $"csharp/{typeof(ImmortalSession).Assembly.GetName().Version}", RuntimeText.Of(),
        CultureInfo.CurrentCulture.Name, RuntimeInformation.ProcessArchitecture.ToString(), _definition.ContractHash, _options.ProcessId)
    {
        Build = _options.Build is { } build ? BuildId.Of(build.Build.Span) : null,
        LowestVersion = _options.Former?.Version ?? _options.AppVersion,
    };
}
