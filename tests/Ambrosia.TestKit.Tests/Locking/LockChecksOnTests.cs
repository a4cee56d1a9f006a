namespace Ambrosia.TestKit.Tests.Locking;

/// <summary>Each suite has this test (Directory.Build.targets links it): the checks of the order of locks are on in it.</summary>
public sealed class LockChecksOnTests
{
    /// <summary>The suites of the generator and of this tree do not know the product: of these the variable says enough.</summary>
    [Fact]
    public void Suite_AsItRuns_ChecksTheOrderOfLocks()
    {
        Assert.Equal("1", Environment.GetEnvironmentVariable(LockChecksOn.Variable));
        if (Type.GetType("Ambrosia.Protocol.Locking.LockChecks, Ambrosia.Protocol") is not { } checks) return;
        Assert.Equal(LockChecksOn.Variable, checks.GetField("Variable")!.GetValue(null));
        Assert.Equal(true, checks.GetField("AreOn")!.GetValue(null));
    }
}
