using System.Buffers;
using Ambrosia.Calls;
using Ambrosia.Messages;
using Ambrosia.Outbound;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Impulses;

/// <summary>Lets impulses from outside the handlers in: it is closed until the immortal is primary. Any thread may call it.</summary>
internal sealed class ImpulseIngress(ImpulseOutbox outbox, OutboundBuffer limits)
{
    private volatile bool _isOpen;

    internal bool IsOpen => _isOpen;

    /// <summary>Waits until an impulse fits; null: a full outbox is an error. Pumps set it.</summary>
    internal Action? WaitForRoom { get; set; }

    /// <summary>The ingress calls it when an impulse waits to be taken. Pumps set it.</summary>
    internal Action? Added { get; set; }

    internal void Open() => _isOpen = true;

    internal OutgoingMessage Begin(uint method, ImpulseKey key)
    {
        Scheduler.RefuseOutsideHandlers("sends");
        if (!_isOpen) throw new BindingMisuseException(Misuse.ImpulseTooEarly);
        ScratchBuffer body = ScratchBuffer.Begin();
        body.Advance(Varint.Write(body.GetSpan(Varint.BytesMax), method));
        if (!key.Bytes.IsEmpty)
        {
            body.Advance(Varint.Write(body.GetSpan(Varint.BytesMax), (ulong)key.Bytes.Length));
            body.Write(key.Bytes);
        }
        return new OutgoingMessage(body, !key.Bytes.IsEmpty);
    }

    internal void Send(Destination destination, OutgoingMessage message, LoggedImpulse? logged)
    {
        ReadOnlySpan<byte> bytes = message.Aside!.Written;
        limits.CheckMessage(bytes.Length);
        while (!outbox.TryAdd(destination, message.IsKeyed, bytes, logged))
        {
            LockChecks.BeforeWait();
            if (WaitForRoom is null) throw new InvalidOperationException("Too many impulses wait to be sent.");
            WaitForRoom();
        }
        LockChecks.BeforeCallOut();
        Added?.Invoke();
    }

    /// <summary>Sends a frame that is not the scheduler's; it is dropped when the session has ended.</summary>
    internal void SendFrame(FrameType type, ReadOnlySpan<byte> payload)
    {
        while (!outbox.TryAddFrame(type, payload))
        {
            LockChecks.BeforeWait();
            if (WaitForRoom is null) throw new InvalidOperationException("Too much waits to be sent.");
            try
            {
                WaitForRoom();
            }
            catch (InvalidOperationException)
            {
                return; // the channel has ended
            }
        }
        LockChecks.BeforeCallOut();
        Added?.Invoke();
    }

    /// <summary>
    /// Ends the waits for impulses to a name, because the log has forgotten whom they were for: the fate of those that are not known to be
    /// logged stays unknown.
    /// </summary>
    internal void Forget(InstanceId peer)
    {
        if (_isOpen) outbox.Forget(peer);
    }

    /// <summary>Makes the refusal of a method that is not an impulse handler.</summary>
    internal InvalidOperationException NotAnImpulse()
    {
        Scheduler.RefuseOutsideHandlers("sends");
        return new BindingMisuseException(_isOpen ? Misuse.NotAnImpulse : Misuse.SentTooEarly);
    }

    internal static void RefuseKey(ImpulseKey key)
    {
        if (!key.Bytes.IsEmpty) throw new BindingMisuseException(Misuse.KeyInHandler);
    }
}
