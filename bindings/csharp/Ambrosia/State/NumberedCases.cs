using System.Collections.Concurrent;
using System.Globalization;
using System.Reflection;

namespace Ambrosia.State;

/// <summary>
/// Knows the classes that an interface or abstract class numbers by <see cref="CaseAttribute"/>: their name in an image is the number. What
/// was found for a type is kept. Any thread may call it.
/// </summary>
internal static class NumberedCases
{
    private static readonly ConcurrentDictionary<Type, (Type Of, int Number)?> s_numbers = new();

    /// <summary>
    /// Returns the number of a class, and the interface or class that gives it; null when the class is known by its name. Where several
    /// give one, the first by name counts.
    /// </summary>
    internal static (Type Of, int Number)? NumberOf(Type type) => s_numbers.GetOrAdd(type, static type =>
    {
        foreach (Type parent in Parents(type))
            if (Cases(parent).FirstOrDefault(each => each.Type == type) is { } known) return (parent, known.Number);
        return null;
    });

    /// <summary>Returns the class of this number; null when there is none any more, or not yet.</summary>
    internal static Type? Find(Type of, int number) => Cases(of).FirstOrDefault(each => each.Number == number)?.Type;

    /// <summary>
    /// Returns why an object of the class cannot be written; null when it can, since the class is numbered, or nothing that it derives from
    /// numbers its cases.
    /// </summary>
    internal static string? WhyNotWritable(Type type)
    {
        if (ObjectShapes.IsOfSystem(type) || NumberOf(type) is not null) return null;
        return Parents(type).FirstOrDefault(static parent => Cases(parent).Length > 0) is { } parent
            ? $" has no number among the cases of {GraphLocation.Readable(parent)} (add [Case(n, typeof({type.Name}))] there) and"
            : null;
    }

    internal static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);

    /// <exception cref="InvalidOperationException">Two cases have one number, or a numbered class is not a case.</exception>
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
