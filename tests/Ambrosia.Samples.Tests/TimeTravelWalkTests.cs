namespace Ambrosia.Samples.Tests;

/// <summary>From a wrong balance to the test that keeps it away, as docs/time-travel.md describes it.</summary>
public sealed class TimeTravelWalkTests
{
    [CurlFact]
    public void Walk_AsItIsWritten_EndsWithATestThatHolds() =>
        new DocumentedWalk("docs/time-travel.md", "## Ten minutes", "/tmp/walk").Walk();
}
