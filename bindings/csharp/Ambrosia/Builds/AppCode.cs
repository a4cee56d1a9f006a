using System.Reflection;
using System.Reflection.Metadata;
using Ambrosia.MethodBodies;

namespace Ambrosia.Builds;

/// <summary>
/// The types and methods of the app's assemblies, and what the tokens in them lead to. What is in no assembly of the app, the framework's
/// and the binding's, is outside: it is known by name only, and its bodies are not read.
/// </summary>
internal sealed class AppCode
{
    private readonly Dictionary<(string Assembly, string Name), AppType> _byName = [];
    private readonly Dictionary<TypeDefinitionHandle, AppType>[] _byHandle;
    private readonly Dictionary<string, int> _assemblies = [];

    internal AppCode(IReadOnlyList<AppAssembly> assemblies)
    {
        Assemblies = assemblies;
        _byHandle = new Dictionary<TypeDefinitionHandle, AppType>[assemblies.Count];
        for (int i = 0; i < assemblies.Count; i++)
        {
            _assemblies[assemblies[i].Name] = i;
            _byHandle[i] = [];
            foreach (TypeDefinitionHandle each in assemblies[i].Metadata.TypeDefinitions) Add(new AppType(assemblies[i], i, each));
        }
        foreach (AppType type in Types) Link(type);
    }

    internal IReadOnlyList<AppAssembly> Assemblies { get; }

    internal List<AppType> Types { get; } = [];

    internal AppType TypeOf(AppAssembly assembly, TypeDefinitionHandle handle) => _byHandle[_assemblies[assembly.Name]][handle];

    /// <summary>Finds the type of the app that a reference names; null when it is outside.</summary>
    internal AppType? TypeOf(AppAssembly assembly, TypeReferenceHandle handle) => Find(ScopeOf(assembly, handle), NameOf(assembly, handle));

    /// <summary>Returns the name of a type as metadata has it, with those around it.</summary>
    internal static string NameOf(AppAssembly assembly, TypeReferenceHandle handle)
    {
        TypeReference type = assembly.Metadata.GetTypeReference(handle);
        string name = assembly.Metadata.GetString(type.Name);
        if (type.ResolutionScope.Kind == HandleKind.TypeReference)
            return $"{NameOf(assembly, (TypeReferenceHandle)type.ResolutionScope)}+{name}";
        return type.Namespace.IsNil ? name : $"{assembly.Metadata.GetString(type.Namespace)}.{name}";
    }

    /// <summary>Finds a type by its name. An assembly may forward it to another one.</summary>
    private AppType? Find(string? assembly, string name)
    {
        if (assembly is null || !_assemblies.TryGetValue(assembly, out int index)) return null;
        if (_byName.TryGetValue((assembly, name), out AppType? found)) return found;
        MetadataReader metadata = Assemblies[index].Metadata;
        foreach (ExportedTypeHandle each in metadata.ExportedTypes)
        {
            ExportedType type = metadata.GetExportedType(each);
            if (type.Implementation.Kind != HandleKind.AssemblyReference || !IsNamed(metadata, type, name)) continue;
            AssemblyReference to = metadata.GetAssemblyReference((AssemblyReferenceHandle)type.Implementation);
            return Find(metadata.GetString(to.Name), name);
        }
        return null;
    }

    private static bool IsNamed(MetadataReader metadata, ExportedType type, string name)
    {
        string space = metadata.GetString(type.Namespace), full = space.Length == 0 ? "" : $"{space}.";
        full += metadata.GetString(type.Name);
        return name == full || name.StartsWith(full + "+", StringComparison.Ordinal);
    }

    private static string? ScopeOf(AppAssembly assembly, TypeReferenceHandle handle)
    {
        EntityHandle scope = assembly.Metadata.GetTypeReference(handle).ResolutionScope;
        return scope.Kind switch
        {
            HandleKind.TypeReference => ScopeOf(assembly, (TypeReferenceHandle)scope),
            HandleKind.AssemblyReference =>
                assembly.Metadata.GetString(assembly.Metadata.GetAssemblyReference((AssemblyReferenceHandle)scope).Name),
            _ => assembly.Name,
        };
    }

    private void Add(AppType type)
    {
        Types.Add(type);
        _byHandle[type.AssemblyIndex].Add(type.Handle, type);
        _byName.TryAdd((type.Assembly.Name, type.FullName), type);
    }

    private void Link(AppType type)
    {
        var parents = new NamedTypes(this, type.Assembly);
        parents.Add(type.Definition.BaseType);
        type.Base = type.Definition.BaseType.IsNil ? null : parents.Heads[0].Type;
        foreach (InterfaceImplementationHandle each in type.Definition.GetInterfaceImplementations())
            parents.Add(type.Assembly.Metadata.GetInterfaceImplementation(each).Interface);
        foreach (NamedType head in parents.Heads)
        {
            if (head.Type is not null) type.Parents.Add(head.Type);
            else type.ParentsOutside.Add(head.Name);
        }
        foreach (MethodImplementationHandle each in type.Definition.GetMethodImplementations())
        {
            MethodImplementation implementation = type.Assembly.Metadata.GetMethodImplementation(each);
            if (implementation.MethodBody.Kind != HandleKind.MethodDefinition) continue;
            AppMethod? body = type.Methods.Find(method => method.Handle == (MethodDefinitionHandle)implementation.MethodBody);
            body?.Implements.Add(Declared(type.Assembly, implementation.MethodDeclaration));
        }
    }

    private VirtualMember Declared(AppAssembly assembly, EntityHandle declaration)
    {
        TokenTarget mention = TokenTarget.Of(this, assembly, declaration);
        return new VirtualMember(mention.Type, mention.Outside, mention.Name, mention.ParameterCount);
    }
}

/// <summary>
/// A virtual member as a call names it. Signatures are told apart by the number of parameters: types may be those of an instance.
/// </summary>
/// <param name="Outside">Name of the type that declares it, where that is outside.</param>
internal readonly record struct VirtualMember(AppType? Type, string Outside, string Name, int ParameterCount);

/// <summary>Holds a type of the app with its methods, and knows what it can be converted to.</summary>
internal sealed class AppType
{
    private HashSet<AppType>? _ancestors;
    private HashSet<string>? _ancestorsOutside;

    internal AppType(AppAssembly assembly, int assemblyIndex, TypeDefinitionHandle handle)
    {
        (Assembly, AssemblyIndex, Handle) = (assembly, assemblyIndex, handle);
        Definition = assembly.Metadata.GetTypeDefinition(handle);
        FullName = NameOf(assembly.Metadata, handle);
        IsGenerated = IsOfCompiler(assembly.Metadata, handle);
        foreach (MethodDefinitionHandle each in Definition.GetMethods()) Methods.Add(new AppMethod(this, each));
    }

    internal AppAssembly Assembly { get; }

    internal int AssemblyIndex { get; }

    internal TypeDefinitionHandle Handle { get; }

    internal TypeDefinition Definition { get; }

    /// <summary>The name in metadata, with those of the types around it.</summary>
    internal string FullName { get; }

    internal string SimpleName => Assembly.Metadata.GetString(Definition.Name);

    /// <summary>Says whether the compiler made it, or a type around it.</summary>
    internal bool IsGenerated { get; }

    /// <summary>
    /// Says whether the compiler made it of a method: a state machine, a closure, or the place of delegates without captures.
    /// </summary>
    internal bool IsPartOfMethod => GeneratedNames.RoleOfType(SimpleName) is not null || GeneratedNames.IsStatics(SimpleName)
        || SimpleName.StartsWith("<>O", StringComparison.Ordinal);

    internal bool IsInterface => (Definition.Attributes & TypeAttributes.Interface) != 0;

    internal AppType? Base { get; set; }

    /// <summary>Base class and interfaces.</summary>
    internal List<AppType> Parents { get; } = [];

    internal List<string> ParentsOutside { get; } = [];

    internal List<AppMethod> Methods { get; } = [];

    internal AppMethod? StaticConstructor => Methods.Find(static method => method.Name == ".cctor");

    /// <summary>All types of the app that it can be converted to, itself among them.</summary>
    internal HashSet<AppType> Ancestors
    {
        get
        {
            if (_ancestors is not null) return _ancestors;
            _ancestors = [this];
            foreach (AppType parent in Parents) _ancestors.UnionWith(parent.Ancestors);
            return _ancestors;
        }
    }

    /// <summary>The types outside that it can be converted to, as far as the app's assemblies tell.</summary>
    internal HashSet<string> AncestorsOutside => _ancestorsOutside ??= [.. Ancestors.SelectMany(static type => type.ParentsOutside)];

    private static string NameOf(MetadataReader metadata, TypeDefinitionHandle handle)
    {
        TypeDefinition type = metadata.GetTypeDefinition(handle);
        string name = metadata.GetString(type.Name);
        if (!type.GetDeclaringType().IsNil) return $"{NameOf(metadata, type.GetDeclaringType())}+{name}";
        return type.Namespace.IsNil ? name : $"{metadata.GetString(type.Namespace)}.{name}";
    }

    private static bool IsOfCompiler(MetadataReader metadata, TypeDefinitionHandle type)
    {
        for (; !type.IsNil; type = metadata.GetTypeDefinition(type).GetDeclaringType())
            if (GeneratedNames.IsGenerated(metadata.GetString(metadata.GetTypeDefinition(type).Name))) return true;
        return false;
    }
}

/// <summary>Holds a method of the app, and reads its text when that is asked for.</summary>
internal sealed class AppMethod
{
    private MethodText? _text;
    private IReadOnlyList<Instruction>? _members;

    internal AppMethod(AppType type, MethodDefinitionHandle handle)
    {
        (Type, Handle) = (type, handle);
        MethodDefinition method = type.Assembly.Metadata.GetMethodDefinition(handle);
        Name = type.Assembly.Metadata.GetString(method.Name);
        Attributes = method.Attributes;
        IsFoundByRuntime = method.RelativeVirtualAddress == 0 && (int)method.ImplAttributes == 0
            && (Attributes & (MethodAttributes.Abstract | MethodAttributes.PinvokeImpl)) == 0;
        BlobReader signature = type.Assembly.Metadata.GetBlobReader(method.Signature);
        if (signature.ReadSignatureHeader().IsGeneric) signature.ReadCompressedInteger();
        ParameterCount = signature.ReadCompressedInteger();
    }

    internal AppType Type { get; }

    internal MethodDefinitionHandle Handle { get; }

    internal string Name { get; }

    internal int ParameterCount { get; }

    internal MethodAttributes Attributes { get; }

    internal bool IsVirtual => (Attributes & MethodAttributes.Virtual) != 0;

    internal bool IsAbstract => (Attributes & MethodAttributes.Abstract) != 0;

    /// <summary>Says whether the runtime finds the body by an attribute, as it does for accessors of private members.</summary>
    internal bool IsFoundByRuntime { get; }

    internal bool IsNewSlot => (Attributes & MethodAttributes.NewSlot) != 0;

    /// <summary>The members of interfaces, or of base classes, that it states to implement whatever its own name is.</summary>
    internal List<VirtualMember> Implements { get; } = [];

    /// <summary>The name with its type and its signature, without ordinals that move.</summary>
    internal string Signature => Type.Assembly.Names.Of(Handle);

    /// <summary>Says whether it belongs to another method, of which the compiler made it.</summary>
    internal bool IsPartOfAnother => IsFunction || Type.IsPartOfMethod;

    /// <summary>Says whether it is a lambda or a local function.</summary>
    internal bool IsFunction => GeneratedNames.RoleOfFunction(Name) is not null;

    /// <summary>
    /// The method that it is a part of; known once the unit of that one is read. Overloads differ in nothing else, where ordinals are left
    /// out.
    /// </summary>
    internal AppMethod? Owner { get; set; }

    internal MethodText Text => _text ??= MethodText.Read(Type.Assembly, Handle);

    /// <summary>The instructions that name members; they are read without the text, which takes longer.</summary>
    internal IReadOnlyList<Instruction> Members => _members ??= _text?.Members ?? MethodText.MembersOf(Type.Assembly, Handle);

    internal bool Fills(string name, int parameters) =>
        ParameterCount == parameters && (Name == name || Implements.Exists(each => each.Name == name));
}
