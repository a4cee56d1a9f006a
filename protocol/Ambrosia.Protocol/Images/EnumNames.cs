namespace Ambrosia.Protocol.Images;

/// <summary>
/// Says which numbers of this build the numbers of an image's enum are (docs/image.md, I3.12): a member is known by its name, or by one
/// that it had before. A number without a name stays what it is. Immutable; any thread.
/// </summary>
public sealed class EnumNames
{
    private readonly string _type;
    private readonly bool _areFlags;
    private readonly Dictionary<Int128, Int128> _numbers = [];
    private readonly IReadOnlyList<EnumMember> _stored, _now;
    private KeyValuePair<Int128, Int128>[] _fewestBitsFirst = [];

    private EnumNames(string type, IReadOnlyList<EnumMember> stored, IReadOnlyList<EnumMember> now, bool areFlags) =>
        (_type, _stored, _now, _areFlags) = (type, stored, now, areFlags);

    /// <summary>Returns the numbers of now; null: each stored number means the same now.</summary>
    /// <param name="type">The enum, for messages.</param>
    /// <param name="areFlags">Its numbers are sets of bits.</param>
    /// <exception cref="InvalidDataException">The build lacks a member, and its number is another one now.</exception>
    public static EnumNames? Find(string type, IReadOnlyList<EnumMember> stored, IReadOnlyList<EnumMember> now, bool areFlags)
    {
        if (stored.All(each => now.Any(other => other.Name == each.Name && other.Number == each.Number))
            && stored.Count == now.Count) return null;
        var found = new EnumNames(type, stored, now, areFlags);
        bool differs = false;
        foreach (IGrouping<Int128, EnumMember> alike in stored.GroupBy(static each => each.Number))
        {
            EnumMember[] goOn = [.. alike.Select(found.MemberOf).OfType<EnumMember>()];
            Int128[] numbers = [.. goOn.Select(static each => each.Number).Distinct()];
            if (numbers.Length == 0) found.Keep(alike.First());
            else if (numbers.Length == 1 || numbers.Contains(alike.Key))
                found._numbers.Add(alike.Key, numbers.Contains(alike.Key) ? alike.Key : numbers[0]);
            else
            {
                string names = string.Join(" and ", goOn.Select(static each => each.Name));
                throw Refused(type, alike.First(), $"{names} have several numbers now");
            }
            differs |= found._numbers[alike.Key] != alike.Key;
        }
        found._fewestBitsFirst = [.. found._numbers.Where(static each => each.Key != 0).OrderBy(static each => Int128.PopCount(each.Key))];
        return differs ? found : null;
    }

    /// <summary>Returns the number that a stored one is now.</summary>
    /// <exception cref="InvalidDataException">It had no name, and is the number of a member that had another.</exception>
    public Int128 NumberOf(Int128 stored)
    {
        if (_areFlags) return FlagsOf(stored);
        if (_numbers.TryGetValue(stored, out Int128 number)) return number;
        foreach (EnumMember taken in _now)
            if (taken.Number == stored && _numbers.ContainsValue(stored))
                throw new InvalidDataException(
                    $"The image holds the number {stored} of {_type}, which had no name there and is {taken.Name} now");
        return stored;
    }

    /// <summary>Numbers are translated bit by bit: what has a name for several bits is no more than these.</summary>
    private Int128 FlagsOf(Int128 stored)
    {
        if (_numbers.TryGetValue(stored, out Int128 all) && (stored == 0 || Int128.IsPow2(stored))) return all;
        Int128 left = stored, now = 0;
        foreach ((Int128 bits, Int128 number) in _fewestBitsFirst)
        {
            if ((left & bits) != bits) continue;
            left &= ~bits;
            now |= number;
        }
        if (left != 0 && _numbers.ContainsKey(stored)) return _numbers[stored];
        EnumMember? taken = _now.FirstOrDefault(each => (each.Number & left) != 0 && _numbers.ContainsValue(each.Number));
        return taken is null ? now | left : throw new InvalidDataException(
            $"The image holds the bits {left} of {_type}, which had no name there and are a part of {taken.Name} now");
    }

    /// <summary>Returns the member that a stored one is now; null: there is none.</summary>
    private EnumMember? MemberOf(EnumMember stored)
    {
        EnumMember? own = _now.FirstOrDefault(each => each.Name == stored.Name);
        EnumMember[] others = [.. _now.Where(each => each != own && each.FormerNames.Contains(stored.Name))];
        if (others.Length > 1) throw Refused(_type, stored, $"{others[0].Name} and {others[1].Name} both say that they were it");
        if (others.Length == 0 || own is null) return others.Length == 0 ? own : others[0];
        // The image has both names, so it was written behind the renaming; unless they were exchanged, which no image tells.
        if (!_stored.Any(each => each.Name == others[0].Name)) return others[0];
        return !own.FormerNames.Contains(others[0].Name) ? own
            : throw Refused(_type, stored, $"it has exchanged its name with {others[0].Name}, and the image does not say when");
    }

    private void Keep(EnumMember gone)
    {
        if (_now.FirstOrDefault(each => each.Number == gone.Number) is { } taken)
            throw Refused(_type, gone, $"this build does not have it, and the number is {taken.Name} now");
        _numbers.Add(gone.Number, gone.Number);
    }

    private static InvalidDataException Refused(string type, EnumMember member, string why) => new(
        $"The image holds the enum {type} with {member.Name} = {member.Number}: {why}. Give the member that goes on [FormerlyNamed(\"{member.Name}\")], or the other one a number and a name that no member had");
}

/// <summary>It is a member of an enum.</summary>
/// <param name="FormerNames">The names that it had in earlier builds; none of a stored one.</param>
public sealed record EnumMember(string Name, Int128 Number, IReadOnlyCollection<string> FormerNames);
