using System.Diagnostics;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Log.Files;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests.Hosting;

/// <summary>What a killed process has left behind goes with the next start, and what others use stays.</summary>
public sealed class LeftoverTests : IDisposable
{
    private const string Catalog = "/data/catalog";
    private readonly DirectoryInfo _folder = Directory.CreateTempSubdirectory("amb-left-");

    public void Dispose() => _folder.Delete(recursive: true);

    [Fact]
    public void RemoveLeftovers_OfProcessesThatWereThisReplica_AreGoneAndNoOthers()
    {
        var disk = new SimulatedFileSystem();
        disk.CreateDirectory("/data");
        disk.CreateDirectory(Catalog);
        string[] mine = [".bank.7.bank.r0.100.1", ".secret.bank.r0.101.12"];
        string[] others = [
            ".bank.7.bank.r0.4711.1", ".bank.7.bank.r1.100.1", ".bank.7.ledger.r0.100.1", ".hidden", ".bank.r0.x.1", "bank.7", "secret"];
        foreach (string name in mine.Concat(others)) disk.Create($"{Catalog}/{name}").Dispose();
        new CatalogFiles(disk, Catalog, "bank.r0", process: 4711).RemoveLeftovers();
        Assert.Equal(others.Order(StringComparer.Ordinal), disk.List(Catalog).Order(StringComparer.Ordinal));
    }

    /// <summary>The name under which a file is written is the one by which it is found.</summary>
    [Fact]
    public void Replace_KilledInTheMiddle_LeavesWhatTheNextStartRemoves()
    {
        var disk = new SimulatedFileSystem();
        disk.CreateDirectory("/data");
        var killed = new CatalogFiles(disk, Catalog, "bank.r0", process: 100);
        killed.Replace("bank.1", [1]);
        disk.Faults.FailNth(1, FileFault.InputOutput, where: static o => o.Kind == FileOperationKind.Rename);
        Assert.ThrowsAny<IOException>(() => killed.Replace("bank.2", [2]));
        Assert.Equal(2, disk.List(Catalog).Count);
        new CatalogFiles(disk, Catalog, "bank.r0", process: 4711).RemoveLeftovers();
        Assert.Equal(["bank.1"], disk.List(Catalog));
    }

    [Fact]
    public void RemoveIfEnded_ProcessRunsOrHasEnded_RemovesTheFilesOfTheDeadOne()
    {
        using Process ended = Process.Start("true");
        ended.WaitForExit();
        int alive = Environment.ProcessId;
        foreach (int id in new[] { alive, ended.Id })
            foreach (string name in new[] { $"dotnet-diagnostic-{id}-77-socket", $"clr-debug-pipe-{id}-77-in", $"clr-debug-pipe-{id}-77-out" })
                File.Create(Path.Combine(_folder.FullName, name)).Dispose();
        File.Create(Path.Combine(_folder.FullName, $"clr-debug-pipe-{ended.Id}")).Dispose(); // nobody's
        RuntimeFiles.RemoveIfEnded(alive, _folder.FullName);
        RuntimeFiles.RemoveIfEnded(ended.Id, _folder.FullName);
        RuntimeFiles.RemoveIfEnded(ended.Id, "/no/such/folder");
        Assert.Equal(4, Directory.GetFiles(_folder.FullName).Length);
        Assert.Equal(3, Directory.GetFiles(_folder.FullName, $"*-{alive}-*").Length);
    }
}
