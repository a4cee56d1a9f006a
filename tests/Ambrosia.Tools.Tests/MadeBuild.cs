using System.Reflection;
using System.Reflection.Emit;
using Ambrosia.MethodBodies;

namespace Ambrosia.Tools.Tests;

/// <summary>
/// The directory of a build that is made here: an assembly <c>Shop</c> with classes of state, beside one that has the attributes of the
/// binding. Its code is never run.
/// </summary>
internal sealed class MadeBuild
{
    private readonly PersistedAssemblyBuilder _binding = new(new AssemblyName("Ambrosia"), typeof(object).Assembly);
    private readonly PersistedAssemblyBuilder _shop = new(new AssemblyName("Shop"), typeof(object).Assembly);
    private readonly ModuleBuilder _attributes, _module;
    private readonly Dictionary<string, ConstructorBuilder> _constructors = [];
    private readonly List<TypeBuilder> _types = [];

    public MadeBuild()
    {
        (_attributes, _module) = (_binding.DefineDynamicModule("Ambrosia"), _shop.DefineDynamicModule("Shop"));
        foreach ((string name, Type? argument) in new (string, Type?)[]
            { ("FormerlyNamed", typeof(string)), ("AppVersion", typeof(int)), ("NotState", null), ("RemadeAtRestore", null) })
        {
            TypeBuilder attribute = _attributes.DefineType($"Ambrosia.{name}Attribute", TypeAttributes.Public, typeof(Attribute));
            _constructors[name] = attribute.DefineConstructor(
                MethodAttributes.Public, CallingConventions.Standard, argument is null ? [] : [argument]);
            _constructors[name].GetILGenerator().Emit(OpCodes.Ret);
            _types.Add(attribute);
        }
        foreach (string own in new[] { "Ambrosia.ImageRoot", "Ambrosia.Recurrence" }) _types.Add(_attributes.DefineType(own));
    }

    public TypeBuilder Class(string name, int? version = null, string? formerly = null)
    {
        TypeBuilder type = _module.DefineType(name, TypeAttributes.Public);
        type.SetCustomAttribute(Attribute("NotState")); // so that the assembly refers to the binding; of a class it means nothing
        if (version is { } number) type.SetCustomAttribute(Attribute("AppVersion", number));
        if (formerly is not null) type.SetCustomAttribute(Attribute("FormerlyNamed", formerly));
        _types.Add(type);
        return type;
    }

    public MadeBuild Field(TypeBuilder of, string name, Type type, string? formerly = null, bool isState = true)
    {
        FieldBuilder field = of.DefineField(name, type, FieldAttributes.Private);
        if (formerly is not null) field.SetCustomAttribute(Attribute("FormerlyNamed", formerly));
        if (!isState) field.SetCustomAttribute(Attribute("NotState"));
        return this;
    }

    /// <summary>Adds an enum; a member's former name stands in brackets behind it.</summary>
    public TypeBuilder Enum(string name, params (string Name, int Number)[] members)
    {
        TypeBuilder type = _module.DefineType(name, TypeAttributes.Public | TypeAttributes.Sealed, typeof(Enum));
        type.DefineField("value__", typeof(int), FieldAttributes.Public | FieldAttributes.SpecialName | FieldAttributes.RTSpecialName);
        foreach ((string member, int number) in members)
        {
            string[] names = member.Split('[', ']');
            FieldBuilder field = type.DefineField(names[0], type, FieldAttributes.Public | FieldAttributes.Static | FieldAttributes.Literal);
            field.SetConstant(number);
            if (names.Length > 1) field.SetCustomAttribute(Attribute("FormerlyNamed", names[1]));
        }
        _types.Add(type);
        return type;
    }

    public static void Method(TypeBuilder of, string name, bool isStatic = false) =>
        of.DefineMethod(name, isStatic ? MethodAttributes.Static : MethodAttributes.Private, null, []).GetILGenerator().Emit(OpCodes.Ret);

    /// <summary>Gives a class a constructor from an immortal of another one.</summary>
    public static void MadeOf(TypeBuilder of, TypeBuilder old) =>
        of.DefineConstructor(MethodAttributes.Assembly, CallingConventions.Standard, [old]).GetILGenerator().Emit(OpCodes.Ret);

    /// <summary>Writes what the build says of the methods that can be suspended, each with one await.</summary>
    public static void WriteBodies(string directory, params IEnumerable<(string Id, string Il, string? FormerOf)> methods)
    {
        using FileStream file = File.Create(Path.Combine(directory, "Shop.suspend.json"));
        MethodBodyFile.Write(file, Guid.Empty, methods.Select(static method => new MethodBodyRow(
            method.Id, method.Id, method.Il, "", [new OwnedType("machine", "machine", ["struct"], [new AwaitSite(0, "", 0, "")])], [])
        {
            FormerOf = method.FormerOf,
        }));
    }

    private CustomAttributeBuilder Attribute(string name, params object[] arguments) => new(_constructors[name], arguments);

    /// <summary>Writes the build's files.</summary>
    public void Save(string directory)
    {
        foreach (TypeBuilder type in _types) type.CreateType();
        Directory.CreateDirectory(directory);
        _binding.Save(Path.Combine(directory, "Ambrosia.dll"));
        _shop.Save(Path.Combine(directory, "Shop.dll"));
        WriteManifest(Path.Combine(directory, "Shop.contract.json"));
    }

    public static void WriteManifest(string file)
    {
        Directory.CreateDirectory(Path.GetDirectoryName(file)!);
        File.WriteAllText(file, """{"format":1,"assembly":"Shop","contracts":[],"data":[]}""");
    }
}
