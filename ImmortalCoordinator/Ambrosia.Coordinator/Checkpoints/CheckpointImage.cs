using System.Buffers;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;

namespace Ambrosia.Coordinator.Checkpoints;

/// <summary>
/// A checkpoint's image on its way to the app, chunk by chunk (protocol P5.7), with the hash that it had when it was verified. Owns the
/// open file. The thread that sends to the app.
/// </summary>
internal sealed class CheckpointImage(CheckpointReader reader, Lsn lsn, uint imageVersion) : IDisposable
{
    private enum Stage { Begin, Chunks, End, Done }

    private Stage _stage;
    private ulong _length;

    /// <summary>Writes the next frame; false: the image is complete.</summary>
    public bool TryWriteNext(ArrayBufferWriter<byte> to)
    {
        switch (_stage)
        {
            case Stage.Begin:
                FrameWriter.Write(to, new ImageBegin(lsn, imageVersion), 0, checkPayload: false);
                _stage = Stage.Chunks;
                return true;
            case Stage.Chunks:
                if (TryChunk(to)) return true;
                FrameWriter.Write(to, new ImageEnd(_length, reader.ImageHash), 0, checkPayload: false);
                _stage = Stage.Done;
                return true;
            default: return false;
        }
    }

    private bool TryChunk(ArrayBufferWriter<byte> to)
    {
        while (reader.Read(out CheckpointSection section, out ReadOnlySpan<byte> content))
        {
            if (section != CheckpointSection.Image || content.IsEmpty) continue;
            _length += (ulong)content.Length;
            FrameWriter.Write(to, FrameType.ImageChunk, content, 0, checkPayload: false);
            return true;
        }
        return false;
    }

    public void Dispose() => reader.Dispose();
}
