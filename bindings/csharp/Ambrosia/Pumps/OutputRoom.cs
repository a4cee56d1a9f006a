using Ambrosia.Failures;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Pumps;

/// <summary>
/// Holds back handlers and senders of impulses while too much of a session's output is unsent. Any thread may call it. One gate guards who
/// waits; it is never held while something is sent, and the counts are read without it after a send. Invariant: a waiter counts itself and
/// then looks at the backlog, and a sender does both the other way round, so one of the two sees the other.
/// </summary>
internal sealed class OutputRoom(ImmortalSession session, SenderWake wake)
{
    /// <summary>
    /// The number of bytes of unsent output above which handlers wait, since the coordinator is behind; few enough to stay in the
    /// processor's cache.
    /// </summary>
    internal const long BacklogBytesMax = 2 * 1024 * 1024;

    /// <summary>
    /// The number of bytes at which handlers go on. It is not that of each send, which would change threads for every few messages.
    /// </summary>
    private const long BacklogBytesResume = BacklogBytesMax / 2;

    private readonly RankedMonitor _gate = new(LockRank.OutputRoom);
    private int _handlersWaiting, _impulsesWaiting;

    /// <summary>The reason for which nothing is sent any more; null while the channel lives.</summary>
    private Exception? _failure;

    /// <summary>Waits, on the scheduler's thread, until handlers may go on.</summary>
    /// <exception cref="ChannelEnded">Nothing is sent any more.</exception>
    internal void WaitForHandlers()
    {
        using (_gate.Enter())
        {
            Interlocked.Increment(ref _handlersWaiting);
            while (session.OutputBacklog > BacklogBytesResume && _failure is null) _gate.Wait();
            _handlersWaiting--;
            if (_failure is not null) throw new ChannelEnded(_failure.Message);
        }
    }

    /// <summary>Waits for room, on the thread of an impulse's sender. It returns when something was sent, or when nothing waits.</summary>
    internal void WaitForImpulses()
    {
        using (_gate.Enter())
        {
            if (_failure is not null)
                throw new InvalidOperationException("Impulses are not accepted any more: the app channel has ended.", _failure);
            if (wake.IsStopping) return; // nobody pulses behind the end, and the outbox says then that it takes no more
            Interlocked.Increment(ref _impulsesWaiting);
            if (session.ImpulseBacklog > 0)
            {
                wake.Wake();
                _gate.Wait();
            }
            _impulsesWaiting--;
        }
    }

    /// <summary>Lets those go on who wait for what was just sent.</summary>
    internal void Made()
    {
        Interlocked.MemoryBarrier();
        bool isForHandlers = Volatile.Read(ref _handlersWaiting) != 0 && session.OutputBacklog <= BacklogBytesResume;
        if (!isForHandlers && Volatile.Read(ref _impulsesWaiting) == 0) return;
        PulseAll();
    }

    /// <summary>Lets all who wait look again.</summary>
    internal void PulseAll()
    {
        using (_gate.Enter()) _gate.PulseAll();
    }

    /// <summary>Ends all waits, since nothing is sent any more.</summary>
    internal void Fail(Exception why)
    {
        using (_gate.Enter())
        {
            _failure ??= why;
            _gate.PulseAll();
        }
    }
}
