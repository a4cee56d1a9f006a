using System.Reflection.Emit;
using System.Reflection.Metadata;
using System.Reflection.PortableExecutable;
using System.Security.Cryptography;
using System.Text;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.MethodBodies;

/// <summary>
/// Reads the methods of an assembly whose frames can be in an image: what the compiler made of each, and the hash of its body. Whatever the
/// compiler made belongs to the method that refers to it, directly or from something else that was made of that method.
/// </summary>
internal sealed class MethodBodyReader(PEReader image, PdbLines? lines)
{
    private const int HashBytes = 16;

    private readonly MetadataReader _metadata = image.GetMetadataReader();

    /// <summary>Reads all methods and returns their rows in the order of their ids.</summary>
    /// <exception cref="BadImageFormatException">It is no assembly with IL.</exception>
    internal List<MethodBodyRow> ReadAll()
    {
        var rows = new List<MethodBodyRow>();
        Dictionary<string, string> sources = SuspendableAttributes.Read(_metadata);
        var names = new MemberNames(_metadata, self: null);
        foreach (TypeDefinitionHandle type in _metadata.TypeDefinitions)
        {
            if (IsGenerated(type)) continue;
            var plain = new MemberNames(_metadata, type);
            foreach (MethodDefinitionHandle method in _metadata.GetTypeDefinition(type).GetMethods())
                if (!IsGenerated(method) && Read(type, method, names, plain, sources) is { } row) rows.Add(row);
        }
        rows.Sort(static (a, b) => string.CompareOrdinal(a.Id, b.Id));
        return rows;
    }

    /// <summary>Reads one method; null when the compiler made nothing of it that an image could hold.</summary>
    private MethodBodyRow? Read(
        TypeDefinitionHandle self, MethodDefinitionHandle method, MemberNames names, MemberNames plain, Dictionary<string, string> sources)
    {
        if (!RefersToGenerated(self, method)) return null;
        FormerName? former = FormerName.Of(_metadata, method);
        if (former is not null) plain = new MemberNames(_metadata, self, former);
        var text = new StringBuilder();
        var types = new List<TypeDefinitionHandle>();
        var methods = new List<MethodDefinitionHandle> { method };
        for (int i = 0; i < methods.Count; i++) Append(text, methods[i], self, plain, types, methods);
        string id = names.OfMethod(method);
        OwnedType[] ownedTypes = [.. types.Select(each => Own(each, names, plain)).Where(static each => each is not null)!];
        OwnedFunction[] functions = [.. methods.Skip(1).Select(each => Own(each)).Where(static each => each is not null)!];
        if (ownedTypes.Length == 0 && functions.Length == 0) return null;
        string il = Convert.ToHexStringLower(SHA256.HashData(Utf8Text.Exact(text.ToString())).AsSpan(0, HashBytes));
        return new MethodBodyRow(id, CSharpNames.Signature(id), il, sources.GetValueOrDefault(id, ""), ownedTypes, functions)
        {
            FormerOf = former is null ? null : new MemberNames(_metadata, null, former).OfMethod(method),
        };
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

    /// <summary>Lets what is named for the first time join the method, if the compiler made it.</summary>
    private void Meet(
        EntityHandle member, TypeDefinitionHandle self, List<TypeDefinitionHandle> types, List<MethodDefinitionHandle> methods)
    {
        if (DefinitionBehind(member) is not var (type, method) || !IsOf(self, type, method)) return;
        if (!type.IsNil && IsGenerated(type) && !types.Contains(type) && GeneratedNames.RoleOfType(NameOf(type)) is { } role)
        {
            types.Add(type);
            if (role.EndsWith("machine", StringComparison.Ordinal)) AddMoveNext(type, methods);
        }
        if (!method.IsNil && GeneratedNames.RoleOfFunction(_metadata.GetString(_metadata.GetMethodDefinition(method).Name)) is not null
            && !methods.Contains(method)) methods.Add(method);
    }

    private void AddMoveNext(TypeDefinitionHandle machine, List<MethodDefinitionHandle> methods)
    {
        foreach (MethodDefinitionHandle each in _metadata.GetTypeDefinition(machine).GetMethods())
            if (_metadata.StringComparer.Equals(_metadata.GetMethodDefinition(each).Name, "MoveNext")) methods.Add(each);
    }

    private OwnedType? Own(TypeDefinitionHandle handle, MemberNames names, MemberNames plain)
    {
        TypeDefinition type = _metadata.GetTypeDefinition(handle);
        if (GeneratedNames.RoleOfType(_metadata.GetString(type.Name)) is not { } role) return null;
        string kind = names.Of(type.BaseType) == "System.ValueType" ? "struct" : "class"; // Release and Debug
        string[] layout = [kind,
            .. type.GetFields().Select(_metadata.GetFieldDefinition)
                .Where(static field => (field.Attributes & System.Reflection.FieldAttributes.Static) == 0)
                .Select(field => $"{_metadata.GetString(field.Name)} : {plain.TypeOf(field)}")];
        AwaitSite[] sites = role.EndsWith("machine", StringComparison.Ordinal) ? Sites(type) : [];
        return new OwnedType(names.Of(handle), role, layout, sites);
    }

    private OwnedFunction? Own(MethodDefinitionHandle handle)
    {
        MethodDefinition method = _metadata.GetMethodDefinition(handle);
        string name = _metadata.GetString(method.Name);
        return GeneratedNames.RoleOfFunction(name) is { } role
            ? new OwnedFunction(new MemberNames(_metadata, null).Of(method.GetDeclaringType()), name, role) : null;
    }

    /// <summary>
    /// Finds the awaits of a state machine. States are the numbers that MoveNext stores in its state field; each is stored just before the
    /// method is left.
    /// </summary>
    private AwaitSite[] Sites(TypeDefinition machine)
    {
        var moveNext = machine.GetMethods()
            .FirstOrDefault(each => _metadata.StringComparer.Equals(_metadata.GetMethodDefinition(each).Name, "MoveNext"));
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
            HandleKind.FieldDefinition => _metadata.GetFieldDefinition((FieldDefinitionHandle)field).Name,
            HandleKind.MemberReference => _metadata.GetMemberReference((MemberReferenceHandle)field).Name,
            _ => default,
        };
        return !name.IsNil && _metadata.StringComparer.Equals(name, "<>1__state");
    }

    /// <summary>Returns the type and the method of this assembly that a token leads to, through generic instances.</summary>
    private (TypeDefinitionHandle Type, MethodDefinitionHandle Method)? DefinitionBehind(EntityHandle handle)
    {
        switch (handle.Kind)
        {
            case HandleKind.TypeDefinition: return ((TypeDefinitionHandle)handle, default);
            case HandleKind.MethodDefinition:
                return (_metadata.GetMethodDefinition((MethodDefinitionHandle)handle).GetDeclaringType(), (MethodDefinitionHandle)handle);
            case HandleKind.FieldDefinition:
                return (_metadata.GetFieldDefinition((FieldDefinitionHandle)handle).GetDeclaringType(), default);
            case HandleKind.MethodSpecification:
                return DefinitionBehind(_metadata.GetMethodSpecification((MethodSpecificationHandle)handle).Method);
            case HandleKind.TypeSpecification:
                TypeDefinitionHandle definition = GenericDefinition.Of(_metadata, (TypeSpecificationHandle)handle);
                return definition.IsNil ? null : (definition, default);
            case HandleKind.MemberReference:
                MemberReference member = _metadata.GetMemberReference((MemberReferenceHandle)handle);
                if (DefinitionBehind(member.Parent) is not { } parent) return null;
                return (parent.Type, member.GetKind() == MemberReferenceKind.Method ? MethodNamed(parent.Type, member.Name) : default);
            default: return null;
        }
    }

    /// <summary>Finds a method that the compiler made, whose name is unique within its type. Other methods are not looked for.</summary>
    private MethodDefinitionHandle MethodNamed(TypeDefinitionHandle type, StringHandle name)
    {
        string text = _metadata.GetString(name);
        if (!GeneratedNames.IsGenerated(text)) return default;
        return _metadata.GetTypeDefinition(type).GetMethods()
            .FirstOrDefault(each => _metadata.StringComparer.Equals(_metadata.GetMethodDefinition(each).Name, text));
    }

    /// <summary>Says whether the compiler made a type or method for a method of <paramref name="self"/>.</summary>
    private bool IsOf(TypeDefinitionHandle self, TypeDefinitionHandle type, MethodDefinitionHandle method)
    {
        if (type.IsNil || Outer(type) != self) return false;
        return IsGenerated(type) || (!method.IsNil && IsGenerated(method));
    }

    private TypeDefinitionHandle Outer(TypeDefinitionHandle type)
    {
        while (IsGenerated(type) && _metadata.GetTypeDefinition(type).GetDeclaringType() is { IsNil: false } outer) type = outer;
        return type;
    }

    private bool IsGenerated(TypeDefinitionHandle type) => GeneratedNames.IsGenerated(NameOf(type));

    private bool IsGenerated(MethodDefinitionHandle method) =>
        GeneratedNames.IsGenerated(_metadata.GetString(_metadata.GetMethodDefinition(method).Name));

    private string NameOf(TypeDefinitionHandle type) => _metadata.GetString(_metadata.GetTypeDefinition(type).Name);

    private string String(byte[] il, Instruction instruction) =>
        _metadata.GetUserString(
            (UserStringHandle)System.Reflection.Metadata.Ecma335.MetadataTokens.Handle(
                BitConverter.ToInt32(il, instruction.Operand.Start.Value)));

    private MethodBodyBlock? Il(MethodDefinitionHandle method)
    {
        int rva = _metadata.GetMethodDefinition(method).RelativeVirtualAddress;
        return rva == 0 ? null : image.GetMethodBody(rva);
    }
}

/// <summary>
/// Reads the attributes <c>Ambrosia.SuspendableAttribute(id, source)</c> of an assembly: the generator's hash of each method's source.
/// </summary>
internal static class SuspendableAttributes
{
    private const ushort Prolog = 1;

    internal static Dictionary<string, string> Read(MetadataReader metadata)
    {
        var found = new Dictionary<string, string>();
        foreach (CustomAttributeHandle handle in metadata.GetAssemblyDefinition().GetCustomAttributes())
        {
            CustomAttribute attribute = metadata.GetCustomAttribute(handle);
            if (!AttributeNames.IsOurs(metadata, attribute, "SuspendableAttribute")) continue;
            BlobReader value = metadata.GetBlobReader(attribute.Value);
            if (value.ReadUInt16() != Prolog) continue;
            if (value.ReadSerializedString() is { } id && value.ReadSerializedString() is { } source) found[id] = source;
        }
        return found;
    }
}
