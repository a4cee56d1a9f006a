using System.Security.Cryptography;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Files;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// The log of a ledger whose beginning was truncated, with some checkpoints, and that of the source which called it. It was stopped in
/// order, and nobody may change it.
/// </summary>
public sealed class KeptHistory : IDisposable
{
    private const int Calls = 8_000;

    private readonly Cluster _cluster = new();
    private readonly string _before;

    public KeptHistory()
    {
        (Replica source, Ledger) = _cluster.Pair(Calls, burst: 50);
        source.Settings["FILL"] = "1000";
        Ledger.Options.AddRange(["--checkpoint-every", "512K", "--segment", "2M", "--retain", "checkpoints=4"]);
        Ledger.Start();
        source.Start();
        Cluster.AssertEqual(source, Calls);
        Signals.Terminate(Ledger.Coordinator.Id);
        Ledger.AwaitExit();
        source.KillCoordinator();
        _before = Fingerprint();
    }

    internal Replica Ledger { get; }

    internal string Directory => Ledger.LogDirectory;

    /// <summary>A command line of an app of this service, and of another one.</summary>
    internal string App => $"{Executables.App} {Ledger.Role}";

    internal string OtherApp => $"{Executables.App} bank";

    internal string Catalog => _cluster.Catalog;

    /// <summary>The checkpoints that are kept, the newest first.</summary>
    internal CheckpointFileName[] Checkpoints => [.. CheckpointDirectory.List(new PosixFileSystem(), Directory)];

    /// <summary>Copies what a view needs; the sockets of a coordinator are none of it.</summary>
    internal string Copy(string name)
    {
        string copy = Path.Combine(_cluster.Root, name);
        System.IO.Directory.CreateDirectory(copy);
        foreach (string file in FilesOf(Directory)) File.Copy(file, Path.Combine(copy, Path.GetFileName(file)));
        return copy;
    }

    /// <summary>Whoever looked has changed nothing.</summary>
    internal void AssertUntouched() => Assert.Equal(_before, Fingerprint());

    private string Fingerprint()
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        IEnumerable<string> all = System.IO.Directory.EnumerateFiles(Directory, "*", SearchOption.AllDirectories);
        foreach (string file in all.Order(StringComparer.Ordinal))
        {
            hash.AppendData(System.Text.Encoding.UTF8.GetBytes(file));
            hash.AppendData(File.ReadAllBytes(file));
        }
        return Convert.ToHexString(hash.GetHashAndReset());
    }

    private static IEnumerable<string> FilesOf(string directory) => System.IO.Directory.EnumerateFiles(directory)
        .Where(static path => Path.GetFileName(path) is "instance" or ['l', 'o', 'g', '.', ..] or ['c', 'k', 'p', 't', '.', ..]);

    public void Dispose()
    {
        _cluster.Passed();
        _cluster.Dispose();
    }
}
