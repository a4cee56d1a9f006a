using System.Collections.Immutable;
using System.Reflection.Metadata;

namespace Ambrosia.Builds;

/// <summary>
/// A type as a signature names it: the app's, or one outside of which only the name is known. Instances count as definitions.
/// </summary>
internal readonly record struct NamedType(AppType? Type, string Name);

/// <summary>Says what a token in a method's IL leads to.</summary>
internal sealed class TokenTarget
{
    /// <summary>The app's type that is named, or that the member is of; null when it is outside.</summary>
    internal AppType? Type { get; private init; }

    /// <summary>The name of that type where it is outside; empty otherwise.</summary>
    internal string Outside { get; private init; } = "";

    /// <summary>The name of the member; empty: it is a type.</summary>
    internal string Name { get; private init; } = "";

    internal int ParameterCount { get; private init; }

    internal bool IsField { get; private init; }

    /// <summary>The methods of the app that it can be: one, or those of the name where an instance's signature is not told apart.</summary>
    internal IReadOnlyList<AppMethod> Methods { get; private init; } = [];

    /// <summary>All types that the token names: of the member, its signature and their arguments.</summary>
    internal IReadOnlyList<NamedType> Types { get; private init; } = [];

    /// <summary>The types of a method's parameters.</summary>
    internal IReadOnlyList<string> Parameters { get; private init; } = [];

    /// <summary>The type arguments of a generic method.</summary>
    internal IReadOnlyList<NamedType> Arguments { get; private init; } = [];

    internal static TokenTarget Of(AppCode code, AppAssembly assembly, EntityHandle handle) => handle.Kind switch
    {
        HandleKind.TypeDefinition or HandleKind.TypeReference or HandleKind.TypeSpecification => OfType(code, assembly, handle),
        HandleKind.MethodDefinition => OfMethod(code, assembly, (MethodDefinitionHandle)handle),
        HandleKind.FieldDefinition => OfField(code, assembly, (FieldDefinitionHandle)handle),
        HandleKind.MemberReference => OfReference(code, assembly, (MemberReferenceHandle)handle),
        HandleKind.MethodSpecification => OfInstance(code, assembly, (MethodSpecificationHandle)handle),
        _ => new TokenTarget(),
    };

    private static TokenTarget OfType(AppCode code, AppAssembly assembly, EntityHandle handle)
    {
        var types = new NamedTypes(code, assembly);
        NamedType head = types.Add(handle);
        return new TokenTarget { Type = head.Type, Outside = OutsideOf(head), Types = types.All };
    }

    private static TokenTarget OfMethod(AppCode code, AppAssembly assembly, MethodDefinitionHandle handle)
    {
        MethodDefinition method = assembly.Metadata.GetMethodDefinition(handle);
        var types = new NamedTypes(code, assembly);
        MethodSignature<NamedType> signature = method.DecodeSignature(types, null);
        AppType type = code.TypeOf(assembly, method.GetDeclaringType());
        return new TokenTarget
        {
            Type = type, Name = assembly.Metadata.GetString(method.Name), ParameterCount = signature.ParameterTypes.Length,
            Types = types.All, Methods = [type.Methods.Find(each => each.Handle == handle)!], Parameters = NamesOf(signature),
        };
    }

    private static TokenTarget OfField(AppCode code, AppAssembly assembly, FieldDefinitionHandle handle)
    {
        FieldDefinition field = assembly.Metadata.GetFieldDefinition(handle);
        var types = new NamedTypes(code, assembly);
        field.DecodeSignature(types, null);
        return new TokenTarget
        {
            Type = code.TypeOf(assembly, field.GetDeclaringType()), Name = assembly.Metadata.GetString(field.Name), IsField = true,
            Types = types.All,
        };
    }

    private static TokenTarget OfReference(AppCode code, AppAssembly assembly, MemberReferenceHandle handle)
    {
        MemberReference member = assembly.Metadata.GetMemberReference(handle);
        if (member.Parent.Kind == HandleKind.MethodDefinition) // a call with a variable list of arguments
            return OfMethod(code, assembly, (MethodDefinitionHandle)member.Parent);
        var types = new NamedTypes(code, assembly);
        NamedType head = types.Add(member.Parent);
        string name = assembly.Metadata.GetString(member.Name);
        if (member.GetKind() == MemberReferenceKind.Field)
        {
            member.DecodeFieldSignature(types, null);
            return new TokenTarget { Type = head.Type, Outside = OutsideOf(head), Name = name, IsField = true, Types = types.All };
        }
        MethodSignature<NamedType> signature = member.DecodeMethodSignature(types, null);
        int count = signature.RequiredParameterCount;
        return new TokenTarget
        {
            Type = head.Type, Outside = OutsideOf(head), Name = name, ParameterCount = count, Types = types.All,
            Methods = head.Type is null ? [] : Find(assembly, head.Type, member, handle, name, count), Parameters = NamesOf(signature),
        };
    }

    private static TokenTarget OfInstance(AppCode code, AppAssembly assembly, MethodSpecificationHandle handle)
    {
        MethodSpecification instance = assembly.Metadata.GetMethodSpecification(handle);
        TokenTarget method = Of(code, assembly, instance.Method);
        var types = new NamedTypes(code, assembly);
        instance.DecodeSignature(types, null);
        return new TokenTarget
        {
            Type = method.Type, Outside = method.Outside, Name = method.Name, ParameterCount = method.ParameterCount,
            Methods = method.Methods, Parameters = method.Parameters, Types = [.. method.Types, .. types.All], Arguments = types.All,
        };
    }

    /// <summary>Finds a method by its signature in the type, else those of its name in the type and its base classes.</summary>
    private static IReadOnlyList<AppMethod> Find(
        AppAssembly assembly, AppType type, MemberReference member, MemberReferenceHandle handle, string name, int parameters)
    {
        string signature = assembly.Names.Of(handle)[assembly.Names.Of(member.Parent).Length..];
        int typeLength = type.Assembly.Names.Of(type.Handle).Length;
        List<AppMethod> named = type.Methods.FindAll(each => each.Name == name);
        if (named.Find(each => each.Signature[typeLength..] == signature) is { } exact) return [exact];
        for (AppType? at = type; at is not null; at = at.Base)
            if (at.Methods.FindAll(each => each.Name == name && each.ParameterCount == parameters) is { Count: > 0 } found) return found;
        return named;
    }

    private static string[] NamesOf(MethodSignature<NamedType> signature) =>
        [.. signature.ParameterTypes.Select(static each => each.Name)];

    private static string OutsideOf(NamedType type) => type.Type is null ? type.Name : "";
}

/// <summary>Collects the types that signatures name.</summary>
internal sealed class NamedTypes(AppCode code, AppAssembly assembly) : ISignatureTypeProvider<NamedType, object?>
{
    private readonly List<NamedType> _all = [];

    internal IReadOnlyList<NamedType> All => _all;

    /// <summary>The types that were added as a whole, in order.</summary>
    internal List<NamedType> Heads { get; } = [];

    /// <summary>Adds a type, with its arguments, and returns its definition.</summary>
    internal NamedType Add(EntityHandle handle)
    {
        NamedType head = handle.IsNil ? default : handle.Kind switch
        {
            HandleKind.TypeDefinition => OfDefinition((TypeDefinitionHandle)handle),
            HandleKind.TypeReference => OfReference((TypeReferenceHandle)handle),
            HandleKind.TypeSpecification =>
                assembly.Metadata.GetTypeSpecification((TypeSpecificationHandle)handle).DecodeSignature(this, null),
            _ => default,
        };
        if (head.Name is not null) Heads.Add(head);
        return head.Name is null ? new NamedType(null, "") : head;
    }

    private NamedType OfDefinition(TypeDefinitionHandle handle)
    {
        AppType type = code.TypeOf(assembly, handle);
        return Seen(new NamedType(type, type.FullName));
    }

    private NamedType OfReference(TypeReferenceHandle handle) =>
        Seen(new NamedType(code.TypeOf(assembly, handle), AppCode.NameOf(assembly, handle)));

    private NamedType Seen(NamedType type)
    {
        _all.Add(type);
        return type;
    }

    NamedType ISimpleTypeProvider<NamedType>.GetPrimitiveType(PrimitiveTypeCode typeCode) => new(null, $"System.{typeCode}");

    NamedType ISimpleTypeProvider<NamedType>.GetTypeFromDefinition(MetadataReader reader, TypeDefinitionHandle handle, byte rawTypeKind) =>
        OfDefinition(handle);

    NamedType ISimpleTypeProvider<NamedType>.GetTypeFromReference(MetadataReader reader, TypeReferenceHandle handle, byte rawTypeKind) =>
        OfReference(handle);

    NamedType ISignatureTypeProvider<NamedType, object?>.GetTypeFromSpecification(
        MetadataReader reader, object? genericContext, TypeSpecificationHandle handle, byte rawTypeKind) =>
        reader.GetTypeSpecification(handle).DecodeSignature(this, null);

    NamedType ISZArrayTypeProvider<NamedType>.GetSZArrayType(NamedType elementType) => elementType;

    NamedType IConstructedTypeProvider<NamedType>.GetArrayType(NamedType elementType, ArrayShape shape) => elementType;

    NamedType IConstructedTypeProvider<NamedType>.GetByReferenceType(NamedType elementType) => elementType;

    NamedType IConstructedTypeProvider<NamedType>.GetPointerType(NamedType elementType) => elementType;

    NamedType IConstructedTypeProvider<NamedType>.GetGenericInstantiation(
        NamedType genericType, ImmutableArray<NamedType> typeArguments) => genericType;

    NamedType ISignatureTypeProvider<NamedType, object?>.GetGenericMethodParameter(object? genericContext, int index) =>
        new(null, $"!!{index}");

    NamedType ISignatureTypeProvider<NamedType, object?>.GetGenericTypeParameter(object? genericContext, int index) =>
        new(null, $"!{index}");

    NamedType ISignatureTypeProvider<NamedType, object?>.GetModifiedType(
        NamedType modifier, NamedType unmodifiedType, bool isRequired) => unmodifiedType;

    NamedType ISignatureTypeProvider<NamedType, object?>.GetPinnedType(NamedType elementType) => elementType;

    NamedType ISignatureTypeProvider<NamedType, object?>.GetFunctionPointerType(MethodSignature<NamedType> signature) =>
        new(null, "method");
}
