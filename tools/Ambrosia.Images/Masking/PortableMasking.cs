using Ambrosia.Images.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Images.Masking;

/// <summary>Masks a portable image (docs/image.md I4): its state by the names in it, and what its session holds of messages.</summary>
internal sealed class PortableMasking(LargeBuffer image, ValueMasker masker, IPayloadMasking payloads)
{
    /// <summary>The key of each part of the session that holds what an app was given.</summary>
    private const ulong Timers = 2, Tasks = 3, Window = 7, Quarantine = 9;

    private const ulong ClassTag = 27;

    private readonly PlaceName _state = masker.Rules.Of("", "state");

    /// <param name="at">Where the session stands.</param>
    internal void Run(long at, int items)
    {
        if (items != 5) throw new ImageException("the image is damaged: other parts (I4.1)");
        Span<byte> rest = image.Writable(at, checked((int)(image.Length - at)));
        var from = new CborReader(rest);
        Span<byte> session = rest[..Behind(ref from)], state = rest[session.Length..Behind(ref from)];
        if (from.ReadArrayHeader() > 0)
            throw new ImageException("flows wait in it, and what they have called is under hashes that masking would break");
        Session(session);
        List<Range> parts = ValueMasker.Parts(state, CborKind.Array);
        if (parts.Count != 2) throw new ImageException("the image is damaged: a state that is not [root, objects] (I4.3)");
        Value(_state, state[parts[0]], isObject: true);
        Span<byte> objects = state[parts[1]];
        foreach (Range each in ValueMasker.Parts(objects, CborKind.Array)) Value(_state, objects[each], isObject: false);
    }

    private static int Behind(ref CborReader from)
    {
        from.Skip();
        return from.Position;
    }

    private void Value(PlaceName at, Span<byte> item, bool isObject)
    {
        var from = new CborReader(item);
        if (from.PeekKind() == CborKind.Tag && from.ReadTag() == ClassTag && from.PeekKind() == CborKind.Array)
        {
            int start = from.Position;
            Span<byte> whole = item[start..];
            List<Range> parts = ValueMasker.Parts(whole, CborKind.Array);
            if (parts.Count != 2) throw new ImageException("the image is damaged: an object that is not [class, fields] (I4.4)");
            var name = new CborReader(whole[parts[0]]);
            masker.Item(masker.Rules.Of(name.ReadString(), "", at), whole[parts[1]], isObject: true);
        }
        else masker.Item(at, item, isObject);
    }

    private void Session(Span<byte> session)
    {
        List<Range> parts = ValueMasker.Parts(session, CborKind.Map);
        for (int i = 0; i + 1 < parts.Count; i += 2)
        {
            var name = new CborReader(session[parts[i]]);
            ulong key = name.PeekKind() == CborKind.Unsigned ? name.ReadUInt64() : 0;
            Span<byte> part = session[parts[i + 1]];
            if (key is not (Timers or Tasks or Window or Quarantine)) continue;
            List<Range> rows = ValueMasker.Parts(part, CborKind.Array);
            for (int row = 1; row < rows.Count; row++) // numbers and limits stand in front
                if (new CborReader(part[rows[row]]).PeekKind() == CborKind.Array) Rows(key, part[rows[row]]);
        }
    }

    private void Rows(ulong key, Span<byte> rows)
    {
        foreach (Range each in ValueMasker.Parts(rows, CborKind.Array))
        {
            Span<byte> row = rows[each];
            List<Range> parts = ValueMasker.Parts(row, CborKind.Array);
            if (key == Timers && parts.Count == 5) payloads.Arguments(Number(row[parts[2]]), Content(row[parts[4]]));
            else if (key == Tasks) payloads.Arguments(null, Content(row[parts[3]]));
            else if (key == Window) InWindow(row, parts);
            else if (key == Quarantine)
            {
                payloads.Arguments(Number(row[parts[5]]), Content(row[parts[6]]));
                masker.Text(masker.Rules.Of("", MaskRules.Why), Content(row[parts[9]]));
            }
        }
    }

    /// <summary>A call under way has no answer, and a flow instead: there is none in an image that is masked.</summary>
    private void InWindow(Span<byte> row, List<Range> parts)
    {
        if (parts.Count == 5) payloads.Answer(Number(row[parts[0]]) ?? 0, Number(row[parts[2]]) is not 0, Content(row[parts[3]]));
        payloads.Key(Content(row[parts[1]]));
    }

    private static uint? Number(ReadOnlySpan<byte> item)
    {
        var from = new CborReader(item);
        return from.PeekKind() == CborKind.Unsigned ? from.ReadUInt32() : null;
    }

    private static Span<byte> Content(Span<byte> item) =>
        new CborReader(item).PeekKind() is CborKind.Bytes or CborKind.Text ? ValueMasker.ContentOf(item) : [];
}
