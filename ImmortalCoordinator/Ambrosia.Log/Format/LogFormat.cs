using Ambrosia.Log.Files;

namespace Ambrosia.Log.Format;

/// <summary>Knows the sizes that docs/log-format.md fixes.</summary>
internal static class LogFormat
{
    /// <summary>Pages begin at multiples of this, and are padded to them (L4.1).</summary>
    public const int BlockBytes = AlignedBlock.Alignment;

    public const int SegmentHeaderBytes = 4_096;

    /// <summary>The length of the longest page in bytes, header included (L4.2).</summary>
    public const int PageLengthMax = (64 << 20) + PageHeader.Bytes;
}
