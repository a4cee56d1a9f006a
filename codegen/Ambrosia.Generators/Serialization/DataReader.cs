using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Threading;
using Ambrosia.Generators.Diagnostics;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Serialization;

/// <summary>Reads a type marked [Data]: its members, how each gets its value, and the constructor that makes an object.</summary>
internal static class DataReader
{
    /// <summary>
    /// Reads a type for its codec. One that is refused has a model as well: whoever uses it is compiled against a codec that does nothing,
    /// so that the refusal is the only error.
    /// </summary>
    internal static ReadResult<DataModel> ReadForCodec(INamedTypeSymbol type, CancellationToken cancel)
    {
        ReadResult<DataModel> found = Read(type, cancel);
        return found.Model is not null || type.IsGenericType || type.ContainingType is { IsGenericType: true } || IsHidden(type) ? found
            : new(ModelOf(type, Symbols.DisplayName(type), []) with { IsRefused = true }, found.Diagnostics);
    }

    /// <summary>
    /// Reads a type, or a use of a generic one. The declaration of a generic type is judged, and has no model: each use has its own.
    /// </summary>
    /// <param name="open">The uses of generic data within which the type stands.</param>
    internal static ReadResult<DataModel> Read(INamedTypeSymbol type, CancellationToken cancel, OpenUse? open = null)
    {
        ReadResult<DataModel> Refused(string why, ISymbol? at = null) =>
            new(null, new([DiagnosticInfo.Of(DiagnosticRules.Data, at ?? type, type.Name, why)]));

        if (type.IsAbstract) return Refused("is abstract: it must be possible to make one");
        if (type.ContainingType is { IsGenericType: true }) return Refused("stands in a generic type: move it out");
        if (type.IsRefLikeType) return Refused("is a ref struct, which cannot be kept");
        if (IsHidden(type)) return Refused("is private: its codec stands beside it, so make it internal or public");
        if (type.IsGenericType) open = new OpenUse(type, open);
        List<ISymbol> members = Members(type);
        if (ChooseConstructor(type, members) is not { } constructor)
            return Refused(
                "has no public constructor whose parameters are all named like its members: add one, or give all members setters");

        var models = new List<DataMember>();
        foreach (ISymbol member in members)
        {
            cancel.ThrowIfCancellationRequested();
            IParameterSymbol? parameter = constructor.Parameters.FirstOrDefault(each => Matches(each, member));
            if (parameter is null && SettingOf(member) is null) continue;
            ITypeSymbol memberType = TypeOf(member);
            if (TypeReader.Read(memberType, open) is not { } model || model.Shape == Shape.ByteSpan)
                return Refused(
                    $"its member {member.Name} is a {memberType.ToDisplayString()}, which cannot travel{((UnionReader.FaultIn(memberType) ?? GenericData.FaultIn(memberType, open)) is { } fault ? $": {fault}" : "")}",
                    member);
            MemberInitialization setting = parameter is not null ? MemberInitialization.Constructor : SettingOf(member)!.Value;
            models.Add(new DataMember(member.Name, NumberOf(member, parameter), model, setting,
                parameter is null ? "" : Symbols.Identifier(parameter.Name), parameter is null ? null : DefaultValues.Of(parameter),
                Symbols.FullName(member.ContainingType), GenericSetter.Of(member)));
        }
        if (models.Where(member => member.Number is not null).GroupBy(member => member.Number)
            .FirstOrDefault(group => group.Count() > 1) is { } clash)
            return Refused($"has two members of number {clash.Key}");
        models.Sort(CompareKeys);
        if (type.IsGenericType && type.IsDefinition) return new ReadResult<DataModel>(null, default);
        if (GenericData.SchemaNameOf(type, open) is not { } schema) return Refused("has a type argument that cannot travel");
        return new ReadResult<DataModel>(ModelOf(type, schema, models), default);
    }

    private static DataModel ModelOf(INamedTypeSymbol type, string schema, IEnumerable<DataMember> members) => new(
        Symbols.NamespaceOf(type), TypeReader.CodecName(type), Symbols.FullName(type), schema, Symbols.AccessOf(type), type.IsReferenceType,
        type.IsReferenceType && !type.IsSealed, new(members));

    /// <summary>
    /// Returns the members that hold a value which does not arrive: nothing sets them behind the constructor, and no parameter does.
    /// </summary>
    internal static IEnumerable<(ISymbol Member, string Why)> Lost(INamedTypeSymbol type)
    {
        List<ISymbol> members = Members(type);
        if (ChooseConstructor(type, members) is not { } constructor) yield break;
        foreach (ISymbol member in members)
        {
            if (SettingOf(member) is not null || !IsStored(member) || IsLeftOut(member) || constructor.Parameters.Any(each => Matches(
                each, member)))
                continue;
            yield return (member, member switch
            {
                IFieldSymbol => "it is read-only, and no constructor takes it",
                IPropertySymbol { SetMethod: not null } => "its setter is not public; give it a public set or init",
                _ => "it has no setter, and no constructor takes it; write { get; set; } or { get; init; }",
            });
        }
        foreach (ISymbol hidden in type.GetMembers().Where(IsHiddenValue))
            yield return (hidden, "it is not public; make it public, with a setter");
    }

    /// <summary>
    /// Tells whether a member that is not public holds a value of its own. Fields behind properties do not: those travel.
    /// </summary>
    private static bool IsHiddenValue(ISymbol member) =>
        member is IPropertySymbol { IsStatic: false, IsIndexer: false, DeclaredAccessibility: not Accessibility.Public, SetMethod: not null,
            IsImplicitlyDeclared: false } && IsStored(member) && !IsLeftOut(member);

    private static bool IsLeftOut(ISymbol member) => Symbols.Attribute(member, "NotStateAttribute") is not null;

    private static bool IsHidden(INamedTypeSymbol type)
    {
        for (INamedTypeSymbol? at = type; at is not null; at = at.ContainingType)
            if (at.DeclaredAccessibility is Accessibility.Private or Accessibility.Protected or Accessibility.ProtectedAndInternal)
                return true;
        return false;
    }

    /// <summary>
    /// Returns the public instance fields and properties with a getter. A member that a derived class hides does not count; of an
    /// overridden property the declaration with a setter counts.
    /// </summary>
    private static List<ISymbol> Members(INamedTypeSymbol type)
    {
        var members = new List<ISymbol>();
        for (INamedTypeSymbol? at = type; at is not null
            && at.SpecialType is not (SpecialType.System_Object or SpecialType.System_ValueType); at = at.BaseType)
        {
            foreach (ISymbol declared in at.GetMembers().Where(IsMember))
            {
                int known = members.FindIndex(derived => derived.Name == declared.Name);
                if (known < 0) members.Add(declared);
                else if (members[known] is IPropertySymbol { IsOverride: true, SetMethod: null }) members[known] = declared;
            }
        }
        return members;
    }

    private static bool IsMember(ISymbol symbol) =>
        symbol is { IsStatic: false, DeclaredAccessibility: Accessibility.Public } && symbol switch
        {
            IPropertySymbol property => property is { IsIndexer: false, GetMethod.DeclaredAccessibility: Accessibility.Public },
            IFieldSymbol field => !field.IsConst && !field.IsImplicitlyDeclared,
            _ => false,
        };

    /// <summary>
    /// Returns the constructor without parameters if everything can be set afterwards, else the longest whose parameters are all members.
    /// </summary>
    private static IMethodSymbol? ChooseConstructor(INamedTypeSymbol type, List<ISymbol> members)
    {
        List<IMethodSymbol> open = type.InstanceConstructors.Where(each => each.DeclaredAccessibility == Accessibility.Public).ToList();
        IMethodSymbol? empty = open.FirstOrDefault(each => each.Parameters.Length == 0);
        if (empty is not null && members.All(member => SettingOf(member) is not null || !IsStored(member))) return empty;
        bool IsMember(IParameterSymbol parameter) => members.Any(member => Matches(parameter, member));
        return open.Where(each => each.Parameters.All(parameter => IsMember(parameter) || parameter.HasExplicitDefaultValue))
            .OrderByDescending(each => each.Parameters.Count(IsMember))
            .FirstOrDefault();
    }

    /// <summary>
    /// Tells whether a member holds a value. A computed property without a setter is no part of the value. Of another assembly the compiler
    /// shows no private fields, but the getters that it wrote itself are marked.
    /// </summary>
    private static bool IsStored(ISymbol member) =>
        member is IFieldSymbol
        || (member as IPropertySymbol)?.GetMethod?.GetAttributes()
            .Any(static each => each.AttributeClass is { Name: "CompilerGeneratedAttribute" }) == true
        || member.ContainingType.GetMembers().OfType<IFieldSymbol>()
            .Any(field => SymbolEqualityComparer.Default.Equals(field.AssociatedSymbol, member));

    private static bool Matches(IParameterSymbol parameter, ISymbol member) =>
        string.Equals(parameter.Name, member.Name, System.StringComparison.OrdinalIgnoreCase)
        && SymbolEqualityComparer.Default.Equals(parameter.Type, TypeOf(member));

    /// <summary>Null: it cannot be set after construction.</summary>
    private static MemberInitialization? SettingOf(ISymbol member) => member switch
    {
        IFieldSymbol { IsReadOnly: true } => null,
        IFieldSymbol field => field.IsRequired ? MemberInitialization.Initializer : MemberInitialization.Assignment,
        IPropertySymbol { SetMethod: { DeclaredAccessibility: Accessibility.Public } set } property =>
            property.IsRequired ? MemberInitialization.Initializer
            : set.IsInitOnly ? MemberInitialization.Accessor : MemberInitialization.Assignment,
        _ => null,
    };

    private static ITypeSymbol TypeOf(ISymbol member) => member is IPropertySymbol property ? property.Type : ((IFieldSymbol)member).Type;

    private static uint? NumberOf(ISymbol member, IParameterSymbol? parameter)
    {
        AttributeData? given = Symbols.Attribute(member, "FieldAttribute")
            ?? (parameter is null ? null : Symbols.Attribute(parameter, "FieldAttribute"));
        return given is { ConstructorArguments.Length: 1 } && given.ConstructorArguments[0].Value is int number && number >= 0
            ? (uint)number : null;
    }

    /// <summary>Compares by the bytes of the encoded keys: numbers come before names, short names before long ones.</summary>
    private static int CompareKeys(DataMember a, DataMember b)
    {
        if (a.Number is not null || b.Number is not null)
            return (a.Number ?? uint.MaxValue + 1L).CompareTo(b.Number ?? uint.MaxValue + 1L);
        byte[] x = Encoding.UTF8.GetBytes(a.Name), y = Encoding.UTF8.GetBytes(b.Name);
        if (x.Length != y.Length) return x.Length.CompareTo(y.Length);
        for (int i = 0; i < x.Length; i++)
            if (x[i] != y[i]) return x[i].CompareTo(y[i]);
        return 0;
    }
}

/// <summary>It says in which way a member of a data type gets its value.</summary>
internal enum MemberInitialization
{
    Constructor,
    Initializer,
    Assignment,

    /// <summary>
    /// The member is init-only. An accessor sets it after construction, so that a missing value leaves the type's own default.
    /// </summary>
    Accessor,
}

/// <summary>It describes a member of a data type: its key on the wire, and how code sets it.</summary>
/// <param name="Number">The key on the wire, or null where the name is the key.</param>
/// <param name="Parameter">The name of its constructor parameter; empty where it is set otherwise.</param>
/// <param name="Default">The default value of that parameter as C#, or null where it is the type's own.</param>
/// <param name="Declaring">The name of the type that declares it, from <c>global::</c> on.</param>
/// <param name="Generic">It says how the member is set where that type is generic; null where it is not.</param>
internal sealed record DataMember(
    string Name, uint? Number, TypeModel Type, MemberInitialization Initialization, string Parameter, string? Default, string Declaring,
    GenericSetter? Generic)
{
    /// <summary>True if the member is set after construction, once a value for it has arrived.</summary>
    internal bool IsSetLater => Initialization is MemberInitialization.Assignment or MemberInitialization.Accessor;
}

/// <summary>It describes a type marked [Data], for which a codec is generated.</summary>
/// <param name="TypeName">The name from <c>global::</c> on.</param>
/// <param name="IsOpen">True where a value may be of a derived class.</param>
/// <param name="Members">The members in the order of their keys on the wire.</param>
internal sealed record DataModel(
    string Namespace, string CodecName, string TypeName, string Schema, string Access, bool IsReference, bool IsOpen,
    EquatableArray<DataMember> Members)
{
    /// <summary>Values of the type cannot travel, and an error says why.</summary>
    internal bool IsRefused { get; init; }
}
