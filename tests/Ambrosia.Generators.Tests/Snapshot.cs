using System.Runtime.CompilerServices;

namespace Ambrosia.Generators.Tests;

/// <summary>Compares a text with the one kept under Snapshots. <c>AMBROSIA_SNAPSHOTS=write</c> keeps the new one instead.</summary>
internal static class Snapshot
{
    internal static void Check(string name, string actual, [CallerFilePath] string caller = "")
    {
        string path = Path.Combine(Path.GetDirectoryName(caller)!, "Snapshots", name + ".txt");
        if (Environment.GetEnvironmentVariable("AMBROSIA_SNAPSHOTS") == "write") File.WriteAllText(path, actual);
        string kept = Path.Combine(AppContext.BaseDirectory, "Snapshots", name + ".txt");
        Assert.True(File.Exists(path) || File.Exists(kept),
            $"There is no snapshot {name}: run once with AMBROSIA_SNAPSHOTS=write and review it.");
        Assert.Equal(File.ReadAllText(File.Exists(path) ? path : kept), actual);
    }
}
