using Ambrosia.Inspection.Decoding;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Inspection.Records;

/// <summary>
/// Writes a message's method and arguments as text: with names where a manifest has the id, else as a number and in diagnostic notation.
/// </summary>
internal sealed class MessageFormatter(ContractManifests contracts, int stringBytesMax)
{
    private readonly ValueFormatter _values = new(contracts, stringBytesMax);

    /// <summary>Names the method with this id.</summary>
    public EntryMethod MethodOf(uint id)
    {
        IReadOnlyList<ContractMethod> methods = contracts.MethodsOf(id);
        return new EntryMethod(id, methods.Count == 0 ? null : string.Join('|', methods));
    }

    /// <summary>Writes an idempotency key.</summary>
    public string Key(ReadOnlySpan<byte> key) => _values.OfRaw(key);

    /// <summary>Writes the arguments of a message.</summary>
    /// <exception cref="CborException">They are malformed.</exception>
    public IReadOnlyList<EntryArgument> Arguments(uint id, ReadOnlySpan<byte> bytes)
    {
        ContractMethod? method = OnlyMethod(id);
        if (method is { IsRaw: true, Parameters: [var only] }) return [new EntryArgument(only.Name, only.Type.Text, _values.OfRaw(bytes))];
        if (method is null && !IsSequence(bytes)) return [new EntryArgument(null, null, _values.OfRaw(bytes))]; // raw, it seems
        var arguments = new List<EntryArgument>();
        var from = new CborReader(bytes, lenient: true);
        for (int i = 0; !from.AtEnd; i++)
        {
            ContractField? parameter = method is not null && i < method.Parameters.Count ? method.Parameters[i] : null;
            arguments.Add(new EntryArgument(parameter?.Name, parameter?.Type.Text, _values.Next(ref from, parameter?.Type)));
        }
        return arguments;
    }

    /// <summary>Writes the value of a result, or the empty text where the method gives none.</summary>
    /// <exception cref="CborException">It is malformed.</exception>
    public string Value(uint id, ReadOnlySpan<byte> bytes)
    {
        ContractMethod? method = OnlyMethod(id);
        if (method?.IsResultRaw == true || (method is null && !IsSequence(bytes))) return _values.OfRaw(bytes);
        if (bytes.IsEmpty) return "";
        var from = new CborReader(bytes, lenient: true);
        string value = _values.Next(ref from, method?.Result);
        while (!from.AtEnd) value += ", " + _values.Next(ref from, null);
        return value;
    }

    /// <summary>Writes what a failure says of itself, with what caused it.</summary>
    /// <exception cref="CborException">It is malformed.</exception>
    public static string Failure(ReadOnlySpan<byte> bytes)
    {
        var from = new CborReader(bytes, lenient: true);
        var chain = new List<EntryFailure>();
        for (EntryFailure? each = EntryFailure.Of(FailureInfo.Read(ref from)); each is not null; each = each.Inner) chain.Add(each);
        return string.Join(" <- ", chain);
    }

    /// <summary>
    /// Returns the method with this id, or null where none or several have it: nobody can tell which of several is meant.
    /// </summary>
    private ContractMethod? OnlyMethod(uint id) => contracts.MethodsOf(id) is [var only] ? only : null;

    private static bool IsSequence(ReadOnlySpan<byte> bytes)
    {
        try
        {
            CborReader.Check(bytes);
            return true;
        }
        catch (CborException)
        {
            return false;
        }
    }
}
