// Classes that an interface or abstract class knows by number ([Case]): their name in an image is the number. Found once
// per type, kept. Any thread.
using System.Collections.Concurrent;
using System.Globalization;
using System.Reflection;

namespace Ambrosia;

internal static class NumberedCases
{
    private static readonly ConcurrentDictionary<Type, (Type Of, int Number)?> s_numbers = new();

    /// <summary>
    /// The number of a class, and the interface or class that gives it; null: it is known by its name. Of several the first by name.
    /// </summary>
    internal static (Type Of, int Number)? NumberOf(Type type) => s_numbers.GetOrAdd(type, static type =>
    {
        foreach (Type parent in Parents(type))
            if (Cases(parent).FirstOrDefault(each => each.Type == type) is { } known) return (parent, known.Number);
        return null;
    });

    /// <summary>The class of this number; null: there is none any more, or not yet.</summary>
    internal static Type? Find(Type of, int number) => Cases(of).FirstOrDefault(each => each.Number == number)?.Type;

    /// <summary>Null: it is numbered, or nothing that it derives from numbers its cases.</summary>
    internal static string? WhyNotWritable(Type type)
    {
        if (ObjectShapes.IsOfSystem(type) || NumberOf(type) is not null) return null;
        return Parents(type).FirstOrDefault(static parent => Cases(parent).Length > 0) is { } parent
            ? $" has no number among the cases of {WritingPlace.Readable(parent)} (add [Case(n, typeof({type.Name}))] there) and"
            : null;
    }

    internal static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    /// <exception cref="InvalidOperationException">Two cases have one number, or a case is none.</exception>
    private static CaseAttribute[] Cases(Type parent)
    {
        if (ObjectShapes.IsOfSystem(parent)) return [];
        CaseAttribute[] cases = [.. parent.GetCustomAttributes<CaseAttribute>(inherit: false)];
        if (cases.GroupBy(static each => each.Number).FirstOrDefault(static group => group.Count() > 1) is { } twice)
            throw new InvalidOperationException($"{parent} gives the number {Text(twice.Key)} to several cases.");
        return Array.Find(cases, each => each.Number < 0 || !parent.IsAssignableFrom(each.Type) || each.Type.IsGenericType) is { } wrong
            ? throw new InvalidOperationException(
                $"{parent} numbers {wrong.Type} as {Text(wrong.Number)}: a case has a number of 0 or more, derives from {parent.Name}, and is not generic.")
            : cases;
    }

    private static IEnumerable<Type> Parents(Type type)
    {
        var parents = new List<Type>(type.GetInterfaces());
        for (Type? at = type.BaseType; at is not null; at = at.BaseType) parents.Add(at);
        return parents.OrderBy(static each => each.FullName, StringComparer.Ordinal);
    }
}
