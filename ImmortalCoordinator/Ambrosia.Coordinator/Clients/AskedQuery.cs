using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>A query under way. Guarded by the book.</summary>
/// <param name="session">Who asked.</param>
/// <param name="number">Its number there.</param>
/// <param name="position">What the caller asks for: every record below is to be executed before.</param>
/// <param name="gate">And that: what was durable when it came. It may lie behind empty pages, which other replicas do not hear of, so it is
/// nobody's position.</param>
/// <param name="until">When the patience of who asked ends; a timestamp.</param>
internal sealed class AskedQuery(
    ulong id, ClientSession session, ulong number, Lsn position, Lsn gate, uint method, byte[] arguments, long until)
{
    /// <summary>As the app knows it; grows in the order of arrival.</summary>
    public ulong Id => id;

    public ClientSession Session => session;

    public ulong Number => number;

    public Lsn Position => position;

    public Lsn Gate => gate;

    public uint Method => method;

    public byte[] Arguments => arguments;

    public long Until { get; set; } = until;

    /// <summary>Sessions of the app that were given it and ended without an answer.</summary>
    public int Endings { get; set; }

    /// <summary>The caller is gone: the answer, when it comes, is nobody's.</summary>
    public bool IsForgotten { get; set; }
}
