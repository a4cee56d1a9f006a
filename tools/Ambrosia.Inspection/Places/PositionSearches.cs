using Ambrosia.Inspection.Records;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Places;

/// <summary>Finds the first place at or behind another one, and the last before it.</summary>
/// <param name="wantsBefore">False: only the first is wanted, and messages of the records before it are not looked at.</param>
internal sealed class PositionSearch(OriginNames names, MessagePlace wanted, bool wantsBefore) : MessageSearch(names)
{
    /// <summary>The first place at or behind the wanted one; null: there is none.</summary>
    public MessagePlace? Found { get; private set; }

    /// <summary>The last place before the wanted one, as far as reading began before it.</summary>
    public MessagePlace? Before { get; private set; }

    protected override bool IsOfNoInterest(Lsn record) => !wantsBefore && record < wanted.Record;

    protected override bool Take(in PassingMessage message)
    {
        if (message.Place.CompareTo(wanted) < 0) Before = message.Place;
        else Found = message.Place;
        return Found is null;
    }
}

/// <summary>Finds the first place that was logged after a time.</summary>
internal sealed class TimeSearch(OriginNames names, long timeMicros) : MessageSearch(names)
{
    /// <summary>The place; null: all was logged at that time or before.</summary>
    public MessagePlace? Found { get; private set; }

    /// <summary>True if something was logged at that time or before.</summary>
    public bool HasEarlier { get; private set; }

    protected override bool Take(in PassingMessage message)
    {
        if (message.TimeMicros <= timeMicros) HasEarlier = true;
        else Found = message.Place;
        return Found is null;
    }
}
