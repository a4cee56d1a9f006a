namespace Ambrosia.AppChannel;

/// <summary>
/// Where the parts of one ring lie (protocol P5.19): four words, each in cache lines of its own, then the bytes. Positions count all bytes
/// ever written and read; a byte at position p lies at p modulo the capacity. What the other side may write is checked wherever it is read.
/// </summary>
internal static class Ring
{
    internal const int WrittenAt = 0, ReadAt = 128, ReaderWaitsAt = 256, WriterWaitsAt = 384, BytesAt = 4096;

    /// <summary>Bytes between the two positions; null: no honest writer and reader are there.</summary>
    internal static int? Used(ulong written, ulong read, int capacity) => written - read <= (ulong)capacity ? (int)(written - read) : null;
}
