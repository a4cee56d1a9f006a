using System.Runtime.InteropServices;

namespace Ambrosia.Coordinator;

/// <summary>
/// Outboxes that have something new to send, and when their links hear of it: at once, but for one who floods many at a time. There, each send of a
/// short run costs more than all the rest of it, here and at its receiver; so forks for one of several wait for company while the app says more.
/// Owns who waits. Invariant: what waits is below <see cref="WorthSendingBytes"/> an outbox and <see cref="HeldBytesMax"/> in all, and nobody
/// awaits it; nothing waits once the app pauses. The thread that reads the app.
/// </summary>
/// <param name="send">Tells an outbox's link.</param>
internal sealed class HeldOutputs(Action<Outbox> send)
{
    internal const int WorthSendingBytes = 64 << 10, HeldBytesMax = 4 << 20;

    private readonly Dictionary<Outbox, Held> held = [];
    private long heldBytes;

    private record struct Held(long Bytes, bool IsAwaited);

    /// <param name="isAwaited">Somebody waits for it: calls, results, impulses.</param>
    public void Add(Outbox outbox, int bytes, bool isAwaited)
    {
        ref Held of = ref CollectionsMarshal.GetValueRefOrAddDefault(held, outbox, out _);
        of = new Held(of.Bytes + bytes, of.IsAwaited || isAwaited);
        heldBytes += bytes;
    }

    /// <param name="saysMore">More of the app's output comes next; false: nothing may wait.</param>
    public void Release(bool saysMore)
    {
        bool areAll = !saysMore || held.Count == 1 || heldBytes >= HeldBytesMax;
        foreach ((Outbox outbox, Held of) in held)
        {
            if (!areAll && !of.IsAwaited && of.Bytes < WorthSendingBytes) continue;
            held.Remove(outbox);
            heldBytes -= of.Bytes;
            send(outbox);
        }
    }
}
