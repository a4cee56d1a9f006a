using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Instances;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>What F1 adds to each commit: one look for the fence's own name, on the file system of the temporary directory.</summary>
[MemoryDiagnoser]
public class FenceCheck
{
    private readonly string _directory = Path.Combine(Directory.CreateTempSubdirectory("ambrosia-bench-").FullName, "log");
    private Fence _fence = null!;
    private PrimaryLock _held = null!;

    [GlobalSetup]
    public void Claim()
    {
        var files = new PosixFileSystem();
        InstanceIdentity identity = InstanceDirectory.Create(files, _directory, "bench", 0, Guid.NewGuid(), 1, "r0", ICrashPoints.None);
        var claimed = (ClaimResult.Claimed)PrimaryClaim.TryClaim(files, _directory, identity, "r0", ICrashPoints.None);
        (_fence, _held) = (claimed.Fence, claimed.PrimaryLock);
    }

    [GlobalCleanup]
    public void Remove()
    {
        _held.Dispose();
        Directory.Delete(Path.GetDirectoryName(_directory)!, recursive: true);
    }

    [Benchmark]
    public void Check() => _fence.Check();
}
