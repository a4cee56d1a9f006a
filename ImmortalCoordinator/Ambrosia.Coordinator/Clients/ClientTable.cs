using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Sessions of callers outside, by their number in this epoch. A number is never given twice; at most <see cref="SessionsMax"/> live at a
/// time, so that callers leave room for peers. Any thread; one lock; sessions are called outside it.
/// </summary>
internal sealed class ClientTable
{
    public const int SessionsMax = 512;

    private readonly Lock gate = new();
    private readonly Dictionary<ulong, ClientSession> sessions = [];
    private volatile ClientSession[] all = [];
    private ulong numbers;

    public int Count => all.Length;

    /// <summary>False: there are as many as may be.</summary>
    public bool TryAdd(ClientSession session, out ulong number)
    {
        lock (gate)
        {
            number = 0;
            if (sessions.Count == SessionsMax) return false;
            sessions.Add(number = ++numbers, session);
            all = [.. sessions.Values];
            return true;
        }
    }

    public void Remove(ulong number)
    {
        lock (gate)
        {
            if (sessions.Remove(number)) all = [.. sessions.Values];
        }
    }

    /// <summary>The log has advanced: whoever waits for it has something to be told.</summary>
    public void DurableAdvanced()
    {
        foreach (ClientSession session in all) session.DurableAdvanced();
    }

    /// <summary>
    /// The app has answered: who asked gets it, if it is still there; an answer that replay makes again finds nobody who waits.
    /// </summary>
    public void Answer(in RunView run, Epoch epoch)
    {
        ClientSessionId of = run.Header.ClientSession;
        if (of.Epoch != epoch) return;
        ClientSession? session;
        lock (gate) session = sessions.GetValueOrDefault(of.Number);
        session?.Answer(run);
    }
}
