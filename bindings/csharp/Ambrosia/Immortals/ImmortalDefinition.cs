using System.Reflection;

namespace Ambrosia;

/// <summary>
/// Describes an immortal's class for a session, before there is an object of it: the class, how one is made, and the hash of its contract.
/// </summary>
public sealed record ImmortalDefinition(Type Type, Func<Immortal> Create, ulong ContractHash)
{
    /// <summary>
    /// The version that the class states with <see cref="AppVersionAttribute"/>, or else its assembly; 1 where neither does.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">A number below 1 is stated.</exception>
    internal uint AppVersion => StatedVersion ?? (uint)(Type.Assembly.GetCustomAttribute<AppVersionAttribute>()?.Version ?? 1);

    /// <summary>The version that the class itself states; null: it states none.</summary>
    internal uint? StatedVersion => (uint?)Type.GetCustomAttribute<AppVersionAttribute>()?.Version;

    /// <summary>Gives the definition of a class, by its generated part.</summary>
    public static ImmortalDefinition Of<TImmortal>()
        where TImmortal : Immortal, IImmortal<TImmortal> =>
        new(typeof(TImmortal), static () => TImmortal.Create(), TImmortal.ContractHash);
}
