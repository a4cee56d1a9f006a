using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>
/// The session's destinations by name; each is declared in the output stream when it is first met. Thread: the scheduler's.
/// </summary>
internal sealed class DestinationTable(OutboundBuffer outbound)
{
    private readonly Dictionary<InstanceId, Destination> byId = [];

    /// <summary>Answers to one caller follow one another, so the last one found is mostly the next one asked for.</summary>
    private Destination? last;

    internal Destination Get(InstanceId id) => last is not null && last.Id == id ? last : last = Find(id);

    private Destination Find(InstanceId id)
    {
        if (byId.TryGetValue(id, out Destination? known)) return known;
        if (!Names.IsValid(id.Name))
            throw new ArgumentException($"'{id.Name}' is not an instance name: 1 to {Names.CharsMax} letters, digits, '_' and '-'.");
        if (byId.Count == DestinationFrame.IndexLimit)
            throw new InvalidOperationException($"More than {DestinationFrame.IndexLimit} destinations in one session.");
        var made = new Destination((uint)byId.Count, id);
        byId.Add(id, made);
        outbound.Write(new DestinationFrame(made.Index, id));
        return made;
    }
}
