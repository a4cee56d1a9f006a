// Reads the methods of an assembly whose frames can be in an image: what the compiler made of each, and the hash of its body. Whatever the
// compiler made belongs to the method that refers to it, directly or from something else that was made of that method.
using System.Reflection.Emit;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Security.Cryptography;
using System.Text;

namespace Ambrosia;

internal sealed class BodyReader(PEReader image, PdbLines? lines)
{
    private const int HashBytes = 16;

    private readonly MetadataReader metadata = image.GetMetadataReader();

    /// <summary>Rows in order of their ids.</summary>
    /// <exception cref="BadImageFormatException">It is no assembly with IL.</exception>
    internal List<BodyRow> ReadAll()
    {
        var rows = new List<BodyRow>();
        Dictionary<string, string> sources = SuspendableAttributes.Read(metadata);
        var names = new MemberNames(metadata, self: null);
        foreach (TypeDefinitionHandle type in metadata.TypeDefinitions)
        {
            if (IsGenerated(type)) continue;
            var plain = new MemberNames(metadata, type);
            foreach (MethodDefinitionHandle method in metadata.GetTypeDefinition(type).GetMethods())
                if (!IsGenerated(method) && Read(type, method, names, plain, sources) is { } row) rows.Add(row);
        }
        rows.Sort(static (a, b) => string.CompareOrdinal(a.Id, b.Id));
        return rows;
    }

    /// <summary>Null: the compiler made nothing of it that an image could hold.</summary>
    private BodyRow? Read(
        TypeDefinitionHandle self, MethodDefinitionHandle method, MemberNames names, MemberNames plain, Dictionary<string, string> sources)
    {
        if (!RefersToGenerated(self, method)) return null;
        var text = new StringBuilder();
        var types = new List<TypeDefinitionHandle>();
        var methods = new List<MethodDefinitionHandle> { method };
        for (int i = 0; i < methods.Count; i++) Append(text, methods[i], self, plain, types, methods);
        string id = names.OfMethod(method);
        OwnedType[] ownedTypes = [.. types.Select(each => Own(each, names, plain)).Where(static each => each is not null)!];
        OwnedFunction[] functions = [.. methods.Skip(1).Select(each => Own(each)).Where(static each => each is not null)!];
        if (ownedTypes.Length == 0 && functions.Length == 0) return null;
        string il = Convert.ToHexStringLower(SHA256.HashData(Encoding.UTF8.GetBytes(text.ToString())).AsSpan(0, HashBytes));
        return new BodyRow(id, CSharpNames.Signature(id), il, sources.GetValueOrDefault(id, ""), ownedTypes, functions);
    }

    private bool RefersToGenerated(TypeDefinitionHandle self, MethodDefinitionHandle method)
    {
        if (Il(method) is not { } body) return false;
        foreach (Instruction instruction in Instructions.Of(body.GetILBytes()!))
            if (!instruction.Member.IsNil && DefinitionBehind(instruction.Member) is var (type, called) && IsOf(self, type, called))
                return true;
        return false;
    }

    private void Append(
        StringBuilder text, MethodDefinitionHandle method, TypeDefinitionHandle self, MemberNames plain, List<TypeDefinitionHandle> types,
        List<MethodDefinitionHandle> methods)
    {
        text.Append(plain.OfMethod(method)).Append('\n');
        if (Il(method) is not { } body) return;
        text.Append(plain.Locals(body.LocalSignature)).Append('\n');
        foreach (ExceptionRegion region in body.ExceptionRegions)
            text.Append(
                $"{region.Kind} {region.TryOffset} {region.TryLength} {region.HandlerOffset} {region.HandlerLength} {region.FilterOffset} {plain.Of(region.CatchType)}\n");
        byte[] il = body.GetILBytes()!;
        foreach (Instruction instruction in Instructions.Of(il))
        {
            text.Append(instruction.At).Append(' ').Append(instruction.Code.Name).Append(' ');
            if (!instruction.Member.IsNil)
            {
                text.Append(plain.Of(instruction.Member));
                Meet(instruction.Member, self, types, methods);
            }
            else if (instruction.Code.OperandType == OperandType.InlineString) text.Append(String(il, instruction));
            else text.Append(Convert.ToHexStringLower(il.AsSpan(instruction.Operand)));
            text.Append('\n');
        }
    }

    /// <summary>What is named for the first time and was made by the compiler joins the method.</summary>
    private void Meet(
        EntityHandle member, TypeDefinitionHandle self, List<TypeDefinitionHandle> types, List<MethodDefinitionHandle> methods)
    {
        if (DefinitionBehind(member) is not var (type, method) || !IsOf(self, type, method)) return;
        if (!type.IsNil && IsGenerated(type) && !types.Contains(type) && GeneratedNames.RoleOfType(NameOf(type)) is { } role)
        {
            types.Add(type);
            if (role.EndsWith("machine", StringComparison.Ordinal)) AddMoveNext(type, methods);
        }
        if (!method.IsNil && GeneratedNames.RoleOfFunction(metadata.GetString(metadata.GetMethodDefinition(method).Name)) is not null
            && !methods.Contains(method)) methods.Add(method);
    }

    private void AddMoveNext(TypeDefinitionHandle machine, List<MethodDefinitionHandle> methods)
    {
        foreach (MethodDefinitionHandle each in metadata.GetTypeDefinition(machine).GetMethods())
            if (metadata.StringComparer.Equals(metadata.GetMethodDefinition(each).Name, "MoveNext")) methods.Add(each);
    }

    private OwnedType? Own(TypeDefinitionHandle handle, MemberNames names, MemberNames plain)
    {
        TypeDefinition type = metadata.GetTypeDefinition(handle);
        if (GeneratedNames.RoleOfType(metadata.GetString(type.Name)) is not { } role) return null;
        string kind = names.Of(type.BaseType) == "System.ValueType" ? "struct" : "class"; // Release and Debug
        string[] layout = [kind,
            .. type.GetFields().Select(metadata.GetFieldDefinition)
                .Where(static field => (field.Attributes & System.Reflection.FieldAttributes.Static) == 0)
                .Select(field => $"{metadata.GetString(field.Name)} : {plain.TypeOf(field)}")];
        AwaitSite[] sites = role.EndsWith("machine", StringComparison.Ordinal) ? Sites(type) : [];
        return new OwnedType(names.Of(handle), role, layout, sites);
    }

    private OwnedFunction? Own(MethodDefinitionHandle handle)
    {
        MethodDefinition method = metadata.GetMethodDefinition(handle);
        string name = metadata.GetString(method.Name);
        return GeneratedNames.RoleOfFunction(name) is { } role
            ? new OwnedFunction(new MemberNames(metadata, null).Of(method.GetDeclaringType()), name, role) : null;
    }

    /// <summary>States are the numbers that MoveNext stores in its state field; each is stored just before the method is left.</summary>
    private AwaitSite[] Sites(TypeDefinition machine)
    {
        var moveNext = machine.GetMethods()
            .FirstOrDefault(each => metadata.StringComparer.Equals(metadata.GetMethodDefinition(each).Name, "MoveNext"));
        if (moveNext.IsNil || Il(moveNext) is not { } body) return [];
        var sites = new SortedDictionary<int, AwaitSite>();
        byte[] il = body.GetILBytes()!;
        int? constant = null;
        foreach (Instruction instruction in Instructions.Of(il))
        {
            if (Instructions.Constant(instruction, il) is { } number) constant = number;
            else if (instruction.Code == OpCodes.Stfld && IsState(instruction.Member))
            {
                if (constant is >= 0 and { } state)
                    sites.TryAdd(state, lines?.SiteAt(moveNext, state, instruction.At) ?? new AwaitSite(state, "", 0, ""));
            }
            else if (instruction.Code != OpCodes.Dup && instruction.Code != OpCodes.Nop
                && !instruction.Code.Name!.StartsWith("stloc", StringComparison.Ordinal)) constant = null;
        }
        return [.. sites.Values];
    }

    private bool IsState(EntityHandle field)
    {
        StringHandle name = field.Kind switch
        {
            HandleKind.FieldDefinition => metadata.GetFieldDefinition((FieldDefinitionHandle)field).Name,
            HandleKind.MemberReference => metadata.GetMemberReference((MemberReferenceHandle)field).Name,
            _ => default,
        };
        return !name.IsNil && metadata.StringComparer.Equals(name, "<>1__state");
    }

    /// <summary>The type and the method of this assembly that a token leads to, through generic instances.</summary>
    private (TypeDefinitionHandle Type, MethodDefinitionHandle Method)? DefinitionBehind(EntityHandle handle)
    {
        switch (handle.Kind)
        {
            case HandleKind.TypeDefinition: return ((TypeDefinitionHandle)handle, default);
            case HandleKind.MethodDefinition:
                return (metadata.GetMethodDefinition((MethodDefinitionHandle)handle).GetDeclaringType(), (MethodDefinitionHandle)handle);
            case HandleKind.FieldDefinition:
                return (metadata.GetFieldDefinition((FieldDefinitionHandle)handle).GetDeclaringType(), default);
            case HandleKind.MethodSpecification:
                return DefinitionBehind(metadata.GetMethodSpecification((MethodSpecificationHandle)handle).Method);
            case HandleKind.TypeSpecification:
                TypeDefinitionHandle definition = GenericDefinition.Of(metadata, (TypeSpecificationHandle)handle);
                return definition.IsNil ? null : (definition, default);
            case HandleKind.MemberReference:
                MemberReference member = metadata.GetMemberReference((MemberReferenceHandle)handle);
                if (DefinitionBehind(member.Parent) is not { } parent) return null;
                return (parent.Type, member.GetKind() == MemberReferenceKind.Method ? MethodNamed(parent.Type, member.Name) : default);
            default: return null;
        }
    }

    /// <summary>Names that the compiler made are unique within their type; of others nothing is asked.</summary>
    private MethodDefinitionHandle MethodNamed(TypeDefinitionHandle type, StringHandle name)
    {
        string text = metadata.GetString(name);
        if (!GeneratedNames.IsGenerated(text)) return default;
        return metadata.GetTypeDefinition(type).GetMethods()
            .FirstOrDefault(each => metadata.StringComparer.Equals(metadata.GetMethodDefinition(each).Name, text));
    }

    /// <summary>Made by the compiler for a method of this type.</summary>
    private bool IsOf(TypeDefinitionHandle self, TypeDefinitionHandle type, MethodDefinitionHandle method)
    {
        if (type.IsNil || Outer(type) != self) return false;
        return IsGenerated(type) || (!method.IsNil && IsGenerated(method));
    }

    private TypeDefinitionHandle Outer(TypeDefinitionHandle type)
    {
        while (IsGenerated(type) && metadata.GetTypeDefinition(type).GetDeclaringType() is { IsNil: false } outer) type = outer;
        return type;
    }

    private bool IsGenerated(TypeDefinitionHandle type) => GeneratedNames.IsGenerated(NameOf(type));

    private bool IsGenerated(MethodDefinitionHandle method) =>
        GeneratedNames.IsGenerated(metadata.GetString(metadata.GetMethodDefinition(method).Name));

    private string NameOf(TypeDefinitionHandle type) => metadata.GetString(metadata.GetTypeDefinition(type).Name);

    private string String(byte[] il, Instruction instruction) =>
        metadata.GetUserString(
            (UserStringHandle)System.Reflection.Metadata.Ecma335.MetadataTokens.Handle(
                BitConverter.ToInt32(il, instruction.Operand.Start.Value)));

    private MethodBodyBlock? Il(MethodDefinitionHandle method)
    {
        int rva = metadata.GetMethodDefinition(method).RelativeVirtualAddress;
        return rva == 0 ? null : image.GetMethodBody(rva);
    }
}
