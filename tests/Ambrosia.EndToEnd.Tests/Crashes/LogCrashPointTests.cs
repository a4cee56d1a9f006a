namespace Ambrosia.EndToEnd.Tests;

/// <summary>Steps of the log: creation, pages, segments.</summary>
public sealed class LogCrashPointTests : CrashPointTests
{
    [Theory]
    [MemberData(nameof(RowsOf), "log")]
    public void Coordinator_DiesInTheLog_Recovers(string point, string victim, string workload, int pass) =>
        DieAndRecover(point, victim, workload, pass);
}
