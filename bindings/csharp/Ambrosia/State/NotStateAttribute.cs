namespace Ambrosia;

/// <summary>
/// Leaves a field (or the field behind a property) out of checkpoints. After a restore it has its type's default, as no constructor runs
/// then. It is for caches and for what threads started in <c>BecomingPrimary</c> share.
/// </summary>
[AttributeUsage(AttributeTargets.Field | AttributeTargets.Property, Inherited = false)]
public sealed class NotStateAttribute : Attribute;
