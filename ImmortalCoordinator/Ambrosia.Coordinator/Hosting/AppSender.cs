using System.Net.Sockets;
using System.Runtime.ExceptionServices;
using Ambrosia.AppChannel;
using Ambrosia.Coordinator.AppSessions;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Sends to the app over one connection. Much of it goes on a thread of its own; when that sleeps and there is little, whoever has made the
/// work (a commit, mostly) sends what the channel takes at once, which saves an awaited call a change of threads. One thread sends at a
/// time (the gate); what was taken from the session is sent whole, in order, before anything else is taken. A wake is never lost.
/// </summary>
/// <param name="work">What is taken from the session is work; that the app takes it is waited for.</param>
internal sealed class AppSender(PumpWork work) : IDisposable
{
    private readonly RankedLock _gate = new(LockRank.AppSender);
    private readonly Parker _parker = new();
    private AppSession? _session;
    private AppStream? _stream;
    private volatile bool _isRunning, _ended, _isAborted;

    // Guarded by the gate. The unsent part of what was last taken, and what went wrong on a thread that was only passing by.
    private ReadOnlyMemory<byte> _rest;
    private volatile bool _hasRest;
    private ExceptionDispatchInfo? _failure;

    /// <summary>Hears that there may be something to send. Any thread may call it that holds no lock that the session takes.</summary>
    public void Wake()
    {
        if (_isRunning && !_gate.IsHeldByCurrentThread && _session!.HasLittle && _gate.TryEnter())
        {
            try
            {
                if (_isRunning && _failure is null && TrySendLittle()) return;
            }
            finally
            {
                _gate.Exit();
            }
        }
        _parker.Wake();
    }

    /// <summary>
    /// Sends until the session has ended, or given way to another version, and everything is sent; from here on others may send as well. It
    /// has a thread of its own.
    /// </summary>
    /// <exception cref="SocketException">The app is gone.</exception>
    public void Run(AppSession of, AppStream over)
    {
        _session = of;
        _stream = over;
        _isRunning = true;
        try
        {
            while (true)
            {
                bool isLast = _ended;
                if (SendAll()) continue;
                if (isLast || of.HasGivenWay) return;
                _parker.Park(() => _hasRest || _ended || of.HasGivenWay || of.HasOutput, TimeSpan.FromSeconds(1));
            }
        }
        finally
        {
            _isRunning = false;
            using (_gate.Enter()) { } // who was passing by has left
        }
    }

    /// <summary>Lets <see cref="Run"/> end as with an app that is gone: nothing more is sent.</summary>
    public void Abort()
    {
        _isAborted = true;
        _parker.Wake();
    }

    /// <summary>Lets <see cref="Run"/> return when it has sent what there is.</summary>
    public void End()
    {
        _ended = true;
        _parker.Wake();
    }

    /// <summary>True when anything was sent.</summary>
    private bool SendAll()
    {
        using (_gate.Enter())
        {
            _failure?.Throw();
            bool isAny = false;
            while (TakeNext())
            {
                if (_isAborted) throw new SocketException((int)SocketError.ConnectionAborted);
                _stream!.Send(_rest.Span);
                Account(_rest.Length);
                isAny = true;
            }
            return isAny;
        }
    }

    /// <summary>Sends at once what the channel takes; false: the thread is to go on. What goes wrong is for the thread to tell.</summary>
    private bool TrySendLittle()
    {
        try
        {
            while (TakeNext())
            {
                int sent = _stream!.TrySend(_rest.Span);
                if (sent == 0) return false;
                Account(sent);
            }
            return true;
        }
        catch (Exception e)
        {
            _failure = ExceptionDispatchInfo.Capture(e);
            _hasRest = true;
            return false;
        }
    }

    private bool TakeNext()
    {
        if (!_rest.IsEmpty) return true;
        work.Begin();
        try
        {
            if (!_session!.TryTake(out _rest)) return false;
            _hasRest = true;
            return true;
        }
        finally
        {
            work.End();
        }
    }

    private void Account(int sent)
    {
        _rest = _rest[sent..];
        if (!_rest.IsEmpty) return;
        _hasRest = false;
        _session!.Taken();
    }

    public void Dispose() => _parker.Dispose();
}
