using System.Reflection;
using System.Runtime.ExceptionServices;

namespace Ambrosia.Session;

/// <summary>
/// Describes the version before the newest that a process can execute, too: its class, its number, and how an immortal of the newest class
/// is made of one of it.
/// </summary>
internal sealed record FormerVersion(ImmortalDefinition Definition, uint Version, Func<Immortal, Immortal> Convert)
{
    /// <summary>The newest class, which may have taken the name that the former one had when it wrote its images.</summary>
    internal required Type Successor { get; init; }

    /// <summary>Gives the former version of a class that has a constructor for it, or the same fields by name.</summary>
    /// <exception cref="InvalidOperationException">There is no such constructor, and names do not do; or the versions do not
    /// ascend.</exception>
    internal static FormerVersion Of<TFormer, TImmortal>()
        where TFormer : Immortal, IImmortal<TFormer>
        where TImmortal : Immortal, IImmortal<TImmortal>
    {
        (ImmortalDefinition former, ImmortalDefinition newest) = (ImmortalDefinition.Of<TFormer>(), ImmortalDefinition.Of<TImmortal>());
        ConstructorInfo? constructor = newest.Type.GetConstructor(
            BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic, [former.Type]);
        uint version = former.StatedVersion ?? newest.AppVersion - 1;
        if (version >= newest.AppVersion || version == 0)
            throw new InvalidOperationException(
                $"{newest.Type.Name} is of app version {newest.AppVersion} and {former.Type.Name}, which it follows, of {version}: "
                + $"state versions that ascend from 1 on, with [AppVersion(n)] at each class, or at the assembly for {newest.Type.Name}");
        return new FormerVersion(
            former, version, constructor is null ? ConversionByNames.Of(former.Type, newest.Type) : old => Construct(constructor, old))
        {
            Successor = newest.Type,
        };
    }

    /// <summary>Makes an immortal; what its constructor throws comes out as it is.</summary>
    private static Immortal Construct(ConstructorInfo constructor, Immortal old)
    {
        try
        {
            return (Immortal)constructor.Invoke([old]);
        }
        catch (TargetInvocationException thrown) when (thrown.InnerException is { } why)
        {
            ExceptionDispatchInfo.Throw(why);
            throw;
        }
    }
}
