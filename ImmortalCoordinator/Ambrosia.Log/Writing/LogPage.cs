using Ambrosia.Protocol;

namespace Ambrosia.Log;

/// <summary>
/// One page in memory. <see cref="State"/> is the writers'; the rest belongs to the pool (under its lock) and, while
/// Committing, to the committer.
/// </summary>
internal sealed class LogPage
{
    private readonly AlignedBlock _block;
    private readonly PageArea? _area;
    private ulong _lsn;

    /// <summary>Shared with writers.</summary>
    public PageState State;

    /// <summary>A page of the pool.</summary>
    public LogPage(PageArea area)
    {
        _area = area;
        _block = area.Take();
        State.Close(PageHeader.Bytes);
    }

    /// <summary>A page by itself.</summary>
    public LogPage(int bytes)
    {
        _block = new AlignedBlock(bytes, zeroed: false); // what is written of it was filled or cleared before
        State.Close(PageHeader.Bytes);
    }

    /// <summary>False: for spanning records only.</summary>
    public bool IsPooled => _area is not null;

    public int Capacity => _block.Length;
    public PagePhase Phase { get; set; }

    /// <summary>Read by deliverers, so not opened again yet. One pinner at a time, because it may overwrite the header.</summary>
    public bool IsPinned { get; set; }

    /// <summary>Set before the page is opened; writers read it after they have reserved.</summary>
    public Lsn Lsn
    {
        get => new(Volatile.Read(ref _lsn));
        set => Volatile.Write(ref _lsn, value.Value);
    }

    public PageFlags Flags { get; set; }
    public uint Remaining { get; set; }

    /// <summary>
    /// Of the records, by the writer who filled the page and still had them in its cache; null: the committer adds them up.
    /// </summary>
    public uint? PayloadCrc { get; set; }

    /// <summary>As written; valid from Committing on.</summary>
    public PageHeader Header { get; set; }

    /// <summary>Sealed with so much in it that its memory is worth to be in large pages.</summary>
    public void WasFilled() => _area?.WasFilled();

    public Memory<byte> Memory => _block.Memory;

    public Span<byte> Bytes => _block.Span;
}
