using System.Collections.Generic;
using System.Linq;
using System.Text;
using Ambrosia.Generators.Output;
using Microsoft.CodeAnalysis.CSharp;

namespace Ambrosia.Generators.Serialization;

/// <summary>
/// Makes the code that writes and reads values in one generated class. Simple values take one expression. For others this object remembers
/// which private methods the class needs; <see cref="WriteMethods"/> writes them at its end, each once.
/// </summary>
internal sealed class ValueCodecSource
{
    private readonly Dictionary<string, TypeModel> _writers = [];
    private readonly Dictionary<string, TypeModel> _readers = [];
    private readonly Dictionary<string, DataModel> _constructions = [];
    private bool _makesArrays;

    /// <summary>Returns a statement that writes <paramref name="value"/> to <c>writer</c>.</summary>
    internal string Write(TypeModel type, string value, string writer = "writer")
    {
        switch (type.Shape)
        {
            case Shape.Simple:
                return $"{writer}.{type.Writer}({value});";
            case Shape.Enum:
                return $"{writer}.{type.Writer}(({(type.Writer == "WriteUInt64" ? "ulong" : "long")}){value});";
            case Shape.ByteMemory:
                return $"{writer}.WriteBytes({value}.Span);";
            case Shape.ByteSpan:
                return $"{writer}.WriteBytes({value});";
            case Shape.Data when !type.IsNullable:
                return WriteData(type, writer, value);
            default:
                _writers[MethodSuffix(type)] = type;
                return $"Write{MethodSuffix(type)}(ref {writer}, {value});";
        }
    }

    /// <summary>
    /// Writes the statements that encode values into a message: in place where their size has a bound, else through a buffer that grows.
    /// </summary>
    internal void WriteAll(CodeWriter code, string message, string writer, IEnumerable<(TypeModel Type, string Value)> values)
    {
        (TypeModel Type, string Value)[] all = values.ToArray();
        int bytesMax = all.Any(each => each.Type.BytesMax == 0) ? 0 : all.Sum(each => each.Type.BytesMax);
        code.Line($"{BindingNames.Writer} {writer} = new({(bytesMax > 0 ? $"{message}.Reserve({bytesMax})" : $"{message}.Body")});");
        foreach ((TypeModel type, string value) in all) code.Line(Write(type, value, writer));
        code.Line(bytesMax > 0 ? $"{message}.Advance({writer}.Written);" : $"{writer}.Flush();");
    }

    /// <summary>
    /// Writes the statements that put bytes into a message as they are. Room for all is reserved at once, so they are copied once.
    /// </summary>
    internal static void WriteRaw(CodeWriter code, string message, string bytes)
    {
        code.Line($"{bytes}.CopyTo({message}.Reserve({bytes}.Length));");
        code.Line($"{message}.Advance({bytes}.Length);");
    }

    /// <summary>Returns an expression that reads a value of a type from <c>reader</c>.</summary>
    internal string Read(TypeModel type, string reader = "reader")
    {
        switch (type.Shape)
        {
            case Shape.Simple:
                return $"{reader}.{type.Reader}()";
            case Shape.Enum:
                return $"({type.Name}){reader}.{type.Reader}()";
            case Shape.Text when !type.IsNullable:
                return $"{reader}.ReadString()";
            case Shape.ByteArray when !type.IsNullable:
            case Shape.ByteMemory:
                return $"{reader}.ReadBytes().ToArray()";
            case Shape.ByteSpan:
                return $"{reader}.ReadBytes()";
            case Shape.Data when !type.IsNullable:
                return ReadData(type, reader);
            default:
                _readers[MethodSuffix(type)] = type;
                return $"Read{MethodSuffix(type)}(ref {reader})";
        }
    }

    /// <summary>Writes the methods that were asked for, and those that these ask for in turn.</summary>
    internal void WriteMethods(CodeWriter code)
    {
        var done = new HashSet<string>();
        while (_writers.Keys.Concat(_readers.Keys.Select(key => "<" + key)).Concat(_constructions.Keys.Select(key => ">" + key))
            .FirstOrDefault(key => !done.Contains(key)) is { } next)
        {
            done.Add(next);
            code.Line();
            if (next[0] == '>') WriteConstruction(code, next.Substring(1));
            else if (next[0] == '<') WriteReader(code, next.Substring(1), _readers[next.Substring(1)]);
            else WriteWriter(code, next, _writers[next]);
        }
        if (!_makesArrays) return;
        code.Line();
        code.Line(BindingNames.NotStepped);
        code.Line("private static T[] __NewArray<T>(int count) => new T[count];");
    }

    /// <summary>Returns a statement that writes data: by the codec of its type, or by that of a generic one's use in this class.</summary>
    private string WriteData(TypeModel type, string writer, string value) =>
        type.IsGenericData ? $"WriteData{Constructed(type)}(ref {writer}, {value});" : $"{type.Writer}.Write(ref {writer}, {value});";

    private string ReadData(TypeModel type, string reader) =>
        type.IsGenericData ? $"ReadData{Constructed(type)}(ref {reader})" : $"{type.Writer}.Read(ref {reader})";

    /// <summary>Returns the suffix of the methods of a use of generic data. One within itself was asked for by the outer one.</summary>
    private string Constructed(TypeModel type)
    {
        string suffix = MethodSuffix(type.Writer);
        if (type.Construction is { } data) _constructions[suffix] = data;
        return suffix;
    }

    private void WriteConstruction(CodeWriter code, string suffix) =>
        new DataMethods("private static", $"WriteData{suffix}", $"ReadData{suffix}", $"SetData{suffix}_", BindingNames.NotStepped)
            .Write(code, this, _constructions[suffix]);

    private void WriteWriter(CodeWriter code, string suffix, TypeModel type)
    {
        code.Line(BindingNames.NotStepped);
        using var method = code.Open($"private static void Write{suffix}(ref {BindingNames.Writer} writer, {type.Name} value)");
        if (type.IsNullable)
        {
            using (code.Open("if (value is null)"))
            {
                code.Line("writer.WriteNull();");
                code.Line("return;");
            }
        }
        else if (type.IsReference)
        {
            code.Line("global::System.ArgumentNullException.ThrowIfNull(value);");
        }
        switch (type.Shape)
        {
            case Shape.Text:
                code.Line("writer.WriteString(value);");
                break;
            case Shape.Parsed:
                code.Line($"writer.WriteString({type.Writer});");
                break;
            case Shape.ByteArray:
                code.Line("writer.WriteBytes(value);");
                break;
            case Shape.NullableValue:
                code.Line(Write(type.Inner[0], "value.Value"));
                break;
            case Shape.Data:
                code.Line(WriteData(type, "writer", "value"));
                break;
            case Shape.Array or Shape.List:
                code.Line($"writer.WriteArrayHeader({type.Form?.Count ?? "value.Length"});");
                WriteItems(code, type, type.Inner[0].Name, "item", Write(type.Inner[0], "item"));
                break;
            case Shape.Map:
                code.Line("writer.WriteArrayHeader(value.Count);");
                WriteItems(code, type, $"global::System.Collections.Generic.KeyValuePair<{type.Inner[0].Name}, {type.Inner[1].Name}>", "pair",
                    "writer.WriteArrayHeader(2);", Write(type.Inner[0], "pair.Key"), Write(type.Inner[1], "pair.Value"));
                break;
            case Shape.Tuple:
                code.Line($"writer.WriteArrayHeader({type.Inner.Count});");
                for (int i = 0; i < type.Inner.Count; i++) code.Line(Write(type.Inner[i], $"value.Item{i + 1}"));
                break;
            case Shape.Union:
                WriteUnionWriter(code, type);
                break;
        }
    }

    /// <summary>Writes what writes each item, in the order in which the items travel.</summary>
    private static void WriteItems(CodeWriter code, TypeModel type, string item, string name, params string[] write)
    {
        TravelOrder order = type.Form?.Order ?? TravelOrder.Own;
        if (order == TravelOrder.Asked) code.Line($"if ({BindingNames.TravelOrder}.IsOwn(value))");
        string each = $"foreach ({item} {name} in {type.Form?.Each ?? "value"})";
        if (order != TravelOrder.Values && write.Length == 1) code.Line($"{each} {write[0]}");
        else if (order != TravelOrder.Values)
            using (code.Open(each))
                foreach (string line in write) code.Line(line);
        if (order == TravelOrder.Own) return;
        string compare = type.Form!.Comparison is { } comparison ? $"static (a, b) => {comparison}" : "null";
        code.Line($"{(order == TravelOrder.Asked ? "else " : "")}{BindingNames.TravelOrder}.Write<{item}>(ref writer, value, {compare},");
        code.Line($"    static (ref {BindingNames.Writer} writer, {item} {name}) => {{ {string.Join(" ", write)} }});");
    }

    private void WriteReader(CodeWriter code, string suffix, TypeModel type)
    {
        code.Line(BindingNames.NotStepped);
        using var method = code.Open($"private static {type.Name} Read{suffix}(ref {BindingNames.Reader} reader)");
        if (type.IsNullable) code.Line("if (reader.TryReadNull()) return null;");
        switch (type.Shape)
        {
            case Shape.Text:
                code.Line("return reader.ReadString();");
                break;
            case Shape.Parsed:
                code.Line($"return {string.Format(System.Globalization.CultureInfo.InvariantCulture, type.Reader, "reader.ReadString()")};");
                break;
            case Shape.ByteArray:
                code.Line("return reader.ReadBytes().ToArray();");
                break;
            case Shape.NullableValue:
                code.Line($"return {Read(type.Inner[0])};");
                break;
            case Shape.Data:
                code.Line($"return {ReadData(type, "reader")};");
                break;
            case Shape.Array:
                code.Line("int count = reader.ReadArrayHeader();");
                code.Line($"var items = {ArrayOf(type.Inner[0])};");
                code.Line($"for (int i = 0; i < count; i++) items[i] = {Read(type.Inner[0])};");
                code.Line("return items;");
                break;
            case Shape.List:
                code.Line("int count = reader.ReadArrayHeader();");
                code.Line($"var items = {type.Form!.Make};");
                code.Line($"for (int i = 0; i < count; i++) items.Add({Read(type.Inner[0])});");
                code.Line($"return {type.Form.Finish};");
                break;
            case Shape.Map:
                WriteMapReader(code, type);
                break;
            case Shape.Tuple:
                WriteTupleReader(code, type);
                break;
            case Shape.Union:
                WriteUnionReader(code, type);
                break;
        }
    }

    /// <summary>Writes a chain over exact types: what a class derived from a case adds would be lost silently.</summary>
    private void WriteUnionWriter(CodeWriter code, TypeModel type)
    {
        for (int i = 0; i < type.Inner.Count; i++)
        {
            using var block = code.Open($"if (value.GetType() == typeof({type.Inner[i].Name}))");
            code.Line("writer.WriteArrayHeader(2);");
            code.Line($"writer.WriteUInt64({type.Union!.Cases[i].Number}ul);");
            code.Line(Write(type.Inner[i], $"({type.Inner[i].Name})value"));
            code.Line("return;");
        }
        code.Line($"throw {BindingNames.Unencodable}.OfNoCase(value, {SymbolDisplay.FormatLiteral(type.Union!.Name, quote: true)});");
    }

    private void WriteUnionReader(CodeWriter code, TypeModel type)
    {
        code.Line("int items = reader.ReadArrayHeader();");
        code.Line($"if (items != 2) throw {Unfit("array of {items} items where a case of a union has 2")};");
        code.Line("ulong number = reader.ReadUInt64();");
        using var cases = code.Open("switch (number)");
        for (int i = 0; i < type.Inner.Count; i++) code.Line($"case {type.Union!.Cases[i].Number}ul: return {Read(type.Inner[i])};");
        code.Line($"default: throw new {BindingNames.UnknownCase}({SymbolDisplay.FormatLiteral(type.Union!.Name, quote: true)}, number);");
    }

    private void WriteMapReader(CodeWriter code, TypeModel type)
    {
        code.Line("int count = reader.ReadArrayHeader();");
        code.Line($"var items = {type.Form!.Make};");
        using (code.Open("for (int i = 0; i < count; i++)"))
        {
            code.Line("int parts = reader.ReadArrayHeader();");
            code.Line($"if (parts != 2) throw {Unfit("array of {parts} items where a pair has 2")};");
            code.Line($"{type.Inner[0].Name} key = {Read(type.Inner[0])};");
            code.Line($"items[key] = {Read(type.Inner[1])};");
        }
        code.Line($"return {type.Form.Finish};");
    }

    private void WriteTupleReader(CodeWriter code, TypeModel type)
    {
        code.Line("int items = reader.ReadArrayHeader();");
        code.Line($"if (items != {type.Inner.Count}) throw {Unfit($"array of {{items}} items where the tuple has {type.Inner.Count}")};");
        for (int i = 0; i < type.Inner.Count; i++) code.Line($"{type.Inner[i].Name} item{i + 1} = {Read(type.Inner[i])};");
        code.Line($"return ({string.Join(", ", type.Inner.Select((_, i) => $"item{i + 1}"))});");
    }

    /// <summary>Returns an expression that makes the exception for an item that its type does not admit.</summary>
    private static string Unfit(string what) =>
        $"new {BindingNames.Error}({BindingNames.ErrorKind}.OutOfRange, reader.Position, $\"{what}\")";

    /// <summary>
    /// Returns <c>new T[count]</c>. Where T is itself an array, C# wants the count in the middle of its name and has no place for nullable
    /// annotations, so a generic method makes the array.
    /// </summary>
    private string ArrayOf(TypeModel item)
    {
        if (item.Shape is not (Shape.Array or Shape.ByteArray)) return $"new {item.Name}[count]";
        _makesArrays = true;
        return $"__NewArray<{item.Name}>(count)";
    }

    /// <summary>Returns an identifier that is made of the type's name and belongs to no other type.</summary>
    private static string MethodSuffix(TypeModel type) => MethodSuffix(type.Name);

    private static string MethodSuffix(string type)
    {
        var name = new StringBuilder();
        foreach (char c in type.Replace("global::", "").Replace("?", "_OrNull"))
            name.Append(char.IsLetterOrDigit(c) ? c : '_');
        // Different types can give one identifier; the hash of the whole name tells them apart.
        return $"_{name}_{FnvHash.Hash32(type):X8}";
    }
}
