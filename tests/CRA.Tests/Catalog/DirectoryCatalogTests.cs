using System.Collections.Concurrent;
using System.Security.Cryptography;
using System.Text;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using CRA.Catalog;
using static CRA.Tests.CatalogContract;

namespace CRA.Tests;

/// <summary>
/// What is particular to the catalog in a directory: its files, their names and modes, and what it makes of foreign ones.
/// </summary>
public sealed class DirectoryCatalogTests : IDisposable
{
    private readonly TestFolder _folder = new();
    private readonly RealCatalogFiles _files;
    private readonly ConcurrentQueue<string> _warnings = new();
    private readonly DirectoryCatalog _catalog;

    public DirectoryCatalogTests()
    {
        _files = new RealCatalogFiles(_folder.Path);
        _catalog = NewCatalog();
    }

    public void Dispose() => _folder.Dispose();

    private DirectoryCatalog NewCatalog(ICatalogFiles? files = null) =>
        new(files ?? _files, RandomNumberGenerator.Fill, EventRecorder.OfTexts(_warnings.Enqueue));

    private void Write(string name, string text) => File.WriteAllText(_files.PathOf(name), text);

    /// <summary>A place is said where it is known, and an entry of a newer coordinator may say more than this one knows.</summary>
    [Fact]
    public void Decode_EntriesOfOlderAndNewerCoordinators_AreWhatTheySay()
    {
        CatalogEntry placed = Entry(3) with { Place = "boot/8:1/77" };
        string older = Encoding.UTF8.GetString(EntryJson.Encode(Entry(3))), newer = Encoding.UTF8.GetString(EntryJson.Encode(placed));
        Assert.DoesNotContain("place", older);
        Assert.Equal(Entry(3), EntryJson.Decode(Encoding.UTF8.GetBytes(older), out _));
        Assert.Equal(placed, EntryJson.Decode(Encoding.UTF8.GetBytes(newer), out _));
        Assert.NotEqual(placed, Entry(3));
        string newest = newer.Replace("\"place\"", "\"later\":[1],\"place\"");
        Assert.Equal(placed, EntryJson.Decode(Encoding.UTF8.GetBytes(newest), out _));
        CatalogEntry longer = placed with { Place = new string('p', CatalogLimits.PlaceCharsMax + 1) };
        Assert.Null(EntryJson.Decode(EntryJson.Encode(longer), out string wrong));
        Assert.Contains("the place is too long", wrong);
    }

    [Fact]
    public void Publish_EncodesTheNamesOfTheDocument()
    {
        _catalog.Publish(Entry(3));
        Assert.Equal(
            """{"instance":"counter","shard":0,"uuid":"0f0e0d0c-0b0a-0908-0706-050403020100","log":"/var/ambrosia/counter","epoch":3,"replicas":[{"name":"r0","address":"127.0.0.1:4711","role":"primary","epoch":3}]}""",
            File.ReadAllText(_files.PathOf("counter.3")));
    }

    [Fact]
    public void Find_WithSeveralEpochs_GivesTheHighestByNumber()
    {
        foreach (ulong epoch in new ulong[] { 9, 10, 2 }) _files.Replace($"counter.{epoch}", EntryJson.Encode(Entry(epoch)));
        Assert.Equal(new Epoch(10), _catalog.Find(new InstanceId("counter"))!.Epoch);
    }

    [Fact]
    public void Publish_OfAHigherEpoch_RemovesTheLower()
    {
        _catalog.Publish(Entry(1));
        _catalog.Publish(Entry(2));
        Assert.Equal(["counter.2"], _files.List());
    }

    [Fact]
    public void Publish_OfALowerEpoch_IsOutdatedAndChangesNothing()
    {
        _catalog.Publish(Entry(2));
        Assert.Equal(PublishResult.Outdated, _catalog.Publish(Entry(1)));
        Assert.Equal(["counter.2"], _files.List());
    }

    [Fact]
    public void Publish_OfTheSameEntry_WritesOnce_AndAgainWhenItIsGone()
    {
        _catalog.Publish(Entry(2));
        _catalog.Publish(Entry(2));
        Assert.Equal(1, _files.Replaced);
        _catalog.Publish(Entry(2, address: "127.0.0.1:4712"));
        Assert.Equal(2, _files.Replaced);
        _files.Delete("counter.2");
        _catalog.Publish(Entry(2));
        Assert.Equal(3, _files.Replaced);
    }

    [Theory]
    [InlineData("")]
    [InlineData("not JSON")]
    [InlineData("null")]
    [InlineData("[]")]
    [InlineData("{}")]
    [InlineData("""{"instance":"counter","shard":0,"uuid":"0f0e0d0c-0b0a-0908-0706-050403020100","log":"/l","epoch":5,"replicas":null}""")]
    [InlineData("""{"instance":"counter","shard":0,"uuid":"0f0e0d0c-0b0a-0908-0706-050403020100","log":"/l","epoch":5,"replicas":[null]}""")]
    [InlineData("""{"instance":"counter","shard":0,"uuid":"0f0e0d0c-0b0a-0908-0706-050403020100","log":"/l","epoch":-5,"replicas":[]}""")]
    [InlineData("""{"instance":"counter","shard":0,"uuid":"0f0e0d0c-0b0a-0908-0706-050403020100","log":"/l","epoch":6,"replicas":[]}""")]
    [InlineData("""{"instance":"another","shard":0,"uuid":"0f0e0d0c-0b0a-0908-0706-050403020100","log":"/l","epoch":5,"replicas":[]}""")]
    [InlineData("""{"instance":"counter","shard":0,"uuid":"00000000-0000-0000-0000-000000000000","log":"/l","epoch":5,"replicas":[]}""")]
    [InlineData("""{"instance":"counter","shard":0,"uuid":"0f0e0d0c-0b0a-0908-0706-050403020100","log":"\u001b[2J","epoch":5,"replicas":[]}""")]
    [InlineData("""{"instance":"counter","shard":0,"uuid":"0f0e0d0c-0b0a-0908-0706-050403020100","log":"/l","epoch":5,"replicas":[{"name":"../r","address":"a","role":"b","epoch":1}]}""")]
    public void Find_WithABadFileOfAHigherEpoch_IgnoresItWithOneWarning(string text)
    {
        _catalog.Publish(Entry(4));
        Write("counter.5", text);
        Assert.Equal(new Epoch(4), _catalog.Find(new InstanceId("counter"))!.Epoch);
        Assert.Equal(new Epoch(4), _catalog.Find(new InstanceId("counter"))!.Epoch);
        string warning = Assert.Single(_warnings);
        Assert.Contains("'counter.5'", warning, StringComparison.Ordinal);
        Assert.Contains("P8.2", warning, StringComparison.Ordinal);
    }

    [Fact]
    public void Find_WithAFileOverTheLimit_IgnoresIt()
    {
        Write("counter.5", new string(' ', CatalogLimits.EntryBytesMax) + Encoding.UTF8.GetString(EntryJson.Encode(Entry(5))));
        Assert.Null(_catalog.Find(new InstanceId("counter")));
        Assert.Contains("larger", Assert.Single(_warnings), StringComparison.Ordinal);
    }

    [Fact]
    public void Find_WithAnUnreadableFile_IgnoresIt()
    {
        Directory.CreateDirectory(_files.PathOf("counter.5"));
        _catalog.Publish(Entry(4));
        Assert.Equal(new Epoch(4), _catalog.Find(new InstanceId("counter"))!.Epoch);
        Assert.Single(_warnings);
    }

    [Fact]
    public void All_AmongForeignFiles_GivesOneEntryAnInstance()
    {
        _ = _catalog.Secret;
        _catalog.Publish(Entry(2, "b"));
        _catalog.Publish(Entry(1, "a"));
        _files.Replace("a.7", EntryJson.Encode(Entry(7, "a")));
        foreach (string foreign in new[] { "notes.txt", "c.01", "c.0", "c.+1", "c.1.2", "-c.1", "c.18446744073709551616", "c." })
            Write(foreign, "x");
        Write(".tmp-1", "x");
        Assert.Equal(["a:7", "b:2"], _catalog.All().Select(e => $"{e.Instance}:{e.Epoch}"));
        Assert.Equal(8, _warnings.Count);
        _catalog.All();
        Assert.Equal(8, _warnings.Count);
    }

    [Fact]
    public void Publish_OfAnEntryOverALimit_IsRefused()
    {
        Assert.Throws<ArgumentException>(() => _catalog.Publish(Entry(0)));
        Assert.Throws<ArgumentException>(() => _catalog.Publish(Entry(1, "bad.name")));
        Assert.Throws<ArgumentException>(() => _catalog.Publish(Entry(1, address: new string('a', CatalogLimits.AddressCharsMax + 1))));
        Assert.Throws<ArgumentException>(() => _catalog.Publish(Entry(1) with { Replicas = [.. Entry(1).Replicas, .. Entry(1).Replicas] }));
        Assert.Empty(_files.List());
    }

    [Fact]
    public void Secret_UnderARace_IsMadeOnce()
    {
        byte[][] secrets = new byte[8][];
        using var start = new Barrier(secrets.Length);
        Thread[] threads = [.. Enumerable.Range(0, secrets.Length).Select(i => new Thread(() =>
        {
            DirectoryCatalog catalog = NewCatalog();
            start.SignalAndWait();
            secrets[i] = catalog.Secret.ToArray();
        }))];
        foreach (Thread thread in threads) thread.Start();
        foreach (Thread thread in threads) thread.Join();
        byte[] onDisk = File.ReadAllBytes(_files.PathOf("secret"));
        Assert.Equal(32, onDisk.Length);
        Assert.All(secrets, secret => Assert.Equal(onDisk, secret));
        Assert.Equal(["secret"], _files.List());
    }

    [Theory]
    [InlineData(0)]
    [InlineData(31)]
    [InlineData(33)]
    public void Secret_OfAnotherLength_IsRefusedWithAdvice(int bytes)
    {
        WriteSecret(bytes, UnixFileMode.UserRead | UnixFileMode.UserWrite);
        string message = Assert.Throws<CatalogException>(() => _catalog.Secret).Message;
        Assert.Contains("remove it", message, StringComparison.Ordinal);
        Assert.Contains(_files.PathOf("secret"), message, StringComparison.Ordinal);
        Assert.Throws<CatalogException>(_catalog.CheckSecret);
    }

    [Theory]
    [InlineData(UnixFileMode.GroupRead)]
    [InlineData(UnixFileMode.OtherRead)]
    [InlineData(UnixFileMode.OtherWrite)]
    public void Secret_OpenToOthers_IsRefusedWithAdvice(UnixFileMode open)
    {
        WriteSecret(32, UnixFileMode.UserRead | UnixFileMode.UserWrite | open);
        Assert.Contains("chmod 600", Assert.Throws<CatalogException>(() => _catalog.Secret).Message, StringComparison.Ordinal);
        Assert.Throws<CatalogException>(_catalog.CheckSecret);
        File.SetUnixFileMode(_files.PathOf("secret"), UnixFileMode.UserRead | UnixFileMode.UserWrite);
        Assert.Equal(32, _catalog.Secret.Length);
    }

    [Fact]
    public void CheckSecret_OfAnEmptyCatalog_MakesNothing()
    {
        _catalog.CheckSecret();
        Assert.Empty(_files.List());
    }

    private void WriteSecret(int bytes, UnixFileMode mode)
    {
        File.WriteAllBytes(_files.PathOf("secret"), new byte[bytes]);
        File.SetUnixFileMode(_files.PathOf("secret"), mode);
    }

    [Fact]
    public void Shards_OfOneName_HaveEntriesOfTheirOwn()
    {
        CatalogEntry[] entries = [Entry(4), Entry(2) with { Instance = new InstanceId("counter", 1) },
            Entry(3) with { Instance = new InstanceId("counter", 65535) }];
        foreach (CatalogEntry entry in entries) Assert.Equal(PublishResult.Published, _catalog.Publish(entry));
        Assert.Equal(["counter.1.2", "counter.4", "counter.65535.3"], _files.List().Order(StringComparer.Ordinal));
        foreach (CatalogEntry entry in entries) Assert.Equal(entry, NewCatalog().Find(entry.Instance));
        Assert.Equal(entries, _catalog.All());
        _catalog.Forget(new InstanceId("counter", 1));
        Assert.Equal([entries[0], entries[2]], _catalog.All());
        _files.Replace("counter.7.9", EntryJson.Encode(Entry(9))); // of another shard than its name says
        Assert.Null(_catalog.Find(new InstanceId("counter", 7)));
        Assert.Single(_warnings);
    }

    [Fact]
    public void Files_AreForTheirOwnerOnly()
    {
        _ = _catalog.Secret;
        _catalog.Publish(Entry(1));
        const UnixFileMode File0600 = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        Assert.Equal(File0600 | UnixFileMode.UserExecute, new DirectoryInfo(_folder.Path).UnixFileMode);
        Assert.All(_files.List(), name => Assert.Equal(File0600, File.GetUnixFileMode(_files.PathOf(name))));
    }

    [Fact]
    public void Control_AStoreThatWritesInPlace_IsFoundByTheSameOracle()
    {
        var faults = new ConcurrentQueue<string>();
        using var stop = new CancellationTokenSource();
        var torn = new TornFiles(_files);
        DirectoryCatalog catalog = NewCatalog(torn);
        catalog.Publish(Entry(1));
        var reader = new Thread(() => Watch(NewCatalog(torn), faults, stop.Token));
        reader.Start();
        for (int i = 0; faults.IsEmpty && i < 100_000; i++) catalog.Publish(Entry(1, address: $"127.0.0.1:{1 + (i % 60_000)}"));
        stop.Cancel();
        reader.Join();
        Assert.NotEmpty(faults);
    }

    // This is the planted bug: Replace is not atomic.
    private sealed class TornFiles(RealCatalogFiles files) : ICatalogFiles
    {
        public IReadOnlyList<string> List() => files.List();
        public byte[]? Read(string name, int bytesMax) => files.Read(name, bytesMax);
        public bool CreateNew(string name, ReadOnlySpan<byte> content) => files.CreateNew(name, content);
        public void Delete(string name) => files.Delete(name);
        public string? WhatIsOpen(string name) => files.WhatIsOpen(name);
        public string PathOf(string name) => files.PathOf(name);

        public void Replace(string name, ReadOnlySpan<byte> content)
        {
            files.Replace(name, content[..(content.Length / 2)]);
            files.Replace(name, content);
        }
    }
}
