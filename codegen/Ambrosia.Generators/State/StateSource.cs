using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using Ambrosia.Generators.Output;
using Microsoft.CodeAnalysis.CSharp;

namespace Ambrosia.Generators.State;

/// <summary>Generates the codec of a type that can be state. It writes and reads the fields one after the other.</summary>
internal static class StateSource
{
    private const string Graph = "global::Ambrosia.Graph", Accessor = "global::System.Runtime.CompilerServices.UnsafeAccessor";

    internal static string Of(StateModel type)
    {
        var code = new CodeWriter();
        code.Line("#nullable disable");
        code.Namespace(type.Namespace);
        code.Within(type.Inside, () => WriteClass(code, type));
        return code.ToString();
    }

    /// <summary>Generates the class that registers all codecs of an assembly when the assembly is loaded.</summary>
    internal static string RegistryOf(IEnumerable<StateModel> types)
    {
        var code = new CodeWriter();
        code.Line("#pragma warning disable CA2255 // codecs must be known before anything of the assembly is restored");
        code.Line();
        code.Namespace("Ambrosia.Generated");
        code.Line("/// <summary>The codecs of this assembly's state.</summary>");
        code.Line(BindingNames.Generated);
        using (code.Open("internal static class StateRegistry"))
        {
            code.Line("[global::System.Runtime.CompilerServices.ModuleInitializer]");
            using (code.Open("internal static void AddAll()"))
                foreach (StateModel type in types)
                    code.Line(type.InsideName.Length == 0 ? Add(type) : $"{type.InsideName}.{Announce(type)}();");
        }
        return code.ToString();
    }

    private static void WriteClass(CodeWriter code, StateModel type)
    {
        if (type.Inside.Count > 0)
        {
            code.Line(BindingNames.Hidden);
            code.Line($"internal static void {Announce(type)}() => {Add(type)}");
            code.Line();
        }
        code.Line(
            $"/// <summary>How {type.TypeName.Replace("global::", "").Replace("<", "{").Replace(">", "}")} stands in a checkpoint.</summary>");
        code.Line(BindingNames.Generated);
        using (code.Open(
            $"{(type.Inside.Count > 0 ? "private" : "internal")} sealed class {type.CodecName}{type.Parameters} : global::Ambrosia.StateCodec<{type.TypeName}>{type.Constraints}"))
            WriteCodec(code, type);
    }

    private static string Announce(StateModel type) =>
        $"__Announce{type.CodecName.TrimStart('_')}{(type.Arity > 0 ? type.Arity.ToString(CultureInfo.InvariantCulture) : "")}";

    private static string Add(StateModel type)
    {
        string codec = type.InsideName.Length > 0 ? type.CodecName : type.Namespace.Length == 0 ? $"global::{type.CodecName}"
            : $"global::{type.Namespace}.{type.CodecName}";
        if (type.Arity == 0) return $"global::Ambrosia.StateCodecs.Add<{type.TypeName}>(static () => new {codec}());";
        string open = $"<{new string(',', type.Arity - 1)}>";
        return $"global::Ambrosia.StateCodecs.AddGeneric(typeof({type.TypeName.Substring(0, type.TypeName.LastIndexOf('<'))}{open}), typeof({codec}{open}));";
    }

    private static void WriteCodec(CodeWriter code, StateModel type)
    {
        string[] accessors = Accessors(type);
        string by = type.IsReference ? "" : "ref ";
        code.Line(
            $"public override string[] Names {{ get; }} = [{string.Join(", ", type.Fields.Select(static each => SymbolDisplay.FormatLiteral(each.Name, quote: true)))}];");
        code.Line();
        using (code.Open($"public override void Write({Graph}Writer graph, ref {BindingNames.Writer} to, {type.TypeName} value)"))
            for (int i = 0; i < type.Fields.Count; i++)
                code.Line(string.Format(CultureInfo.InvariantCulture, type.Fields[i].Write, $"{accessors[i]}({by}value)", i));
        code.Line();
        using (code.Open(
            $"public override void Read({Graph}Reader graph, ref {BindingNames.Reader} from, global::System.ReadOnlySpan<int> fields, ref {type.TypeName} value)"))
        // C# 12 has no foreach over a span of .NET 10, whose enumerator has interfaces.
        using (code.Open("for (int at = 0; at < fields.Length; at++)"))
        using (code.Open("switch (fields[at])"))
        {
            for (int i = 0; i < type.Fields.Count; i++) code.Line($"case {i}: {accessors[i]}({by}value) = {type.Fields[i].Read}; break;");
            code.Line("default: from.Skip(); break;");
        }
        for (int i = 0; i < type.Fields.Count; i++)
        {
            code.Line();
            code.Line($"[{Accessor}({Accessor}Kind.Field, Name = {SymbolDisplay.FormatLiteral(type.Fields[i].Metadata, quote: true)})]");
            code.Line($"private static extern ref {type.Fields[i].Type} {accessors[i]}({by}{type.Fields[i].Declaring} of);");
        }
    }

    /// <summary>Returns a name for the accessor of each field, made of the field's own.</summary>
    private static string[] Accessors(StateModel type)
    {
        var names = new string[type.Fields.Count];
        for (int i = 0; i < names.Length; i++)
        {
            string plain = type.Fields[i].Metadata;
            int end = plain.IndexOf('>');
            if (plain[0] == '<' && end > 1) plain = plain.Substring(1, end - 1);
            string name = "Of_" + new string([.. plain.Select(static c => char.IsLetterOrDigit(c) || c == '_' ? c : '_')]);
            names[i] = names.Contains(name) ? $"{name}_{i}" : name;
        }
        return names;
    }
}
