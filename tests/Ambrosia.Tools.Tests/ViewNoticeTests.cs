using Ambrosia.Inspection.Debugging;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Tools.Tests;

/// <summary>Whoever looks at the past is told whether what executes it now is what executed it then.</summary>
public sealed class ViewNoticeTests
{
    private static readonly BuildId s_build = new(UInt128.MaxValue / 3), s_other = new(7);

    private static BuildRecord Then(BuildId? build) =>
        new(new Epoch(1), 1, build, "csharp/1", ".NET 10.0.1", "en-US", "X64", 5, "1");

    private static AppHello Now(BuildId? build, string runtime = ".NET 10.0.1", string culture = "en-US", string cpu = "X64") =>
        new(1, 1, new byte[AppHello.TokenBytes], 1, 8, "csharp/1", runtime, culture, cpu, 5, 1) { Build = build };

    [Fact]
    public void Line_OfTheSameBuild_SaysSo() =>
        Assert.Equal($"these records were executed by build {s_build.Short} (.NET 10.0.1, culture en-US, X64); yours is the same",
            ViewNotice.LineOf(Then(s_build), Now(s_build)));

    [Fact]
    public void Line_OfAnotherBuild_NamesBoth() =>
        Assert.Equal($"these records were executed by build {s_build.Short} (.NET 10.0.1, culture en-US, X64); yours is {s_other.Short}",
            ViewNotice.LineOf(Then(s_build), Now(s_other)));

    [Fact]
    public void Line_OfABuildThatIsNotNamed_ClaimsNothing()
    {
        Assert.EndsWith("; yours does not say which it is", ViewNotice.LineOf(Then(s_build), Now(null)), StringComparison.Ordinal);
        Assert.EndsWith($"; yours is {s_other.Short}", ViewNotice.LineOf(Then(null), Now(s_other)), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(".NET 10.0.2", "en-US", "X64", "yours runs with .NET 10.0.2: what depends on that may differ")]
    [InlineData(".NET 10.0.1", "", "X64", "yours runs with invariant culture: what depends on that may differ")]
    [InlineData(".NET 10.0.1", "de-DE", "Arm64", "yours runs with culture de-DE, Arm64: what depends on that may differ")]
    [InlineData(".NET 10.0.1", "en-US", "X64", null)]
    public void Drift_OfWhatIsAround_IsNamed(string runtime, string culture, string cpu, string? expected) =>
        Assert.Equal(expected, ViewNotice.DriftOf(Then(s_build), Now(s_other, runtime, culture, cpu)));

    [Fact]
    public void Build_OnlyTheCheckpointNamesIt_IsToldFromThere()
    {
        Assert.Equal($"its checkpoint was taken by build {s_build.Short}; yours is the same", ViewNotice.LineOf(s_build, Now(s_build)));
        Assert.Equal($"its checkpoint was taken by build {s_build.Short}; yours is {s_other.Short}", ViewNotice.LineOf(s_build, Now(s_other)));
    }
}
