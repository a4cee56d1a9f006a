using System.Reflection;
using System.Reflection.Emit;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Security.Cryptography;
using System.Text;
using Ambrosia.MethodBodies;

namespace Ambrosia.Builds;

/// <summary>
/// Holds of a method what is compared between builds: the hash of its signature and IL, spelled by names so that no token, offset or
/// version enters it; and the instructions that name members, which lead on to other methods.
/// </summary>
internal sealed record MethodText(byte[] Hash, IReadOnlyList<Instruction> Members)
{
    internal static MethodText Read(AppAssembly assembly, MethodDefinitionHandle handle)
    {
        MethodDefinition method = assembly.Metadata.GetMethodDefinition(handle);
        var text = new StringBuilder();
        AppendHead(text, assembly, handle, method);
        List<Instruction> members = [];
        if (assembly.BodyOf(method) is { } body) AppendBody(text, assembly, body, members);
        return new MethodText(Digest.Of(text), members);
    }

    /// <summary>Returns the instructions that name members alone, for those who compare nothing.</summary>
    internal static IReadOnlyList<Instruction> MembersOf(AppAssembly assembly, MethodDefinitionHandle handle) =>
        assembly.BodyOf(assembly.Metadata.GetMethodDefinition(handle)) is { } body
            ? [.. Instructions.Of(body.GetILBytes()!).Where(static each => !each.Member.IsNil)] : [];

    private static void AppendHead(StringBuilder text, AppAssembly assembly, MethodDefinitionHandle handle, MethodDefinition method)
    {
        text.Append(assembly.Names.OfMethod(handle)).Append(' ')
            .Append((int)(method.Attributes & ~MethodAttributes.MemberAccessMask)).Append(' ').Append((int)method.ImplAttributes);
        AppendGenerics(text, assembly, method.GetGenericParameters());
        if ((method.Attributes & MethodAttributes.PinvokeImpl) != 0)
        {
            MethodImport import = method.GetImport();
            text.Append(" imports ").Append((int)import.Attributes).Append(' ').Append(assembly.Metadata.GetString(import.Name))
                .Append(" of ").Append(assembly.Metadata.GetString(assembly.Metadata.GetModuleReference(import.Module).Name));
        }
        text.Append('\n');
    }

    /// <summary>
    /// Appends constraints and variances, which decide what an instance may be. The names of the parameters do not matter.
    /// </summary>
    internal static void AppendGenerics(StringBuilder text, AppAssembly assembly, GenericParameterHandleCollection parameters)
    {
        foreach (GenericParameterHandle each in parameters)
        {
            GenericParameter parameter = assembly.Metadata.GetGenericParameter(each);
            text.Append(" of ").Append((int)parameter.Attributes);
            foreach (GenericParameterConstraintHandle constraint in parameter.GetConstraints())
                text.Append(' ').Append(assembly.Names.Of(assembly.Metadata.GetGenericParameterConstraint(constraint).Type));
        }
    }

    private static void AppendBody(StringBuilder text, AppAssembly assembly, MethodBodyBlock body, List<Instruction> members)
    {
        text.Append(body.LocalVariablesInitialized).Append(' ').Append(assembly.Names.Locals(body.LocalSignature)).Append('\n');
        foreach (ExceptionRegion region in body.ExceptionRegions)
            text.Append(
                $"{region.Kind} {region.TryOffset} {region.TryLength} {region.HandlerOffset} {region.HandlerLength} {region.FilterOffset} {assembly.Names.Of(region.CatchType)}\n");
        byte[] il = body.GetILBytes()!;
        foreach (Instruction instruction in Instructions.Of(il))
        {
            text.Append(instruction.Code.Name).Append(' ');
            if (!instruction.Member.IsNil)
            {
                text.Append(assembly.Names.Of(instruction.Member)).Append(DataOf(assembly, instruction.Member));
                members.Add(instruction);
            }
            else if (instruction.Code.OperandType == OperandType.InlineString) AppendString(text, assembly, il, instruction);
            else text.Append(Convert.ToHexStringLower(il.AsSpan(instruction.Operand)));
            text.Append('\n');
        }
    }

    /// <summary>Appends a string with its length in front, so that no string looks like instructions.</summary>
    private static void AppendString(StringBuilder text, AppAssembly assembly, byte[] il, Instruction instruction)
    {
        string value = assembly.Metadata.GetUserString(
            (UserStringHandle)MetadataTokens.Handle(BitConverter.ToInt32(il, instruction.Operand.Start.Value)));
        text.Append(value.Length).Append(':').Append(value);
    }

    private static string DataOf(AppAssembly assembly, EntityHandle member) =>
        member.Kind == HandleKind.FieldDefinition
        && assembly.DataOf(assembly.Metadata.GetFieldDefinition((FieldDefinitionHandle)member)) is { Length: > 0 } data ? $" = {data}" : "";
}

/// <summary>Hashes texts. All that is compared between builds is a text first.</summary>
internal static class Digest
{
    internal const int ShortBytes = 8;

    /// <summary>Returns SHA-256 of the text in UTF-16, which keeps halves of surrogates apart as well.</summary>
    internal static byte[] Of(StringBuilder text)
    {
        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        foreach (ReadOnlyMemory<char> chunk in text.GetChunks())
            hash.AppendData(System.Runtime.InteropServices.MemoryMarshal.AsBytes(chunk.Span));
        return hash.GetHashAndReset();
    }

    /// <summary>Returns the form in which a document states a hash.</summary>
    internal static string Short(StringBuilder text) => Convert.ToHexStringLower(Of(text).AsSpan(0, ShortBytes));
}
