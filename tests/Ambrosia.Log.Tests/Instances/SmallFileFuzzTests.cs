using Ambrosia.Log.Fencing;
using Ambrosia.Log.Files;
using Ambrosia.Log.Format;
using Ambrosia.Log.Instances;
using Ambrosia.Log.Reading;
using Ambrosia.Protocol;
using Ambrosia.TestKit;
using Xunit.Abstractions;

namespace Ambrosia.Log.Tests;

/// <summary>
/// The files beside a log that are read before it is: <c>instance</c> and the locks of replicas and primaries. Whatever stands in them, a
/// start reads it, or ends as with damage; nothing that they say is taken for a size.
/// </summary>
public sealed class SmallFileFuzzTests(ITestOutputHelper output)
{
    private const string Dir = "/log";
    private const int BytesMax = 4096, RoundsOfARelease = 20_000;

    /// <summary>So much may be allocated by one look at the files, however often they are named.</summary>
    private const long AllocatedMax = 256 << 10;

    private static readonly Epoch s_epoch = new(3);

    [Fact]
    public void Files_OfAnyBytes_AreReadOrDamage()
    {
        int seed = Random.Shared.Next();
        output.WriteLine($"seed {seed}");
        var random = new Random(seed);
        for (int i = 0; i < TestScale.Rounds(RoundsOfARelease); i++)
        {
            (SimulatedFileSystem disk, byte[] changed, string name) = Changed(random);
            long before = GC.GetAllocatedBytesForCurrentThread();
            Exception? thrown = Record.Exception(() => Read(disk));
            Assert.True(thrown is null or LogDamage, $"seed {seed}, round {i}, {name} = {Convert.ToHexString(changed)}: {thrown}");
            long allocated = GC.GetAllocatedBytesForCurrentThread() - before;
            Assert.True(allocated < AllocatedMax, $"seed {seed}, round {i}, {name}: {allocated} bytes");
        }
    }

    /// <summary>The control: a flipped bit of the instance's file is found by the same look.</summary>
    [Fact]
    public void InstanceFile_WithAFlippedBit_IsDamage()
    {
        SimulatedFileSystem disk = Whole();
        Read(disk);
        disk.FlipBit($"{Dir}/instance", 20, 1);
        Assert.Throws<LogDamage>(() => Read(disk));
    }

    private static void Read(IFileSystem disk)
    {
        _ = InstanceDirectory.TryRead(disk, Dir);
        IReadOnlyList<string> running = ReplicaLock.ListRunning(disk, Dir);
        _ = ReplicaLock.ListAddresses(disk, Dir, except: "r9");
        _ = ReplicaLock.FindAgreed(disk, Dir, ["r0", .. running]);
        _ = ReplicaLock.LowestFeatures(disk, Dir, ["r0", .. running]);
        _ = PrimaryLock.ReadMount(disk, Dir, s_epoch);
        foreach (string path in PrimaryLock.Of(disk, Dir, s_epoch))
        {
            _ = PrimaryLock.ReadBeat(disk, path);
            _ = PrimaryLock.ReadSegment(disk, path);
            _ = PrimaryLock.ReadDurable(disk, path);
        }
    }

    private static (SimulatedFileSystem Disk, byte[] Bytes, string Name) Changed(Random random)
    {
        SimulatedFileSystem disk = Whole();
        string[] names = ["instance", new ReplicaFileName("r0").ToString(), new PrimaryFileName(s_epoch, "r0").ToString()];
        string name = names[random.Next(names.Length)];
        byte[] bytes = Bytes(disk, $"{Dir}/{name}");
        switch (random.Next(4))
        {
            case 0:
                bytes = new byte[random.Next(BytesMax)];
                random.NextBytes(bytes);
                break;
            case 1:
                bytes = bytes[..random.Next(bytes.Length + 1)];
                break;
            case 2:
                bytes = [.. bytes, .. bytes[..random.Next(bytes.Length + 1)]];
                break;
            default:
                for (int n = random.Next(1, 5); n > 0 && bytes.Length > 0; n--)
                    bytes[random.Next(bytes.Length)] = (byte)(random.Next(3) switch { 0 => 0, 1 => 0xFF, _ => random.Next(256) });
                break;
        }
        disk.Delete($"{Dir}/{name}");
        using (IFile file = disk.Create($"{Dir}/{name}")) file.Write(bytes, 0);
        return (disk, bytes, name);
    }

    /// <summary>A directory as a killed primary leaves it: its locks are free.</summary>
    private static SimulatedFileSystem Whole()
    {
        var disk = new SimulatedFileSystem();
        Primary.Create(disk, Dir);
        using (ReplicaLock held = ReplicaLock.TryTake(disk, Dir, "r0")!) held.PublishAddress("127.0.0.1:4711");
        using IFile primary = disk.Create($"{Dir}/{new PrimaryFileName(s_epoch, "r0")}");
        primary.Write(new byte[64], 0);
        return disk;
    }

    private static byte[] Bytes(IFileSystem disk, string path)
    {
        using IFile file = disk.Open(path, FileUse.Read);
        byte[] bytes = new byte[file.Length];
        file.Read(bytes, 0);
        return bytes;
    }
}
