namespace Ambrosia.Feed.Tests;

/// <summary>Makes a solution of the template immortal, whose tests kill its immortals.</summary>
[Collection(FeedCollection.Name)]
public sealed class SolutionTemplateTests(Feed feed)
{
    /// <summary>Its name is that of a class in it, which must not matter.</summary>
    [Fact]
    public void Solution_AsItIsMade_PassesItsTests()
    {
        feed.Run(feed.Work, "dotnet", "new", "immortal", "-o", "Counter");
        string said = feed.Run(Path.Combine(feed.Work, "Counter"), "dotnet", "test", "--logger", "console;verbosity=normal");
        Assert.Contains("Total tests: 4", said);
        Assert.Contains("Passed: 4", said);
    }
}
