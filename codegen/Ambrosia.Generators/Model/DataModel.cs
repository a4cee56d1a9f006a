namespace Ambrosia.Generators;

/// <summary>How a member of a data type gets its value.</summary>
internal enum Setting
{
    Constructor,
    Initializer,
    Assignment,
}

/// <param name="Number">The key on the wire; null: the name.</param>
/// <param name="Parameter">Name of its constructor parameter; empty if it is set otherwise.</param>
internal sealed record DataMember(string Name, uint? Number, TypeModel Type, Setting Setting, string Parameter);

/// <summary>A type marked [Data], whose codec is generated.</summary>
/// <param name="TypeName">From <c>global::</c> on.</param>
/// <param name="Members">In the order of their keys on the wire.</param>
internal sealed record DataModel(string Namespace, string CodecName, string TypeName, string Schema, string Access, bool IsReference, EquatableArray<DataMember> Members);
