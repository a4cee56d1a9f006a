using System.Collections.Immutable;
using System.Reflection.Metadata;
using System.Text;

namespace Ambrosia.MethodBodies;

/// <summary>
/// Spells the names of types and members out of metadata, in the forms that bodies, layouts and ids need. With a self type its name is
/// <c>$self</c> and the compiler's moving ordinals are left out, so that equal bodies of two builds, or of two versions of a class, give
/// equal text.
/// </summary>
/// <param name="self">The type that is spelled <c>$self</c>; null: names are exact.</param>
/// <param name="renamed">A method that is spelled as if it had its former name, with all that the compiler made of it.</param>
internal sealed class MemberNames(MetadataReader metadata, TypeDefinitionHandle? self, FormerName? renamed = null)
    : ISignatureTypeProvider<string, object?>
{
    private readonly Dictionary<EntityHandle, string> _known = [];

    internal string Of(EntityHandle handle)
    {
        if (handle.IsNil) return "";
        if (_known.TryGetValue(handle, out string? name)) return name;
        return _known[handle] = handle.Kind switch
        {
            HandleKind.TypeDefinition => OfType((TypeDefinitionHandle)handle),
            HandleKind.TypeReference => OfType((TypeReferenceHandle)handle),
            HandleKind.TypeSpecification => metadata.GetTypeSpecification((TypeSpecificationHandle)handle).DecodeSignature(this, null),
            HandleKind.MethodDefinition => OfMethod((MethodDefinitionHandle)handle),
            HandleKind.FieldDefinition => OfField((FieldDefinitionHandle)handle),
            HandleKind.MemberReference => OfReference(metadata.GetMemberReference((MemberReferenceHandle)handle)),
            HandleKind.MethodSpecification => OfSpecification(metadata.GetMethodSpecification((MethodSpecificationHandle)handle)),
            HandleKind.StandaloneSignature => OfSignature((StandaloneSignatureHandle)handle),
            _ => handle.Kind.ToString(),
        };
    }

    /// <summary>Returns a method as <c>Type.Method(parameters):result</c>.</summary>
    internal string OfMethod(MethodDefinitionHandle handle)
    {
        MethodDefinition method = metadata.GetMethodDefinition(handle);
        MethodSignature<string> signature = method.DecodeSignature(this, null);
        string name = renamed is { } former && former.Method == handle ? former.Name : Plain(metadata.GetString(method.Name));
        return $"{Of(method.GetDeclaringType())}.{name}{Generic(signature.GenericParameterCount)}{Parameters(signature)}";
    }

    /// <summary>Returns what two methods that can take each other's place have in common: <c>&lt;!!0&gt;(parameters):result</c>.</summary>
    internal string SignatureOf(MethodDefinition method)
    {
        MethodSignature<string> signature = method.DecodeSignature(this, null);
        return $"{(signature.Header.IsInstance ? "" : "static ")}{Generic(signature.GenericParameterCount)}{Parameters(signature)}";
    }

    /// <summary>Returns the types of the local variables.</summary>
    internal string Locals(StandaloneSignatureHandle handle) =>
        handle.IsNil ? "" : string.Join(' ', metadata.GetStandaloneSignature(handle).DecodeLocalSignature(this, null));

    /// <summary>Returns the signature that a call by a pointer names.</summary>
    private string OfSignature(StandaloneSignatureHandle handle)
    {
        StandaloneSignature signature = metadata.GetStandaloneSignature(handle);
        return signature.GetKind() == StandaloneSignatureKind.Method
            ? $"method{Parameters(signature.DecodeMethodSignature(this, null))}" : Locals(handle);
    }

    internal string TypeOf(FieldDefinition field) => field.DecodeSignature(this, null);

    private string OfField(FieldDefinitionHandle handle)
    {
        FieldDefinition field = metadata.GetFieldDefinition(handle);
        return $"{Of(field.GetDeclaringType())}.{Plain(metadata.GetString(field.Name))}:{TypeOf(field)}";
    }

    private string OfReference(MemberReference member)
    {
        string name = $"{Of(member.Parent)}.{Plain(metadata.GetString(member.Name))}";
        if (member.GetKind() == MemberReferenceKind.Field) return $"{name}:{member.DecodeFieldSignature(this, null)}";
        MethodSignature<string> signature = member.DecodeMethodSignature(this, null);
        return $"{name}{Generic(signature.GenericParameterCount)}{Parameters(signature)}";
    }

    private string OfSpecification(MethodSpecification specification) =>
        $"{Of(specification.Method)}<{string.Join(',', specification.DecodeSignature(this, null))}>";

    private string OfType(TypeDefinitionHandle handle)
    {
        if (handle == self) return "$self";
        TypeDefinition type = metadata.GetTypeDefinition(handle);
        string name = PlainType(metadata.GetString(type.Name));
        if (name.StartsWith("<>f__AnonymousType", StringComparison.Ordinal))
            return $"anonymous({string.Join(',', type.GetProperties().Select(each => metadata.GetString(metadata.GetPropertyDefinition(each).Name)))})";
        if (!type.GetDeclaringType().IsNil) return $"{Of(type.GetDeclaringType())}+{name}";
        return type.Namespace.IsNil ? name : $"{metadata.GetString(type.Namespace)}.{name}";
    }

    private string OfType(TypeReferenceHandle handle)
    {
        TypeReference type = metadata.GetTypeReference(handle);
        string name = PlainType(metadata.GetString(type.Name));
        if (type.ResolutionScope.Kind == HandleKind.TypeReference) return $"{Of(type.ResolutionScope)}+{name}";
        return type.Namespace.IsNil ? name : $"{metadata.GetString(type.Namespace)}.{name}";
    }

    private string Plain(string name)
    {
        string plain = self is null ? name : GeneratedNames.Plain(name);
        return renamed is { } former ? plain.Replace(former.MadeNow, former.MadeBefore, StringComparison.Ordinal) : plain;
    }

    private string PlainType(string name)
    {
        string plain = self is null ? name : GeneratedNames.Plain(name);
        return renamed is { } former ? plain.Replace(former.MadeNow, former.MadeBefore.Replace('.', '-'), StringComparison.Ordinal) : plain;
    }

    private static string Generic(int parameters)
    {
        if (parameters == 0) return "";
        var text = new StringBuilder("<");
        for (int i = 0; i < parameters; i++) text.Append(i == 0 ? "" : ",").Append("!!").Append(i);
        return text.Append('>').ToString();
    }

    private static string Parameters(MethodSignature<string> signature) =>
        $"({string.Join(',', signature.ParameterTypes)}):{signature.ReturnType}";

    string ISimpleTypeProvider<string>.GetPrimitiveType(PrimitiveTypeCode typeCode) =>
        typeCode == PrimitiveTypeCode.TypedReference ? "System.TypedReference" : $"System.{typeCode}";

    string ISimpleTypeProvider<string>.GetTypeFromDefinition(MetadataReader reader, TypeDefinitionHandle handle, byte rawTypeKind) =>
        Of(handle);

    string ISimpleTypeProvider<string>.GetTypeFromReference(MetadataReader reader, TypeReferenceHandle handle, byte rawTypeKind) =>
        Of(handle);

    string ISignatureTypeProvider<string, object?>.GetTypeFromSpecification(
        MetadataReader reader, object? genericContext, TypeSpecificationHandle handle, byte rawTypeKind) => Of(handle);

    string ISZArrayTypeProvider<string>.GetSZArrayType(string elementType) => $"{elementType}[]";

    string IConstructedTypeProvider<string>.GetArrayType(string elementType, ArrayShape shape) =>
        $"{elementType}[{new string(',', shape.Rank - 1)}]";

    string IConstructedTypeProvider<string>.GetByReferenceType(string elementType) => $"{elementType}&";

    string IConstructedTypeProvider<string>.GetPointerType(string elementType) => $"{elementType}*";

    string IConstructedTypeProvider<string>.GetGenericInstantiation(string genericType, ImmutableArray<string> typeArguments) =>
        $"{genericType}<{string.Join(',', typeArguments)}>";

    string ISignatureTypeProvider<string, object?>.GetGenericMethodParameter(object? genericContext, int index) => $"!!{index}";

    string ISignatureTypeProvider<string, object?>.GetGenericTypeParameter(object? genericContext, int index) => $"!{index}";

    string ISignatureTypeProvider<string, object?>.GetModifiedType(string modifier, string unmodifiedType, bool isRequired) =>
        unmodifiedType;

    string ISignatureTypeProvider<string, object?>.GetPinnedType(string elementType) => elementType;

    string ISignatureTypeProvider<string, object?>.GetFunctionPointerType(MethodSignature<string> signature) =>
        $"method{Parameters(signature)}";
}
