using System.Globalization;
using Ambrosia.Protocol.Payloads;
using CRA.Catalog;

namespace CRA.Etcd;

/// <summary>
/// Keeps named values under a prefix of an etcd: <c>PREFIX/NAME</c> with the value and, where there is a label, <c>PREFIX/label/NAME</c>
/// with that, written in one transaction. A version is etcd's revision of the value's last change. It owns nothing but its client. Any
/// thread may call it.
/// </summary>
internal sealed class EtcdStore(CatalogPlace place, EtcdClient client) : ICatalogStore
{
    private const int PageMax = 512, LabelPageMax = 4096, PageShrink = 4;
    private const string Labels = "label/";

    private readonly string _prefix = place.Path + "/";

    public string Place => place.Text;

    public StoredValue? Read(string name)
    {
        RangeResponse found = client.Range(new RangeRequest(Key(name)));
        return found.Values is [var value, ..] ? Stored(value) : null;
    }

    public IReadOnlyList<KeyValuePair<string, StoredValue>> ReadAll(string prefix) =>
        [.. ReadRange(_prefix + prefix, PageMax, isKeysOnly: false).Select(value => KeyValuePair.Create(NameOf(value), Stored(value)))];

    public IReadOnlyList<KeyValuePair<string, ulong>> ReadLabels(string prefix)
    {
        var labels = new List<KeyValuePair<string, ulong>>();
        foreach (KeyValue value in ReadRange(_prefix + Labels + prefix, LabelPageMax, isKeysOnly: false))
        {
            string name = NameOf(value)[Labels.Length..];
            if (ulong.TryParse(Utf8Text.Shown(value.Value ?? []), NumberStyles.None, CultureInfo.InvariantCulture, out ulong label))
                labels.Add(KeyValuePair.Create(name, label));
        }
        return labels;
    }

    public bool TryWrite(string name, ReadOnlyMemory<byte> value, ulong label, string? version)
    {
        var put = new Operation(Put: new PutRequest(Key(name), value.ToArray()));
        Operation[] operations = label == 0 ? [put]
            : [put, new Operation(Put: new PutRequest(Key(Labels + name), Utf8Text.Identity(label.ToString(CultureInfo.InvariantCulture))))];
        return client.Txn(new TxnRequest([Still(name, version)], operations));
    }

    public bool TryRemove(string name, string version) => client.Txn(new TxnRequest(
        [Still(name, version)],
        [new Operation(Delete: new RangeRequest(Key(name))), new Operation(Delete: new RangeRequest(Key(Labels + name)))]));

    public string? FindForeign(IReadOnlyList<string> prefixes)
    {
        string[] ours = [.. prefixes, .. prefixes.Select(static each => Labels + each)];
        foreach (KeyValue value in ReadRange(_prefix, LabelPageMax, isKeysOnly: true))
            if (!ours.Any(each => NameOf(value).StartsWith(each, StringComparison.Ordinal))) return NameOf(value);
        return null;
    }

    /// <summary>Reads all keys that begin so, page by page, all as they were at the revision of the first page.</summary>
    private IEnumerable<KeyValue> ReadRange(string prefix, int pageMax, bool isKeysOnly)
    {
        byte[] next = Utf8Text.Identity(prefix), end = [.. next[..^1], (byte)(next[^1] + 1)];
        long revision = 0;
        while (true)
        {
            RangeResponse page;
            try
            {
                page = client.Range(new RangeRequest(next, end, pageMax, revision, isKeysOnly));
            }
            catch (AnswerTooLongException) when (pageMax > 1)
            {
                pageMax = Math.Max(1, pageMax / PageShrink);
                continue;
            }
            foreach (KeyValue value in page.Values ?? []) yield return value;
            if (!page.HasMore || page.Values is not [.., { Key: { } last }]) yield break;
            (next, revision) = ([.. last, 0], page.Header!.Revision);
        }
    }

    private string NameOf(KeyValue value)
    {
        string key = Utf8Text.Shown(value.Key ?? []);
        return key.StartsWith(_prefix, StringComparison.Ordinal) ? key[_prefix.Length..]
            : throw new IOException($"the answer of the catalog {Place} makes no sense: it has keys that were not asked for");
    }

    private static StoredValue Stored(KeyValue value) =>
        new(value.Value ?? [], value.ModRevision.ToString(CultureInfo.InvariantCulture));

    private Comparison Still(string name, string? version) => version is null
        ? new Comparison(Key(name), "CREATE", null, 0)
        : new Comparison(Key(name), "MOD", long.Parse(version, CultureInfo.InvariantCulture), null);

    private byte[] Key(string name) => Utf8Text.Identity(_prefix + name);
}
