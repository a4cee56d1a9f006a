namespace Ambrosia;

/// <summary>
/// Holds the assembly's contracts as JSON, for other languages' generators and for the log tools. The generator writes it.
/// </summary>
[AttributeUsage(AttributeTargets.Assembly)]
public sealed class ContractManifestAttribute(ulong hash, string json) : Attribute
{
    /// <summary>The FNV-1a 64 hash of <see cref="Json"/> as UTF-8.</summary>
    public ulong Hash { get; } = hash;

    /// <summary>The contracts, as JSON.</summary>
    public string Json { get; } = json;
}
