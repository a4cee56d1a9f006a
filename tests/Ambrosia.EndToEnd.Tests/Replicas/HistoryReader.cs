using System.Security.Cryptography;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
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
    private readonly LogFollower _follower;
    private readonly LogReader _reader;
    private readonly List<PageOfHistory> _pages = [];
    private PageBuffer _buffer = new();
    private Lsn _next = Lsn.Zero;

    public HistoryReader(string directory)
    {
        var files = new PosixFileSystem();
        InstanceIdentity identity = InstanceDirectory.TryRead(files, directory)
            ?? throw new InvalidOperationException($"{directory} is no log");
        _follower = new LogFollower(files, directory, identity);
        _reader = new LogReader(files, directory, identity, _follower.Chain);
    }

    public IReadOnlyList<PageOfHistory> Pages => _pages;

    /// <summary>Reads on to what is stated as durable now.</summary>
    public HistoryReader Advance()
    {
        while (_follower.Step()) { }
        while (_next < _follower.Stated && _reader.Read(_next, ref _buffer) is var status && status != ReadStatus.AtTail)
        {
            if (status == ReadStatus.Truncated) throw new InvalidOperationException($"the page at {_next} is gone, although all history is kept");
            _pages.Add(new PageOfHistory(_next.Value, $"{_buffer.TimeMicros} {Convert.ToHexString(SHA256.HashData(_buffer.Records))}"));
            _next = _buffer.Next;
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
        _reader.Dispose();
        _follower.Dispose();
    }
}
