namespace Ambrosia;

/// <summary>
/// States the version of an app: one number for all its immortals, or for one class. The first record of a log holds it, and from then on
/// only an upgrade changes it; a process of another version is refused by that log (exit 76). Without the attribute the version is 1.
/// </summary>
/// <remarks>Raise it when an upgrade shall bring new behaviour into force. A rebuild of the same behaviour keeps its version.</remarks>
[AttributeUsage(AttributeTargets.Assembly | AttributeTargets.Class, Inherited = false)]
public sealed class AppVersionAttribute : Attribute
{
    /// <param name="version">A number from 1 on.</param>
    public AppVersionAttribute(int version)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(version, 1);
        Version = version;
    }

    /// <summary>The version that was stated.</summary>
    public int Version { get; }
}
