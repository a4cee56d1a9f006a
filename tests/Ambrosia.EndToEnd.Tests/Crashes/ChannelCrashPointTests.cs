namespace Ambrosia.EndToEnd.Tests;

/// <summary>Steps on the way between apps and instances.</summary>
public sealed class ChannelCrashPointTests : CrashPointTests
{
    [Theory]
    [MemberData(nameof(RowsOf), "channels")]
    public void Coordinator_DiesOnAChannel_Recovers(string point, string victim, string workload, int pass) =>
        DieAndRecover(point, victim, workload, pass);
}
