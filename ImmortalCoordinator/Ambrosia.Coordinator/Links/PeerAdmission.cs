using System.Collections.Concurrent;
using System.Text.Json.Nodes;
using Ambrosia.Coordinator.Inbox;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;
using Microsoft.Extensions.Logging;

namespace Ambrosia.Coordinator.Links;

/// <summary>
/// Decides when peers are let in, which of them are called, and which are given up. It is closed until the app of a primary has executed
/// all that was durable, then open for good: before that nobody knows what has been said to whom. Any thread.
/// </summary>
internal sealed class PeerAdmission
{
    private readonly LinkTable _table;
    private readonly DedupTable _dedup;
    private readonly OutboxSet _outboxes;
    private readonly SelfChannel _self;
    private readonly LogAppender _log;
    private readonly IPumps _pumps;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly OutputNotifier _notifier;

    /// <summary>How many calls each peer that was given up lost by it, for the answer to whoever asked.</summary>
    private readonly ConcurrentDictionary<InstanceId, ulong> _forgotten = [];

    public PeerAdmission(LinkTable table, DedupTable dedup, OutboxSet outboxes, SelfChannel self, LogAppender log,
        CoordinatorInputs inputs)
    {
        (_table, _dedup, _outboxes, _self, _log) = (table, dedup, outboxes, self, log);
        (_pumps, _time, _logger) = (inputs.Pumps, inputs.Time, inputs.Logger);
        _notifier = new OutputNotifier(HasOutput);
    }

    /// <summary>Links are open and impulses admitted.</summary>
    public bool IsOpen => _table.IsAdmitting;

    /// <summary>The app is primary; the first time in this process, the world is let in.</summary>
    /// <param name="executed">What the app has executed says what was taken of each peer.</param>
    public void Open(ReplayState executed)
    {
        _dedup.Restore(executed);
        _self.Open();
        _outboxes.Unheard.Begin(_dedup.Peers().Select(static origin => origin.Instance).Where(HasCalled));
        _table.Admit();
        foreach (InboundChannel origin in _dedup.Peers()) _table.Want(origin.Instance);
        foreach (Outbox outbox in _outboxes.InOrder())
            if (outbox.HasUnsent) _table.Want(outbox.Destination);
    }

    private bool HasCalled(InstanceId peer) => _outboxes.TryGet(peer, out Outbox? outbox) && outbox.Known.Number > 0;

    /// <summary>An outbox has something to send.</summary>
    public void HasOutput(Outbox outbox)
    {
        if (_table.OpenLinkTo(outbox.Destination) is { } link) link.Wake();
        else if (_table.Want(outbox.Destination)) _pumps.Dial();
    }

    /// <summary>Several outboxes have something to send: few are told of it here, many by a thread of its own.</summary>
    public void HaveOutput(HashSet<Outbox> outboxes)
    {
        if (outboxes.Count < OutputNotifier.OutboxesMin)
        {
            foreach (Outbox outbox in outboxes) HasOutput(outbox);
            return;
        }
        _notifier.Add(outboxes);
        _pumps.OutputsWait();
    }

    /// <summary>Outputs for several peers wait.</summary>
    public bool HasOutputs => _notifier.HasAny;

    /// <summary>Tells the links of those for whom outputs wait; false: there were none. One thread.</summary>
    public bool TellOutputs() => _notifier.TellAll();

    /// <summary>This peer is being given up, and the app has not come to that place of the log.</summary>
    public bool IsLeaving(InstanceId peer) => _dedup.Find(peer) is { IsLeaving: true };

    /// <summary>The app stands where the log gives a peer up (log-format L5.14), for the first time in this process.</summary>
    public void Forgotten(Outbox outbox, ulong calls)
    {
        _logger.LinkForgotten(outbox.Destination, calls);
        if (!IsOpen) return; // the dedup table and the links of one that is not primary yet begin with what the log says
        _outboxes.Unheard.Heard(outbox.Destination);
        _forgotten[outbox.Destination] = calls; // before whoever asked for it can see that it has happened
        _dedup.Forget(outbox.Destination);
        _table.Resume(outbox.Destination);
        _pumps.Dial();
    }

    /// <summary>What an operator's command does to give a peer up.</summary>
    /// <param name="own">The UUID of this instance.</param>
    public ForgetSteps StepsToForget(Guid own) => new(own, _dedup, _outboxes, TryAppendForget, _log.TryAppend<PeerRecord>, DroppedCalls,
        () => _pumps.Commit(true));

    /// <summary>Returns how many calls to a peer that was given up were dropped with it.</summary>
    private ulong DroppedCalls(InstanceId peer) => _forgotten.GetValueOrDefault(peer);

    /// <summary>
    /// Logs that an operator gives a peer up (log-format L5.14); false: the log has no room now. Whoever calls it holds the dedup table's
    /// lock, and sees to the commit behind it.
    /// </summary>
    public bool TryAppendForget(ForgetRecord record) => _log.TryAppend(record, out _);
}
