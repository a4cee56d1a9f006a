using System.Collections.Generic;
using System.Linq;
using System.Text;
using Ambrosia.Generators.Output;
using Ambrosia.Generators.Serialization;
using Microsoft.CodeAnalysis.CSharp;

namespace Ambrosia.Generators.Contracts;

/// <summary>
/// Writes the assembly's contracts as JSON, which generators of other languages and the log tools read. The text is deterministic: its
/// order is ordinal, and it has no spaces (docs/contract.md C1).
/// </summary>
internal static class Manifest
{
    /// <summary>Returns the hash of one contract's JSON.</summary>
    internal static ulong HashOf(ContractModel contract) => FnvHash.Hash64(JsonOf(contract));

    /// <summary>Generates the assembly attribute that holds the manifest, and the class that gives it to code.</summary>
    internal static string SourceOf(string assembly, IEnumerable<ContractModel> contracts, IEnumerable<DataModel> data)
    {
        string json = JsonOf(assembly, contracts, data);
        ulong hash = FnvHash.Hash64(json);
        var code = new CodeWriter();
        code.Line(
            $"[assembly: global::Ambrosia.ContractManifestAttribute(0x{hash:X16}ul, {SymbolDisplay.FormatLiteral(json, quote: true)})]");
        code.Line();
        code.Namespace("Ambrosia.Generated");
        code.Line("/// <summary>The contracts of this assembly.</summary>");
        code.Line(BindingNames.Generated);
        using (code.Open("internal static class ContractManifest"))
        {
            code.Line($"public const ulong Hash = 0x{hash:X16}ul;");
            code.Line();
            code.Line($"public const string Json = {SymbolDisplay.FormatLiteral(json, quote: true)};");
        }
        return code.ToString();
    }

    internal static string JsonOf(string assembly, IEnumerable<ContractModel> contracts, IEnumerable<DataModel> data) =>
        $"{{\"format\":1,\"assembly\":{Text(assembly)},\"contracts\":{List(contracts, JsonOf)},\"data\":{List(DataOf(contracts, data), JsonOf)},\"enums\":{List(EnumsOf(contracts, data), JsonOf)},\"unions\":{List(UnionsOf(contracts, data), JsonOf)}}}";

    private static string JsonOf(ContractModel contract)
    {
        IEnumerable<string> methods = contract.Methods.OrderBy(method => method.Id).Select(JsonOf);
        return $"{{\"name\":{Text(contract.Name)},\"namespace\":{Text(contract.Namespace)},\"methods\":[{string.Join(",", methods)}]}}";
    }

    private static string JsonOf(MethodModel method)
    {
        string parameters = string.Join(",", method.Parameters.Select(JsonOf));
        string raw = method.IsRaw ? ",\"raw\":true" : "";
        string impulse = method.IsImpulse ? ",\"impulse\":true" : "";
        string query = method.IsQuery ? ",\"query\":true" : "";
        string result = method.Result is null ? ""
            : $",\"result\":{Text(method.Result.Schema)}{(method.Result.IsRawWhenAlone ? ",\"rawResult\":true" : "")}";
        return $"{{\"name\":{Text(method.PlainName)},\"id\":{method.Id}{impulse}{query}{raw},\"parameters\":[{parameters}]{result}}}";
    }

    private static string JsonOf(ParameterModel parameter)
    {
        string optional = parameter.Default is null ? "" : ",\"optional\":true";
        string missing = parameter.DefaultHex is null ? "" : $",\"default\":{Text(parameter.DefaultHex)}";
        return $"{{\"name\":{Text(parameter.Name.TrimStart('@'))},\"type\":{Text(parameter.Type.Schema)}{optional}{missing}}}";
    }

    private static string JsonOf(DataModel data)
    {
        string members = string.Join(",", data.Members.Select(each =>
            $"{{\"name\":{Text(each.Name)}{(each.Number is { } number ? $",\"number\":{number}" : "")},\"type\":{Text(each.Type.Schema)}}}"));
        return $"{{\"name\":{Text(data.Schema)},\"fields\":[{members}]}}";
    }

    private static string JsonOf(EnumModel type)
    {
        string members = string.Join(",", type.Members.Select(each => $"{{\"name\":{Text(each.Name)},\"value\":{each.Value}}}"));
        return $"{{\"name\":{Text(type.Name)},\"type\":{Text(type.Number)},\"members\":[{members}]}}";
    }

    private static string JsonOf(UnionModel type)
    {
        string cases = string.Join(",", type.Cases.Select(each => $"{{\"number\":{each.Number},\"type\":{Text(each.Schema)}}}"));
        return $"{{\"name\":{Text(type.Name)},\"cases\":[{cases}]}}";
    }

    /// <summary>Returns the data types and the uses of generic ones that are named, each once, in the order of their names.</summary>
    private static IEnumerable<DataModel> DataOf(IEnumerable<ContractModel> contracts, IEnumerable<DataModel> data) =>
        data.Concat(TypesOf(contracts, data).Select(static type => type.Construction).OfType<DataModel>())
            .GroupBy(static type => type.Schema).Select(static same => same.First())
            .OrderBy(static type => type.Schema, System.StringComparer.Ordinal);

    /// <summary>Returns the enums that contracts and data name, each once, in the order of their names.</summary>
    private static IEnumerable<EnumModel> EnumsOf(IEnumerable<ContractModel> contracts, IEnumerable<DataModel> data) =>
        TypesOf(contracts, data).Select(static type => type.Enum).OfType<EnumModel>().GroupBy(static type => type.Name)
            .Select(static same => same.First()).OrderBy(static type => type.Name, System.StringComparer.Ordinal);

    /// <summary>Returns the unions that contracts and data name, each once, in the order of their names.</summary>
    private static IEnumerable<UnionModel> UnionsOf(IEnumerable<ContractModel> contracts, IEnumerable<DataModel> data) =>
        TypesOf(contracts, data).Select(static type => type.Union).OfType<UnionModel>().GroupBy(static type => type.Name)
            .Select(static same => same.First()).OrderBy(static type => type.Name, System.StringComparer.Ordinal);

    /// <summary>Returns every type that contracts and data name, with those inside it.</summary>
    private static IEnumerable<TypeModel> TypesOf(IEnumerable<ContractModel> contracts, IEnumerable<DataModel> data) =>
        contracts.SelectMany(static contract => contract.Methods)
            .SelectMany(static method => method.Parameters.Select(static parameter => parameter.Type)
                .Concat(method.Result is null ? [] : [method.Result]))
            .Concat(data.SelectMany(static type => type.Members).Select(static member => member.Type)).SelectMany(WithInner);

    private static IEnumerable<TypeModel> WithInner(TypeModel type) =>
        type.Inner.Concat(type.Construction is { } data ? data.Members.Select(static member => member.Type) : [])
            .SelectMany(WithInner).Concat([type]);

    private static string List<T>(IEnumerable<T> items, System.Func<T, string> jsonOf) => $"[{string.Join(",", items.Select(jsonOf))}]";

    /// <summary>Returns a text as a JSON string.</summary>
    private static string Text(string value)
    {
        var text = new StringBuilder("\"");
        foreach (char c in value)
        {
            if (c is '"' or '\\') text.Append('\\').Append(c);
            else if (c < ' ') text.Append("\\u").Append(((int)c).ToString("x4"));
            else text.Append(c);
        }
        return text.Append('"').ToString();
    }
}
