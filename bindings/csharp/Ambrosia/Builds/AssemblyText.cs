using System.Reflection;
using System.Reflection.Metadata;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
using Ambrosia.MethodBodies;

namespace Ambrosia.Builds;

/// <summary>
/// Spells an assembly: the outside is what code can see of it without executing a method (types, fields, properties, attributes,
/// resources) as far as people declared it. The content is the rest: all methods, what the compiler made, and what only reflection shows.
/// Neither has the file's versions, its paths, when it was made, or in which order its sources were compiled.
/// </summary>
internal sealed partial class AssemblyText
{
    private readonly AppAssembly _assembly;
    private readonly MetadataReader _metadata;
    private readonly UnitReader _units;
    private readonly List<string> _outside = [], _content = [];

    private AssemblyText(AppAssembly assembly, UnitReader units)
    {
        _assembly = assembly;
        _metadata = assembly.Metadata;
        _units = units;
    }

    /// <summary>Returns the hashes of the two parts.</summary>
    internal static (byte[] Outside, byte[] Content) Read(AppAssembly assembly, UnitReader units)
    {
        var text = new AssemblyText(assembly, units);
        text.ReadAll();
        return (HashOf(assembly, text._outside), HashOf(assembly, text._content));
    }

    private static byte[] HashOf(AppAssembly assembly, List<string> entries)
    {
        entries.Sort(StringComparer.Ordinal);
        var text = new StringBuilder(assembly.Name).Append('\n');
        foreach (string each in entries) text.Append(each.Length).Append(':').Append(each);
        return Digest.Of(text);
    }

    private void ReadAll()
    {
        AddAttributes(_metadata.GetAssemblyDefinition().GetCustomAttributes(), "assembly", _outside, AttributeRules.OfAssembly);
        AddAttributes(_metadata.GetModuleDefinition().GetCustomAttributes(), "module", _outside, AttributeRules.OfType);
        foreach (AppType type in _units.Code.Types)
            if (type.Assembly == _assembly && !type.IsPartOfMethod) AddType(type);
        foreach (ExportedTypeHandle each in _metadata.ExportedTypes)
        {
            ExportedType type = _metadata.GetExportedType(each);
            _outside.Add($"exports {_metadata.GetString(type.Namespace)}.{_metadata.GetString(type.Name)}");
        }
        foreach (ManifestResourceHandle each in _metadata.ManifestResources)
        {
            ManifestResource resource = _metadata.GetManifestResource(each);
            string bytes = resource.Implementation.IsNil
                ? Convert.ToHexStringLower(SHA256.HashData(_assembly.ResourceAt(resource.Offset))) : "";
            _outside.Add($"resource {_metadata.GetString(resource.Name)} {bytes}");
        }
    }

    private void AddType(AppType type)
    {
        TypeDefinition definition = type.Definition;
        string name = _assembly.Names.Of(type.Handle);
        List<string> to = type.IsGenerated || AttributeRules.IsManifest(name) ? _content : _outside;
        var text = new StringBuilder("type ").Append(name).Append(' ')
            .Append((int)(definition.Attributes & ~TypeAttributes.VisibilityMask))
            .Append(" : ").Append(_assembly.Names.Of(definition.BaseType));
        foreach (InterfaceImplementationHandle each in definition.GetInterfaceImplementations())
            text.Append(", ").Append(_assembly.Names.Of(_metadata.GetInterfaceImplementation(each).Interface));
        MethodText.AppendGenerics(text, _assembly, definition.GetGenericParameters());
        TypeLayout layout = definition.GetLayout();
        text.Append(' ').Append(layout.PackingSize).Append(' ').Append(layout.Size);
        IEnumerable<string> fields = definition.GetFields().Select(each => FieldOf(each, name, to));
        text.Append('\n').AppendJoin('\n', type.IsGenerated ? fields.Order(StringComparer.Ordinal) : fields);
        to.Add(text.ToString());
        _content.Add($"seen {name} {(int)definition.Attributes}");
        AddAttributes(definition.GetCustomAttributes(), name, to, AttributeRules.OfType);
        AddProperties(definition, name, to);
        foreach (AppMethod each in type.Methods)
            if (!each.IsPartOfAnother) AddMethod(each, to);
    }

    private string FieldOf(FieldDefinitionHandle handle, string type, List<string> to)
    {
        FieldDefinition field = _metadata.GetFieldDefinition(handle);
        string name = GeneratedNames.Plain(_metadata.GetString(field.Name));
        _content.Add($"seen {type}.{name} {(int)field.Attributes}");
        AddAttributes(field.GetCustomAttributes(), $"{type}.{name}", to, AttributeRules.OfType);
        string constant = field.GetDefaultValue().IsNil ? "" : $" = {ConstantOf(field.GetDefaultValue())}";
        string form = field.GetMarshallingDescriptor().IsNil ? ""
            : $" as {Convert.ToHexStringLower(_metadata.GetBlobBytes(field.GetMarshallingDescriptor()))}";
        int flags = (int)(field.Attributes & ~FieldAttributes.FieldAccessMask);
        return $"{name} {flags} {_assembly.Names.TypeOf(field)} {field.GetOffset()}{constant}{form} {_assembly.DataOf(field)}";
    }

    private void AddProperties(TypeDefinition type, string typeName, List<string> to)
    {
        foreach (PropertyDefinitionHandle each in type.GetProperties())
        {
            PropertyDefinition property = _metadata.GetPropertyDefinition(each);
            MethodSignature<string> signature = property.DecodeSignature(_assembly.Names, null);
            string name = $"{typeName}.{GeneratedNames.Plain(_metadata.GetString(property.Name))}";
            to.Add($"property {name}[{string.Join(',', signature.ParameterTypes)}] {signature.ReturnType}");
            AddAttributes(property.GetCustomAttributes(), name, to, AttributeRules.OfType);
        }
        foreach (EventDefinitionHandle each in type.GetEvents())
        {
            EventDefinition definition = _metadata.GetEventDefinition(each);
            string name = $"{typeName}.{GeneratedNames.Plain(_metadata.GetString(definition.Name))}";
            to.Add($"event {name} {_assembly.Names.Of(definition.Type)}");
            AddAttributes(definition.GetCustomAttributes(), name, to, AttributeRules.OfType);
        }
    }

    /// <summary>
    /// A method belongs to the content: it counts where it is called. Its attributes are seen by reflection, whoever is called.
    /// </summary>
    private void AddMethod(AppMethod called, List<string> to)
    {
        MethodDefinition method = _metadata.GetMethodDefinition(called.Handle);
        string name = called.Signature;
        List<string> seen = GeneratedNames.IsGenerated(called.Name) ? _content : to;
        _content.Add($"method {name} {(int)method.Attributes} {_units.Of(called).Hash}");
        AddAttributes(method.GetCustomAttributes(), name, seen, AttributeRules.OfMethod);
        foreach (ParameterHandle each in method.GetParameters())
        {
            Parameter parameter = _metadata.GetParameter(each);
            string constant = parameter.GetDefaultValue().IsNil ? "" : $" = {ConstantOf(parameter.GetDefaultValue())}";
            _content.Add(
                $"parameter {name} {parameter.SequenceNumber} {_metadata.GetString(parameter.Name)} {(int)parameter.Attributes}{constant}");
            AddAttributes(parameter.GetCustomAttributes(), $"{name} {parameter.SequenceNumber}", seen, AttributeRules.OfMethod);
        }
    }

    private void AddAttributes(CustomAttributeHandleCollection attributes, string of, List<string> to, Func<string, Standing> standing)
    {
        foreach (CustomAttributeHandle each in attributes)
        {
            CustomAttribute attribute = _metadata.GetCustomAttribute(each);
            string constructor = _assembly.Names.Of(attribute.Constructor);
            string value = Value(attribute.Value);
            Standing counts = AttributeRules.IsOfRepository(constructor, value) ? Standing.Nowhere : standing(constructor);
            if (counts != Standing.Nowhere) (counts == Standing.Outside ? to : _content).Add($"attribute {of} {constructor} {value}");
        }
    }

    /// <summary>Returns the arguments without what names in them have of a version, of a directory or of an ordinal.</summary>
    private string Value(BlobHandle blob) => Unstable().Replace(Encoding.Latin1.GetString(_metadata.GetBlobBytes(blob)), "");

    private string ConstantOf(ConstantHandle handle)
    {
        Constant constant = _metadata.GetConstant(handle);
        return $"{(int)constant.TypeCode} {Convert.ToHexStringLower(_metadata.GetBlobBytes(constant.Value))}";
    }

    [GeneratedRegex(@", Version=[\d.]+|(?<=<[^<>]*>F)[0-9A-F]{64}(?=__)|(?<=>d__)\d+")]
    private static partial Regex Unstable();
}
