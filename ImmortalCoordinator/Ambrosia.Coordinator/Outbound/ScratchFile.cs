using Ambrosia.Log;

namespace Ambrosia.Coordinator;

/// <summary>
/// Where outboxes put what does not fit their memory. Holds nothing that a crash could need: replay makes it again. The file is cut into
/// extents of one size; each outbox fills its own, so that they empty in the order in which they were filled whatever other outboxes
/// keep, and an empty one is used again. Disk is set aside before anything is written on it, and never the last of it: that is the log's.
/// Invariant: the file is at most as long as the most extents that were in use, or set aside, at one time. Any thread.
/// </summary>
/// <param name="bytesLeft">Bytes of the disk that it leaves free.</param>
internal sealed class ScratchFile(IFileSystem files, string path, long bytesMax, long bytesLeft = 0) : IDisposable
{
    public const int ExtentBytes = 256 * 1024;

    /// <summary>The file is cut shorter in steps of this many extents.</summary>
    private const int CutExtents = 16;

    private readonly Lock gate = new();

    /// <summary>Extents in use, by a number that is never used twice; an address is number × size + place in the extent.</summary>
    private readonly Dictionary<long, Extent> extents = [];

    /// <summary>Places in the file that are not in use, below <see cref="places"/>.</summary>
    private readonly SortedSet<int> free = [];
    private IFile? file;
    private long nextNumber;

    /// <summary>Places that were used, and places that have disk; the first ≤ the second.</summary>
    private int places, lengthPlaces;
    private long live;

    /// <summary>One place in the file.</summary>
    private sealed class Extent(int place, SpillTail owner)
    {
        public readonly int Place = place;
        public readonly SpillTail Owner = owner;
        public long Live;
    }

    /// <summary>The file has reached its limit on disk.</summary>
    public bool IsFull => Volatile.Read(ref inUse) * ExtentBytes >= bytesMax;

    private long inUse;

    /// <summary>Bytes that somebody wants.</summary>
    public long LiveBytes => Volatile.Read(ref live);

    /// <summary>Disk that the file takes.</summary>
    public long DiskBytes { get { lock (gate) return (long)lengthPlaces * ExtentBytes; } }

    /// <summary>Gives back the disk that a killed process has left taken; before the first <see cref="TryPut"/>.</summary>
    public void RemoveLeftover() => files.Delete(path);

    /// <summary>Whether so many bytes of an outbox can be put now; where they need more disk, it is set aside.</summary>
    public bool HasRoomFor(SpillTail tail, int bytes)
    {
        lock (gate) return Fits(tail, bytes) || TryPrepare((bytes + ExtentBytes - 1) / ExtentBytes);
    }

    /// <summary>
    /// Keeps the bytes behind those that the same outbox has put before, at this address; false: the disk has no room for them.
    /// </summary>
    public bool TryPut(SpillTail tail, ReadOnlySpan<byte> bytes, out long at)
    {
        lock (gate)
        {
            at = -1;
            if (!HasRoomFor(tail, bytes.Length)) return false;
            if (!Fits(tail, bytes.Length)) Open(tail, bytes.Length);
            long begin = tail.Number * ExtentBytes + tail.Fill;
            if (!TryWrite(bytes, begin)) return false;
            at = begin;
            tail.Fill = (int)((at + bytes.Length - 1) % ExtentBytes) + 1;
            tail.Number = (at + bytes.Length - 1) / ExtentBytes;
            Count(at, bytes.Length, +1);
            return true;
        }
    }

    private static bool Fits(SpillTail tail, int bytes) => tail.Number >= 0 && bytes <= ExtentBytes - tail.Fill;

    /// <summary>Disk for so many more extents is there, or is set aside now.</summary>
    private bool TryPrepare(int wanted)
    {
        int missing = wanted - free.Count - (lengthPlaces - places);
        if (missing <= 0) return true;
        if (files.FreeBytes(Path.GetDirectoryName(path)!) < bytesLeft + (long)missing * ExtentBytes) return false;
        try
        {
            if (file is null) { files.Delete(path); file = files.Create(path); }
            file.Allocate((long)(lengthPlaces + missing) * ExtentBytes);
        }
        catch (IOException e) when (NoSpace.Is(e))
        {
            return false;
        }
        lengthPlaces += missing;
        return true;
    }

    /// <summary>New extents for the outbox, as many as the bytes need; where it was before stays until it is empty.</summary>
    private void Open(SpillTail tail, int bytes)
    {
        long before = tail.Number;
        tail.Number = nextNumber;
        tail.Fill = 0;
        for (int left = bytes; left > 0; left -= ExtentBytes)
        {
            int place = free.Count > 0 ? free.Min : places++;
            free.Remove(place);
            extents.Add(nextNumber++, new Extent(place, tail));
        }
        if (before >= 0 && extents.TryGetValue(before, out Extent? old) && old.Live == 0) Free(before, old);
        Volatile.Write(ref inUse, extents.Count);
    }

    /// <summary>False: the file system does not keep its word about what is set aside; the places count as without disk again.</summary>
    private bool TryWrite(ReadOnlySpan<byte> bytes, long at)
    {
        try
        {
            for (int done = 0; done < bytes.Length;)
            {
                ReadOnlySpan<byte> part = bytes[done..Math.Min(bytes.Length, done + PartBytes(at + done))];
                file!.Write(part, FileOffset(at + done));
                done += part.Length;
            }
            return true;
        }
        catch (IOException e) when (NoSpace.Is(e))
        {
            for (long number = at / ExtentBytes; number <= (at + bytes.Length - 1) / ExtentBytes; number++)
                if (extents[number] is { Live: 0 } empty) Free(number, empty);
            Volatile.Write(ref inUse, extents.Count);
            Shorten(keep: 0);
            return false;
        }
    }

    private static int PartBytes(long at) => ExtentBytes - (int)(at % ExtentBytes);

    private long FileOffset(long at) => (long)extents[at / ExtentBytes].Place * ExtentBytes + at % ExtentBytes;

    public void Get(long at, Span<byte> bytes)
    {
        while (bytes.Length > 0)
        {
            Span<byte> part = bytes[..Math.Min(bytes.Length, PartBytes(at))];
            long offset;
            lock (gate) offset = FileOffset(at);
            if (file!.Read(part, offset) != part.Length) throw new IOException($"{path} is shorter than what was written to it");
            at += part.Length;
            bytes = bytes[part.Length..];
        }
    }

    /// <summary>One more wants the bytes.</summary>
    public void Hold(long at, int bytes)
    {
        lock (gate) Count(at, bytes, +1);
    }

    /// <summary>One less wants the bytes.</summary>
    public void Drop(long at, int bytes)
    {
        lock (gate)
        {
            Count(at, bytes, -1);
            Volatile.Write(ref inUse, extents.Count);
            Shorten();
        }
    }

    private void Count(long at, int bytes, int sign)
    {
        Volatile.Write(ref live, live + sign * bytes);
        for (long end = at + bytes; at < end;)
        {
            long number = at / ExtentBytes;
            int part = (int)Math.Min(end - at, PartBytes(at));
            if (!extents.TryGetValue(number, out Extent? extent) || (extent.Live += sign * part) < 0)
                throw new InvalidOperationException("spilled bytes were given up more often than they were wanted");
            if (extent.Live == 0) Free(number, extent);
            at += part;
        }
    }

    private void Free(long number, Extent extent)
    {
        extents.Remove(number);
        free.Add(extent.Place);
        if (extent.Owner.Number == number) extent.Owner.Number = -1;
    }

    /// <summary>Gives the end of the file back where nothing is in use.</summary>
    private void Shorten(int keep = CutExtents)
    {
        while (places > 0 && free.Remove(places - 1)) places--;
        if (lengthPlaces - places < (places == 0 ? 1 : keep)) return;
        lengthPlaces = places;
        file!.SetLength((long)places * ExtentBytes);
    }

    public void Dispose()
    {
        file?.Dispose();
        if (file is not null) files.Delete(path);
    }
}

/// <summary>Where one outbox goes on to write in the scratch file. Guarded by the file.</summary>
internal sealed class SpillTail
{
    /// <summary>Number of the extent; -1: none is open.</summary>
    public long Number { get; set; } = -1;

    /// <summary>Bytes of it that are taken.</summary>
    public int Fill { get; set; }
}
