namespace Ambrosia.Tools.Tests;

/// <summary>
/// One after another: tests that start processes, and those whose files are locked and let go again. Until a child has replaced its program
/// it has all files of this process open, and holds their locks on.
/// </summary>
[CollectionDefinition(Name)]
public sealed class LocksCollection
{
    public const string Name = "locks and processes";
}
