using System.Buffers.Binary;
using System.Collections.Immutable;
using System.Reflection;
using System.Reflection.Emit;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;

namespace Ambrosia.MethodBodies;

/// <summary>One instruction of a method's IL. <see cref="Instructions"/> finds it.</summary>
/// <param name="At">Offset of its first byte.</param>
/// <param name="Member">The member or type that it names; nil: none.</param>
/// <param name="Operand">Offset and length of its operand.</param>
internal readonly record struct Instruction(int At, OpCode Code, EntityHandle Member, Range Operand);

/// <summary>Walks the instructions of a method's IL.</summary>
internal static class Instructions
{
    private const byte Prefix = 0xFE;
    private static readonly OpCode[] s_one = new OpCode[256], s_two = new OpCode[256];

    static Instructions()
    {
        foreach (FieldInfo field in typeof(OpCodes).GetFields(BindingFlags.Public | BindingFlags.Static))
        {
            var code = (OpCode)field.GetValue(null)!;
            ushort value = (ushort)code.Value;
            if (code.Size == 1) s_one[value] = code;
            else s_two[value & 0xFF] = code;
        }
    }

    internal static IEnumerable<Instruction> Of(byte[] il)
    {
        for (int at = 0; at < il.Length;)
        {
            OpCode code = il[at] == Prefix ? s_two[il[at + 1]] : s_one[il[at]];
            int operandAt = at + code.Size, size = OperandBytes(code.OperandType, il, operandAt);
            EntityHandle member = NamesAMember(code.OperandType)
                ? (EntityHandle)MetadataTokens.Handle(BinaryPrimitives.ReadInt32LittleEndian(il.AsSpan(operandAt))) : default;
            yield return new Instruction(at, code, member, operandAt..(operandAt + size));
            at = operandAt + size;
        }
    }

    /// <summary>Returns the number that a load of a constant pushes; null when the instruction is none.</summary>
    internal static int? Constant(Instruction instruction, byte[] il) => instruction.Code.Name switch
    {
        "ldc.i4" => BinaryPrimitives.ReadInt32LittleEndian(il.AsSpan(instruction.Operand)),
        "ldc.i4.s" => (sbyte)il[instruction.Operand.Start.Value],
        "ldc.i4.m1" => -1,
        { } name when name.StartsWith("ldc.i4.", StringComparison.Ordinal) => name[^1] - '0',
        _ => null,
    };

    private static bool NamesAMember(OperandType type) =>
        type is OperandType.InlineField or OperandType.InlineMethod or OperandType.InlineTok or OperandType.InlineType
            or OperandType.InlineSig;

    private static int OperandBytes(OperandType type, byte[] il, int at) => type switch
    {
        OperandType.InlineNone => 0,
        OperandType.ShortInlineBrTarget or OperandType.ShortInlineI or OperandType.ShortInlineVar => 1,
        OperandType.InlineVar => 2,
        OperandType.InlineI8 or OperandType.InlineR => 8,
        OperandType.InlineSwitch => 4 + 4 * BinaryPrimitives.ReadInt32LittleEndian(il.AsSpan(at)),
        _ => 4,
    };
}

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
