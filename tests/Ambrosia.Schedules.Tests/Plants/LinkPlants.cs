using System.Reflection;
using System.Runtime.CompilerServices;
using Ambrosia.AppChannel;
using Ambrosia.Schedules.Rewriting;
using Ambrosia.Schedules.Tests.Scenarios;
using CRA.Links;

namespace Ambrosia.Schedules.Tests.Plants;

/// <summary>Faults of links and rings. The methods take the place of the product's.</summary>
internal static class LinkPlants
{
    private const string Out = "CRA.Links.OutPump";
    private const string Writer = "Ambrosia.AppChannel.RingWriter", Reader = "Ambrosia.AppChannel.RingReader";

    public static IEnumerable<Plant> All =>
    [
        // The out thread raises its flag, and sleeps without asking the traffic again.
        new("out-thread-looks-first", nameof(OutPumpScenario),
            new PlantEdit("CRA", $"{Out}::Park", "SendAll", Of(nameof(SendsNothing)), [])),
        // A second thread sends beside the first.
        new("two-send-at-once", nameof(OutPumpScenario),
            new PlantEdit("CRA", $"{Out}::Nudge", "TryEnter", Of(nameof(EnterAnyway)), []),
            new PlantEdit("CRA", $"{Out}::Nudge", "Exit", Of(nameof(ExitNothing)), [])),
        // The pumps of a connection count themselves out in two steps, so that both, or neither, may be the last.
        new("counted-out-in-two-steps", nameof(LinkEndingScenario),
            new PlantEdit("CRA", "CRA.Links.LinkConnection::Stopped", "Decrement", Of(nameof(DecrementInSteps)), [])),
        // The reader says that it waits, and waits without another look.
        new("reader-looks-first", nameof(RingsScenario),
            new PlantEdit("Ambrosia.AppChannel", $"{Reader}::BeginWait", "Used", Of(nameof(UsesNothing)), [])),
        // The writer says how far it has written before it writes.
        new("bytes-after-the-position", nameof(RingsScenario),
            new PlantEdit("Ambrosia.AppChannel", $"{Writer}::TryWrite", "Copy", Of(nameof(PublishAndCopy)), [])),
        // The reader makes room, and looks for no writer that waits for it.
        new("no-wake-for-the-writer", nameof(RingsScenario),
            new PlantEdit("Ambrosia.AppChannel", $"{Reader}::TryRead", "Wake", Of(nameof(WakeNobody)), [])),
    ];

    private static MethodInfo Of(string name) => typeof(LinkPlants).GetMethod(name, BindingFlags.Static | BindingFlags.NonPublic)!;

    internal static bool SendsNothing(OutPump pump) => false;

    internal static bool EnterAnyway(ref readonly Protocol.Locking.RankedLock gate) => true;

    internal static void ExitNothing(ref readonly Protocol.Locking.RankedLock gate)
    {
    }

    internal static int DecrementInSteps(ref int at)
    {
        int less = Volatile.Read(ref at) - 1;
        Volatile.Write(ref at, less);
        return less;
    }

    internal static int UsesNothing(RingReader reader) => 0;

    internal static void PublishAndCopy(RingWriter writer, ReadOnlySpan<byte> bytes)
    {
        Position(writer) += (uint)bytes.Length;
        Publish(writer);
        Position(writer) -= (uint)bytes.Length;
        Copy(writer, bytes);
    }

    internal static void WakeNobody(ref int word)
    {
    }

    private static unsafe void Publish(RingWriter writer) =>
        Volatile.Write(ref *(ulong*)(Start(writer) + Ring.WrittenAt), Position(writer));

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_written")]
    private static extern ref ulong Position(RingWriter writer);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "<ring>P")]
    private static extern unsafe ref byte* Start(RingWriter writer);

    [UnsafeAccessor(UnsafeAccessorKind.Method, Name = "Copy")]
    private static extern void Copy(RingWriter writer, ReadOnlySpan<byte> bytes);
}
