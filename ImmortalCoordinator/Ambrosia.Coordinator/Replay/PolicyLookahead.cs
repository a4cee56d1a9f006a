using Ambrosia.Log.Format;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Replay;

/// <summary>
/// Finds what an app must know of fork policies that come later in the log before it stops at a failure (log-format L5.13, protocol P5.17).
/// It looks ahead only where a policy other than continue is in force, once for each stretch of the log. The thread that sends to the app.
/// </summary>
internal sealed class PolicyLookahead(Func<LogReader> newReader)
{
    /// <summary>Policy records below this are in what was said.</summary>
    private Lsn _known;
    private PolicyAhead? _changes;

    /// <summary>A session begins behind <paramref name="record"/>.</summary>
    /// <param name="page">The page that holds that record, or would.</param>
    public void Begin(PolicyRecord inForce, Lsn page, Lsn record, Lsn durable)
    {
        (_known, _changes) = (Lsn.Zero, null);
        if (inForce.Forks != ForkPolicy.Continue) Look(inForce.Forks, page, record, durable);
    }

    /// <summary>The app is about to be given a Policy record.</summary>
    public void Meet(PolicyRecord policy, Lsn page, Lsn record, Lsn durable)
    {
        if (policy.Forks != ForkPolicy.Continue && record >= _known) Look(policy.Forks, page, new Lsn(record.Value + 1), durable);
    }

    /// <summary>What is to be said before the next records; null: nothing.</summary>
    public PolicyAhead? Take()
    {
        PolicyAhead? taken = _changes;
        _changes = null;
        return taken;
    }

    private void Look(ForkPolicy last, Lsn page, Lsn from, Lsn durable)
    {
        var changes = new List<PolicyChange>();
        using LogReader reader = newReader();
        reader.Expect(durable);
        var buffer = new PageBuffer();
        for (Lsn at = page; at < durable && changes is not [.., { Forks: ForkPolicy.Continue }]
            && changes.Count < PolicyAhead.ChangesMax; at = buffer.Next)
        {
            if (reader.Read(at, ref buffer) != ReadStatus.Page) break; // whoever delivers it says why
            _known = buffer.Next;
            if (buffer.Remaining > 0 || buffer.Flags.HasFlag(PageFlags.ContinuesSpanning)) continue;
            var records = new RecordReader(buffer.Records, buffer.RecordsLsn);
            while (records.Next())
            {
                if (records.Kind != RecordKind.Policy || records.Lsn < from
                    || records.Read<PolicyRecord>().Forks is var forks && forks == last) continue;
                changes.Add(new PolicyChange(records.Lsn, forks));
                _known = new Lsn(records.Lsn.Value + 1);
                if ((last = forks) == ForkPolicy.Continue) break;
            }
        }
        if (changes.Count > 0) _changes = new PolicyAhead(changes);
    }
}
