using Ambrosia.Images.Nodes;

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
    public IReadOnlyList<UpgradeFinding> Compare(IReadOnlyList<StoredType> stored, string immortal)
    {
        foreach (StoredType type in stored)
        {
            if (build.Find(type.Name) is { } now) Compare(type, now);
            else if (IsOfTheApp(type.Name)) Missing(type, isImmortal: type.Name == immortal);
        }
        return _found;
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
        foreach (StoredField field in type.Fields)
        {
            string place = $"{type.Name}.{field.Name}";
            BuildField? kept = fields.FirstOrDefault(each => each.Name == field.Name)
                ?? fields.FirstOrDefault(each => each.FormerNames.Contains(field.Name));
            if (kept is null)
            {
                string what = type.IsStruct ? "it is dropped" : field.Values == 0 ? "it is dropped, and holds nothing"
                    : $"it is dropped, with values in {field.Values} of {type.Objects} {(type.Objects == 1 ? "object" : "objects")}";
                Add(field.Values == 0 && !type.IsStruct ? UpgradeVerdict.Fine : UpgradeVerdict.Lost, place, what,
                    "if it was renamed, give the new field [FormerlyNamed]");
                continue;
            }
            taken.Add(kept);
            Compare(place, field, kept);
            if (kept.Name != field.Name) Add(UpgradeVerdict.Fine, place, $"it goes on as {kept.Name}");
        }
        foreach (BuildField added in fields.Where(each => !taken.Contains(each)))
            Add(UpgradeVerdict.Fine, $"{type.Name}.{added.Name}", "it is new, and begins with the default of its type");
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
