using System.Globalization;
using System.Text;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Records;
using Ambrosia.Inspection.Texts;
using Ambrosia.Protocol;

namespace Ambrosia.Inspection.Places;

/// <summary>Finds messages by what is in them. The log is read from its beginning to the first of them.</summary>
internal sealed class ContentPlaces(PlaceReader places, ContractManifests contracts)
{
    private const int Offered = 2;

    /// <summary>Finds the first call with an id, or its first answer where no call has it.</summary>
    /// <param name="asked"><c>ID</c>, or <c>INSTANCE#ID</c> for one of this instance.</param>
    public FoundPlace OfCall(string asked)
    {
        int hash = asked.LastIndexOf('#');
        string? sender = hash < 0 ? null : asked[..hash];
        if (!TryParseNumber(asked.AsSpan(hash + 1), out ulong id))
            throw new MisuseException($"'{asked}' is no call id", "", "give call:ID, or call:INSTANCE#ID with the instance that called");
        Lsn start = places.Start();
        CallSearch search = Run(names => new CallSearch(names, sender, id, start));
        if (search.Found is { } found) return places.Describe(found);
        string by = sender is null ? "" : $" of {sender}";
        string why = search.IsNear ? $"other calls{by} are in this log" : $"no call{by} is in this log";
        if (sender is not null && !search.IsNear) search = Run(names => new CallSearch(names, null, id, start)); // others may have called
        throw PlaceReader.Refusal($"there is no call {id}{by}", why, search.Found is { } others ? [places.Offer(others)] : OffersOf(search));
    }

    /// <summary>Finds the first message with an idempotency key.</summary>
    /// <param name="asked">Text, or bytes as <c>h'0a0b'</c>.</param>
    public FoundPlace OfKey(string asked)
    {
        if (asked.Length == 0) throw new MisuseException("a key has one byte at least", "", "give key:TEXT, or key:h'0a0b' for bytes");
        Lsn start = places.Start();
        KeySearch search = Run(names => new KeySearch(names, FormsOf(asked), start));
        if (search.Found is { } found) return places.Describe(found);
        bool none = search.Nearest.Count == 0;
        throw PlaceReader.Refusal($"there is no message with the key '{asked}'",
            none ? "no message with a key is in this log" : "others have other keys",
            none ? places.OfferBoth() : search.Nearest.Select(static each => each.ToString()));
    }

    /// <summary>Finds the n-th message that calls a method.</summary>
    /// <param name="asked"><c>Method</c>, <c>Interface.Method</c> or an id, with <c>#N</c> behind it for another than the first.</param>
    public FoundPlace OfMethod(string asked)
    {
        int hash = asked.LastIndexOf('#');
        ulong number = 1;
        string name = hash < 0 ? asked : asked[..hash];
        if (hash >= 0 && !(TryParseNumber(asked.AsSpan(hash + 1), out number) && number > 0))
            throw new MisuseException($"'{asked}' is no method", "behind # stands which one of its messages, from 1 on", "give method:NAME#N");
        Lsn start = places.Start();
        MethodSearch search = Run(names => new MethodSearch(names, IdsOf(name), number, start));
        if (search.Found is { } found) return places.Describe(found);
        if (search.Count == 0)
            throw PlaceReader.Refusal($"there is no message that calls {name}", "others call other methods", OffersOf(name, search.Others));
        throw PlaceReader.Refusal($"there is no message {number} that calls {name}", $"this log has {search.Count} of them",
            search.Last.Record < start ? places.OfferBoth()
                : search.Count == 1 || search.LastButOne.Record < start ? [OfferOf(name, search.Count, search.Last)]
                : [OfferOf(name, search.Count - 1, search.LastButOne), OfferOf(name, search.Count, search.Last)]);
    }

    private static bool TryParseNumber(ReadOnlySpan<char> text, out ulong number) =>
        ulong.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out number);

    private TSearch Run<TSearch>(Func<OriginNames, TSearch> make) where TSearch : RecordSearch =>
        places.Scan.Run(places.Scan.Oldest, make).Search;

    private IEnumerable<string> OffersOf(CallSearch search)
    {
        string[] near = [.. new[] { search.Below, search.Above }.OfType<CallSearch.Near>().Select(static each => each.ToString())];
        return near.Length > 0 ? near : places.OfferBoth();
    }

    private string[] OffersOf(string name, IReadOnlyDictionary<uint, MessagePlace> others)
    {
        var byName = new Dictionary<string, MessagePlace>(StringComparer.Ordinal);
        foreach ((uint id, MessagePlace place) in others)
            byName.TryAdd(contracts.MethodsOf(id) is [var method, ..] ? $"{method}" : $"{id}", place);
        string[] near = [.. NearestNames.Of(name, byName.Keys, Offered).Select(each => OfferOf(each, 1, byName[each]))];
        return near.Length > 0 ? near : places.OfferBoth();
    }

    private static string OfferOf(string name, ulong number, MessagePlace place) =>
        number == 1 ? $"method:{name} at {place}" : $"method:{name}#{number} at {place}";

    private IReadOnlySet<uint> IdsOf(string name)
    {
        if (contracts.TryIdsOf(name) is { } ids) return ids;
        if (contracts.Count == 0)
            throw new MisuseException($"the method '{name}' cannot be found by this name alone",
                "a log holds ids, not names, and no contract stands beside it", "give the method as Interface.Method or by its id");
        throw PlaceReader.Refusal($"there is no method '{name}' in the contracts of this log", "",
            NearestNames.Of(name, contracts.Methods.Select(static method => $"{method}"), Offered).Select(static each => $"method:{each}"));
    }

    private static IReadOnlyList<byte[]> FormsOf(string asked)
    {
        byte[] text = Encoding.UTF8.GetBytes(asked);
        const int frame = 3; // h''
        if (asked.Length <= frame || !asked.StartsWith("h'", StringComparison.Ordinal) || asked[^1] != '\'') return [text];
        try
        {
            return [Convert.FromHexString(asked.AsSpan(2, asked.Length - frame)), text];
        }
        catch (FormatException)
        {
            return [text];
        }
    }
}
