using System.Collections.Immutable;
using System.Reflection.Metadata;

namespace Ambrosia.MethodBodies;

/// <summary>
/// Finds the type of this assembly that a generic instance is made of; nil means that it is another assembly's, or no instance.
/// </summary>
internal sealed class GenericDefinition : ISignatureTypeProvider<TypeDefinitionHandle, object?>
{
    private static readonly GenericDefinition s_instance = new();

    internal static TypeDefinitionHandle Of(MetadataReader metadata, TypeSpecificationHandle handle) =>
        metadata.GetTypeSpecification(handle).DecodeSignature(s_instance, null);

    TypeDefinitionHandle ISimpleTypeProvider<TypeDefinitionHandle>.GetPrimitiveType(PrimitiveTypeCode typeCode) => default;

    TypeDefinitionHandle ISimpleTypeProvider<TypeDefinitionHandle>.GetTypeFromDefinition(
        MetadataReader reader, TypeDefinitionHandle handle, byte rawTypeKind) => handle;

    TypeDefinitionHandle ISimpleTypeProvider<TypeDefinitionHandle>.GetTypeFromReference(
        MetadataReader reader, TypeReferenceHandle handle, byte rawTypeKind) => default;

    TypeDefinitionHandle ISignatureTypeProvider<TypeDefinitionHandle, object?>.GetTypeFromSpecification(
        MetadataReader reader, object? genericContext, TypeSpecificationHandle handle, byte rawTypeKind) => default;

    TypeDefinitionHandle ISZArrayTypeProvider<TypeDefinitionHandle>.GetSZArrayType(TypeDefinitionHandle elementType) => default;

    TypeDefinitionHandle IConstructedTypeProvider<TypeDefinitionHandle>.GetArrayType(TypeDefinitionHandle elementType, ArrayShape shape) =>
        default;

    TypeDefinitionHandle IConstructedTypeProvider<TypeDefinitionHandle>.GetByReferenceType(TypeDefinitionHandle elementType) => default;

    TypeDefinitionHandle IConstructedTypeProvider<TypeDefinitionHandle>.GetPointerType(TypeDefinitionHandle elementType) => default;

    TypeDefinitionHandle IConstructedTypeProvider<TypeDefinitionHandle>.GetGenericInstantiation(
        TypeDefinitionHandle genericType, ImmutableArray<TypeDefinitionHandle> typeArguments) => genericType;

    TypeDefinitionHandle ISignatureTypeProvider<TypeDefinitionHandle, object?>.GetGenericMethodParameter(
        object? genericContext, int index) => default;

    TypeDefinitionHandle ISignatureTypeProvider<TypeDefinitionHandle, object?>.GetGenericTypeParameter(object? genericContext, int index) =>
        default;

    TypeDefinitionHandle ISignatureTypeProvider<TypeDefinitionHandle, object?>.GetModifiedType(
        TypeDefinitionHandle modifier, TypeDefinitionHandle unmodifiedType, bool isRequired) => unmodifiedType;

    TypeDefinitionHandle ISignatureTypeProvider<TypeDefinitionHandle, object?>.GetPinnedType(TypeDefinitionHandle elementType) =>
        elementType;

    TypeDefinitionHandle ISignatureTypeProvider<TypeDefinitionHandle, object?>.GetFunctionPointerType(
        MethodSignature<TypeDefinitionHandle> signature) => default;
}
