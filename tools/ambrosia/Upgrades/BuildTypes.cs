using System.Globalization;
using System.Reflection;
using System.Runtime.InteropServices;
using System.Text.RegularExpressions;
using Ambrosia.Protocol.Images;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Upgrades;

/// <summary>
/// The types of a build, read from the metadata of its assemblies: nothing of them is loaded for execution. Types are found by the names
/// that they have in an image, or had according to <c>[FormerlyNamed]</c>.
/// </summary>
internal sealed partial class BuildTypes : IDisposable
{
    private const string Attributes = "Ambrosia.";

    private const BindingFlags Instance =
        BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    private const BindingFlags Static = BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    private readonly MetadataLoadContext _context;
    private readonly BuildFiles _files;
    private readonly Dictionary<string, Type> _byName = new(StringComparer.Ordinal);

    /// <summary>The types of the binding itself, whose parts of an image are not the app's.</summary>
    private readonly HashSet<string> _ofTheBinding = new(StringComparer.Ordinal);

    /// <summary>The names of now by the names of before.</summary>
    private readonly Dictionary<string, string> _renamed = new(StringComparer.Ordinal);

    private BuildTypes(BuildFiles files) => (_files, _context) = (files, new MetadataLoadContext(files));

    /// <summary>An assembly that was looked for and is nowhere; null: all were found. What needs it throws.</summary>
    public string? Missing => _files.Missing;

    /// <summary>Reads the assemblies of a build that use Ambrosia.</summary>
    /// <exception cref="ToolMisuse">The directory holds none.</exception>
    public static BuildTypes Load(string directory)
    {
        const string Mend = "give the directory of the built app, with all of its files";
        if (!Directory.Exists(directory))
            throw new ToolMisuse($"'{directory}' is {(File.Exists(directory) ? "a file" : "not there")}", "a build is a directory", Mend);
        string[] own = Directory.GetFiles(directory, "*.dll");
        if (!own.Any(static file => Path.GetFileName(file) == "Ambrosia.dll"))
            throw new ToolMisuse($"'{directory}' holds no build of an app", "the binding, Ambrosia.dll, does not lie in it",
                $"{Mend}; one that was published as a single file says nothing of its types");
        var byName = own.Concat(FrameworkFiles()).GroupBy(Path.GetFileName).Select(static each => each.First()); // its own come first
        var build = new BuildTypes(new BuildFiles(byName));
        foreach (string file in own) build.Add(file);
        return build;
    }

    /// <summary>A build may use more frameworks than this tool, such as that of web servers: they lie beside the one that runs.</summary>
    private static IEnumerable<string> FrameworkFiles()
    {
        var running = new DirectoryInfo(Path.TrimEndingDirectorySeparator(RuntimeEnvironment.GetRuntimeDirectory()));
        IEnumerable<DirectoryInfo> others = running.Parent?.Parent is not { Name: "shared" } shared ? []
            : shared.GetDirectories().Where(each => each.Name != running.Parent.Name)
                .Select(each => each.GetDirectories().Where(version => NumberOf(version).Major == NumberOf(running).Major).MaxBy(NumberOf))
                .OfType<DirectoryInfo>();
        return others.Prepend(running).SelectMany(static each => Directory.GetFiles(each.FullName, "*.dll"));
    }

    private static Version NumberOf(DirectoryInfo version) =>
        Version.TryParse(version.Name.Split('-')[0], out Version? number) ? number : new Version();

    private void Add(string file)
    {
        Assembly assembly;
        try
        {
            assembly = _context.LoadFromAssemblyPath(file);
        }
        catch (Exception e) when (e is BadImageFormatException or FileLoadException)
        {
            return; // native code
        }
        if (assembly.GetName().Name is "Ambrosia" or "Ambrosia.Protocol") _ofTheBinding.UnionWith(TypesOf(assembly).Select(NameOf));
        if (!assembly.GetReferencedAssemblies().Any(static each => each.Name == "Ambrosia")) return;
        foreach (Type type in TypesOf(assembly))
        {
            string name = NameOf(type);
            _byName.TryAdd(name, type);
            foreach (string former in FormerNames(type.GetCustomAttributesData())) _renamed.TryAdd(former, name);
        }
    }

    private static IEnumerable<Type> TypesOf(Assembly assembly)
    {
        try
        {
            return assembly.GetTypes();
        }
        catch (ReflectionTypeLoadException some)
        {
            return some.Types.OfType<Type>(); // an assembly that it refers to is not there
        }
    }

    /// <summary>Returns the type that has, or had, this name in an image; null where there is none.</summary>
    public Type? Find(string name) => _byName.GetValueOrDefault(Open(name)) ?? _byName.GetValueOrDefault(Open(Now(name)));

    /// <summary>Returns the version of a class of immortal: what it states, or its assembly does, or 1.</summary>
    public static uint VersionOf(Type immortal) =>
        VersionOf(immortal.GetCustomAttributesData()) is > 0 and var own ? own
            : Math.Max(1, VersionOf(immortal.Assembly.GetCustomAttributesData()));

    /// <summary>
    /// Returns the class that a constructor of the same build makes of this one, in an app of both versions; null where there is none.
    /// </summary>
    public Type? NextOf(Type immortal) => _byName.Values.FirstOrDefault(type => type != immortal
        && type.GetConstructors(Instance).Any(made => made.GetParameters() is [var old] && old.ParameterType == immortal));

    /// <summary>Says whether a class, or one that it extends, has a method of this name without parameters.</summary>
    public static bool HasTimerMethod(Type immortal, string name)
    {
        for (Type? at = immortal; at is not null; at = at.BaseType)
            if (at.GetMethods(Instance).Any(method => method.Name == name && method.GetParameters().Length == 0)) return true;
        return false;
    }

    /// <summary>Says whether any class of the build has a static method of this name.</summary>
    public bool HasTaskMethod(string name) =>
        _byName.Values.Any(type => type.GetMethods(Static).Any(method => method.Name == name));

    /// <summary>Says whether a type is the binding's own.</summary>
    public bool IsOfTheBinding(string name) => _ofTheBinding.Contains(Open(name));

    /// <summary>Says in what the build's names differ: gives a name of an image as it is now.</summary>
    public string Now(string name) => Identifiers().Replace(
        name, each => _byName.ContainsKey(each.Value) ? each.Value : _renamed.GetValueOrDefault(each.Value, each.Value));

    /// <summary>Takes the arguments from the name of a generic type, and leaves their number.</summary>
    private static string Open(string name)
    {
        int begin = name.IndexOf('<', StringComparison.Ordinal);
        if (begin < 0 || !name.EndsWith('>')) return name;
        int depth = 0, count = 1;
        foreach (char each in name.AsSpan(begin + 1, name.Length - begin - 2))
        {
            depth += each switch { '<' => 1, '>' => -1, _ => 0 };
            if (each == ',' && depth == 0) count++;
        }
        return $"{name[..begin]}`{count}";
    }

    /// <summary>Returns the fields of a type that are state, base class first, as the binding finds them.</summary>
    public IReadOnlyList<BuildField> FieldsOf(Type type)
    {
        var fields = new List<FieldInfo>();
        for (Type? at = type; at is not null && !HasNoState(at); at = at.BaseType)
        {
            Type of = at;
            fields.InsertRange(0, of.GetFields(Instance).OrderBy(static field => field.MetadataToken).Where(field => IsState(field, of)));
        }
        return [.. fields.Select(field => new BuildField(Named(field, type, fields), SlotOf(field.FieldType), field.FieldType))];
    }

    /// <summary>Returns the members of an enum, with the names that they had.</summary>
    public static EnumMember[] MembersOf(Type type) =>
    [
        .. type.GetFields(Static).Where(static field => field.IsLiteral).Select(static field => new EnumMember(
            field.Name,
            field.GetRawConstantValue() is ulong large ? large : Convert.ToInt64(field.GetRawConstantValue(), CultureInfo.InvariantCulture),
            [.. FormerNames(field.GetCustomAttributesData())])),
    ];

    /// <summary>Says whether the numbers of an enum are sets of bits.</summary>
    public static bool AreFlags(Type type) => Has(type.GetCustomAttributesData(), "System.FlagsAttribute");

    private static bool HasNoState(Type type) => type.FullName is "System.Object" or "System.ValueType"
        || Has(type.GetCustomAttributesData(), $"{Attributes}State.RemadeAtRestoreAttribute");

    /// <summary>
    /// Where a base class has a field of the same name, the declaring class tells them apart, by as much of its name as it takes.
    /// </summary>
    private static NamedField Named(FieldInfo field, Type of, List<FieldInfo> all)
    {
        string[] classes = ClassesOf(field.DeclaringType!);
        Type[] others = [.. all.Where(other => other.Name == field.Name && other.DeclaringType != field.DeclaringType)
            .Select(static other => other.DeclaringType!)];
        int needed = Array.FindIndex(classes[..3], name => !others.Any(other => other != of && ClassesOf(other)[..3].Contains(name)));
        string name = field.DeclaringType == of || others.Length == 0 ? field.Name : $"{classes[Math.Max(needed, 0)]}.{field.Name}";
        return new NamedField(name, field.DeclaringType == of, classes, [.. FormerNames(AttributesOf(field))]);
    }

    private static string[] ClassesOf(Type type)
    {
        Type definition = type.IsGenericType ? type.GetGenericTypeDefinition() : type;
        return
        [
            definition.Name, definition.FullName!, $"{definition.FullName}@{definition.Assembly.GetName().Name}",
            .. FormerNames(definition.GetCustomAttributesData())
                .SelectMany(static each => new[] { each, each[(each.LastIndexOfAny(['.', '+']) + 1)..] }),
        ];
    }

    private static bool IsState(FieldInfo field, Type declaring)
    {
        IEnumerable<CustomAttributeData> attributes = AttributesOf(field);
        return !Has(attributes, $"{Attributes}NotStateAttribute")
            && (!Has(declaring.GetCustomAttributesData(), "System.Runtime.Serialization.DataContractAttribute")
                || Has(attributes, "System.Runtime.Serialization.DataMemberAttribute"));
    }

    private static IEnumerable<CustomAttributeData> AttributesOf(FieldInfo field)
    {
        IEnumerable<CustomAttributeData> own = field.GetCustomAttributesData();
        string name = Readable(field.Name);
        return name != field.Name && field.DeclaringType!.GetProperty(name, Instance) is { } property
            ? own.Concat(property.GetCustomAttributesData()) : own;
    }

    internal static string Readable(string field) =>
        field.EndsWith(">k__BackingField", StringComparison.Ordinal) ? field[1..field.IndexOf('>', StringComparison.Ordinal)] : field;

    private static bool Has(IEnumerable<CustomAttributeData> attributes, string name) =>
        attributes.Any(each => each.AttributeType.FullName == name);

    private static IEnumerable<string> FormerNames(IEnumerable<CustomAttributeData> attributes) => attributes
        .Where(static each => each.AttributeType.FullName == $"{Attributes}FormerlyNamedAttribute")
        .Select(static each => each.ConstructorArguments is [{ Value: string name }] ? name : "");

    private static uint VersionOf(IEnumerable<CustomAttributeData> attributes) => attributes
        .Where(static each => each.AttributeType.FullName == $"{Attributes}AppVersionAttribute")
        .Select(static each => each.ConstructorArguments is [{ Value: { } number }] ? Convert.ToUInt32(number, null) : 0).FirstOrDefault();

    /// <summary>Returns what an image says of a place of this type (docs/image.md I3.5); null where it is not judged.</summary>
    private static string? SlotOf(Type type)
    {
        if (type.IsGenericParameter || type.IsPointer || type.IsByRef) return null;
        if (s_slots.TryGetValue(type.FullName ?? "", out string? known)) return known;
        if (Has(type.GetCustomAttributesData(), $"{Attributes}StateSerializerAttribute")) return null;
        if (!type.IsValueType) return "@";
        return type is { IsGenericType: true, FullName: not null } && type.GetGenericTypeDefinition().FullName == "System.Nullable`1"
            ? SlotOf(type.GetGenericArguments()[0]) is { } inner ? $"?{inner}" : null : $"#{NameOf(type)}";
    }

    /// <summary>Returns the name of a type in the form in which an image's readers write it.</summary>
    public static string NameOf(Type type)
    {
        if (type.IsArray) return $"{NameOf(type.GetElementType()!)}[{new string(',', type.GetArrayRank() - 1)}]";
        if (!type.IsConstructedGenericType) return type.FullName ?? type.Name;
        string definition = type.GetGenericTypeDefinition().FullName!;
        Type[] arguments = type.GetGenericArguments();
        int given = 0;
        return string.Join('+', definition.Split('+').Select(part =>
        {
            int tick = part.IndexOf('`', StringComparison.Ordinal);
            if (tick < 0) return part;
            int count = int.Parse(part.AsSpan(tick + 1), provider: null);
            string name = $"{part[..tick]}<{string.Join(", ", arguments.Skip(given).Take(count).Select(NameOf))}>";
            given += count;
            return name;
        }));
    }

    private static readonly Dictionary<string, string> s_slots = new(StringComparer.Ordinal)
    {
        ["System.Boolean"] = "b", ["System.SByte"] = "i1", ["System.Int16"] = "i2", ["System.Int32"] = "i4", ["System.Int64"] = "i8",
        ["System.Int128"] = "i16", ["System.Byte"] = "u1", ["System.UInt16"] = "u2", ["System.UInt32"] = "u4", ["System.UInt64"] = "u8",
        ["System.UInt128"] = "u16", ["System.Half"] = "f2", ["System.Single"] = "f4", ["System.Double"] = "f8", ["System.Decimal"] = "d",
        ["System.String"] = "s", ["System.Char"] = "c", ["System.Guid"] = "g", ["System.DateTime"] = "td", ["System.DateTimeOffset"] = "to",
        ["System.TimeSpan"] = "ts", ["System.DateOnly"] = "dd", ["System.TimeOnly"] = "dt",
    };

    [GeneratedRegex(@"[^<>,\[\] ]+")]
    private static partial Regex Identifiers();

    public void Dispose() => _context.Dispose();

    /// <summary>Finds assemblies among the files of a build and of the frameworks, and notes what is not there.</summary>
    private sealed class BuildFiles(IEnumerable<string> files) : MetadataAssemblyResolver
    {
        private readonly PathAssemblyResolver _byPath = new(files);

        public string? Missing { get; private set; }

        public override Assembly? Resolve(MetadataLoadContext context, AssemblyName assemblyName)
        {
            Assembly? found = _byPath.Resolve(context, assemblyName);
            if (found is null) Missing = assemblyName.Name;
            return found;
        }
    }
}

/// <summary>It is a field of a build's type that is state.</summary>
/// <param name="Slot">What an image would say of its place, or null where that is not judged.</param>
internal sealed record BuildField(NamedField Named, string? Slot, Type Type)
{
    /// <summary>The name of its type, as an image's readers write it.</summary>
    public string TypeName => BuildTypes.NameOf(Type);

    /// <summary>The name of the field, or that of its property, as a person knows it.</summary>
    public string ReadableName => BuildTypes.Readable(Named.Name);
}
