using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// Tells the operator that the app waits because its outputs have no room, and that it goes on: each once it has lasted. The thread that
/// reads the app notes it, the one that ticks says it.
/// </summary>
internal sealed class OutputWait(OutboxSet outboxes, string directory, TimeProvider time, Action<string> say)
{
    /// <summary>Shorter waits are the back-pressure of every day.</summary>
    internal static readonly TimeSpan LastsMin = TimeSpan.FromSeconds(1);

    private volatile bool isWaiting;
    private DateTimeOffset? changed;
    private bool isSaid;

    /// <summary>The app waits for room at the moment.</summary>
    public bool IsWaiting => isWaiting;

    /// <summary>Notes whether a run of the app has to wait, and returns it.</summary>
    public bool Note(bool waits)
    {
        if (isWaiting != waits) isWaiting = waits;
        return waits;
    }

    public void Tick()
    {
        if (isWaiting == isSaid)
        {
            changed = null;
            return;
        }
        DateTimeOffset now = time.GetUtcNow();
        changed ??= now;
        if (now - changed < LastsMin) return;
        isSaid = !isSaid;
        say(isSaid ? Line() : "outputs go on: there is room for them again");
    }

    private string Line()
    {
        OutboxNews most = outboxes.InOrder().Select(static outbox => outbox.News).MaxBy(static news => news.KeptBytes);
        string kept = $"{outboxes.SpilledBytes >> 20} MiB on disk that peers have not taken, most of it for {most.Destination}";
        return outboxes.IsFull
            ? $"outputs wait: {kept}, and more may not be kept. The app goes on when peers take some; one that is gone for good is given up with 'ambrosia forget-peer {directory} NAME'"
            : $"outputs wait: the disk has no room beside the log for more than {kept}. The app goes on when there is space in {directory}, or when peers take some";
    }
}
