namespace Ambrosia.EndToEnd.Tests;

/// <summary>Steps of checkpoints, take-over and replay.</summary>
public sealed class RecoveryCrashPointTests : CrashPointTests
{
    [Theory]
    [MemberData(nameof(RowsOf), "recovery")]
    public void Coordinator_DiesInRecovery_Recovers(string point, string victim, string workload, int pass) =>
        DieAndRecover(point, victim, workload, pass);
}
