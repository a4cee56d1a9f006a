using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Segments;
using Ambrosia.Protocol;

namespace Ambrosia.Log.Recovery;

/// <summary>
/// Owns a file that a secondary sets aside for the day when it becomes primary, so that its take-over finds zeroed space. The file has a
/// temporary name of the epoch that it was made in; a primary that takes over a later epoch removes it. One thread at a time.
/// </summary>
public sealed class PromotionSpare : IDisposable
{
    private const string Name = "promotion";

    private readonly LogOptions _options;
    private SegmentFile? _file;

    private PromotionSpare(SegmentFile file, LogOptions options, Epoch epoch)
    {
        _file = file;
        _options = options;
        Epoch = epoch;
    }

    /// <summary>The epoch in the file's name: when a later one is in force the file is gone, or about to go.</summary>
    public Epoch Epoch { get; }

    internal string? Path => _file?.Path;

    /// <summary>Makes the file, as long as a segment's, and sets the beginning of its space aside.</summary>
    /// <param name="following">The epoch of the primary that is followed.</param>
    /// <exception cref="IOException">Also when the disk is full; nothing is left behind then.</exception>
    public static PromotionSpare Create(IFileSystem fs, string dir, string replica, Epoch following, LogOptions options)
    {
        string path = System.IO.Path.Combine(dir, new TemporaryFileName(Name, replica, following).ToString());
        return new PromotionSpare(SegmentFile.Create(fs, path, options.Check()), options, following);
    }

    /// <summary>Makes one step of zeroing: a write and a flush of at most 4 MiB. Returns true when there is more to do.</summary>
    public bool Prepare() => _file?.ZeroAhead(_options.ZeroWindowBytes, 0) ?? false;

    /// <summary>Hands the file over under another temporary name; returns null when it is gone, or too small.</summary>
    internal SegmentFile? TakeFor(string temporary, long bytes)
    {
        if (_file is not { } file) return null;
        try
        {
            if (!file.HasRoomFor(bytes, isMark: false)) return null;
            file.Rename(temporary);
            _file = null;
            return file;
        }
        catch (FileNotFoundException)
        {
            return null;
        }
    }

    /// <summary>Closes the file, if it was not taken. Its name stays until the next take-over.</summary>
    public void Dispose()
    {
        _file?.Dispose();
        _file = null;
    }
}
