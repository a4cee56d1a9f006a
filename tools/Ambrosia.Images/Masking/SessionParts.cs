using System.Security.Cryptography;
using Ambrosia.Images.Reading;
using Ambrosia.Protocol;

namespace Ambrosia.Images.Masking;

/// <summary>
/// Knows what an image of the C# binding holds of messages: answers to keyed requests, messages that were set aside, arguments of tasks.
/// These are bytes that only a contract can tell. One thread.
/// </summary>
internal sealed class SessionParts(CSharpImage image, ValueMasker masker, IPayloadMasking payloads)
{
    private const string OutsideCall = "Ambrosia.OutsideCall", SetAside = "Ambrosia.SetAsideMessage", MethodTask = "Ambrosia.MethodTask";

    private readonly Dictionary<int, Mask> _byId = [];

    private delegate void Mask(Span<byte> content);

    /// <summary>The number of the immortal; null: the image says of none.</summary>
    internal int? IdOfImmortal =>
        image.TypeOf(0) is { HasFields: true, Name: Json.ObjectJson.RootClass } ? Reference(0, Json.ObjectJson.ImmortalField) : null;

    /// <summary>Finds them, and masks what is a part of theirs.</summary>
    internal void Prepare()
    {
        for (int id = 0; id < image.Count; id++)
        {
            string type = image.TypeOf(id).Name;
            if (type == OutsideCall) PrepareCall(id);
            else if (type == SetAside) PrepareSetAside(id);
            else if (type.StartsWith(MethodTask, StringComparison.Ordinal)) PrepareTask(id);
        }
    }

    /// <summary>Masks an object that is such bytes, or the binding's alone; false: it is neither.</summary>
    internal bool TryMask(int id)
    {
        ImageType type = image.TypeOf(id);
        if (_byId.TryGetValue(id, out Mask? mask))
        {
            ImageCursor from = image.BodyOf(id);
            int length = checked((int)from.ReadBytesLength());
            mask(image.Buffer.Writable(from.Position, length));
            return true;
        }
        return type.Name is OutsideCall or SetAside or "Ambrosia.ReplayedRandom" or Json.ObjectJson.RootClass
            || type.Name.StartsWith(MethodTask, StringComparison.Ordinal);
    }

    private void PrepareCall(int id)
    {
        uint method = (uint)(Number(id, "_method") ?? 0);
        bool isFailure = At(id, "_isFailure") is { } flag && image.At(flag).Items.PeekKind() == CborKind.Boolean
            && image.At(flag).Items.ReadBoolean();
        if (Reference(id, "_key") is { } key)
        {
            if (!masker.IsLearning)
            {
                Rehash(id, method, key);
                Forget(id);
            }
            else if (Number(id, "_argumentsHash") is { } hash) payloads.HashOf(method, Content(key), hash);
            _byId[key] = payloads.Key;
        }
        if (Reference(id, "_answer") is { } answer) _byId[answer] = content => payloads.Answer(method, isFailure, content);
    }

    /// <summary>
    /// The hash of the arguments tells a repeated request from another one with its key, and would tell what they were. Where its length
    /// must change, the request counts as another one.
    /// </summary>
    private void Rehash(int id, uint method, int key)
    {
        if (At(id, "_argumentsHash") is not { } at || Number(id, "_argumentsHash") is not (> 0 and { } old)) return;
        ulong hash = payloads.HashOf(method, Content(key), old);
        ImageCursor from = image.At(at);
        from.Skip();
        Span<byte> item = image.Buffer.Writable(at, (int)(from.Position - at));
        bool isWide = item.Length == 1 + sizeof(ulong) && hash > uint.MaxValue;
        if (isWide) System.Buffers.Binary.BinaryPrimitives.WriteUInt64BigEndian(item[1..], hash);
        else if (item.Length > 1) RandomNumberGenerator.Fill(item[2..]);
    }

    /// <summary>The hash of the arguments as they were read would tell what they were, too.</summary>
    private void Forget(int id)
    {
        if (At(id, "_readHash") is not { } at) return;
        ImageCursor from = image.At(at);
        from.Skip();
        Span<byte> item = image.Buffer.Writable(at, (int)(from.Position - at));
        if (item.Length > 1) RandomNumberGenerator.Fill(item[2..]);
    }

    private void PrepareSetAside(int id)
    {
        uint method = (uint)(Number(id, "Method") ?? 0);
        if (Reference(id, "Arguments") is { } arguments) _byId[arguments] = content => payloads.Arguments(method, content);
        if (At(id, "Why") is not { } why) return;
        ImageCursor from = image.At(why);
        from.Skip();
        masker.TryItem(masker.Rules.Of("", MaskRules.Why), "s", image.Buffer.Writable(why, (int)(from.Position - why)));
    }

    private void PrepareTask(int id)
    {
        if (Reference(id, "_argument") is { } argument) _byId[argument] = content => payloads.Arguments(null, content);
        if (Reference(id, "_declaringType") is { } type) _byId[type] = static _ => { };
    }

    private ReadOnlySpan<byte> Content(int id)
    {
        ImageCursor from = image.BodyOf(id);
        int length = checked((int)from.ReadBytesLength());
        return image.Bytes(from.Position, length);
    }

    private int? Reference(int id, string field) =>
        At(id, field) is { } at && image.At(at) is var from && from.Items.PeekKind() == CborKind.Unsigned
            ? image.IdAt(from.Items.ReadUInt64()) : null;

    private ulong? Number(int id, string field) =>
        At(id, field) is { } at && image.At(at) is var from && from.Items.PeekKind() == CborKind.Unsigned ? from.Items.ReadUInt64() : null;

    /// <summary>Returns where a field stands; null: the object has none of this name.</summary>
    private long? At(int id, string field)
    {
        ImageType type = image.TypeOf(id);
        int index = Array.IndexOf(type.Fields, field);
        if (index < 0) return null;
        ImageCursor from = image.BodyOf(id);
        from.Items.ReadArrayHeader();
        for (; index > 0; index--) from.Skip();
        return from.Position;
    }
}
