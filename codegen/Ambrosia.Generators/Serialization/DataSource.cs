using System.Collections.Generic;
using System.Linq;
using Ambrosia.Generators.Output;
using Ambrosia.Generators.Roslyn;
using Microsoft.CodeAnalysis.CSharp;

namespace Ambrosia.Generators.Serialization;

/// <summary>
/// Generates the codec of a type marked [Data]. On the wire a value is a map from number or name to value (docs/contract.md C3).
/// </summary>
internal static class DataSource
{
    internal static string Of(DataModel data)
    {
        var code = new CodeWriter();
        var codec = new ValueCodecSource();
        code.Namespace(data.Namespace);
        code.Line($"/// <summary>How {data.Schema} travels.</summary>");
        code.Line(BindingNames.Hidden);
        code.Line(BindingNames.NotStepped);
        code.Line(BindingNames.Generated);
        using (code.Open($"{data.Access} static class {data.CodecName}"))
        {
            if (data.IsRefused) WriteNothing(code, data);
            else new DataMethods("public static", "Write", "Read", "Set", "").Write(code, codec, data);
            codec.WriteMethods(code);
        }
        return code.ToString();
    }

    private static void WriteNothing(CodeWriter code, DataModel data)
    {
        code.Line($"public static void Write(ref {BindingNames.Writer} writer, {data.TypeName} value) => throw new global::System.NotSupportedException();");
        code.Line($"public static {data.TypeName} Read(ref {BindingNames.Reader} reader) => throw new global::System.NotSupportedException();");
    }
}

/// <summary>Writes the two methods of a data type: the one that writes a value, and the one that reads one.</summary>
/// <param name="modifiers">What stands in front of the methods.</param>
/// <param name="write">The name of the method that writes.</param>
/// <param name="read">The name of the method that reads.</param>
/// <param name="set">The beginning of the names of accessors that set members.</param>
/// <param name="attribute">The attribute of the methods; empty where the class has it.</param>
internal sealed class DataMethods(string modifiers, string write, string read, string set, string attribute)
{
    internal void Write(CodeWriter code, ValueCodecSource codec, DataModel data)
    {
        WriteWrite(code, codec, data);
        code.Line();
        WriteRead(code, codec, data);
        WriteAccessors(code, data);
    }

    private void WriteWrite(CodeWriter code, ValueCodecSource codec, DataModel data)
    {
        if (attribute.Length > 0) code.Line(attribute);
        using var method = code.Open($"{modifiers} void {write}(ref {BindingNames.Writer} writer, {data.TypeName} value)");
        if (data.IsReference) code.Line("global::System.ArgumentNullException.ThrowIfNull(value);");
        // What a derived class adds to its base would be lost silently.
        if (data.IsOpen) code.Line($"if (value.GetType() != typeof({data.TypeName})) throw {BindingNames.Unencodable}.OfDerived(value, {SymbolDisplay.FormatLiteral(data.Schema, quote: true)});");
        code.Line("writer.EnterNested();");
        code.Line($"writer.WriteMapHeader({data.Members.Count});");
        foreach (DataMember member in data.Members)
        {
            code.Line(member.Number is { } number ? $"writer.WriteUInt64({number}ul);" : $"writer.WriteUtf8({Utf8(member)});");
            code.Line(codec.Write(member.Type, $"value.{Symbols.Identifier(member.Name)}"));
        }
        code.Line("writer.LeaveNested();");
    }

    private void WriteRead(CodeWriter code, ValueCodecSource codec, DataModel data)
    {
        if (attribute.Length > 0) code.Line(attribute);
        using var method = code.Open($"{modifiers} {data.TypeName} {read}(ref {BindingNames.Reader} reader)");
        code.Line("reader.EnterNested();");
        for (int i = 0; i < data.Members.Count; i++)
        {
            code.Line($"{data.Members[i].Type.Name} value{i} = {data.Members[i].Default ?? "default!"};");
            if (data.Members[i].IsSetLater) code.Line($"bool has{i} = false;");
        }
        using (code.Open("for (int left = reader.ReadMapHeader(); left > 0; left--)"))
        {
            code.Line($"{BindingNames.Kind} kind = reader.PeekKind();");
            WriteNumbered(code, codec, data);
            WriteNamed(code, codec, data);
            using (code.Open($"if (kind is not ({BindingNames.Kind}.Unsigned or {BindingNames.Kind}.Text))")) code.Line("reader.Skip();");
            code.Line("reader.Skip();");
        }
        code.Line("reader.LeaveNested();");
        WriteMake(code, data);
    }

    private static void WriteNumbered(CodeWriter code, ValueCodecSource codec, DataModel data)
    {
        using var block = code.Open($"if (kind == {BindingNames.Kind}.Unsigned)");
        if (data.Members.All(member => member.Number is null))
        {
            code.Line("reader.Skip();");
            return;
        }
        using var cases = code.Open("switch (reader.ReadUInt64())");
        for (int i = 0; i < data.Members.Count; i++)
            if (data.Members[i].Number is { } number) code.Line($"case {number}ul: {Assign(codec, data.Members[i], i)} continue;");
    }

    private static void WriteNamed(CodeWriter code, ValueCodecSource codec, DataModel data)
    {
        using var block = code.Open($"if (kind == {BindingNames.Kind}.Text)");
        if (data.Members.All(member => member.Number is not null))
        {
            code.Line("reader.Skip();");
            return;
        }
        code.Line("global::System.ReadOnlySpan<byte> name = reader.ReadUtf8();");
        for (int i = 0; i < data.Members.Count; i++)
        {
            if (data.Members[i].Number is not null) continue;
            using (code.Open($"if (global::System.MemoryExtensions.SequenceEqual(name, {Utf8(data.Members[i])}))"))
            {
                code.Line(Assign(codec, data.Members[i], i));
                code.Line("continue;");
            }
        }
    }

    private void WriteMake(CodeWriter code, DataModel data)
    {
        IEnumerable<(DataMember Member, int Index)> members = data.Members.Select((member, i) => (member, i));
        string arguments = string.Join(", ", members.Where(each => each.Member.Initialization == MemberInitialization.Constructor)
            .Select(each => $"{each.Member.Parameter}: value{each.Index}"));
        string[] initializers = members.Where(each => each.Member.Initialization == MemberInitialization.Initializer)
            .Select(each => $"{Symbols.Identifier(each.Member.Name)} = value{each.Index}").ToArray();
        string braces = initializers.Length == 0 ? "" : $" {{ {string.Join(", ", initializers)} }}";
        code.Line($"{data.TypeName} made = new {data.TypeName}({arguments}){braces};");
        foreach ((DataMember member, int i) in members)
        {
            if (member.Initialization == MemberInitialization.Assignment) code.Line($"if (has{i}) made.{Symbols.Identifier(member.Name)} = value{i};");
            if (member.Initialization == MemberInitialization.Accessor)
                code.Line(
                    $"if (has{i}) {set}{member.Name}{(member.Generic is { } generic ? $"{generic.Arguments}.Invoke" : "")}({(data.IsReference ? "" : "ref ")}made, value{i});");
        }
        code.Line("return made;");
    }

    private void WriteAccessors(CodeWriter code, DataModel data)
    {
        foreach (DataMember member in data.Members)
        {
            if (member.Initialization != MemberInitialization.Accessor) continue;
            code.Line();
            string target = $"({(data.IsReference ? "" : "ref ")}{member.Generic?.Declaring ?? member.Declaring} target, {member.Generic?.Type ?? member.Type.Name} value);";
            if (member.Generic is not { } generic)
            {
                WriteAccessor(code, member, $"private static extern void {set}{member.Name}{target}");
                continue;
            }
            using (code.Open($"private static class {set}{member.Name}{generic.Parameters}{generic.Constraints}"))
                WriteAccessor(code, member, $"internal static extern void Invoke{target}");
        }
    }

    private static void WriteAccessor(CodeWriter code, DataMember member, string declaration)
    {
        code.Line(
            $"[global::System.Runtime.CompilerServices.UnsafeAccessor(global::System.Runtime.CompilerServices.UnsafeAccessorKind.Method, Name = \"set_{member.Name}\")]");
        code.Line(declaration);
    }

    /// <summary>Returns the statements that take the value of a member.</summary>
    private static string Assign(ValueCodecSource codec, DataMember member, int i) =>
        $"value{i} = {codec.Read(member.Type)};" + (member.IsSetLater ? $" has{i} = true;" : "");

    private static string Utf8(DataMember member) => SymbolDisplay.FormatLiteral(member.Name, quote: true) + "u8";
}
