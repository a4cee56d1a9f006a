using System.Collections.Concurrent;
using System.Reflection;
using System.Runtime.Serialization;
using Ambrosia.Protocol.Images;

namespace Ambrosia.State;

/// <summary>
/// Knows which fields of a type are state: all instance fields, private ones too, in the order base class first, then declaration. Those
/// marked [NotState] are left out, and in a [DataContract] type all but those marked [DataMember]. An attribute on an auto-property means
/// its field. Any thread may call it.
/// </summary>
internal static class StateFields
{
    private const BindingFlags Declared = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;
    private static readonly ConcurrentDictionary<Type, FieldInfo[]> s_cache = new();
    private static readonly ConcurrentDictionary<Type, string[]> s_names = new();

    /// <summary>
    /// The fields that are kept of an exception besides those of its own class: no stack, which no replay repeats, no Data, no
    /// CancellationToken.
    /// </summary>
    private static readonly string[] s_ofExceptions = ["_message", "_innerException", "_HResult", "_helpURL"];

    internal static FieldInfo[] Of(Type type) => s_cache.GetOrAdd(type, FindFields);

    /// <summary>Returns the names of the fields in an image, in the order of <see cref="Of"/>; each is there once.</summary>
    internal static string[] NamesOf(Type type) =>
        s_names.GetOrAdd(type, static type => FieldNames.InImage(type.ToString(), Named(type)));

    /// <summary>Returns the places of the fields that an image names so; <see cref="FieldNames.None"/>: the type has none.</summary>
    /// <exception cref="InvalidDataException">A name may mean two of them.</exception>
    internal static int[] Find(Type type, IReadOnlyList<string> stored) => FieldNames.Find(type.ToString(), stored, Named(type));

    private static NamedField[] Named(Type type) => Array.ConvertAll(Of(type), field => new NamedField(
        NameOf(field, type), field.DeclaringType == type, ClassesOf(field.DeclaringType!),
        [.. Attributes<FormerlyNamedAttribute>(field, PropertyBehind(field, field.DeclaringType!)).Select(static each => each.Name)]));

    /// <summary>
    /// Returns the name that an image holds: where a base class has a field of the same name, the declaring class tells them apart, by as
    /// much of its name as it takes.
    /// </summary>
    private static string NameOf(FieldInfo field, Type of)
    {
        if (field.DeclaringType == of) return field.Name;
        Type[] others = [.. Of(of).Where(other => other.Name == field.Name && other.DeclaringType != field.DeclaringType)
            .Select(static other => other.DeclaringType!)];
        if (others.Length == 0) return field.Name;
        string[] names = ClassesOf(field.DeclaringType!);
        int needed = Array.FindIndex(names[..3], name => !others.Any(other => other != of && ClassesOf(other)[..3].Contains(name)));
        return needed < 0 ? throw new NotWritableException($"{of} has two base classes {names[2]} with a field {field.Name}")
            : $"{names[needed]}.{field.Name}";
    }

    /// <summary>Returns the names of a class that may stand in front of a field's: shorter ones first, those that it had last.</summary>
    private static string[] ClassesOf(Type type)
    {
        Type definition = type.IsGenericType ? type.GetGenericTypeDefinition() : type;
        return
        [
            definition.Name, definition.FullName!, $"{definition.FullName}@{definition.Assembly.GetName().Name}",
            .. definition.GetCustomAttributes<FormerlyNamedAttribute>(inherit: false)
                .SelectMany(static each => new[] { each.Name, each.Name[(each.Name.LastIndexOfAny(['.', '+']) + 1)..] }),
        ];
    }

    private static FieldInfo[] FindFields(Type type)
    {
        var fields = new List<FieldInfo>();
        for (Type? declaring = type; declaring is not null && !HasNoState(declaring); declaring = declaring.BaseType)
        {
            Type of = declaring;
            FieldInfo[] declared = of.GetFields(Declared);
            Array.Sort(declared, static (a, b) => a.MetadataToken.CompareTo(b.MetadataToken));
            fields.InsertRange(0,
                declared.Where(
                    field => of == typeof(Exception) ? s_ofExceptions.Contains(field.Name)
                        : of != typeof(OperationCanceledException) && !IsMadeWhenAsked(field) && IsState(field, of)));
        }
        return [.. fields];
    }

    /// <summary>Says whether a field of the framework holds what is made of others when it is asked for.</summary>
    private static bool IsMadeWhenAsked(FieldInfo field) => field.DeclaringType == typeof(AggregateException) && field.Name == "_rocView";

    /// <summary>
    /// Says whether a base class has no fields that are state, because they are the binding's own and remade at a restore.
    /// </summary>
    private static bool HasNoState(Type type) =>
        type == typeof(object) || type == typeof(ValueType) || type.IsDefined(typeof(RemadeAtRestoreAttribute), inherit: false);

    private static bool IsState(FieldInfo field, Type declaring)
    {
        MemberInfo? property = PropertyBehind(field, declaring);
        if (Has<NotStateAttribute>(field, property)) return false;
        return !declaring.IsDefined(typeof(DataContractAttribute), inherit: false) || Has<DataMemberAttribute>(field, property);
    }

    private static bool Has<TAttribute>(FieldInfo field, MemberInfo? property)
        where TAttribute : Attribute =>
        field.IsDefined(typeof(TAttribute), inherit: false)
        || (property is not null && property.IsDefined(typeof(TAttribute), inherit: false));

    private static IEnumerable<TAttribute> Attributes<TAttribute>(FieldInfo field, MemberInfo? property)
        where TAttribute : Attribute =>
        field.GetCustomAttributes<TAttribute>(inherit: false).Concat(property?.GetCustomAttributes<TAttribute>(inherit: false) ?? []);

    private static PropertyInfo? PropertyBehind(FieldInfo field, Type declaring)
    {
        const string Suffix = ">k__BackingField";
        if (!field.Name.StartsWith('<') || !field.Name.EndsWith(Suffix, StringComparison.Ordinal)) return null;
        return declaring.GetProperty(field.Name[1..^Suffix.Length], Declared);
    }
}
