using System.Reflection;
using System.Runtime.CompilerServices;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Links;
using Ambrosia.Coordinator.Outboxes;
using Ambrosia.Schedules.Rewriting;
using Ambrosia.Schedules.Tests.Scenarios;

namespace Ambrosia.Schedules.Tests.Plants;

/// <summary>Faults of outboxes, of acknowledgements, and of an app's output. The methods take the place of the product's.</summary>
internal static class OutputPlants
{
    private const string Coordinator = "Ambrosia.Coordinator", Outboxes = "Ambrosia.Coordinator.Outboxes";

    public static IEnumerable<Plant> All =>
    [
        // An outbox leaves the round behind the telling, so that what comes meanwhile is told of to nobody.
        new("leaves-the-round-late", nameof(OutboxScenario),
            new PlantEdit(Coordinator, $"{Outboxes}.OutputNotifier::TellAll", "LeaveRound", Of(nameof(LeaveNothing)), []),
            new PlantEdit(Coordinator, $"{Outboxes}.OutputNotifier::TellAll", "Invoke", Of(nameof(TellAndLeave)), [])),
        // The references of a block are counted in two steps.
        new("released-in-two-steps", nameof(OutboxScenario),
            new PlantEdit(Coordinator, $"{Outboxes}.BlockPool/Block::Release", "Decrement", Of(nameof(DecrementInSteps)), [])),
        // The exchange of a new link is taken to have said what its hello says.
        new("nothing-owed-at-first", nameof(PeerLinkScenario),
            new PlantEdit(Coordinator, "Ambrosia.Coordinator.Links.LinkExchange::.ctor", "set_IsOwed", Of(nameof(OweNothing)), [])),
        // Whoever has something to send takes the sender's thread for awake.
        new("sender-taken-for-awake", nameof(OutboundScenario),
            new PlantEdit("Ambrosia", "Ambrosia.Pumps.SenderWake::Unpark", "Read", Of(nameof(ReadNothing)), [])),
        // The writer of events says that it has nothing to write before it has written the last line.
        new("idle-too-early", nameof(EventWriterScenario),
            new PlantEdit(Coordinator, "Ambrosia.Coordinator.Hosting.EventWriter::WriteLoop", "TryTake", Of(nameof(TakeAndRest)), [])),
    ];

    private static MethodInfo Of(string name) => typeof(OutputPlants).GetMethod(name, BindingFlags.Static | BindingFlags.NonPublic)!;

    internal static void LeaveNothing(Outbox outbox)
    {
    }

    internal static void TellAndLeave(Action<Outbox> tell, Outbox outbox)
    {
        tell(outbox);
        outbox.LeaveRound();
    }

    internal static int DecrementInSteps(ref int at)
    {
        int less = Volatile.Read(ref at) - 1;
        Volatile.Write(ref at, less);
        return less;
    }

    internal static void OweNothing(PendingAck owed, bool value)
    {
    }

    internal static int ReadNothing(ref readonly int at) => 0;

    internal static bool TakeAndRest(EventWriter writer, out string? line)
    {
        bool isTaken = TryTake(writer, out line);
        if (isTaken && Waiting(writer).Count == 0) Idle(writer).Set();
        return isTaken;
    }

    [UnsafeAccessor(UnsafeAccessorKind.Method, Name = "TryTake")]
    private static extern bool TryTake(EventWriter writer, out string? line);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_waiting")]
    private static extern ref Queue<string> Waiting(EventWriter writer);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_idle")]
    private static extern ref ManualResetEventSlim Idle(EventWriter writer);
}
