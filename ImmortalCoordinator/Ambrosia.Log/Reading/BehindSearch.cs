using System.Buffers.Binary;
using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// What stands behind a damaged or missing page, to the end of its file (log-format L8.1, L8.3). Only the chain's last segment is searched:
/// in the others every page lies below a seal.
/// </summary>
internal sealed class BehindSearch(PageInspector inspector, IFile file)
{
    private const int StretchBytes = 64 << 10;

    /// <summary>Highest durableUpTo of the valid pages behind; 0: none states anything.</summary>
    public Lsn Stated { get; private set; }

    /// <summary>Lsn of the page that states it.</summary>
    public Lsn StatedBy { get; private set; }

    /// <summary>End of the last block of 4,096 bytes that holds anything, or of the file in it, as a position; the start where there is none.</summary>
    public Lsn ContentEnd { get; private set; }

    /// <summary>Searches at every multiple of 4,096 behind <paramref name="from"/>; the block there counts as content only.</summary>
    public void Run(Lsn from, ref PageBuffer buffer)
    {
        ContentEnd = from;
        byte[] stretch = new byte[StretchBytes];
        Lsn skipTo = from + LogFormat.BlockBytes;
        for (Lsn at = from; ;)
        {
            int count = file.Read(stretch, inspector.Segment.Header.OffsetOf(at));
            for (int i = 0; i < count; i += LogFormat.BlockBytes)
            {
                ReadOnlySpan<byte> block = stretch.AsSpan(i, Math.Min(LogFormat.BlockBytes, count - i));
                if (!block.ContainsAnyExcept((byte)0)) continue;
                Lsn lsn = at + i;
                ContentEnd = lsn + block.Length;
                if (lsn >= skipTo && Look(lsn, block, ref buffer)) skipTo = buffer.Next;
            }
            if (count < StretchBytes) return;
            at += count;
        }
    }

    private bool Look(Lsn lsn, ReadOnlySpan<byte> block, ref PageBuffer buffer)
    {
        if (block.Length < PageHeader.Bytes || BinaryPrimitives.ReadUInt32LittleEndian(block) != PageHeader.Magic) return false;
        if (inspector.Read(file, lsn, new Lsn(ulong.MaxValue), null, ref buffer) is not null) return false;
        if (buffer.DurableUpTo > Stated)
        {
            Stated = buffer.DurableUpTo;
            StatedBy = lsn;
        }
        return true;
    }
}
