namespace Ambrosia;

/// <summary>Names one immortal of a process that runs several, each with a coordinator of its own.</summary>
/// <param name="Instance">Name of the instance, and of its log's directory.</param>
public sealed record EmbeddedImmortal(string Instance, ImmortalDefinition Definition)
{
    /// <summary>Names an immortal of this class.</summary>
    public static EmbeddedImmortal Of<TImmortal>(string instance)
        where TImmortal : Immortal, IImmortal<TImmortal> => new(instance, ImmortalDefinition.Of<TImmortal>());
}
