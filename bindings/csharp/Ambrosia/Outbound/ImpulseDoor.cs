using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>Where impulses from outside the handlers enter: closed until the immortal is primary. Any thread.</summary>
internal sealed class ImpulseDoor(ImpulseOutbox outbox, OutboundBuffer limits)
{
    private volatile bool isOpen;

    internal bool IsOpen => isOpen;

    /// <summary>Waits until an impulse fits; null: a full outbox is an error. Set by pumps.</summary>
    internal Action? WaitForRoom { get; set; }

    /// <summary>An impulse waits to be taken. Set by pumps.</summary>
    internal Action? Added { get; set; }

    internal void Open() => isOpen = true;

    internal OutgoingMessage Begin(uint method, ImpulseKey key)
    {
        if (Scheduler.IsAnyQuerying) throw Queries.Refusal("sends");
        if (!isOpen)
            throw new InvalidOperationException("Impulses are accepted only by a primary: start what sends them in BecomingPrimary.");
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
            if (WaitForRoom is null) throw new InvalidOperationException("Too many impulses wait to be sent.");
            WaitForRoom();
        }
        Added?.Invoke();
    }

    /// <summary>A frame that is not the scheduler's; dropped when the session has ended.</summary>
    internal void SendFrame(FrameType type, ReadOnlySpan<byte> payload)
    {
        while (!outbox.TryAddFrame(type, payload))
        {
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
        Added?.Invoke();
    }

    /// <summary>
    /// The log has forgotten whom impulses to this name were for: the fate of those that are not known to be logged stays unknown.
    /// </summary>
    internal void Forget(InstanceId peer)
    {
        if (isOpen) outbox.Forget(peer);
    }

    /// <summary>The refusal of a method that is not an impulse handler.</summary>
    internal InvalidOperationException NotAnImpulse() => Scheduler.IsAnyQuerying ? Queries.Refusal("sends") : new(isOpen
        ? "Outside the handlers only methods marked [ImpulseHandler] can be called: what they are given is logged before it acts."
        : "Only handlers send before the immortal is primary; start what sends from elsewhere in BecomingPrimary, to methods marked [ImpulseHandler].");

    internal static void RefuseKey(ImpulseKey key)
    {
        if (!key.Bytes.IsEmpty)
            throw new InvalidOperationException(
                "A key is for impulses from outside; what a handler sends takes effect exactly once without one.");
    }
}
