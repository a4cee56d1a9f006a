using System.Text;
using Ambrosia.Inspection.Records;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Texts;
using Ambrosia.Protocol.Runs;

namespace Ambrosia.Inspection.Places;

/// <summary>
/// Finds the first call with an id, or else its first answer; and the calls whose ids are nearest to it, for who has mistaken it.
/// </summary>
/// <param name="sender">Only messages of this instance count; null: those of all.</param>
/// <param name="start">Nothing before it can be executed, so no other call there is a help.</param>
internal sealed class CallSearch(OriginNames names, string? sender, ulong id, Lsn start) : MessageSearch(names)
{
    private MessagePlace? _call, _answer;

    public MessagePlace? Found => _call ?? _answer;

    /// <summary>True if there is a call with another id.</summary>
    public bool IsNear => Below is not null || Above is not null;

    /// <summary>The call with the highest id below the wanted one.</summary>
    public Near? Below { get; private set; }

    /// <summary>The call with the lowest id above the wanted one.</summary>
    public Near? Above { get; private set; }

    protected override bool Take(in PassingMessage message)
    {
        if (message.Kind is not (MessageKind.Call or MessageKind.Result or MessageKind.Failure)) return true;
        if (sender is not null && Names[message.Origin] != sender) return true;
        if (message.Kind == MessageKind.Call) TakeCall(message);
        else if (message.CallId == id) _answer ??= message.Place;
        return _call is null;
    }

    private void TakeCall(in PassingMessage message)
    {
        if (message.CallId == id) _call = message.Place;
        else if (message.Place.Record < start) return;
        else if (message.CallId < id && !(message.CallId <= Below?.Id)) Below = NearOf(message);
        else if (message.CallId > id && !(message.CallId >= Above?.Id)) Above = NearOf(message);
    }

    private Near NearOf(in PassingMessage message) => new(message.CallId, Names[message.Origin], message.Place);

    /// <summary>Names a call that is there.</summary>
    internal sealed record Near(ulong Id, string Sender, MessagePlace Place)
    {
        public override string ToString() => $"call:{Sender}#{Id} at {Place}";
    }
}

/// <summary>Finds the first message with an idempotency key, and the two whose keys begin most alike.</summary>
/// <param name="forms">The bytes that the user's text may mean.</param>
/// <param name="start">Nothing before it can be executed, so no other key there is a help.</param>
internal sealed class KeySearch(OriginNames names, IReadOnlyList<byte[]> forms, Lsn start) : MessageSearch(names)
{
    private readonly List<Near> _nearest = [];

    public MessagePlace? Found { get; private set; }

    /// <summary>The nearest keys, at most two, the best first.</summary>
    public IReadOnlyList<Near> Nearest => _nearest;

    protected override bool Take(in PassingMessage message)
    {
        ReadOnlySpan<byte> key = message.Key;
        if (key.IsEmpty) return true;
        foreach (byte[] form in forms)
        {
            if (!key.SequenceEqual(form)) continue;
            Found = message.Place;
            return false;
        }
        if (message.Place.Record >= start) Note(key, message.Place);
        return true;
    }

    private void Note(ReadOnlySpan<byte> key, MessagePlace place)
    {
        int alike = key.CommonPrefixLength(forms[0]), longer = Math.Abs(key.Length - forms[0].Length);
        if (_nearest.Count == 2 && !IsNearer(alike, longer, _nearest[1])) return;
        foreach (Near each in _nearest)
            if (key.SequenceEqual(each.Key)) return;
        if (_nearest.Count == 2) _nearest.RemoveAt(1);
        int at = _nearest.Count == 1 && !IsNearer(alike, longer, _nearest[0]) ? 1 : 0;
        _nearest.Insert(at, new Near(key.ToArray(), place, alike, longer));
    }

    private static bool IsNearer(int alike, int longer, Near other) =>
        alike > other.Alike || (alike == other.Alike && longer < other.Longer);

    /// <summary>Names a key that is there.</summary>
    /// <param name="Alike">So many bytes in front are those of the wanted key.</param>
    /// <param name="Longer">By so many bytes it is longer or shorter than that.</param>
    internal sealed record Near(byte[] Key, MessagePlace Place, int Alike, int Longer)
    {
        public override string ToString() => $"key:{TextOf(Key)} at {Place}";

        /// <summary>Text as it was given, or bytes that are none as <c>ambrosia log</c> shows them.</summary>
        private static string TextOf(byte[] key)
        {
            string text = Encoding.UTF8.GetString(key);
            bool isText = HarmlessText.IsHarmless(text) && Encoding.UTF8.GetBytes(text).AsSpan().SequenceEqual(key);
            return isText ? text : $"h'{Convert.ToHexStringLower(key)}'";
        }
    }
}

/// <summary>Finds the n-th message that calls one of some methods, and knows the last two of fewer.</summary>
/// <param name="number">Counts from 1.</param>
/// <param name="start">Nothing before it can be executed, so no other method that is called there is a help.</param>
internal sealed class MethodSearch(OriginNames names, IReadOnlySet<uint> ids, ulong number, Lsn start) : MessageSearch(names)
{
    private const int OthersMax = 1_024;

    private readonly Dictionary<uint, MessagePlace> _others = [];

    public MessagePlace? Found { get; private set; }

    /// <summary>So many messages call the method, up to the one that is wanted.</summary>
    public ulong Count { get; private set; }

    /// <summary>The last of them, and the one before.</summary>
    public MessagePlace Last { get; private set; }

    public MessagePlace LastButOne { get; private set; }

    /// <summary>The other methods that are called, each with the first message that calls it.</summary>
    public IReadOnlyDictionary<uint, MessagePlace> Others => _others;

    protected override bool Take(in PassingMessage message)
    {
        if (!message.CallsMethod) return true;
        if (!ids.Contains(message.Method))
        {
            if (_others.Count < OthersMax && message.Place.Record >= start) _others.TryAdd(message.Method, message.Place);
            return true;
        }
        (LastButOne, Last) = (Last, message.Place);
        if (++Count == number) Found = message.Place;
        return Found is null;
    }
}
