using Ambrosia.Coordinator.Builds;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Tests.Builds;

/// <summary>What executes a log in other surroundings than before is told, and what is not known is no difference.</summary>
public sealed class DriftTests
{
    private const string Utc = ".NET 10.0.1, zone UTC, zone data 2025b", Tokyo = ".NET 10.0.1, zone Asia/Tokyo, zone data 2025b";

    [Theory]
    [InlineData(Utc, "", Tokyo, "")]
    [InlineData(Utc, "", ".NET 10.0.1, zone UTC, zone data 2026a", "")]
    [InlineData(Utc, "", Utc, "tr-TR")]
    [InlineData(".NET 10.0.0", "", Utc, "")]
    public void Drift_OfZoneDataOrCulture_IsTold(string then, string thenCulture, string now, string nowCulture) => Assert.Equal(
        ($"{then}, culture '{thenCulture}', X64", $"{now}, culture '{nowCulture}', X64"),
        RedeployCheck.Drift(Hello(now, nowCulture), Record(then, thenCulture)));

    [Theory]
    [InlineData(Tokyo, Tokyo)]
    [InlineData(".NET 10.0.1", Tokyo)]
    [InlineData(Tokyo, ".NET 10.0.1")]
    public void Drift_OfNothingThatIsKnown_IsNotTold(string then, string now) =>
        Assert.Null(RedeployCheck.Drift(Hello(now, "de-DE"), Record(then, "de-DE")));

    private static AppHello Hello(string runtime, string culture) =>
        new(1, 1, new byte[AppHello.TokenBytes], 1, 1, "csharp/1.0", runtime, culture, "X64", 0, 1);

    private static BuildRecord Record(string runtime, string culture) =>
        new(new Epoch(1), 1, null, "csharp/1.0", runtime, culture, "X64", 0, "1.0");
}
