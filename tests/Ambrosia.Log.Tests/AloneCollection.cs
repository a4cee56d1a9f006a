namespace Ambrosia.Log.Tests;

/// <summary>Tests that change what the whole process has: they run when no other test does.</summary>
[CollectionDefinition(Name, DisableParallelization = true)]
public sealed class AloneCollection
{
    public const string Name = "alone";
}
