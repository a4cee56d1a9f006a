namespace Ambrosia.Tools.Contracts;

/// <summary>
/// Compares the data types, enums and unions of two builds. One that the new build does not name any more is no break by itself: where
/// something still had it, that place has another type now and is reported there.
/// </summary>
/// <param name="report">It gets each break: its place, reason and mend.</param>
/// <param name="added">It gets each change that passes.</param>
internal sealed class TypeComparison(
    ContractModel old, ContractModel @new, Action<string, string, string> report, Action<string, string> added)
{
    public void Run()
    {
        Each(old.Data, @new.Data, "data type", CompareFields);
        Each(old.Enums, @new.Enums, "enum", CompareEnum);
        Each(old.Unions, @new.Unions, "union", CompareCases);
    }

    private void Each<T>(Dictionary<string, T> before, Dictionary<string, T> after, string kind, Action<string, T, T> compare)
    {
        foreach ((string name, T was) in before)
        {
            if (after.TryGetValue(name, out T? isNow)) compare(name, was, isNow);
            else added(name, $"{kind} is not named any more");
        }
        foreach (string name in after.Keys.Where(name => !before.ContainsKey(name))) added(name, $"{kind} added");
    }

    private void CompareFields(string type, IReadOnlyList<FieldRow> before, IReadOnlyList<FieldRow> after)
    {
        var matched = new HashSet<FieldRow>(ReferenceEqualityComparer.Instance);
        foreach (FieldRow was in before)
        {
            string place = $"{type}.{was.Name}";
            FieldRow? byKey = after.FirstOrDefault(each => each.Key == was.Key);
            FieldRow? isNow = byKey ?? after.FirstOrDefault(each => each.Name == was.Name);
            if (isNow is not null) matched.Add(isNow);
            if (isNow is null) RemovedField(place, was);
            else if (byKey is null)
                report(place, $"its key was {was.Key} and is {isNow.Key}: values of before have it under {was.Key}, where nobody looks any more",
                    was.Number is { } number ? $"[Field({number})] keeps its key" : "remove [Field] from it: its name is its key");
            else if (isNow.Name != was.Name) added(place, $"field renamed to {isNow.Name}; its number stays");
            if (isNow is not null) CompareFieldType(place, was, isNow);
        }
        foreach (FieldRow field in after.Where(each => !matched.Contains(each)))
            added($"{type}.{field.Name}", field.IsOptional ? "field added" : $"field added; it has the default of {field.Type} in values without it");
    }

    private void RemovedField(string place, FieldRow was)
    {
        if (was.IsOptional) added(place, "optional field removed");
        else
            report(place, $"the field is gone and was not optional: readers of before take the default of {was.Type} for it",
                was.Number is not null ? "restore it; it may be ignored"
                    : "restore it; it may be ignored, and where it was renamed only, restore its name, which is its key");
    }

    private void CompareFieldType(string place, FieldRow was, FieldRow isNow)
    {
        if (was.Type == isNow.Type) return;
        if (was.Type == isNow.Type + "?")
            report(place, $"it was optional ({was.Type}) and is required ({isNow.Type}): a null of callers or the log is refused", "let it be null");
        else
            report(place, $"its type was {was.Type} and is {isNow.Type}: values of before do not fit, nor do new ones where the old build reads",
                "restore the type, or add a field with a key of its own");
    }

    private void CompareEnum(string type, EnumRow before, EnumRow after)
    {
        if (before.Type != after.Type)
            report(type, $"the enum's numbers were of {before.Type} and are of {after.Type}", $"restore its underlying type {before.Type}");
        foreach ((string name, string value) in before.Members)
        {
            string place = $"{type}.{name}";
            string? isNow = after.Members.FirstOrDefault(each => each.Name == name).Value;
            if (isNow is null)
                report(place, $"the member is gone: callers and the log have its number {value}", $"restore it with the number {value}");
            else if (isNow != value)
                report(place, $"its number was {value} and is {isNow}: values of before mean another member", $"give it the number {value}");
        }
        foreach ((string name, string value) in after.Members.Where(each => before.Members.All(other => other.Name != each.Name)))
            added($"{type}.{name}", $"member added, {value}");
    }

    private void CompareCases(string type, IReadOnlyList<CaseRow> before, IReadOnlyList<CaseRow> after)
    {
        foreach (CaseRow was in before)
        {
            string place = $"{type} case {was.Number}";
            if (after.FirstOrDefault(each => each.Number == was.Number) is { } isNow)
            {
                if (isNow.Type != was.Type)
                    report(place, $"it was {was.Type} and is {isNow.Type}: values of before are read as something else",
                        "restore its type; another type is a case with a number of its own");
            }
            else if (after.FirstOrDefault(each => each.Type == was.Type) is { } moved)
            {
                report(place, $"the number of {was.Type} was {was.Number} and is {moved.Number}: values of before have the former",
                    $"[Case({was.Number}, …)] keeps it");
            }
            else
            {
                report(place, $"the case is gone: values of {was.Type} are refused", $"restore it with the number {was.Number}");
            }
        }
        foreach (CaseRow isNew in after.Where(each => before.All(other => other.Number != each.Number && other.Type != each.Type)))
            added($"{type} case {isNew.Number}", $"case added, {isNew.Type}; callees get it before callers do");
    }
}
