namespace Ambrosia;

/// <summary>
/// States that handlers may use a member, the members of a type, or a whole assembly, since the author answers for it: the same calls give
/// the same results in every process and at every replay. The analyzers then follow it no further.
/// </summary>
[AttributeUsage(AttributeTargets.Assembly | AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Interface
    | AttributeTargets.Constructor | AttributeTargets.Method | AttributeTargets.Property | AttributeTargets.Field, Inherited = false)]
public sealed class DeterministicAttribute : Attribute;

/// <summary>
/// States that no handler may use a member, the members of a type, or a whole assembly. The analyzers report where a handler reaches it.
/// </summary>
/// <param name="reason">Why, and what to use instead, for whoever reads the error.</param>
[AttributeUsage(AttributeTargets.Assembly | AttributeTargets.Class | AttributeTargets.Struct | AttributeTargets.Interface
    | AttributeTargets.Constructor | AttributeTargets.Method | AttributeTargets.Property | AttributeTargets.Field, Inherited = false)]
public sealed class NonDeterministicAttribute(string reason) : Attribute
{
    /// <summary>The reason that the error shows.</summary>
    public string Reason { get; } = reason;
}
