using System.Buffers;
using Ambrosia.Coordinator.Builds;
using Ambrosia.Coordinator.Checkpoints;
using Ambrosia.Coordinator.Framing;
using Ambrosia.Coordinator.Upgrades;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Locking;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Coordinator.AppSessions;

/// <summary>
/// Is a session of the new app beside the old one, which executes the log: the app is given the old state, is asked for what it makes of
/// it, and is sent to begin again. It gets no records, and nothing that it sends gets out. The thread that sends takes, the one that reads
/// the app gives; one lock.
/// </summary>
internal sealed class ConversionSession(
    HandedState state, AppWelcome welcome, StateHandover handover, ReplicaCheckpoints checkpoints, ContractFiles contracts)
{
    private readonly RankedLock _gate = new(LockRank.ConversionSession);
    private readonly FrameQueue _control = new(seed: 0, checkPayload: false);
    private readonly ArrayBufferWriter<byte> _imageFrame = new();
    private bool _isWelcome, _isAsked;

    /// <summary>The app is in the middle of its image. The thread that reads it.</summary>
    private bool _isInImage;

    public bool HasOutput { get { using (_gate.Enter()) return !_isAsked || _control.HasAny; } }

    public bool TryTake(out ReadOnlyMemory<byte> bytes)
    {
        try
        {
            using (_gate.Enter()) return TryTakeNext(out bytes);
        }
        catch (IOException e)
        {
            handover.Lost(state, e);
            using (_gate.Enter())
            {
                _isAsked = true;
                _control.Write(new Goodbye(GoodbyeCode.Again, "the rest of the state is lost"));
                return _control.TryTake(out bytes);
            }
        }
    }

    private bool TryTakeNext(out ReadOnlyMemory<byte> bytes)
    {
        if (!_isWelcome)
        {
            _isWelcome = true;
            _control.Write(welcome);
        }
        if (_control.TryTake(out bytes)) return true;
        if (_isAsked) return false;
        _imageFrame.ResetWrittenCount();
        if (state.Spool.TryWriteNext(_imageFrame))
        {
            bytes = _imageFrame.WrittenMemory;
            return true;
        }
        _isAsked = true;
        _control.Write(state.Asked);
        return _control.TryTake(out bytes);
    }

    public void Send<T>(T frame) where T : IFramePayload<T>
    {
        using (_gate.Enter()) _control.Write(frame);
    }

    /// <summary>Takes what the app says. The thread that reads it.</summary>
    /// <param name="wake">There is something to send.</param>
    public ReadAnswer Take(FrameType type, ReadOnlySpan<byte> payload, Action wake)
    {
        switch (type)
        {
            case FrameType.ImageBegin when state.Asked.Use == ConversionUse.Image:
                _isInImage = checkpoints.Pipeline.Begin(ImageBegin.Read(payload), isWanted: true, static _ => { });
                return Answer(_isInImage);
            case FrameType.ImageChunk when state.Asked.Use == ConversionUse.Image:
                return Answer(checkpoints.Pipeline.Chunk(payload));
            case FrameType.ImageEnd when state.Asked.Use == ConversionUse.Image:
                checkpoints.Pipeline.End(ImageEnd.Read(payload));
                _isInImage = false;
                handover.ImageSent(state);
                BeginAgain(wake);
                break;
            case FrameType.Converted:
                ConvertedFrame converted = ConvertedFrame.Read(payload);
                if (converted.Use != state.Asked.Use) throw new ProtocolViolation("P5.25", $"an answer for use {converted.Use}");
                handover.Answer(state, converted);
                BeginAgain(wake);
                break;
            case FrameType.Contract: contracts.Keep(ContractFrame.Read(payload)); break;
            case FrameType.Processed: _ = ProcessedFrame.Read(payload); break; // it says where the image stands
            case FrameType.Heartbeat: FrameReader.ReadEmpty(type, payload); break;
            default: throw new ProtocolViolation("P5.25", $"{type} from an app that only converts");
        }
        return ReadAnswer.More;
    }

    private static ReadAnswer Answer(bool isTaken) => isTaken ? ReadAnswer.More : ReadAnswer.CheckpointFull;

    private void BeginAgain(Action wake)
    {
        Send(new Goodbye(GoodbyeCode.Again, "the state is converted"));
        wake();
    }

    /// <summary>The connection is over.</summary>
    public void End()
    {
        if (_isInImage) checkpoints.Pipeline.SessionEnded();
        handover.NewAppEnded(state);
    }
}
