using Ambrosia.Protocol;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Coordinator.Clients;

/// <summary>
/// It owns the sessions of callers outside, by their number in this epoch. A number is never given twice; at most
/// <see cref="SessionsMax"/> live at a time, so that callers leave room for peers. Any thread; one lock; sessions are called outside it.
/// </summary>
internal sealed class ClientTable
{
    public const int SessionsMax = 512;

    private readonly RankedLock _gate = new(LockRank.ClientTable);
    private readonly Dictionary<ulong, ClientSession> _sessions = [];
    private volatile ClientSession[] _all = [];
    private ulong _numbers;

    public int Count => _all.Length;

    /// <summary>Some caller has not been told yet what became of messages that are logged.</summary>
    public bool OwesAnswers => _all.Any(static session => session.OwesAnswers);

    /// <summary>False: there are as many as may be.</summary>
    public bool TryAdd(ClientSession session, out ulong number)
    {
        using (_gate.Enter())
        {
            number = 0;
            if (_sessions.Count == SessionsMax) return false;
            _sessions.Add(number = ++_numbers, session);
            _all = [.. _sessions.Values];
            return true;
        }
    }

    public void Remove(ulong number)
    {
        using (_gate.Enter())
        {
            if (_sessions.Remove(number)) _all = [.. _sessions.Values];
        }
    }

    /// <summary>The log has advanced: whoever waits for it has something to be told.</summary>
    public void DurableAdvanced()
    {
        foreach (ClientSession session in _all) session.DurableAdvanced();
    }

    /// <summary>
    /// The app has answered: who asked gets it, if it is still there; an answer that replay makes again finds nobody who waits.
    /// </summary>
    public void Answer(in RunView run, Epoch epoch)
    {
        ClientSessionId of = run.Header.ClientSession;
        if (of.Epoch != epoch) return;
        ClientSession? session;
        using (_gate.Enter()) session = _sessions.GetValueOrDefault(of.Number);
        session?.Answer(run);
    }
}
