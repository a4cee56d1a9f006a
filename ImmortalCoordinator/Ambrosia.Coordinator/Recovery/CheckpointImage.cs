using System.Buffers;
using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.Coordinator;

/// <summary>
/// A checkpoint's image on its way to the app, chunk by chunk (protocol P5.7), with the hash that it had when it was verified. Owns the
/// open file. The thread that sends to the app.
/// </summary>
internal sealed class CheckpointImage(CheckpointReader reader, Lsn lsn, uint imageVersion) : IDisposable
{
    private enum Stage { Begin, Chunks, End, Done }

    private Stage stage;
    private ulong length;

    /// <summary>Writes the next frame; false: the image is complete.</summary>
    public bool TryWriteNext(ArrayBufferWriter<byte> to)
    {
        switch (stage)
        {
            case Stage.Begin:
                Frames.Write(to, new ImageBegin(lsn, imageVersion), 0, checkPayload: false);
                stage = Stage.Chunks;
                return true;
            case Stage.Chunks:
                if (TryChunk(to)) return true;
                Frames.Write(to, new ImageEnd(length, reader.ImageHash), 0, checkPayload: false);
                stage = Stage.Done;
                return true;
            default: return false;
        }
    }

    private bool TryChunk(ArrayBufferWriter<byte> to)
    {
        while (reader.Read(out CheckpointSection section, out ReadOnlySpan<byte> content))
        {
            if (section != CheckpointSection.Image || content.IsEmpty) continue;
            length += (ulong)content.Length;
            Frames.Write(to, FrameType.ImageChunk, content, 0, checkPayload: false);
            return true;
        }
        return false;
    }

    public void Dispose() => reader.Dispose();
}
