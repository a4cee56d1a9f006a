using System.Text.RegularExpressions;
using Ambrosia.Log.Format;
using Ambrosia.Log.Segments;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A page of a segment as its header describes it. Offsets are those of the file.</summary>
internal sealed record PageAt(long Offset, PageHeader Header)
{
    public long End => Offset + Header.Footprint;
}

/// <summary>
/// What a test must know of a segment file: where its pages are. Reads headers alone, and takes the instance's seed
/// from the segment's header.
/// </summary>
internal static partial class LogFile
{
    /// <summary>The segment that a coordinator would go on from: of the highest epoch, then number.</summary>
    public static string Newest(string directory) => Directory.EnumerateFiles(directory, "log.*")
        .Select(static path => (Path: path, Name: SegmentName().Match(Path.GetFileName(path))))
        .Where(static file => file.Name.Success)
        .OrderBy(static file => long.Parse(file.Name.Groups["epoch"].Value))
        .ThenBy(static file => long.Parse(file.Name.Groups["number"].Value))
        .Last().Path;

    [GeneratedRegex(@"^log\.(?<number>\d+)\.(?<epoch>\d+)$")]
    private static partial Regex SegmentName();

    public static List<PageAt> Pages(string segment)
    {
        using FileStream file = new(segment, FileMode.Open, FileAccess.Read, FileShare.ReadWrite | FileShare.Delete);
        Span<byte> head = stackalloc byte[32];
        file.ReadExactly(head);
        uint seed = PageHeader.SeedOf(new Guid(head[16..], bigEndian: true), BitConverter.ToUInt16(head[10..]));
        List<PageAt> pages = [];
        Span<byte> bytes = stackalloc byte[PageHeader.Bytes];
        for (long at = LogSegment.HeaderBytes; ; at = pages[^1].End)
        {
            file.Position = at;
            if (file.ReadAtLeast(bytes, bytes.Length, throwOnEndOfStream: false) < bytes.Length
                || !PageHeader.TryRead(bytes, seed, out PageHeader header)) return pages;
            pages.Add(new PageAt(at, header));
        }
    }

    /// <summary>The first bytes of a segment; the file is far longer, and zeros follow.</summary>
    public static byte[] Begin(string segment, long length)
    {
        using FileStream file = File.OpenRead(segment);
        byte[] bytes = new byte[length];
        file.ReadExactly(bytes);
        return bytes;
    }

    /// <summary>Bytes of header and pages; 0 before there is a header.</summary>
    public static long LastPageEnd(string segment)
    {
        try
        {
            return Pages(segment) is [.., var last] ? last.End : 0;
        }
        catch (IOException)
        {
            return 0; // renamed, removed or just begun
        }
    }
}
