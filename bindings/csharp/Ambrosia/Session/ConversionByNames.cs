using System.Globalization;
using System.Reflection;
using System.Runtime.CompilerServices;
using Ambrosia.Protocol.Images;
using Ambrosia.State;

namespace Ambrosia.Session;

/// <summary>
/// Makes an immortal of the new class of one of the old class by the names of their fields, where the new class has no constructor that
/// takes the old one: as an image is read by a later build (docs/image.md I3.9). Fields that the new class lacks are left, new ones have
/// their default, and numbers of another width are taken as long as they fit. Any thread.
/// </summary>
internal static class ConversionByNames
{
    /// <summary>Returns the conversion from the one class to the other.</summary>
    /// <exception cref="InvalidOperationException">Fields of one name are of types that do not go together.</exception>
    internal static Func<Immortal, Immortal> Of(Type former, Type newest)
    {
        (FieldInfo From, FieldInfo To)[] pairs = [.. Pairs(former, newest)];
        if (Array.Find(pairs, static pair => !Fits(pair.From.FieldType, pair.To.FieldType)) is { From: { } from, To: { } to })
            throw new InvalidOperationException(
                $"{newest.Name} has no constructor that takes a {former.Name}, and its field {to.Name} is a {Named(to)} where {from.Name} was a {Named(from)}: add "
                + $"{newest.Name}({former.Name} old), which takes over what the old state holds");
        return old =>
        {
            var made = (Immortal)RuntimeHelpers.GetUninitializedObject(newest);
            foreach ((FieldInfo was, FieldInfo now) in pairs) now.SetValue(made, Value(was.GetValue(old), now));
            return made;
        };
    }

    private static IEnumerable<(FieldInfo From, FieldInfo To)> Pairs(Type former, Type newest)
    {
        (FieldInfo[] was, FieldInfo[] now) = (StateFields.Of(former), StateFields.Of(newest));
        int[] places = StateFields.Find(newest, StateFields.NamesOf(former));
        for (int i = 0; i < was.Length; i++)
            if (places[i] != FieldNames.None) yield return (was[i], now[places[i]]);
    }

    private static bool Fits(Type was, Type now) => now.IsAssignableFrom(was) || (IsInteger(was) && IsInteger(now));

    private static bool IsInteger(Type type) => !type.IsEnum && Type.GetTypeCode(type) is >= TypeCode.SByte and <= TypeCode.UInt64;

    /// <exception cref="OverflowException">The number does not fit.</exception>
    private static object? Value(object? was, FieldInfo now) =>
        was is null || now.FieldType.IsInstanceOfType(was) ? was : Convert.ChangeType(was, now.FieldType, CultureInfo.InvariantCulture);

    private static string Named(FieldInfo field) => field.FieldType.Name;
}
