namespace Ambrosia.Generators;

/// <summary>A field of the state.</summary>
/// <param name="Name">As an image names it.</param>
/// <param name="Metadata">Its name in the compiled type.</param>
/// <param name="Declaring">The type that declares it, from <c>global::</c> on.</param>
/// <param name="Type">From <c>global::</c> on.</param>
/// <param name="Write">A statement; {0} is the value, {1} the field's place.</param>
/// <param name="Read">An expression.</param>
internal sealed record StateField(string Name, string Metadata, string Declaring, string Type, string Write, string Read);

/// <summary>A class or struct that may be state. Whether it is, and so whether a codec is made, says <see cref="StateReach"/>.</summary>
/// <param name="Id">Its definition, from <c>global::</c> on: what others mention it by.</param>
/// <param name="TypeName">The same for a type that is not generic.</param>
/// <param name="Parameters">Of a generic type: <c>&lt;T&gt;</c>.</param>
/// <param name="Constraints">Of its parameters, as C#.</param>
/// <param name="Arity">Number of its parameters.</param>
/// <param name="Inside">Declarations of the types in which the codec must stand to see everything, outermost first; empty: it stands
/// in the namespace.</param>
/// <param name="InsideName">The innermost of them, from <c>global::</c> on.</param>
/// <param name="IsRoot">An immortal, or marked [Data].</param>
/// <param name="Obstacle">Why there is no codec, so that it is written by reflection; empty: there is one.</param>
/// <param name="Mentions">Definitions that its fields are of, or of which they are made.</param>
/// <param name="Supertypes">Definitions that it derives from or implements.</param>
internal sealed record StateModel(
    string Id, string Namespace, string TypeName, string CodecName, string Parameters, string Constraints, int Arity,
    EquatableArray<string> Inside, string InsideName, bool IsReference, bool IsRoot, string Obstacle, EquatableArray<StateField> Fields,
    EquatableArray<string> Mentions, EquatableArray<string> Supertypes);
