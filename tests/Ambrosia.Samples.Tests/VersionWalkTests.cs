namespace Ambrosia.Samples.Tests;

/// <summary>A bank that is upgraded, brought back and reshaped while it serves, as its README describes it.</summary>
public sealed class VersionWalkTests
{
    [CurlFact]
    public void Walk_AsItIsWritten_LosesNothing() =>
        new DocumentedWalk("samples/WebBank/README.md", "## Three versions", "/tmp/bank").Walk();
}
