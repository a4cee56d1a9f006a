namespace Ambrosia.Log.Tests;

/// <summary>Tests that change state of the whole process; each runs when no other test does.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class SequentialCollection
{
    public const string Name = "alone";
}
