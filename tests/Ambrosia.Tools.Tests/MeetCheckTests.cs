using System.Collections.Concurrent;
using Ambrosia.Log.Files;
using Ambrosia.Tools.Diagnosis;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Tests;

/// <summary>Two doctors meet in one directory: on a sound one nothing is late, and where one of them caches names or contents both know
/// it.</summary>
public sealed class MeetCheckTests : IDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60), s_cached = TimeSpan.FromMilliseconds(100);

    private readonly TemporaryDirectory _folder = new();

    public void Dispose() => _folder.Dispose();

    [Fact]
    public void Meeting_OnOneDisk_FindsNothingLate_AndLeavesNothing()
    {
        foreach (IReadOnlyList<Finding> findings in Meet(new PosixFileSystem(), new PosixFileSystem()))
            Assert.All(findings, static finding => Assert.True(finding.Status == FindingStatus.Ok, finding.What));
        Assert.Empty(Directory.EnumerateFileSystemEntries(_folder.Path));
    }

    /// <summary>Negative control: names that are remembered, as a client's cache of names does.</summary>
    [Fact]
    public void Meeting_WithOneThatRemembersNames_FailsThere()
    {
        IReadOnlyList<Finding>[] found = Meet(new RememberingFiles(s_cached), new PosixFileSystem());
        Assert.Contains(found.SelectMany(static each => each), static each => each is { Check: "meet names", Status: FindingStatus.Fail });
    }

    [Fact]
    public void Meeting_OfThree_IsRefused()
    {
        File.Create(_folder.Of(".ambrosia-meet.m.first")).Dispose();
        File.Create(_folder.Of(".ambrosia-meet.m.second")).Dispose();
        Assert.Contains("two others meet",
            Assert.Throws<ToolMisuse>(() => MeetCheck.Run(new PosixFileSystem(), _folder.Path, "m", s_patience)).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void Meeting_ToWhichNobodyComes_SaysSo() => Assert.Contains("nobody has come",
        Assert.Throws<ToolMisuse>(() => MeetCheck.Run(new PosixFileSystem(), _folder.Path, "m", TimeSpan.FromMilliseconds(20))).Message,
        StringComparison.Ordinal);

    [Theory]
    [InlineData("../up")]
    [InlineData("")]
    [InlineData("a b")]
    public void Name_OfAMeetingThatIsNone_IsRefused(string name)
    {
        ToolRun run = ToolRun.Of("doctor", _folder.Path, "--meet", name);
        Assert.Equal(2, run.Code);
        Assert.Empty(Directory.EnumerateFileSystemEntries(_folder.Path));
    }

    private IReadOnlyList<Finding>[] Meet(params IFileSystem[] sides)
    {
        var found = new IReadOnlyList<Finding>[sides.Length];
        var failures = new ConcurrentQueue<Exception>();
        Thread[] threads = [.. sides.Select((files, i) => new Thread(() =>
        {
            try
            {
                found[i] = MeetCheck.Run(files, _folder.Path, "m", s_patience);
            }
            catch (Exception e)
            {
                failures.Enqueue(e);
            }
        }))];
        foreach (Thread thread in threads) thread.Start();
        foreach (Thread thread in threads) thread.Join();
        Assert.Empty(failures);
        return found;
    }

    /// <summary>A file system whose names are remembered for a while once they were seen, whatever others do to them.</summary>
    private sealed class RememberingFiles(TimeSpan forTime) : IFileSystem
    {
        private readonly PosixFileSystem _files = new();
        private readonly Dictionary<string, long> _seen = [];

        public bool Exists(string path)
        {
            if (_seen.TryGetValue(path, out long since) && System.Diagnostics.Stopwatch.GetElapsedTime(since) < forTime) return true;
            bool isThere = _files.Exists(path);
            if (isThere) _seen[path] = System.Diagnostics.Stopwatch.GetTimestamp();
            return isThere;
        }

        public IFile Open(string path, FileUse use) => _files.Open(path, use);

        public IFile Create(string path) => _files.Create(path);

        public IReadOnlyList<string> List(string directory) => _files.List(directory);

        public void CreateDirectory(string path) => _files.CreateDirectory(path);

        public void Rename(string from, string to) => _files.Rename(from, to);

        public bool TryRenameNew(string from, string to) => _files.TryRenameNew(from, to);

        public bool TryLink(string existing, string link) => _files.TryLink(existing, link);

        public void Delete(string path) => _files.Delete(path);

        public void FlushDirectory(string path) => _files.FlushDirectory(path);

        public long FreeBytes(string directory) => _files.FreeBytes(directory);

        public IFileLock? TryLock(string path) => _files.TryLock(path);

        public IFileLock? WaitForLock(string path, CancellationToken stop) => _files.WaitForLock(path, stop);
    }
}
