using System.Globalization;
using static Ambrosia.Binding.Tests.FakeCoordinator;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>
/// Whole images of two processes in different zones and cultures, with other seeds of hash codes and on other threads: the same bytes, and
/// this process restores those of the other one.
/// </summary>
public sealed class ElsewhereTests
{
    private static readonly Dictionary<string, (Func<FakeCoordinator> Make, Func<byte[], FakeCoordinator> Restore)> s_states = new()
    {
        ["every kind of declaration"] = (static () => Given(Started<Vault>(), Fork(1, 5)), Restored<Vault>),
        ["every kind of value"] = (static () => Given(Started<Keeper>(), Fork(1)), Restored<Keeper>),
        ["suspended calls"] = (static () => Given(Started<Bank>(), Fork(1, "ann", 5), Fork(14, "bank3"), Call(3, 7, "bank3", "ann")),
            Restored<Bank>),
        ["timers"] = (static () => Given(Started<Clock>(), Fork(1, "a", 5_000_000), Fork(2, "plain", 7_000_000), Fork(4, 9_000_000)),
            Restored<Clock>),
        ["answers to keys"] = (static () => Given(Started<Bank>(), Request(1, "anahtar İ", 2, "ann"), Request(2, "key I", 2, "ann")),
            Restored<Bank>),
    };

    [Fact]
    public void Images_OfTwoProcesses_AreEqual_AndThoseOfTheOtherAreRestored()
    {
        string[] there = Processes.SaidElsewhere("images").Split('\n'), here = ImagesOfThisProcess().Split('\n');
        Assert.All(Enumerable.Range(0, Differing), i => Assert.NotEqual(here[i], there[i])); // or it would show nothing
        Assert.Equal(here[Shown..], there[Shown..]);
        foreach (((_, Func<byte[], FakeCoordinator> restore), string image) in s_states.Values.Zip(there[Shown..]))
        {
            byte[] bytes = Convert.FromBase64String(image);
            FakeCoordinator restored = restore(bytes);
            restored.Deliver(Mark(bound: 1));
            Assert.Equal(bytes, restored.Image);
        }
    }

    /// <summary>The lines in front of the images, and how many of them must differ; the culture does where the machine has any.</summary>
    private const int Shown = 3, Differing = 2;

    /// <summary>Returns what differs between processes, and then the image of each state, a line each.</summary>
    internal static string ImagesOfThisProcess()
    {
        List<string> lines = [$"{"text".GetHashCode()}", TimeZoneInfo.Local.Id, CultureInfo.CurrentCulture.Name];
        var other = new Thread(() => lines.AddRange(s_states.Values.Select(static each => Convert.ToBase64String(each.Make().Image))));
        other.Start();
        other.Join();
        return string.Join('\n', lines);
    }

    private static FakeCoordinator Given(FakeCoordinator started, params byte[][] records)
    {
        started.Deliver([.. records, Mark(bound: 1)]);
        return started.Image.Length > 0 ? started : throw new InvalidOperationException($"no image: {string.Join(" | ", started.Said)}");
    }

    private static FakeCoordinator Restored<T>(byte[] image)
        where T : Immortal, IImmortal<T>
    {
        var coordinator = new FakeCoordinator(ImmortalDefinition.Of<T>());
        coordinator.Welcome(image, 4096);
        return coordinator;
    }
}
