using Ambrosia.Coordinator.Clients;
using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.AppSessions;

/// <summary>
/// Takes the runs that the app emits to where they wait for their receivers: outboxes, the own log for what it says to
/// itself, callers outside for its answers. Links are told once a receive, not once a run. The thread that reads the live session's app.
/// </summary>
internal sealed class AppOutputs(
    OutputStore store, AppExecution execution, SelfChannel self, PeerAdmission admission, ClientSessions callers, LogAppender log)
{
    private readonly Func<bool> _isOpen = () => admission.IsOpen;
    private readonly Func<InstanceId, bool> _isLeaving = admission.IsLeaving;

    /// <summary>The running session has emitted to these since their links were told last.</summary>
    private readonly HashSet<Outbox> _touched = [];
    private bool _selfWaits;

    /// <summary>Makes a reader whose blocks runs stay in until they are acknowledged.</summary>
    public AppReader NewReader(IAppFrames frames) => new(store.Pool, frames);

    /// <summary>The app of a new session emits from here on.</summary>
    public void BeginSession()
    {
        _touched.Clear();
        _selfWaits = false;
    }

    /// <summary>The app names a destination by a number.</summary>
    public void Declare(in DestinationFrame destination) => store.Outboxes.Declare(destination.Index, destination.Destination);

    /// <summary>Takes a run whose frame stands at <paramref name="frameAt"/> of the block.</summary>
    public ReadAnswer Take(BlockPool.Block block, int frameAt, in RunView run, int runBytes, AppStage stage)
    {
        ReadOnlySpan<byte> bytes = block.Bytes.AsSpan(frameAt + FrameHeader.Bytes, runBytes);
        if (run.Header.IsClientAnswer) return Answer(bytes);
        Outbox outbox = store.Outboxes.Declared(run.Header.Peer);
        if (store.MustWait(outbox, runBytes, _isOpen, _isLeaving)) return ReadAnswer.OutboxFull;
        RunView.ReadWhole(bytes, SizeLimits.MessageBytesMaxLimit);
        if (run.Header.Kind == MessageKind.Impulse)
        {
            AppControl.RequirePrimary(stage, "P5.10", "impulse");
            outbox.AppendImpulses(block, frameAt, run, runBytes, log.Epoch);
        }
        else if (!run.Header.IsNumbered) throw new ProtocolViolation("P3.2", $"{run.Header.Kind} from the app");
        else
        {
            store.Add(runBytes);
            execution.Emits(outbox, run);
            if (!outbox.Append(block, frameAt, run, runBytes)) return ReadAnswer.More;
        }

        if (outbox == store.Outboxes.Self) _selfWaits = !self.TryPush();
        else _touched.Add(outbox);
        return ReadAnswer.More;
    }

    /// <summary>Answers go to callers outside: into no outbox and no channel's hash, and nowhere at all from a secondary.</summary>
    private ReadAnswer Answer(ReadOnlySpan<byte> bytes)
    {
        RunView run = RunView.ReadWhole(bytes, SizeLimits.MessageBytesMaxLimit);
        if (run.Header.Peer != 0 || run.Header.Shard != 0)
            throw new ProtocolViolation("P10.6", $"answers to a caller outside name destination {run.Header.Peer}");
        if (execution.Answers(run) && execution.OwnsLog) callers.Answer(run);
        return ReadAnswer.More;
    }

    /// <summary>What the app says to itself goes into the log from here on.</summary>
    public void PushSelf() => _selfWaits = !self.TryPush();

    /// <summary>Tries again what found no room in the log; false: some of it still has none.</summary>
    public bool TryLog()
    {
        if (_selfWaits) PushSelf();
        return execution.DigestWriter.TryLog() & !_selfWaits;
    }

    /// <summary>An upgrade has shut the log's doors.</summary>
    public bool IsLogShut => log.IsShut;

    /// <summary>Tells the links of those to whom the app has emitted that there is something to send.</summary>
    public void TellLinks()
    {
        if (_touched.Count == 0) return;
        admission.HaveOutput(_touched);
        _touched.Clear();
    }

    /// <summary>Whoever commits is told of what this thread has appended.</summary>
    public void WakeCommitter(bool drained) => log.WakeCommitter(drained);
}
