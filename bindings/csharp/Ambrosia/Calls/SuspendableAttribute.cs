using System.ComponentModel;

namespace Ambrosia;

/// <summary>
/// Holds the generator's hash of the source of a method that can be suspended: its tokens and what they mean. Generated code writes it.
/// </summary>
[EditorBrowsable(EditorBrowsableState.Never)]
[AttributeUsage(AttributeTargets.Assembly, AllowMultiple = true)]
public sealed class SuspendableAttribute(string id, string source) : Attribute
{
    /// <summary>The method, as <c>Namespace.Type.Method(parameter types):return type</c> of metadata names.</summary>
    public string Id { get; } = id;

    public string Source { get; } = source;
}
