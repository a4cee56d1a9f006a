using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.Clients;

/// <summary>
/// A query that a caller outside has asked. It holds the arguments until it is answered. The lock of <see cref="PendingQueries"/> guards
/// what changes.
/// </summary>
/// <param name="id">The query's number as the app knows it.</param>
/// <param name="gate">What was durable when the query came, if that is above the position that it asks for.</param>
/// <param name="until">The timestamp at which the patience of who asked ends.</param>
internal sealed class ClientQuery(ulong id, ClientSession session, in QueryFrame query, Lsn gate, long until)
{
    /// <summary>The query's number as the app knows it. Ids grow in the order of arrival.</summary>
    public ulong Id { get; } = id;

    /// <summary>The session that asked.</summary>
    public ClientSession Session { get; } = session;

    /// <summary>The query's number in its session.</summary>
    public ulong Number { get; } = query.Query;

    /// <summary>The position that the caller asks for: every record below it is executed before the answer.</summary>
    public Lsn Position { get; } = query.Position;

    /// <summary>
    /// The app answers once it was given every record below this, too. It may lie behind empty pages, which other replicas do not hear of,
    /// so it is nobody's position.
    /// </summary>
    public Lsn Gate { get; } = gate;

    public uint Method { get; } = query.Method;

    public byte[] Arguments { get; } = query.Arguments.ToArray();

    /// <summary>The timestamp at which the patience of who asked ends.</summary>
    public long Until { get; set; } = until;

    /// <summary>The number of app sessions that were given the query and ended without an answer.</summary>
    public int Endings { get; set; }

    /// <summary>True when the caller is gone: the answer, when it comes, is nobody's.</summary>
    public bool IsForgotten { get; set; }
}
