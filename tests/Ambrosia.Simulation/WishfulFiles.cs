using System.Buffers.Binary;
using Ambrosia.Log.Files;
using Ambrosia.Protocol;

namespace Ambrosia.Simulation;

/// <summary>
/// Negative control: whatever a replica has written of its moves, it seems to move and to have executed everything; or each primary seems
/// to beat.
/// </summary>
/// <param name="durable">The log is durable so far, as the process that reads knows it: no replica has executed more.</param>
internal sealed class WishfulFiles(IFileSystem files, bool ofPrimaries, Func<Lsn> durable) : WrappedFiles(files)
{
    private readonly Func<Lsn> _durable = durable;
    private ulong _moves;

    private readonly string _begins = ofPrimaries ? "primary." : "replica.";

    protected override IFile Wrap(string path, IFile file) =>
        Path.GetFileName(path).StartsWith(_begins, StringComparison.Ordinal) ? new WishfulFile(this, file) : file;

    private sealed class WishfulFile(WishfulFiles of, IFile file) : WrappedFile(file)
    {
        private const int MovesOffset = 264, MoveBytes = 16;

        public override int Read(Span<byte> buffer, long offset)
        {
            bool isBeat = offset == 0 && buffer.Length == sizeof(ulong), isMove = offset == MovesOffset && buffer.Length == MoveBytes;
            if (!isBeat && !isMove) return base.Read(buffer, offset);
            BinaryPrimitives.WriteUInt64LittleEndian(buffer, ++of._moves);
            if (isMove) BinaryPrimitives.WriteUInt64LittleEndian(buffer[sizeof(ulong)..], of._durable().Value);
            return buffer.Length;
        }
    }
}
