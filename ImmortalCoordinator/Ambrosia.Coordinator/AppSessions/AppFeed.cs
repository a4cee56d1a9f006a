using System.Buffers;
using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.Clients;
using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.LogFeed;
using Ambrosia.Coordinator.Replay;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Coordinator.Views;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.AppSessions;

/// <summary>
/// Orders what waits for the app of one session: control frames, the checkpoint's image, queries whose place has come, the log. It owns the
/// control frames and the image. Threads: any writes control frames, which are under one lock; the one that sends does the rest, and
/// <see cref="End"/> comes behind both. Invariant: a frame is sent whole before another begins.
/// </summary>
internal sealed class AppFeed(AppExecution execution, ReplicaLog log, PendingQueries queries)
{
    private readonly Delivery _delivery = execution.Delivery;
    private readonly RankedLock _gate = new(LockRank.AppFeed);
    private readonly FrameQueue _control = new(seed: 0, checkPayload: false);
    private readonly ArrayBufferWriter<byte> _imageFrame = new();
    private CheckpointImage? _image;
    private bool _deliveryTaken;

    /// <summary>These bytes were taken from the delivery and wait behind something that the app must know before.</summary>
    private ReadOnlyMemory<byte>? _held;

    /// <summary>The upgrade with which this app's records end; null: it was not met.</summary>
    public UpgradeRecord? Ends => _delivery.Versions.Ends;

    public bool HasControl { get { using (_gate.Enter()) return _control.HasAny; } }

    /// <summary>The page of the log that comes next.</summary>
    public Lsn Next => _delivery.Next;

    /// <summary>There are durable records, or queries whose place has come, for the app.</summary>
    public bool HasRecords => (_delivery.Next < log.Durable && _delivery.MayGive) || queries.HasReady(_delivery.Next);

    /// <summary>The app has not been given so many durable bytes of the log.</summary>
    public ulong BytesLeft => log.Durable.Value - _delivery.Next.Value;

    /// <summary>The app becomes primary: marks on their way to it are of its own epoch from here on.</summary>
    public void BecomePrimary(Lsn behind)
    {
        _delivery.Marks.BecomePrimary();
        Write(new BecomePrimary(behind));
    }

    /// <summary>The session is the instance's. Before the sender is told, and once.</summary>
    public void Begin(AppWelcome welcome, CheckpointImage? image)
    {
        using (_gate.Enter())
        {
            _image = image;
            _control.Write(welcome);
        }
    }

    public void Write<T>(T frame) where T : IFramePayload<T>
    {
        using (_gate.Enter()) _control.Write(frame);
    }

    /// <summary>Asks the app of a view, which stands still.</summary>
    public void Ask(in QueryFrame query)
    {
        var payload = new ArrayBufferWriter<byte>(QueryFrame.HeadBytes + query.Arguments.Length);
        query.Write(payload);
        using (_gate.Enter()) _control.Write(FrameType.Query, payload.WrittenSpan);
    }

    public void WriteEmpty(FrameType type)
    {
        using (_gate.Enter()) _control.WriteEmpty(type);
    }

    /// <summary>Control frames, unless one of the log is half sent.</summary>
    public bool TryTakeControl(out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        using (_gate.Enter()) return !_delivery.IsInsideFrame && _control.TryTake(out bytes);
    }

    /// <summary>What comes behind the control frames: the image, then queries and the log.</summary>
    public bool TryTake(out ReadOnlyMemory<byte> bytes) =>
        (_image is not null && TakeImage(out bytes)) || TryTakeQueries(out bytes) || TryTakeDelivery(out bytes);

    /// <summary>The bytes that were taken last are sent, and their memory is used again.</summary>
    public void Taken()
    {
        if (_deliveryTaken) { _delivery.Taken(); Crash.Hit("deliver.after"); }
        _deliveryTaken = false;
    }

    /// <summary>The connection is over; nobody sends any more.</summary>
    public void End()
    {
        if (_deliveryTaken) _delivery.Taken();
        _image?.Dispose();
    }

    private bool TakeImage(out ReadOnlyMemory<byte> bytes)
    {
        _imageFrame.ResetWrittenCount();
        if (_image!.TryWriteNext(_imageFrame))
        {
            bytes = _imageFrame.WrittenMemory;
            return true;
        }
        _image.Dispose();
        _image = null;
        bytes = default;
        return false;
    }

    /// <summary>Queries go behind all that the app was given so far, and in front of what comes next.</summary>
    private bool TryTakeQueries(out ReadOnlyMemory<byte> bytes)
    {
        bytes = default;
        if (_held is not null || _delivery.IsInsideFrame || !queries.HasReady(_delivery.Next)) return false;
        using (_gate.Enter())
        {
            queries.Give(_delivery.Next, _control);
            return _control.TryTake(out bytes);
        }
    }

    private bool TryTakeDelivery(out ReadOnlyMemory<byte> bytes)
    {
        if (_held is { } waited)
        {
            bytes = waited;
            _held = null;
            return _deliveryTaken = true;
        }
        if (!_delivery.TryTake(out bytes))
        {
            if (_delivery.Next >= log.Durable && execution.View is { } view && execution.Progress.Dry is { } executed) view.AtEnd(executed);
            return false;
        }
        PolicyAhead? ahead = _delivery.TakeOutlook();
        ConvertFrame? convert = _delivery.Versions.Take();
        if (ahead is null && convert is null && execution.View is null) return _deliveryTaken = true;
        using (_gate.Enter())
        {
            if (ahead is { } policy) _control.Write(policy);
            if (convert is { } another) _control.Write(another);
            // A view gives these records because the app was told where to stop, which must come first.
            if (!_control.TryTake(out ReadOnlyMemory<byte> first)) return _deliveryTaken = true;
            (_held, bytes) = (bytes, first);
            return true;
        }
    }
}
