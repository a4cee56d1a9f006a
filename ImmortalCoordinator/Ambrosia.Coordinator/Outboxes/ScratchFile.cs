using Ambrosia.Log.Files;
using Ambrosia.Protocol.Hashing;
using Ambrosia.Protocol.Locking;

namespace Ambrosia.Coordinator.Outboxes;

/// <summary>
/// The file in which outboxes put what does not fit their memory. It holds nothing that a crash could need: replay makes it again. The file
/// is cut into extents of one size; each outbox fills its own, so that they empty in the order in which they were filled whatever other
/// outboxes keep, and an empty one is used again. Disk is set aside before anything is written on it, and never the last of it: that is the
/// log's. Invariant: the file is at most as long as the most extents that were in use, or set aside, at one time. Any thread.
/// </summary>
/// <param name="bytesLeft">The bytes of the disk that it leaves free.</param>
/// <param name="unreadable">Ends the process, whichever thread finds that bytes cannot be had again: a replay makes them anew.</param>
internal sealed class ScratchFile(
    IFileSystem files, string path, long bytesMax, long bytesLeft = 0, Action<string>? unreadable = null) : IDisposable
{
    public const int ExtentBytes = 256 * 1024;

    /// <summary>The file is cut shorter in steps of this many extents.</summary>
    private const int CutExtents = 16;

    private readonly RankedLock _gate = new(LockRank.ScratchFile);

    /// <summary>The extents in use, by a number that is never used twice; an address is number × size + place in the extent.</summary>
    private readonly Dictionary<long, Extent> _extents = [];

    private readonly ScratchPlaces _places = new(files, path, bytesLeft);
    private long _nextNumber;

    /// <summary>The number of extents in use, for those who look without the lock.</summary>
    private long _inUse;
    private long _live;

    /// <summary>An extent that is in use: it has one place in the file, and is free when nobody wants its bytes.</summary>
    private sealed class Extent(int place, SpillTail owner)
    {
        public readonly int Place = place;
        public readonly SpillTail Owner = owner;
        public long Live;
    }

    /// <summary>The file has reached its limit on disk.</summary>
    public bool IsFull => Volatile.Read(ref _inUse) * ExtentBytes >= bytesMax;

    /// <summary>The number of bytes that somebody wants.</summary>
    public long LiveBytes => Volatile.Read(ref _live);

    /// <summary>The disk that the file takes.</summary>
    public long DiskBytes { get { using (_gate.Enter()) return _places.DiskBytes; } }

    /// <summary>Gives back the disk that a killed process has left taken; before the first <see cref="TryPut"/>.</summary>
    public void RemoveLeftover() => _places.RemoveLeftover();

    /// <summary>Says whether so many bytes of an outbox can be put now. Where they need more disk, this call sets it aside.</summary>
    public bool HasRoomFor(SpillTail tail, int bytes)
    {
        using (_gate.Enter()) return HasRoom(tail, bytes);
    }

    /// <summary>The caller holds the lock.</summary>
    private bool HasRoom(SpillTail tail, int bytes) =>
        Fits(tail, bytes) || _places.TryPrepare((bytes + ExtentBytes - 1) / ExtentBytes);

    /// <summary>
    /// Keeps the bytes behind those that the same outbox has put before, at this address; false: the disk has no room for them.
    /// </summary>
    public bool TryPut(SpillTail tail, ReadOnlySpan<byte> bytes, out long at)
    {
        using (_gate.Enter())
        {
            at = -1;
            if (!HasRoom(tail, bytes.Length)) return false;
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

    /// <summary>New extents for the outbox, as many as the bytes need; where it was before stays until it is empty.</summary>
    private void Open(SpillTail tail, int bytes)
    {
        long before = tail.Number;
        tail.Number = _nextNumber;
        tail.Fill = 0;
        for (int left = bytes; left > 0; left -= ExtentBytes)
        {
            _extents.Add(_nextNumber++, new Extent(_places.Take(), tail));
        }
        if (before >= 0 && _extents.TryGetValue(before, out Extent? old) && old.Live == 0) Free(before, old);
        Volatile.Write(ref _inUse, _extents.Count);
    }

    /// <summary>False: the file system does not keep its word about what is set aside; the places count as without disk again.</summary>
    private bool TryWrite(ReadOnlySpan<byte> bytes, long at)
    {
        try
        {
            for (int done = 0; done < bytes.Length;)
            {
                ReadOnlySpan<byte> part = bytes[done..Math.Min(bytes.Length, done + PartBytes(at + done))];
                _places.Write(part, FileOffset(at + done));
                done += part.Length;
            }
            return true;
        }
        catch (IOException e) when (IFileSystem.IsDiskFull(e))
        {
            for (long number = at / ExtentBytes; number <= (at + bytes.Length - 1) / ExtentBytes; number++)
                if (_extents[number] is { Live: 0 } empty) Free(number, empty);
            Volatile.Write(ref _inUse, _extents.Count);
            _places.Shorten(keep: 0);
            return false;
        }
    }

    private static int PartBytes(long at) => ExtentBytes - (int)(at % ExtentBytes);

    private long FileOffset(long at) => (long)_extents[at / ExtentBytes].Place * ExtentBytes + at % ExtentBytes;

    /// <summary>Reads what was put at this address.</summary>
    /// <param name="crc">The CRC-32C of what was put there.</param>
    /// <exception cref="IOException">It cannot be read, or other bytes are there, which the app has not made.</exception>
    public void Get(long at, Span<byte> bytes, uint crc)
    {
        try
        {
            Read(at, bytes);
            if (Crc32C.Of(bytes) != crc) throw new IOException($"{path} does not hold what was written to it");
        }
        catch (IOException e)
        {
            unreadable?.Invoke(e.Message);
            throw;
        }
    }

    private void Read(long at, Span<byte> bytes)
    {
        while (bytes.Length > 0)
        {
            Span<byte> part = bytes[..Math.Min(bytes.Length, PartBytes(at))];
            long offset;
            using (_gate.Enter()) offset = FileOffset(at);
            if (_places.Read(part, offset) != part.Length) throw new IOException($"{path} is shorter than what was written to it");
            at += part.Length;
            bytes = bytes[part.Length..];
        }
    }

    /// <summary>One more wants the bytes.</summary>
    public void Hold(long at, int bytes)
    {
        using (_gate.Enter()) Count(at, bytes, +1);
    }

    /// <summary>One less wants the bytes.</summary>
    public void Drop(long at, int bytes)
    {
        using (_gate.Enter())
        {
            Count(at, bytes, -1);
            Volatile.Write(ref _inUse, _extents.Count);
            _places.Shorten(CutExtents);
        }
    }

    private void Count(long at, int bytes, int sign)
    {
        Volatile.Write(ref _live, _live + sign * bytes);
        for (long end = at + bytes; at < end;)
        {
            long number = at / ExtentBytes;
            int part = (int)Math.Min(end - at, PartBytes(at));
            if (!_extents.TryGetValue(number, out Extent? extent) || (extent.Live += sign * part) < 0)
                throw new InvalidOperationException("spilled bytes were given up more often than they were wanted");
            if (extent.Live == 0) Free(number, extent);
            at += part;
        }
    }

    private void Free(long number, Extent extent)
    {
        _extents.Remove(number);
        _places.Give(extent.Place);
        if (extent.Owner.Number == number) extent.Owner.Number = -1;
    }

    public void Dispose() => _places.Dispose();
}

/// <summary>
/// The file itself, as places of one extent each. It owns the file and the disk that is set aside for it, and takes the lowest place that
/// is free. Invariant: places in use ≤ places that were used ≤ places that have disk. The lock of <see cref="ScratchFile"/> guards it, but
/// for reading what somebody holds.
/// </summary>
internal sealed class ScratchPlaces(IFileSystem files, string path, long bytesLeft) : IDisposable
{
    /// <summary>The places that are not in use, below <see cref="_used"/>.</summary>
    private readonly SortedSet<int> _free = [];
    private IFile? _file;

    /// <summary>The number of places that were used, and of those that have disk.</summary>
    private int _used, _prepared;

    public long DiskBytes => (long)_prepared * ScratchFile.ExtentBytes;

    public void RemoveLeftover() => files.Delete(path);

    /// <summary>Says whether disk for so many more extents is there, or could be set aside now.</summary>
    public bool TryPrepare(int wanted)
    {
        int missing = wanted - _free.Count - (_prepared - _used);
        if (missing <= 0) return true;
        if (files.FreeBytes(Path.GetDirectoryName(path)!) < bytesLeft + (long)missing * ScratchFile.ExtentBytes) return false;
        try
        {
            if (_file is null) { files.Delete(path); _file = files.Create(path); }
            _file.Allocate((long)_prepared * ScratchFile.ExtentBytes, (long)(_prepared + missing) * ScratchFile.ExtentBytes);
        }
        catch (IOException e) when (IFileSystem.IsDiskFull(e))
        {
            return false;
        }
        _prepared += missing;
        return true;
    }

    /// <summary>Takes a place; <see cref="TryPrepare"/> has found that there is one.</summary>
    public int Take()
    {
        int place = _free.Count > 0 ? _free.Min : _used++;
        _free.Remove(place);
        return place;
    }

    /// <summary>Gives a place back.</summary>
    public void Give(int place) => _free.Add(place);

    /// <summary>Gives the end of the file back where nothing is in use.</summary>
    /// <param name="keep">Fewer places than this keep their disk, unless none is in use.</param>
    public void Shorten(int keep)
    {
        while (_used > 0 && _free.Remove(_used - 1)) _used--;
        if (_prepared - _used < (_used == 0 ? 1 : keep)) return;
        _prepared = _used;
        _file!.SetLength((long)_used * ScratchFile.ExtentBytes);
    }

    public void Write(ReadOnlySpan<byte> bytes, long offset) => _file!.Write(bytes, offset);

    public int Read(Span<byte> bytes, long offset) => _file!.Read(bytes, offset);

    public void Dispose()
    {
        _file?.Dispose();
        if (_file is not null) files.Delete(path);
    }
}

/// <summary>Says where one outbox goes on to write in the scratch file. The file's lock guards it.</summary>
internal sealed class SpillTail
{
    /// <summary>Number of the extent; -1: none is open.</summary>
    public long Number { get; set; } = -1;

    /// <summary>The number of its bytes that are taken.</summary>
    public int Fill { get; set; }
}
