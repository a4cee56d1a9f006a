using Ambrosia.Protocol.Runs;

namespace Ambrosia.Binding.Tests;

public sealed class CounterTests
{
    private static readonly uint s_increment = MethodIds.Of("ICounter", "Increment");

    [Fact]
    public void Counter_PapersExample_ReportsEveryThousand()
    {
        FakeCoordinator coordinator = FakeCoordinator.Started<Counter>();
        byte[] run = FakeCoordinator.Run(MessageKind.Fork, 1, [.. Enumerable.Repeat((s_increment, 0ul, Array.Empty<byte>()), 2500)]);

        coordinator.Deliver(run);

        uint report = MethodIds.Of("IMonitor", "Report");
        Assert.Equal([$"fork mon1 {report} 1000", $"fork mon1 {report} 2000", $"processed {coordinator.Next}"], coordinator.Said);
    }
}
