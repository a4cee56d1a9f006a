using System.Security.Cryptography;
using Ambrosia.Log;
using Ambrosia.Protocol;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A page as every reader must have it: what a take-over changes (epoch, hashes, CRC) is not in it.</summary>
internal sealed record PageOfHistory(ulong Lsn, string Records);

/// <summary>
/// Reads a log that others write as a follower does: only what is stated as durable, across all segments and epochs, from the beginning.
/// One test's thread.
/// </summary>
internal sealed class HistoryReader : IDisposable
{
    private readonly LogFollower follower;
    private readonly LogReader reader;
    private readonly List<PageOfHistory> pages = [];
    private PageBuffer buffer = new();
    private Lsn next = Lsn.Zero;

    public HistoryReader(string directory)
    {
        var files = new PosixFileSystem();
        InstanceIdentity identity = InstanceDirectory.TryRead(files, directory)
            ?? throw new InvalidOperationException($"{directory} is no log");
        follower = new LogFollower(files, directory, identity);
        reader = new LogReader(files, directory, identity, follower.Chain);
    }

    public IReadOnlyList<PageOfHistory> Pages => pages;

    /// <summary>Reads on to what is stated as durable now.</summary>
    public HistoryReader Advance()
    {
        while (follower.Step()) { }
        while (next < follower.Stated && reader.Read(next, ref buffer) is var status && status != ReadStatus.AtTail)
        {
            if (status == ReadStatus.Gone) throw new InvalidOperationException($"the page at {next} is gone, although all history is kept");
            pages.Add(new PageOfHistory(next.Value, $"{buffer.TimeMicros} {Convert.ToHexString(SHA256.HashData(buffer.Records))}"));
            next = buffer.Next;
        }
        return this;
    }

    /// <summary>Where the first two pages of one position differ; null: the shorter history is a prefix of the longer one.</summary>
    public static string? Difference(IReadOnlyList<PageOfHistory> one, IReadOnlyList<PageOfHistory> other)
    {
        for (int i = 0; i < Math.Min(one.Count, other.Count); i++)
            if (one[i] != other[i]) return $"page {i}: {one[i]} and {other[i]}";
        return null;
    }

    public void Dispose()
    {
        reader.Dispose();
        follower.Dispose();
    }
}
