namespace Ambrosia.Perf.Tests;

/// <summary>
/// The end of a stream in C++ on either side: the same totals, also where it was killed. It compiles the binding, so a commit does
/// without.
/// </summary>
[Collection("rivals")]
public sealed class CppEndTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("perf-test-").FullName;

    [CppEndTheory]
    [InlineData("cpp", "csharp")]
    [InlineData("csharp", "cpp")]
    [InlineData("cpp", "cpp")]
    public void Stream_OfAnEndInCpp_IsVerified(string sender, string receiver)
    {
        string program = RivalBuild.Find(RivalNames.StreamEnd);
        StreamPlan plan = StreamPlan.OneWay;
        var options = new ClusterOptions(_directory, TimeSpan.FromSeconds(120))
        {
            AppOf = instance => (plan.IsReceiver(instance) ? receiver : sender) == "cpp" ? [program] : null,
        };
        using var leg = new AmbrosiaLeg(options, plan);
        foreach (int size in new[] { 16, 1000, 65536 })
            Assert.True(leg.Run(size, 10_000) is { Messages: 10_000, Seconds: > 0 });
        leg.RunKilled(16, 100_000, KillTarget.Receivers);
        leg.RunKilled(16, 100_000, KillTarget.Senders);
    }

    public void Dispose() => Directory.Delete(_directory, recursive: true);
}
