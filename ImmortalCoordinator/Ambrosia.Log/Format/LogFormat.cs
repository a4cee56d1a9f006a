namespace Ambrosia.Log;

/// <summary>Sizes of docs/log-format.md.</summary>
internal static class LogFormat
{
    /// <summary>Pages begin at and are padded to multiples of this (L4.1).</summary>
    public const int BlockBytes = 4_096;

    public const int SegmentHeaderBytes = 4_096;

    /// <summary>Longest page, header included (L4.2).</summary>
    public const int PageLengthMax = (64 << 20) + PageHeader.Bytes;

    public static int RoundUp(int length) => checked(length + (BlockBytes - 1)) & ~(BlockBytes - 1);

    public static long RoundUp(long length) => checked(length + (BlockBytes - 1)) & ~(BlockBytes - 1L);
}
