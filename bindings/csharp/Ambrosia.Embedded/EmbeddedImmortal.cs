namespace Ambrosia;

/// <summary>One immortal of a process that runs several, with its coordinator.</summary>
/// <param name="Instance">Its instance's name, and that of its log's directory.</param>
public sealed record EmbeddedImmortal(string Instance, ImmortalDefinition Definition)
{
    public static EmbeddedImmortal Of<TImmortal>(string instance)
        where TImmortal : Immortal, IImmortal<TImmortal> => new(instance, ImmortalDefinition.Of<TImmortal>());
}
