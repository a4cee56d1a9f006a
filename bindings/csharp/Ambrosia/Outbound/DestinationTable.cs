using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Outbound;

/// <summary>
/// Holds the session's destinations by name, and declares each in the output stream when it is first met. Thread: the scheduler's.
/// </summary>
internal sealed class DestinationTable(OutboundBuffer outbound)
{
    private readonly Dictionary<InstanceId, Destination> _byId = [];

    /// <summary>The destination found last. Answers to one caller follow one another, so it is mostly the next one asked for.</summary>
    private Destination? _last;

    internal Destination Get(InstanceId id) => _last is not null && _last.Id == id ? _last : _last = Find(id);

    private Destination Find(InstanceId id)
    {
        if (_byId.TryGetValue(id, out Destination? known)) return known;
        if (!Names.IsValid(id.Name))
            throw new MisusedArgumentException(Misuse.NotAName, id.Name);
        if (_byId.Count == DestinationFrame.IndexLimit)
            throw new LimitReachedException((int)DestinationFrame.IndexLimit, "destinations");
        var made = new Destination((uint)_byId.Count, id);
        _byId.Add(id, made);
        outbound.Write(new DestinationFrame(made.Index, id));
        return made;
    }
}

/// <summary>An instance that this session has declared to its coordinator (protocol P5.5). Indices live as long as the session.</summary>
internal sealed class Destination(uint index, InstanceId id)
{
    internal uint Index { get; } = index;

    internal InstanceId Id { get; } = id;

    /// <summary>The session of a caller outside, whose answers need no declaration (protocol P10.6); zero: this is an instance.</summary>
    internal ClientSessionId Session { get; private init; }

    internal static Destination Of(ClientSessionId session) => new(0, default) { Session = session };

    public override string ToString() => Id.Name is null ? $"caller {Session}" : Id.ToString();
}
