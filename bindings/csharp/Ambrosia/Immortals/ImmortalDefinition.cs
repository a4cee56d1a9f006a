namespace Ambrosia;

/// <summary>
/// Describes an immortal's class for a session, before there is an object of it: the class, how one is made, and the hash of its contract.
/// </summary>
public sealed record ImmortalDefinition(Type Type, Func<Immortal> Create, ulong ContractHash)
{
    /// <summary>Gives the definition of a class, by its generated part.</summary>
    public static ImmortalDefinition Of<TImmortal>()
        where TImmortal : Immortal, IImmortal<TImmortal> =>
        new(typeof(TImmortal), static () => TImmortal.Create(), TImmortal.ContractHash);
}
