using System.Security.Cryptography;
using Ambrosia.Images.Masking;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Hashing;

namespace Ambrosia.Inspection.Masking;

/// <summary>Masks what messages carry: arguments, results, failures and keys, under the names of their contracts. One thread.</summary>
internal sealed class MessageMasking(ContractManifests contracts, ValueMasker masker) : IPayloadMasking
{
    private readonly TypedMasking _typed = new(contracts, masker);

    /// <summary>Requests whose keys the image knows, with the hash of their arguments; and the arguments, where the cut has them.</summary>
    private readonly Dictionary<(uint Method, string Key), (ulong Hash, byte[]? Arguments)> _keyed = [];

    /// <summary>Lets the rules know what the contracts name, whether a message has it or not.</summary>
    public void Declare()
    {
        foreach (ContractMethod method in contracts.Methods)
        {
            foreach (ContractField parameter in method.Parameters) ParameterOf(method, parameter.Name);
            ResultOf(method.ToString());
        }
        foreach ((string type, IReadOnlyList<ContractField> fields) in contracts.DataTypes)
            foreach (ContractField field in fields) masker.Rules.Of(type, field.Name);
        foreach (string special in (string[])[MaskRules.Key, MaskRules.Failure, MaskRules.Task, MaskRules.Why])
            masker.Rules.Of("", special);
    }

    public void Key(Span<byte> key) => masker.Bytes(masker.Rules.Of("", MaskRules.Key), key);

    public void Arguments(uint? method, Span<byte> content)
    {
        if (method is null) Value(masker.Rules.Of("", MaskRules.Task), content);
        else if (MethodOf(method.Value) is not { } known) Unknown(NameOf(method.Value), content);
        else if (known.IsRaw) masker.Bytes(ParameterOf(known, known.Parameters is [var only] ? only.Name : "0"), content);
        else Whole(content, i => i < known.Parameters.Count ? known.Parameters[i].Type : null,
            i => ParameterOf(known, i < known.Parameters.Count ? known.Parameters[i].Name : $"{i}"));
    }

    public void Answer(uint method, bool isFailure, Span<byte> content)
    {
        ContractMethod? known = MethodOf(method);
        PlaceName name = ResultOf(NameOf(method));
        if (isFailure) Failure(content);
        else if (known?.IsResultRaw == true) masker.Bytes(name, content);
        else Whole(content, _ => known?.Result, _ => name);
    }

    /// <summary>Masks the texts of a failure and of its causes; their types are names of the code.</summary>
    public void Failure(Span<byte> content)
    {
        PlaceName name = masker.Rules.Of("", MaskRules.Failure);
        Whole(content, static _ => null, _ => name, (item, _) => FailureItem(item, name));
    }

    /// <summary>Masks what the body of a task gave, or its argument.</summary>
    public void Value(PlaceName name, Span<byte> content) => Whole(content, static _ => null, _ => name, (item, at) =>
    {
        if (!ImageMasking.TryGraph(at, item, masker, this)) masker.Item(at, item);
    });

    public ulong HashOf(uint method, ReadOnlySpan<byte> key, ulong hash)
    {
        (uint, string) name = (method, Convert.ToHexString(key));
        if (masker.IsLearning)
        {
            _keyed[name] = (hash, null);
            return hash;
        }
        if (!_keyed.TryGetValue(name, out (ulong, byte[]? Arguments) known) || known.Arguments is null)
            return BitConverter.ToUInt64(RandomNumberGenerator.GetBytes(sizeof(ulong)));
        byte[] masked = [.. known.Arguments];
        masker.IsQuiet = true;
        Arguments(method, masked);
        masker.IsQuiet = false;
        return ChannelHash.Append(0, masked);
    }

    /// <summary>A request with a key comes again: where the image has its answer, it must be found by its masked arguments.</summary>
    public void Learn(uint method, ReadOnlySpan<byte> key, ReadOnlySpan<byte> arguments)
    {
        (uint, string) name = (method, Convert.ToHexString(key));
        if (_keyed.TryGetValue(name, out (ulong Hash, byte[]? Arguments) known) && known.Arguments is null
            && known.Hash == ChannelHash.Append(0, arguments))
            _keyed[name] = (known.Hash, arguments.ToArray());
    }

    private delegate void MaskItem(Span<byte> item, PlaceName at);

    /// <summary>Masks a sequence of items; what is none is one byte string, under the first name that a rule masks.</summary>
    private void Whole(Span<byte> content, Func<int, SchemaType?> typeOf, Func<int, PlaceName> nameOf, MaskItem? mask = null)
    {
        if (content.IsEmpty) return;
        if (!TrySplit(content, out List<Range> items))
        {
            const int NamesMax = 16;
            masker.Bytes(Enumerable.Range(0, NamesMax).Select(nameOf).FirstOrDefault(static each => each.IsMasked) ?? nameOf(0), content);
            return;
        }
        for (int i = 0; i < items.Count; i++)
            if (mask is null) _typed.Mask(content[items[i]], typeOf(i), nameOf(i));
            else mask(content[items[i]], nameOf(i));
    }

    private void Unknown(string method, Span<byte> content) =>
        Whole(content, static _ => null, i => masker.Rules.Of(method, $"{i}", null, $"{method}.{i}"));

    private void FailureItem(Span<byte> item, PlaceName name)
    {
        if (new CborReader(item).PeekKind() != CborKind.Array || ValueMasker.Parts(item, CborKind.Array) is not [_, var message, var inner])
        {
            masker.Item(name, item);
            return;
        }
        masker.Item(name, item[message]);
        if (new CborReader(item[inner]).PeekKind() != CborKind.Null) FailureItem(item[inner], name);
    }

    private static bool TrySplit(ReadOnlySpan<byte> content, out List<Range> items)
    {
        items = [];
        try
        {
            var from = new CborReader(content);
            while (!from.AtEnd)
            {
                int start = from.Position;
                from.Skip();
                items.Add(start..from.Position);
            }
            return true;
        }
        catch (CborException)
        {
            return false;
        }
    }

    /// <summary>Of several methods with one id nobody can tell which is meant: one with a name that a rule masks counts.</summary>
    private ContractMethod? MethodOf(uint id)
    {
        IReadOnlyList<ContractMethod> methods = contracts.MethodsOf(id);
        return methods.Count <= 1 ? methods.FirstOrDefault()
            : methods.FirstOrDefault(each => each.Parameters.Any(parameter => ParameterOf(each, parameter.Name).IsMasked)) ?? methods[0];
    }

    private string NameOf(uint id) => MethodOf(id)?.ToString() ?? $"0x{id:X8}";

    private PlaceName ParameterOf(ContractMethod method, string parameter) =>
        masker.Rules.Of(method.ToString(), parameter, null, $"{method}.{parameter}");

    private PlaceName ResultOf(string method) => masker.Rules.Of(method, MaskRules.Result, null, $"{method}.{MaskRules.Result}");
}
