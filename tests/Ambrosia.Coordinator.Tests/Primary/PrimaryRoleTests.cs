using Ambrosia.Protocol;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>What is durable before an app is told anything.</summary>
public sealed class PrimaryDutiesTests
{
    [Theory]
    [InlineData(0)]
    [InlineData(4096)]
    public void Primary_HardlyAnyZerosAhead_HasItsFirstRecordsDurable(long window)
    {
        var node = new Node(new SimulatedFileSystem(), new FakeTime(), OpenedLog.Small with { ZeroWindowBytes = window });
        Assert.NotEqual(Lsn.Zero, node.Parts.Log.Durable);
        Assert.Equal(node.Parts.Log.Tail, node.Parts.Log.Durable);
    }
}
