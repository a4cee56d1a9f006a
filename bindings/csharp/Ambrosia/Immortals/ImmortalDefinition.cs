using System.Reflection;

namespace Ambrosia;

/// <summary>
/// Describes an immortal's class for a session, before there is an object of it: the class, how one is made, and the hash of its contract.
/// </summary>
public sealed record ImmortalDefinition(Type Type, Func<Immortal> Create, ulong ContractHash)
{
    /// <summary>The version that the assembly of the class states with <see cref="AppVersionAttribute"/>; 1 where it states none.</summary>
    /// <exception cref="ArgumentOutOfRangeException">It states a number below 1.</exception>
    internal uint AppVersion => (uint)(Type.Assembly.GetCustomAttribute<AppVersionAttribute>()?.Version ?? 1);

    /// <summary>Gives the definition of a class, by its generated part.</summary>
    public static ImmortalDefinition Of<TImmortal>()
        where TImmortal : Immortal, IImmortal<TImmortal> =>
        new(typeof(TImmortal), static () => TImmortal.Create(), TImmortal.ContractHash);
}
