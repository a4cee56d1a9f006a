using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>A query under way. Guarded by the book.</summary>
/// <param name="session">Who asked.</param>
/// <param name="number">Its number there.</param>
/// <param name="position">Every record below is to be executed before.</param>
/// <param name="until">When the patience of who asked ends; a timestamp.</param>
internal sealed class AskedQuery(ulong id, ClientSession session, ulong number, Lsn position, uint method, byte[] arguments, long until)
{
    /// <summary>As the app knows it; grows in the order of arrival.</summary>
    public ulong Id => id;

    public ClientSession Session => session;

    public ulong Number => number;

    public Lsn Position => position;

    public uint Method => method;

    public byte[] Arguments => arguments;

    public long Until => until;

    /// <summary>Sessions of the app that were given it and ended without an answer.</summary>
    public int Endings { get; set; }

    /// <summary>The caller is gone: the answer, when it comes, is nobody's.</summary>
    public bool IsForgotten { get; set; }
}
