namespace Ambrosia.Generators;

/// <summary>How a member of a data type gets its value.</summary>
internal enum Setting
{
    Constructor,
    Initializer,
    Assignment,

    /// <summary>Init-only: set after construction through an accessor, so that a missing one keeps the type's own default.</summary>
    Accessor,
}

/// <param name="Number">The key on the wire; null: the name.</param>
/// <param name="Parameter">Name of its constructor parameter; empty if it is set otherwise.</param>
/// <param name="Default">Of that parameter, as C#; null: the type's.</param>
/// <param name="Declaring">The type that declares it, from <c>global::</c> on.</param>
internal sealed record DataMember(
    string Name, uint? Number, TypeModel Type, Setting Setting, string Parameter, string? Default, string Declaring)
{
    /// <summary>Set after construction, if it came.</summary>
    internal bool IsSetLater => Setting is Setting.Assignment or Setting.Accessor;
}

/// <summary>A type marked [Data], whose codec is generated.</summary>
/// <param name="TypeName">From <c>global::</c> on.</param>
/// <param name="IsOpen">A value may be of a class that derives from it.</param>
/// <param name="Members">In the order of their keys on the wire.</param>
internal sealed record DataModel(
    string Namespace, string CodecName, string TypeName, string Schema, string Access, bool IsReference, bool IsOpen,
    EquatableArray<DataMember> Members);
