using Ambrosia.Protocol.Frames;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// The codec of graphs on its own: damage behind a right checksum is refused or read as other values; it never crashes, hangs or takes
/// memory that the image does not account for.
/// </summary>
public sealed class GraphFuzzTests
{
    private const int DamagesPerImage = 400, AllocationPerByteMax = 2000, AllocationMin = 8 << 20;
    private static readonly int s_seed = int.TryParse(Environment.GetEnvironmentVariable("AMBROSIA_FUZZ_SEED"), out int seed)
        ? seed : 20261121;

    public static TheoryData<string> Images => ["graph", "slots", "frames", "all kinds"];

    [Theory]
    [MemberData(nameof(Images))]
    public void Image_DamagedBehindItsChecksum_IsRefusedOrReadWithinBounds(string which)
    {
        var random = new Random(s_seed);
        (byte[] image, ImmortalDefinition definition) = ImageOf(which);
        int refused = 0;
        for (int i = 0; i < DamagesPerImage; i++)
        {
            byte[] damaged = Damage(image, random);
            long before = GC.GetAllocatedBytesForCurrentThread();
            var coordinator = new FakeCoordinator(definition);
            coordinator.Welcome(damaged);
            long allocated = GC.GetAllocatedBytesForCurrentThread() - before;
            Assert.True(coordinator.Session.State is SessionState.Running or SessionState.Ended, $"seed {s_seed}, damage {i}");
            Assert.True(allocated < AllocationMin + AllocationPerByteMax * (long)image.Length,
                $"seed {s_seed}, damage {i}: {allocated} bytes");
            if (coordinator.Session.End is { } end)
            {
                refused++;
                Assert.True(end.Code is GoodbyeCode.AppFailed or GoodbyeCode.Refused,
                    $"seed {s_seed}, damage {i}: {end}");
            }
        }
        Assert.True(refused > DamagesPerImage / 4, $"only {refused} of {DamagesPerImage} were refused: the damage is not seen");
    }

    /// <summary>Every image cut anywhere is refused.</summary>
    [Theory]
    [MemberData(nameof(Images))]
    public void Image_CutShort_IsRefused(string which)
    {
        (byte[] image, ImmortalDefinition definition) = ImageOf(which);
        for (int length = 1; length < image.Length; length += 1 + image.Length / 500)
        {
            var coordinator = new FakeCoordinator(definition);
            coordinator.Welcome(image[..length]);
            Assert.Equal(SessionState.Ended, coordinator.Session.State);
        }
    }

    private static (byte[] Image, ImmortalDefinition Definition) ImageOf(string which)
    {
        switch (which)
        {
            case "graph": return (Taken<Grower>(Fork(1, 7)), ImmortalDefinition.Of<Grower>());
            case "slots": return (Taken<Shelf>(Fork(1, 7)), ImmortalDefinition.Of<Shelf>());
            case "all kinds": return (Taken<Dice>(), ImmortalDefinition.Of<Dice>());
            default:
                return (Taken<Bank>(Call(3, 7, "bank3", "ann"), Call(4, 8, new[] { "bank2", "bank3" }, "bob"), Call(15, 10, 3, "bank2"),
                    Call(13, 11, "bank3")), ImmortalDefinition.Of<Bank>());
        }
    }

    private static byte[] Taken<T>(params byte[][] records)
        where T : Immortal, IImmortal<T>
    {
        FakeCoordinator coordinator = Started<T>();
        coordinator.Deliver([.. records, Mark(bound: 1)]);
        Assert.NotEmpty(coordinator.Image);
        return coordinator.Image;
    }

    private static byte[] Damage(byte[] image, Random random)
    {
        byte[] damaged = [.. image];
        for (int n = 1 + random.Next(3); n > 0; n--)
        {
            int at = random.Next(damaged.Length);
            switch (random.Next(4))
            {
                case 0: damaged[at] ^= (byte)(1 << random.Next(8)); break;
                case 1: damaged[at] = (byte)random.Next(256); break;
                case 2: damaged = [.. damaged.AsSpan(0, at), .. damaged.AsSpan(Math.Min(damaged.Length, at + 1 + random.Next(8)))]; break;
                default: damaged = [.. damaged.AsSpan(0, at), (byte)random.Next(256), .. damaged.AsSpan(at)]; break;
            }
            if (damaged.Length == 0) return [0];
        }
        return damaged;
    }
}
