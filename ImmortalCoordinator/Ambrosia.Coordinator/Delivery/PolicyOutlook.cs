using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// What an app must know of fork policies that come later in the log before it stops at a failure (log-format L5.13, protocol P5.17). It
/// looks ahead only where a policy other than continue is in force, once for each stretch of the log. The thread that sends to the app.
/// </summary>
internal sealed class PolicyOutlook(Func<LogReader> newReader)
{
    /// <summary>Policy records below this are in what was said.</summary>
    private Lsn known;
    private PolicyAhead? news;

    /// <summary>A session begins behind <paramref name="record"/>.</summary>
    /// <param name="page">The page that holds that record, or would.</param>
    public void Begin(PolicyRecord inForce, Lsn page, Lsn record, Lsn durable)
    {
        (known, news) = (Lsn.Zero, null);
        if (inForce.Forks != ForkPolicy.Continue) Look(inForce.Forks, page, record, durable);
    }

    /// <summary>The app is about to be given a Policy record.</summary>
    public void Meet(PolicyRecord policy, Lsn page, Lsn record, Lsn durable)
    {
        if (policy.Forks != ForkPolicy.Continue && record >= known) Look(policy.Forks, page, new Lsn(record.Value + 1), durable);
    }

    /// <summary>What is to be said before the next records; null: nothing.</summary>
    public PolicyAhead? Take()
    {
        PolicyAhead? taken = news;
        news = null;
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
            known = buffer.Next;
            if (buffer.Remaining > 0 || buffer.Flags.HasFlag(PageFlags.ContinuesSpanning)) continue;
            var records = new RecordReader(buffer.Records, buffer.RecordsLsn);
            while (records.Next())
            {
                if (records.Kind != RecordKind.Policy || records.Lsn < from
                    || records.Read<PolicyRecord>().Forks is var forks && forks == last) continue;
                changes.Add(new PolicyChange(records.Lsn, forks));
                known = new Lsn(records.Lsn.Value + 1);
                if ((last = forks) == ForkPolicy.Continue) break;
            }
        }
        if (changes.Count > 0) news = new PolicyAhead(changes);
    }
}
