using Ambrosia.Images.Nodes;
using Ambrosia.Protocol.Images;

namespace Ambrosia.Tools.Upgrades;

/// <summary>
/// Compares what is in an image of the state with the fields that a new build has for it, by the rules by which the binding reads an
/// earlier build's image (docs/image.md I3.9). It says what is lost, what begins anew, and what would be refused; what depends on values
/// it leaves to the rehearsal.
/// </summary>
internal sealed class StateComparison(BuildTypes build)
{
    private const string Integers = " i1 i2 i4 i8 i16 u1 u2 u4 u8 u16 ";

    private readonly List<UpgradeFinding> _found = [];

    /// <summary>Compares the types of an image that are the app's own.</summary>
    /// <param name="immortal">The class of the immortal.</param>
    public IReadOnlyList<UpgradeFinding> Compare(IReadOnlyList<StoredType> stored, IReadOnlyList<StoredEnum> enums, string immortal)
    {
        foreach (StoredType type in stored)
        {
            if (build.Find(type.Name) is { } now) Compare(type, now);
            else if (IsOfTheApp(type.Name)) Missing(type, isImmortal: type.Name == immortal);
        }
        foreach (StoredEnum each in enums)
            if (build.Find(each.Name) is { IsEnum: true } now) Compare(each, now);
        return _found;
    }

    /// <summary>Compares the members of an enum: numbers are translated by the names.</summary>
    private void Compare(StoredEnum stored, Type now)
    {
        EnumMember[] members = BuildTypes.MembersOf(now);
        try
        {
            EnumNames? numbers = EnumNames.Find(stored.Name, stored.Members, members, BuildTypes.AreFlags(now));
            foreach (EnumMember member in stored.Members)
            {
                string place = $"{stored.Name}.{member.Name}";
                Int128 number = numbers?.NumberOf(member.Number) ?? member.Number;
                string? name = members.FirstOrDefault(each => each.Number == number && each.Name == member.Name)?.Name
                    ?? members.FirstOrDefault(each => each.Number == number)?.Name;
                if (name is null)
                    Add(UpgradeVerdict.Lost, place, $"the name is gone, and values of it keep the number {number}",
                        "if it was renamed, give the new member [FormerlyNamed]");
                else if (name != member.Name) Add(UpgradeVerdict.Fine, place, $"it goes on as {name}");
                else if (number != member.Number) Add(UpgradeVerdict.Fine, place, $"{member.Number} becomes {number} in the state");
            }
        }
        catch (InvalidDataException refused)
        {
            Add(UpgradeVerdict.Refused, stored.Name, refused.Message.TrimEnd('.'));
        }
    }

    /// <summary>Parts of methods are judged with what is suspended; what is the framework's or the binding's goes on as it is.</summary>
    private bool IsOfTheApp(string name) =>
        !name.StartsWith("System.", StringComparison.Ordinal) && !name.StartsWith("Microsoft.", StringComparison.Ordinal)
        && name.IndexOfAny(['/', '{', '#', '(']) < 0 && !build.IsOfTheBinding(name);

    private void Missing(StoredType type, bool isImmortal)
    {
        if (isImmortal)
            Add(UpgradeVerdict.Refused, type.Name, "the new build has no such class",
                $"give the class that goes on [FormerlyNamed(\"{type.Name}\")]");
        else if (type.Objects > 0 || type.IsStruct)
            Add(UpgradeVerdict.Lost, type.Name, $"the new build has no such type, and {Count(type)} in the state",
                "they may go only if nothing refers to them any more; otherwise give the new one [FormerlyNamed]");
    }

    private static string Count(StoredType type) =>
        type.IsStruct ? "values of it may be" : type.Objects == 1 ? "1 object of it is" : $"{type.Objects} objects of it are";

    private void Compare(StoredType type, Type now)
    {
        IReadOnlyList<BuildField> fields = build.FieldsOf(now);
        var taken = new HashSet<BuildField>();
        if (Places(type, fields) is not { } places) return;
        for (int i = 0; i < places.Length; i++)
        {
            StoredField field = type.Fields[i];
            string place = $"{type.Name}.{field.Name}";
            if (places[i] == FieldNames.None)
            {
                string what = type.IsStruct ? "it is dropped" : field.Values == 0 ? "it is dropped, and holds nothing"
                    : $"it is dropped, with values in {field.Values} of {type.Objects} {(type.Objects == 1 ? "object" : "objects")}";
                Add(field.Values == 0 && !type.IsStruct ? UpgradeVerdict.Fine : UpgradeVerdict.Lost, place, what,
                    "if it was renamed, give the new field [FormerlyNamed]");
                continue;
            }
            BuildField kept = fields[places[i]];
            taken.Add(kept);
            Compare(place, field, kept);
            if (kept.ReadableName != field.Name) Add(UpgradeVerdict.Fine, place, $"it goes on as {kept.ReadableName}");
        }
        foreach (BuildField added in fields.Where(each => !taken.Contains(each)))
            Add(UpgradeVerdict.Fine, $"{type.Name}.{added.ReadableName}", "it is new, and begins with the default of its type");
    }

    /// <summary>Returns the places of the fields that the image names; null: it would be refused.</summary>
    private int[]? Places(StoredType type, IReadOnlyList<BuildField> fields)
    {
        string[] stored = [.. type.Fields.Select(static field => field.StoredName)];
        NamedField[] named = [.. fields.Select(static field => field.Named)];
        try
        {
            return stored.SequenceEqual(FieldNames.InImage(type.Name, named)) ? [.. Enumerable.Range(0, stored.Length)]
                : FieldNames.Find(type.Name, stored, named);
        }
        catch (InvalidDataException refused)
        {
            Add(UpgradeVerdict.Refused, type.Name, refused.Message);
            return null;
        }
    }

    private void Compare(string place, StoredField field, BuildField now)
    {
        string before = build.Now(field.Slot);
        if (now.Slot is not { } slot || before is ['!' or '*' or '~' or '-' or '=', ..]) return;
        if (before == "@" && slot == "@")
        {
            foreach (string other in field.Classes.Where(each => !MayHold(now, build.Now(each))))
                Retyped(place, $"it holds a {other}, and its type is {now.TypeName} now");
            return;
        }
        if (before == slot) return;
        if (IsInteger(before) && IsInteger(slot))
            Add(UpgradeVerdict.Fine, place, $"{before} becomes {slot}: its values are taken as long as they fit");
        else if (field.Values == 0 && before[0] is '@' or '?' && slot[0] is '@' or '?') return; // null stays null
        else Retyped(place, $"what is '{before}' in the state is '{slot}' ({now.TypeName}) now");
    }

    private static bool IsInteger(string slot) => Integers.Contains($" {slot} ", StringComparison.Ordinal);

    /// <summary>Says whether a field may refer to an object of a class; true where the names alone do not tell.</summary>
    private bool MayHold(BuildField field, string name)
    {
        if (field.TypeName == name || field.Type.IsInterface || field.TypeName == "System.Object") return true;
        if (build.Find(name) is { } known && !name.Contains('<', StringComparison.Ordinal))
        {
            for (Type? at = known; at is not null; at = at.BaseType)
                if (BuildTypes.NameOf(at) == field.TypeName) return true;
            return false;
        }
        if (field.Type.IsArray && name.EndsWith(']')) return field.Type.GetElementType() is { IsValueType: false, IsSealed: false };
        int arguments = name.IndexOf('<', StringComparison.Ordinal);
        return arguments < 0 || !field.TypeName.StartsWith(name[..(arguments + 1)], StringComparison.Ordinal);
    }

    private void Retyped(string place, string what) => Add(UpgradeVerdict.Refused, place, what,
        "give the new field another name, and fill it in OnUpgraded or in a constructor from the old state");

    private void Add(UpgradeVerdict verdict, string place, string what, string mend = "") =>
        _found.Add(new UpgradeFinding(verdict, place, what, mend));
}
