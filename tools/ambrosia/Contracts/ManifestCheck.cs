using System.Globalization;
using System.Numerics;
using System.Text.Json;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Protocol.Runs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Contracts;

/// <summary>
/// Checks one manifest by docs/contract.md, as whoever writes one by hand or makes one in another language needs it: its form first, and
/// what it says only where the form is right.
/// </summary>
internal sealed class ManifestCheck
{
    /// <summary>The ids from here to 2³¹ − 1 are what bindings say to one another (protocol P4.5).</summary>
    private const uint FirstIdOfBindings = 0x80000000 - 256;

    private readonly List<ContractBreak> _problems = [];
    private readonly ManifestTypes _types;
    private readonly bool _areTypesSound;

    private ManifestCheck(string file, JsonElement manifest)
    {
        _types = new ManifestTypes(file, manifest);
        var own = new ContractModel();
        own.Add(manifest);
        CheckNames(manifest);
        foreach ((string name, IReadOnlyList<FieldRow> fields) in own.Data) CheckFields(name, fields);
        foreach ((string name, EnumRow type) in own.Enums) CheckEnum(name, type);
        foreach ((string name, IReadOnlyList<CaseRow> cases) in own.Unions) CheckCases(name, cases);
        _areTypesSound = _problems.Count == 0;
        foreach (ContractRow contract in own.Contracts) CheckContract(contract);
    }

    /// <summary>Checks the manifest in a file.</summary>
    /// <exception cref="ToolMisuse">It is not there, no JSON, or of another format.</exception>
    public static ManifestReport Check(string file)
    {
        using JsonDocument json = ManifestFiles.Parse(file);
        try
        {
            IReadOnlyList<ContractBreak> form = ManifestSchema.ProblemsOf(json.RootElement);
            return new ManifestReport(file, form.Count > 0 ? form : new ManifestCheck(file, json.RootElement)._problems);
        }
        catch (InvalidOperationException e) // a text with half of a surrogate pair is JSON, and no text
        {
            throw new ToolMisuse($"'{file}' is damaged", $"it has a text that is none: {e.Message.TrimEnd('.')}",
                "write texts without halves of surrogate pairs");
        }
    }

    private void Add(string place, string reason, string mend) => _problems.Add(new ContractBreak(place, reason, mend));

    private void CheckNames(JsonElement manifest)
    {
        foreach (string list in new[] { "contracts", "data", "enums", "unions" })
            Unique(list, "name", manifest.GetProperty(list).EnumerateArray().Select(each =>
                (list == "contracts" ? $"{ContractModel.Text(each, "namespace")}." : "") + ContractModel.Text(each, "name")));
    }

    private void Unique<T>(string place, string what, IEnumerable<T> values) where T : notnull
    {
        foreach (IGrouping<T, T> same in values.GroupBy(static value => value).Where(static group => group.Skip(1).Any()))
            Add(place, $"the {what} {same.Key} stands there {same.Count()} times", $"give each a {what} of its own");
    }

    private void CheckType(string place, string type)
    {
        if (_types.ProblemOf(type) is { } problem)
            Add(place, problem, "name a type of docs/contract.md C2.1, or of this manifest or one beside it");
    }

    private void CheckFields(string type, IReadOnlyList<FieldRow> fields)
    {
        Unique(type, "name", fields.Select(static each => each.Name));
        Unique(type, "number", fields.Where(static each => each.Number is not null).Select(static each => each.Number!.Value));
        foreach (FieldRow field in fields) CheckType($"{type}.{field.Name}", field.Type);
    }

    private void CheckEnum(string name, EnumRow type)
    {
        Unique(name, "name", type.Members.Select(static each => each.Name));
        if (!ManifestTypes.IsNumber(type.Type))
        {
            Add(name, $"an enum is not of '{type.Type}'", "give one of int8 to uint64");
            return;
        }
        int bits = int.Parse(type.Type.AsSpan(type.Type.IndexOf('t', StringComparison.Ordinal) + 1), CultureInfo.InvariantCulture);
        bool isSigned = type.Type[0] == 'i';
        BigInteger least = isSigned ? -BigInteger.Pow(2, bits - 1) : 0, most = BigInteger.Pow(2, isSigned ? bits - 1 : bits) - 1;
        foreach ((string member, string value) in type.Members)
            if (!BigInteger.TryParse(value, NumberStyles.AllowLeadingSign, CultureInfo.InvariantCulture, out BigInteger number)
                || number < least || number > most)
                Add($"{name}.{member}", $"{value} is no {type.Type}", $"give a number from {least} to {most}");
    }

    private void CheckCases(string name, IReadOnlyList<CaseRow> cases)
    {
        Unique(name, "number", cases.Select(static each => each.Number));
        foreach (CaseRow each in cases)
        {
            string place = $"{name} case {each.Number}";
            if (each.Number > int.MaxValue) Add(place, "its number is beyond 2147483647", "give one from 0 to 2147483647");
            if (SchemaType.Parse(each.Type) is { Name: "data", IsNullable: false }) CheckType(place, each.Type);
            else Add(place, $"a case is not of {each.Type}", "give a data type: data<N>");
        }
    }

    private void CheckContract(ContractRow contract)
    {
        Unique(contract.FullName, "name", contract.Methods.Select(static each => each.Name));
        Unique(contract.FullName, "id", contract.Methods.Select(static each => each.Id));
        foreach (MethodRow method in contract.Methods)
        {
            string place = $"{contract.FullName}.{method.Name}";
            CheckId(place, contract.Name, method);
            CheckRaw(place, method);
            if (method.Result is { } result) CheckType($"{place} result", result);
            Unique(place, "name", method.Parameters.Select(static each => each.Name));
            foreach (ParameterRow parameter in method.Parameters) CheckParameter($"{place} parameter '{parameter.Name}'", parameter);
        }
    }

    private void CheckId(string place, string contract, MethodRow method)
    {
        uint computed = MethodIds.Of(contract, method.Name);
        const string Given = "give one from 1 to 2147483391";
        string mend = $"{Given}, or {computed}, which follows from {contract}.{method.Name}";
        if (method.Id == 0) Add(place, "0 is no id", mend);
        else if (method.Id is >= FirstIdOfBindings and < MethodRow.ComputedMin)
            Add(place, $"the id {method.Id} is reserved for bindings (protocol P4.5)", mend);
        else if (method.Id >= MethodRow.ComputedMin && method.Id != computed)
            Add(place, $"the id {method.Id} is a computed one, and does not follow from {contract}.{method.Name} (protocol P4.5)", mend);
    }

    private void CheckRaw(string place, MethodRow method)
    {
        if (method.IsRaw && method.Parameters is not [{ Type: "bytes" or "bytes?" }])
            Add(place, "it is 'raw' and has not one parameter of bytes alone (protocol P4.2)", "remove 'raw', or give it the one parameter");
        if (method.IsResultRaw && method.Result is not ("bytes" or "bytes?"))
            Add(place, $"it is 'rawResult' and its result is {method.Result ?? "none"}", "remove 'rawResult', or let the result be bytes");
    }

    private void CheckParameter(string place, ParameterRow parameter)
    {
        int before = _problems.Count;
        CheckType(place, parameter.Type);
        if (parameter.Default is not { } hex) return;
        if (!parameter.IsOptional) Add(place, "it has a default and is not 'optional'", "say \"optional\":true");
        if (_problems.Count > before || !_areTypesSound) return; // a value is read only by types that are sound
        if (new DefaultValue(_types.Model).ProblemOf(hex, SchemaType.Parse(parameter.Type)!) is { } problem)
            Add(place, problem, "give the CBOR of a value of its type (docs/contract.md C3)");
    }
}
