namespace Ambrosia.Protocol.Images;

/// <summary>
/// Finds the fields of a build that an image names (docs/image.md, I3.9). A field keeps its own name only if no other field says that it
/// had this name before; a name that may mean two fields is refused.
/// </summary>
public sealed class FieldNames
{
    /// <summary>Stands in place of a field that the build does not have.</summary>
    public const int None = -1;

    /// <summary>Begins what stands behind the name of a field whose former name another field of its class has now.</summary>
    private const string Was = " (was ", Backing = ">k__BackingField";

    private readonly string _type;
    private readonly IReadOnlyList<NamedField> _now;
    private readonly string[] _stored;
    private readonly bool[] _isExchanged;

    /// <summary>For each stored name the field that has it by itself, or <see cref="None"/>.</summary>
    private readonly int[] _own;

    /// <summary>For each stored name the field in which it goes on, or <see cref="None"/>.</summary>
    private readonly int[] _found;

    private FieldNames(string type, IReadOnlyList<string> stored, IReadOnlyList<NamedField> now)
    {
        (_type, _now) = (type, now);
        _stored = [.. stored.Select(static name => name.IndexOf(Was, StringComparison.Ordinal) is > 0 and var end ? name[..end] : name)];
        _isExchanged = [.. stored.Select(static (name) => name.Contains(Was, StringComparison.Ordinal))];
        (_own, _found) = (new int[_stored.Length], new int[_stored.Length]);
        Array.Fill(_own, None);
        Array.Fill(_found, None);
    }

    /// <summary>Returns for each name of an image the place of its field, or <see cref="None"/>.</summary>
    /// <param name="type">The class, for the message.</param>
    /// <exception cref="InvalidDataException">A name may mean two fields.</exception>
    public static int[] Find(string type, IReadOnlyList<string> stored, IReadOnlyList<NamedField> now)
    {
        var names = new FieldNames(type, stored, now);
        bool[] areAmbiguous = names.FindOwn();
        names.FindFormer();
        for (int i = 0; i < stored.Count; i++)
        {
            if (names._found[i] != None) continue;
            if (areAmbiguous[i]) throw names.Ambiguous(i, "may be one of several fields now");
            if (names._own[i] is not None and var own && !names.IsTaken(own)) names._found[i] = own;
        }
        return names._found;
    }

    /// <summary>
    /// Returns the names under which fields stand in an image. Where fields have exchanged their names, each says which it had: the names
    /// alone would not tell whether an image was written before or behind the exchange.
    /// </summary>
    public static string[] InImage(string type, IReadOnlyList<NamedField> fields)
    {
        string[] names = [.. fields.Select(static field => field.Name)];
        if (fields.All(static field => field.FormerNames.Count == 0)) return names;
        int[] places = Find(type, names, fields);
        string[] all = [.. names];
        for (int i = 0; i < places.Length; i++)
            if (places[i] != i && places[i] != None) all[places[i]] = $"{names[places[i]]}{Was}{names[i]})";
        return all;
    }

    /// <summary>Returns the name without what says which one it was before an exchange.</summary>
    public static string Plain(string name) => name.IndexOf(Was, StringComparison.Ordinal) is > 0 and var end ? name[..end] : name;

    private bool IsTaken(int field) => Array.IndexOf(_found, field) >= 0;

    /// <summary>Finds the fields by their own names. True stands for names that may mean several.</summary>
    private bool[] FindOwn()
    {
        var areAmbiguous = new bool[_stored.Length];
        for (int i = 0; i < _stored.Length; i++)
        {
            if (_stored.Count(each => each == _stored[i]) > 1)
            {
                FindRepeated(i);
                continue;
            }
            int[] fields = [.. Enumerable.Range(0, _now.Count).Where(field => MayBe(_stored[i], _now[field]))];
            areAmbiguous[i] = fields.Length > 1;
            if (fields.Length == 1) _own[i] = fields[0];
        }
        for (int i = 0; i < _stored.Length; i++)
            if (_own[i] == None && !areAmbiguous[i]) FindMoved(i);
        return areAmbiguous;
    }

    /// <summary>
    /// Earlier bindings gave fields of two base classes of one simple name one name: they are told apart by their order, base class first.
    /// </summary>
    private void FindRepeated(int stored)
    {
        string name = _stored[stored];
        int[] places = [.. Enumerable.Range(0, _stored.Length).Where(i => _stored[i] == name)];
        int[] fields = [.. Enumerable.Range(0, _now.Count).Where(field => MayBe(name, _now[field]))];
        if (fields.Length != places.Length)
            throw Ambiguous(stored, $"stands there {places.Length} times, and this build has {fields.Length} such fields");
        _own[stored] = fields[Array.IndexOf(places, stored)];
    }

    private bool MayBe(string name, NamedField field)
    {
        (string declaring, string plain) = Parts(name);
        if (plain != Parts(field.Name).Plain) return false;
        if (declaring.Length > 0) return field.Classes.Contains(declaring);
        // Where the image tells fields of one name apart, the name alone is that of the class itself.
        return field.IsOwn || !_stored.Any(other => other != name && Parts(other).Plain == plain);
    }

    /// <summary>Takes a field that has moved to another class of the chain, or has become a property, or the other way round.</summary>
    private void FindMoved(int stored)
    {
        string name = Bare(_stored[stored]);
        int[] fields = [.. Enumerable.Range(0, _now.Count).Where(field => Bare(_now[field].Name) == name && !_own.Contains(field))];
        bool isOnly = !Enumerable.Range(0, _stored.Length).Any(i => i != stored && _own[i] == None && Bare(_stored[i]) == name);
        if (isOnly && fields.Length == 1) _own[stored] = fields[0];
    }

    /// <summary>Gives names to the fields that say that they had them, first to those whose own name is not in the image.</summary>
    private void FindFormer()
    {
        for (bool goesOn = true; goesOn;)
        {
            goesOn = false;
            for (int field = 0; field < _now.Count; field++)
            {
                if (IsTaken(field) || !IsFree(field) || Claimed(field) is not { } stored) continue;
                if (Enumerable.Range(0, _now.Count).Any(other => other != field && !IsTaken(other) && IsFree(other) && Claims(other, stored)))
                    throw Ambiguous(stored, "is a former name of several fields");
                _found[stored] = field;
                goesOn = true;
            }
        }
        for (int field = 0; field < _now.Count; field++)
            if (!IsTaken(field)) FindExchanged(field);
        for (int i = 0; i < _stored.Length; i++)
        {
            if (_found[i] != None || _own[i] != None) continue;
            if (Enumerable.Range(0, _now.Count).Any(field => !IsTaken(field) && Claims(field, i)))
                throw Ambiguous(i, "is a former name of a field whose name of now stands there, too");
        }
    }

    /// <summary>Says whether the image has nothing under the name that a field has now, or another field takes it.</summary>
    private bool IsFree(int field) => Array.IndexOf(_own, field) is var stored && (stored < 0 || _found[stored] != None);

    /// <summary>Follows former names from a field; where they come back to it, the names were exchanged.</summary>
    private void FindExchanged(int begin)
    {
        var round = new List<(int Stored, int Field)>();
        for (int field = begin; round.Count <= _now.Count;)
        {
            if (Claimed(field) is not { } stored || _own[stored] == None) return;
            round.Add((stored, field));
            field = _own[stored];
            if (field != begin) continue;
            foreach ((int name, int taken) in round) _found[name] = taken;
            return;
        }
    }

    /// <summary>Returns the stored name that a field says it had; of several, the one that no field has now.</summary>
    private int? Claimed(int field)
    {
        int[] claimed = [.. Enumerable.Range(0, _stored.Length).Where(i => Claims(field, i))];
        int[] unowned = [.. claimed.Where(i => _own[i] == None)];
        if (unowned.Length > 1) throw Ambiguous(unowned[0], $"and {_stored[unowned[1]]} are both former names of {_now[field].Name}");
        return unowned.Length == 1 ? unowned[0] : claimed.Length > 0 ? claimed[0] : null;
    }

    private bool Claims(int field, int stored) =>
        _found[stored] == None && _own[stored] != field && !IsSpent(field)
        && _now[field].FormerNames.Any(name => name == _stored[stored] || name == Bare(_stored[stored]));

    /// <summary>Says whether the image was written behind the exchange that a field speaks of.</summary>
    private bool IsSpent(int field) => Array.IndexOf(_own, field) is >= 0 and var stored && _isExchanged[stored];

    /// <summary>Takes the class from a name, if it has one.</summary>
    private static (string Declaring, string Plain) Parts(string name)
    {
        int compiled = name.IndexOf('<', StringComparison.Ordinal);
        int dot = compiled < 0 ? name.LastIndexOf('.') : compiled - 1;
        return dot <= 0 ? ("", name) : (name[..dot], name[(dot + 1)..]);
    }

    private static string Bare(string name)
    {
        string plain = Parts(name).Plain;
        return plain.StartsWith('<') && plain.EndsWith(Backing, StringComparison.Ordinal) ? plain[1..^Backing.Length] : plain;
    }

    private InvalidDataException Ambiguous(int stored, string why) => new(
        $"The image holds a {_type} whose field {_stored[stored]} {why}: give the field that goes on a new name, with "
        + $"[FormerlyNamed(\"{Bare(_stored[stored])}\")] on it alone");
}

/// <summary>Names a field of a build as images do.</summary>
/// <param name="Name">The name under which it stands in an image.</param>
/// <param name="IsOwn">True if the class itself declares it, and not one that it extends.</param>
/// <param name="Classes">The names of the declaring class that may stand in front: the simple one, and the full ones.</param>
/// <param name="FormerNames">The names that it had in earlier builds.</param>
public sealed record NamedField(string Name, bool IsOwn, IReadOnlyCollection<string> Classes, IReadOnlyCollection<string> FormerNames);
