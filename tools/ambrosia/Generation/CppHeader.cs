using System.Globalization;
using System.Text;
using System.Text.Json;
using Ambrosia.Protocol.Texts;
using Ambrosia.Tools.Contracts;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Generation;

/// <summary>
/// Writes the C++ header of one manifest: its enums, data types and unions, and for each contract proxies and dispatch, all in the
/// manifest's namespaces. The same manifest gives the same bytes everywhere.
/// </summary>
internal sealed class CppHeader
{
    private const int ManifestColumns = 120;
    private const string RawEnd = ")json\"";
    private const ulong HashOffset = 0xCBF29CE484222325, HashPrime = 0x00000100000001B3;

    private readonly ContractModel _model = new();
    private readonly CppTypes _types;
    private readonly string _file, _manifest;
    private readonly List<(string Namespace, string Text)> _pieces = [];

    private CppHeader(string file, JsonElement manifest)
    {
        (_file, _manifest) = (file, manifest.GetRawText());
        _model.Add(manifest);
        _types = new CppTypes(_model);
        RefuseSameNames();
        AddTypes();
        JsonElement[] contracts = [.. manifest.GetProperty("contracts").EnumerateArray()];
        for (int i = 0; i < contracts.Length; i++)
            _pieces.Add((CppNames.Space(_model.Contracts[i].Namespace), new CppContract(_model.Contracts[i], HashOf(contracts[i])).Write()));
        foreach (ContractRow contract in _model.Contracts) _pieces.Add((CppNames.Space(contract.Namespace), ManifestOf(contract)));
    }

    /// <summary>Returns the header.</summary>
    /// <param name="file">The manifest's file, whose name stands in the header's first line.</param>
    /// <exception cref="ToolMisuse">Something in it cannot be said in C++.</exception>
    public static string Write(string file, JsonElement manifest) => new CppHeader(Path.GetFileName(file), manifest).Join();

    private string Join()
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture,
            $"// The header of a contract, as `ambrosia generate cpp {HarmlessText.Comment(_file)}` writes it: the data types, the proxies and the dispatch of each contract in it.\n");
        text.Append("#pragma once\n\n#include <ambrosia/ambrosia.h>\n");
        string open = "";
        foreach ((string space, string piece) in _pieces)
        {
            if (space != open)
            {
                if (open.Length > 0) text.Append(CultureInfo.InvariantCulture, $"\n}}  // namespace {open}\n");
                if (space.Length > 0) text.Append(CultureInfo.InvariantCulture, $"\nnamespace {space} {{\n");
                open = space;
            }
            text.Append('\n').Append(piece);
        }
        if (open.Length > 0) text.Append(CultureInfo.InvariantCulture, $"\n}}  // namespace {open}\n");
        return text.ToString();
    }

    /// <summary>Two names of a manifest can be spelled alike, as those of a use of a generic type and of a type of that name.</summary>
    private void RefuseSameNames()
    {
        foreach (IGrouping<string, string> same in _model.Enums.Keys.Concat(_model.Data.Keys).Concat(_model.Unions.Keys)
            .GroupBy(CppNames.Qualified).Where(static group => group.Skip(1).Any()))
            throw new ToolMisuse($"the header of '{_file}' cannot be written", $"{string.Join(" and ", same)} would both be {same.Key} in C++",
                "rename one of them");
    }

    private void AddTypes()
    {
        foreach ((string name, EnumRow type) in _model.Enums) Add(name, own => EnumOf(own, type));
        foreach (IGrouping<string, string> space in _model.Data.Keys.GroupBy(static name => CppNames.Split(name).Namespace))
            _pieces.Add((space.Key, string.Concat(space.Select(static name => $"struct {CppNames.Split(name).Name};\n"))));
        foreach ((string name, IReadOnlyList<CaseRow> cases) in _model.Unions) Add(name, own => UnionOf(own, name, cases));
        foreach (string name in _types.Ordered()) Add(name, own => DataOf(own, name, _model.Data[name]));
    }

    private void Add(string fullName, Func<string, string> write)
    {
        (string space, string name) = CppNames.Split(fullName);
        _pieces.Add((space, write(name)));
    }

    private static string EnumOf(string name, EnumRow type)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"enum class {name} : std::{type.Type}_t {{\n");
        foreach ((string member, string value) in type.Members)
            text.Append(CultureInfo.InvariantCulture, $"  {CppNames.Of(member)} = {NumberOf(value)},\n");
        return text.Append("};\n").ToString();
    }

    /// <summary>The least number of 64 bits has no literal, and the largest ones have no sign.</summary>
    private static string NumberOf(string value) =>
        value == "-9223372036854775808" ? "-9223372036854775807 - 1" : long.TryParse(value, CultureInfo.InvariantCulture, out _) ? value
            : value + "u";

    private static string UnionOf(string name, string fullName, IReadOnlyList<CaseRow> cases)
    {
        string space = CppNames.Split(fullName).Namespace;
        IEnumerable<string> all = cases.Select(each =>
            $"ambrosia::union_case<{each.Number.ToString(CultureInfo.InvariantCulture)}, {Within(space, each.Type["data<".Length..^1])}>");
        return $"struct {name} : ambrosia::one_of<{name}> {{\n  using one_of::one_of;\n  static constexpr std::string_view name = {CppNames.Literal(fullName)};\n"
            + $"  using cases = ambrosia::union_cases<{string.Join(", ", all)}>;\n}};\n";
    }

    /// <summary>Cases of the union's own namespace are called by their names alone.</summary>
    private static string Within(string space, string type) =>
        CppNames.Split(type) is var (own, name) && own == space ? name : CppNames.Qualified(type);

    private string DataOf(string name, string fullName, IReadOnlyList<FieldRow> fields)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"struct {name} {{\n");
        foreach (FieldRow field in fields)
            text.Append(CultureInfo.InvariantCulture, $"  {_types.OfField(fullName, field.Type)} {CppNames.Of(field.Name)}{CppTypes.InitialOf(field.Type)};\n");
        IEnumerable<string> keys = fields.Select(field =>
            $"\n    {field.Number?.ToString(CultureInfo.InvariantCulture) ?? CppNames.Literal(field.Name)}, &{name}::{CppNames.Of(field.Name)}");
        string blank = fields.Count > 0 ? "\n" : "";
        return text.Append(CultureInfo.InvariantCulture,
            $"{blank}  static constexpr auto fields = ambrosia::fields({string.Join(',', keys)});\n}};\n").ToString();
    }

    private string ManifestOf(ContractRow contract)
    {
        var text = new StringBuilder();
        text.Append(CultureInfo.InvariantCulture, $"inline constexpr std::string_view {CppNames.Of(contract.Name)}::manifest =");
        for (int from = 0, end; from < _manifest.Length; from = end)
        {
            end = Math.Min(from + ManifestColumns, _manifest.Length);
            if (end < _manifest.Length && char.IsLowSurrogate(_manifest[end])) end++;
            text.Append("\n    ").Append(Piece(_manifest[from..end]));
        }
        return text.Append(";\n").ToString();
    }

    /// <summary>
    /// A piece of the manifest as a raw literal, which people can read; one that would end the literal, or has characters in it that a
    /// compiler or a person sees otherwise than they are, as a usual one.
    /// </summary>
    private static string Piece(string piece) =>
        piece.Contains(RawEnd, StringComparison.Ordinal) || !HarmlessText.IsHarmless(piece.Replace("\n", "", StringComparison.Ordinal))
            ? CppNames.Literal(piece) : $"R\"json({piece}{RawEnd}";

    /// <summary>The hash of a contract is of its object as it stands in the manifest (docs/contract.md C1.7).</summary>
    private static ulong HashOf(JsonElement contract)
    {
        ulong hash = HashOffset;
        foreach (byte each in Encoding.UTF8.GetBytes(contract.GetRawText())) hash = unchecked((hash ^ each) * HashPrime);
        return hash;
    }
}
