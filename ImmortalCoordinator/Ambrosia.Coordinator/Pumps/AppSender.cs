using System.Net.Sockets;
using System.Runtime.ExceptionServices;
using Ambrosia.AppChannel;

namespace Ambrosia.Coordinator.Pumps;

/// <summary>
/// Sends to the app over one connection. Much of it goes on a thread of its own; when that sleeps and there is little, whoever has made the
/// work (a commit, mostly) sends what the channel takes at once, which saves an awaited call a change of threads. One thread sends at a
/// time (the gate); what was taken from the session is sent whole, in order, before anything else is taken. A wake is never lost.
/// </summary>
internal sealed class AppSender : IDisposable
{
    private readonly Lock gate = new();
    private readonly Parker parker = new();
    private AppSession? session;
    private AppStream? stream;
    private volatile bool isRunning, ended;

    // Guarded by the gate. The unsent part of what was last taken, and what went wrong on a thread that was only passing by.
    private ReadOnlyMemory<byte> rest;
    private volatile bool hasRest;
    private ExceptionDispatchInfo? failure;

    /// <summary>There may be something to send; any thread, which must not hold a lock that the session takes.</summary>
    public void Wake()
    {
        if (isRunning && !gate.IsHeldByCurrentThread && session!.HasLittle && gate.TryEnter())
        {
            try
            {
                if (isRunning && failure is null && TrySendLittle()) return;
            }
            finally
            {
                gate.Exit();
            }
        }
        parker.Wake();
    }

    /// <summary>
    /// Sends until the session has ended and everything is sent; from here on others may send as well. A thread of its own.
    /// </summary>
    /// <exception cref="SocketException">The app is gone.</exception>
    public void Run(AppSession of, AppStream over)
    {
        session = of;
        stream = over;
        isRunning = true;
        try
        {
            while (true)
            {
                bool isLast = ended;
                if (SendAll()) continue;
                if (isLast) return;
                parker.Park(() => hasRest || ended || of.HasOutput, TimeSpan.FromSeconds(1));
            }
        }
        finally
        {
            isRunning = false;
            lock (gate) { } // who was passing by has left
        }
    }

    /// <summary>Lets <see cref="Run"/> return when it has sent what there is.</summary>
    public void End()
    {
        ended = true;
        parker.Wake();
    }

    /// <summary>True when anything was sent.</summary>
    private bool SendAll()
    {
        lock (gate)
        {
            failure?.Throw();
            bool isAny = false;
            while (TakeNext())
            {
                stream!.Send(rest.Span);
                Account(rest.Length);
                isAny = true;
            }
            return isAny;
        }
    }

    /// <summary>False: the thread is to go on. What goes wrong is the thread's to tell.</summary>
    private bool TrySendLittle()
    {
        try
        {
            while (TakeNext())
            {
                int sent = stream!.TrySend(rest.Span);
                if (sent == 0) return false;
                Account(sent);
            }
            return true;
        }
        catch (Exception e)
        {
            failure = ExceptionDispatchInfo.Capture(e);
            hasRest = true;
            return false;
        }
    }

    private bool TakeNext()
    {
        if (!rest.IsEmpty) return true;
        if (!session!.TryTake(out rest)) return false;
        hasRest = true;
        return true;
    }

    private void Account(int sent)
    {
        rest = rest[sent..];
        if (!rest.IsEmpty) return;
        hasRest = false;
        session!.Taken();
    }

    public void Dispose() => parker.Dispose();
}
