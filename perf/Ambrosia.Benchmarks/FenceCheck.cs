using Ambrosia.Log;
using BenchmarkDotNet.Attributes;

namespace Ambrosia.Benchmarks;

/// <summary>What F1 adds to each commit: one look for the fence's own name, on the file system of the temporary directory.</summary>
[MemoryDiagnoser]
public class FenceCheck
{
    private readonly string directory = Path.Combine(Directory.CreateTempSubdirectory("ambrosia-bench-").FullName, "log");
    private Fence fence = null!;
    private PrimaryLock held = null!;

    [GlobalSetup]
    public void Claim()
    {
        var files = new PosixFileSystem();
        InstanceIdentity identity = InstanceDirectory.Create(files, directory, "bench", 0, Guid.NewGuid(), 1, "r0", NoCrashPoints.Instance);
        var claimed = (ClaimResult.Claimed)PrimaryClaim.Try(files, directory, identity, "r0", NoCrashPoints.Instance);
        (fence, held) = (claimed.Fence, claimed.PrimaryLock);
    }

    [GlobalCleanup]
    public void Remove()
    {
        held.Dispose();
        Directory.Delete(Path.GetDirectoryName(directory)!, recursive: true);
    }

    [Benchmark]
    public void Check() => fence.Check();
}
