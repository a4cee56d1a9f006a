namespace Ambrosia;

/// <summary>Written by the generator: the assembly's contracts as JSON, for other languages' generators and for the log tools.</summary>
[AttributeUsage(AttributeTargets.Assembly)]
public sealed class ContractManifestAttribute(ulong hash, string json) : Attribute
{
    /// <summary>FNV-1a 64 of <see cref="Json"/> as UTF-8.</summary>
    public ulong Hash { get; } = hash;

    public string Json { get; } = json;
}
