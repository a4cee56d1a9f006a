using System.Buffers;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// What waits for the app of one session, in the order in which it is sent: control frames, the checkpoint's image, queries whose place has
/// come, the log. Owns the control frames and the image. Threads: any writes control frames, which are under one lock; the one that sends
/// does the rest, and <see cref="End"/> comes behind both. Invariant: a frame is sent whole before another begins.
/// </summary>
internal sealed class AppFeed(AppParts parts)
{
    private readonly Lock gate = new();
    private readonly FrameQueue control = new(seed: 0, checkPayload: false);
    private readonly ArrayBufferWriter<byte> imageFrame = new();
    private CheckpointImage? image;
    private bool deliveryTaken;

    /// <summary>Taken from the delivery, behind something that the app must know before.</summary>
    private ReadOnlyMemory<byte>? held;

    public bool HasControl { get { lock (gate) return control.HasAny; } }

    /// <summary>The session is the instance's. Before the sender is told, and once.</summary>
    public void Begin(AppWelcome welcome, CheckpointImage? image)
    {
        lock (gate)
        {
            this.image = image;
            control.Write(welcome);
        }
    }

    public void Write<T>(T frame) where T : IFramePayload<T>
    {
        lock (gate) control.Write(frame);
    }

    public void WriteHeartbeat()
    {
        lock (gate) control.WriteEmpty(FrameType.Heartbeat);
    }

    /// <summary>Control frames, unless one of the log is half sent.</summary>
    public bool TryTakeControl(out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        lock (gate) return !parts.Delivery.IsInsideFrame && control.TryTake(out bytes);
    }

    /// <summary>What comes behind the control frames: the image, then queries and the log.</summary>
    public bool TryTake(out ReadOnlyMemory<byte> bytes) =>
        (image is not null && TakeImage(out bytes)) || TryTakeQueries(out bytes) || TryTakeDelivery(out bytes);

    /// <summary>What was taken last is sent.</summary>
    public void Taken()
    {
        if (deliveryTaken) { parts.Delivery.Taken(); Crash.Hit("deliver.after"); }
        deliveryTaken = false;
    }

    /// <summary>The connection is over; nobody sends any more.</summary>
    public void End()
    {
        if (deliveryTaken) parts.Delivery.Taken();
        image?.Dispose();
    }

    private bool TakeImage(out ReadOnlyMemory<byte> bytes)
    {
        imageFrame.ResetWrittenCount();
        if (image!.TryWriteNext(imageFrame))
        {
            bytes = imageFrame.WrittenMemory;
            return true;
        }
        image.Dispose();
        image = null;
        bytes = default;
        return false;
    }

    /// <summary>Behind all that the app was given so far, and in front of what comes next.</summary>
    private bool TryTakeQueries(out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        if (held is not null || parts.Delivery.IsInsideFrame || !parts.Queries.HasReady(parts.Delivery.Next)) return false;
        lock (gate)
        {
            parts.Queries.Give(parts.Delivery.Next, control);
            return control.TryTake(out bytes);
        }
    }

    private bool TryTakeDelivery(out ReadOnlyMemory<byte> bytes)
    {
        if (held is { } waited)
        {
            bytes = waited;
            held = null;
            return deliveryTaken = true;
        }
        if (!parts.Delivery.TryTake(out bytes)) return false;
        if (parts.Delivery.TakeOutlook() is not { } ahead) return deliveryTaken = true;
        held = bytes;
        lock (gate)
        {
            control.Write(ahead);
            return control.TryTake(out bytes);
        }
    }
}
