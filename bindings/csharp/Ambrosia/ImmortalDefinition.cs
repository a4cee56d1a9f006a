namespace Ambrosia;

/// <summary>What a session needs to know of an immortal's class before there is an object of it.</summary>
public sealed record ImmortalDefinition(Type Type, Func<Immortal> Create, ulong ContractHash)
{
    public static ImmortalDefinition Of<TImmortal>()
        where TImmortal : Immortal, IImmortal<TImmortal> =>
        new(typeof(TImmortal), static () => TImmortal.Create(), TImmortal.ContractHash);
}
