using System.Collections;
using System.Globalization;
using System.Net;
using System.Reflection;
using System.Runtime.CompilerServices;
using System.Text;
using System.Text.Json;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>
/// Holds a state as JSON against the living objects, which it looks at by itself: names, values, and which places refer to one object. It
/// uses nothing of what writes images.
/// </summary>
internal sealed class LiveState(JsonElement document)
{
    private const BindingFlags Own = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.DeclaredOnly;

    private readonly Dictionary<string, object> _byNumber = [];
    private readonly HashSet<object> _seen = new(ReferenceEqualityComparer.Instance);
    private readonly List<(JsonElement At, object Live, string Path)> _later = [];

    internal void AssertIsRoot(object root)
    {
        _byNumber["root"] = root;
        _seen.Add(root);
        _later.Add((document.GetProperty("root"), root, "root"));
        for (int i = 0; i < _later.Count; i++) AssertObject(_later[i].At, _later[i].Live, _later[i].Path);
    }

    private void AssertPlace(JsonElement at, object? live, Type declared, string path)
    {
        if (live is null) Assert.Equal(JsonValueKind.Null, at.ValueKind);
        else if (declared.IsValueType) AssertValue(at, live, path);
        else if (declared == typeof(string)) AssertText(at, (string)live, path);
        else AssertReference(at, live, path);
    }

    private void AssertReference(JsonElement at, object live, string path)
    {
        if (live is string text)
        {
            AssertText(at, text, path);
            return;
        }
        bool isAlone = live is not Array { Length: 0 }; // equal ones are one object of the image
        if (at.ValueKind == JsonValueKind.Object && at.TryGetProperty("$ref", out JsonElement number))
        {
            string id = number.ToString();
            if (_byNumber.TryGetValue(id, out object? known))
            {
                if (isAlone && !ReferenceEquals(known, live)) Assert.Fail($"{path}: {id} is another object");
                return;
            }
            _byNumber.Add(id, live);
            if (!_seen.Add(live) && isAlone) Assert.Fail($"{path}: {id} stands elsewhere, too");
            _later.Add((document.GetProperty("objects").GetProperty(id), live, $"{path}->{id}"));
            return;
        }
        if (!_seen.Add(live) && isAlone) Assert.Fail($"{path}: an object that is shared stands in place");
        AssertObject(at, live, path);
    }

    private void AssertObject(JsonElement at, object live, string path)
    {
        Type type = live.GetType();
        switch (live)
        {
            case byte[] bytes: Assert.Equal(Convert.ToHexStringLower(bytes), at.GetProperty("$bytes").GetString()); return;
            case Array { Rank: > 1 } grid:
                Assert.Equal(Enumerable.Range(0, grid.Rank).Select(grid.GetLength),
                    at.GetProperty("$lengths").EnumerateArray().Select(static each => each.GetInt32()));
                AssertItems(at.GetProperty("$items"), grid, type.GetElementType()!, path);
                return;
            case Array array: AssertItems(at, array, type.GetElementType()!, path); return;
            case IDictionary map: AssertMap(at, map, type.GetGenericArguments(), path); return;
            case IPAddress address:
                AssertType(at, type, path);
                Assert.Equal(Convert.ToHexStringLower(address.GetAddressBytes()),
                    at.GetProperty("$value").GetProperty("$bytes").GetString());
                return;
            case IEnumerable items when type.Namespace!.StartsWith("System.Collections", StringComparison.Ordinal) && !type.IsValueType:
                AssertItems(at, type.Name == "Stack`1" ? items.Cast<object?>().Reverse() : items, type.GetGenericArguments()[0], path);
                return;
        }
        AssertType(at, type, path);
        if (type.IsValueType && !IsStruct(type)) AssertValue(at.GetProperty("$value"), live, path);
        else AssertFields(at, live, path, extra: 1);
    }

    private void AssertItems(JsonElement at, IEnumerable items, Type element, string path)
    {
        JsonElement[] written = [.. at.EnumerateArray()];
        object?[] live = [.. items.Cast<object?>()];
        if (written.Length != live.Length) Assert.Fail($"{path}: {written.Length} of {live.Length}");
        for (int i = 0; i < live.Length; i++) AssertPlace(written[i], live[i], element, $"{path}[{i}]");
    }

    private void AssertMap(JsonElement at, IDictionary map, Type[] arguments, string path)
    {
        bool isPlain = arguments[0] == typeof(string) || (arguments[0].IsValueType && !IsStruct(arguments[0]));
        int i = 0;
        Assert.Equal(map.Count, isPlain ? at.EnumerateObject().Count() : at.GetArrayLength());
        foreach (DictionaryEntry entry in map)
        {
            JsonElement value;
            if (isPlain)
            {
                JsonProperty property = at.EnumerateObject().ElementAt(i);
                Assert.Equal(KeyOf(entry.Key), property.Name);
                value = property.Value;
            }
            else
            {
                AssertPlace(at[i][0], entry.Key, arguments[0], $"{path} key {i}");
                value = at[i][1];
            }
            AssertPlace(value, entry.Value, arguments[1], $"{path}[{entry.Key}]");
            i++;
        }
    }

    private void AssertFields(JsonElement at, object live, string path, int extra)
    {
        List<FieldInfo> fields = FieldsOf(live.GetType());
        if (fields.Count + extra != at.EnumerateObject().Count()) Assert.Fail($"{path}: {at} has not the fields of {live.GetType()}");
        foreach (FieldInfo field in fields.Where(static field => field.Name != "_helpURL")) // says, too, whose an exception's text is
            AssertPlace(at.GetProperty(NameOf(field, fields)), field.GetValue(live), field.FieldType, $"{path}.{field.Name}");
    }

    private void AssertValue(JsonElement at, object live, string path)
    {
        switch (live)
        {
            case Enum e when Enum.GetName(e.GetType(), e) is { } name: Assert.Equal(name, at.GetString()); break;
            case Enum e: Assert.Equal(e.ToString("D"), at.GetRawText()); break;
            case bool b: Assert.Equal(b, at.GetBoolean()); break;
            case char c: AssertText(at, c.ToString(), path); break;
            case double or float or Half: AssertFloat(at, live); break;
            case DateTime t:
                string kind = t.Kind switch { DateTimeKind.Utc => "Z", DateTimeKind.Local => " local", _ => "" };
                Assert.Equal($"{t:yyyy-MM-ddTHH:mm:ss.fffffff}{kind}", at.GetString());
                break;
            case DateTimeOffset or DateOnly or TimeOnly:
                Assert.Equal(((IFormattable)live).ToString("O", CultureInfo.InvariantCulture), at.GetString());
                break;
            case TimeSpan or Guid: Assert.Equal(live.ToString(), at.GetString()); break;
            default:
                if (live.GetType().IsDefined(typeof(InlineArrayAttribute))) AssertItems(at, Elements((Four)live), typeof(string), path);
                else if (live.GetType().Name == "ImmutableArray`1") AssertImmutable(at, live, path);
                else if (IsStruct(live.GetType())) AssertFields(at, live, path, extra: 0);
                else Assert.Equal(((IFormattable)live).ToString(null, CultureInfo.InvariantCulture), at.GetRawText());
                break;
        }
    }

    private static string?[] Elements(Four four) => [four[0], four[1], four[2], four[3]];

    private void AssertImmutable(JsonElement at, object live, string path)
    {
        FieldInfo array = live.GetType().GetFields(Own).Single(static field => field.FieldType.IsArray);
        AssertPlace(at, array.GetValue(live), array.FieldType, path);
    }

    private static void AssertFloat(JsonElement at, object live)
    {
        string text = at.ValueKind == JsonValueKind.String ? at.GetString()! : at.GetRawText();
        if (live is Half half) Assert.Equal(half, Half.Parse(text, CultureInfo.InvariantCulture));
        else if (live is float single) Assert.Equal(Bits(single), Bits(float.Parse(text, CultureInfo.InvariantCulture)));
        else Assert.Equal(Bits((double)live), Bits(double.Parse(text, CultureInfo.InvariantCulture)));
    }

    /// <summary>All numbers that are none are shown by one word.</summary>
    private static long Bits(double value) => double.IsNaN(value) ? 0x7FF8L << 48 : BitConverter.DoubleToInt64Bits(value);

    private static void AssertText(JsonElement at, string live, string path)
    {
        bool isWhole = Encoding.Unicode.GetString(Encoding.Unicode.GetBytes(live)) == live;
        if (isWhole)
        {
            if (at.GetString() != live) Assert.Fail($"{path}: {at} is not '{live}'");
        }
        else
            Assert.Equal($"\"{string.Concat(live.Select(static c => c is >= ' ' and < (char)0x7F ? c.ToString() : $"\\u{(int)c:x4}"))}\"",
                at.GetRawText());
    }

    private static void AssertType(JsonElement at, Type type, string path)
    {
        string? name = at.GetProperty("$type").GetString();
        if (name != NameOf(type)) Assert.Fail($"{path}: {name} is not {NameOf(type)}");
    }

    private static string KeyOf(object key) => key switch
    {
        string text => text.StartsWith('$') ? $"${text}" : text,
        char c => char.IsSurrogate(c) ? $"$escaped:\\u{(int)c:x4}" : c == '$' ? "$$" : c.ToString(),
        IFormattable value => value.ToString(null, CultureInfo.InvariantCulture),
        _ => key.ToString()!,
    };

    private static bool IsStruct(Type type) =>
        type is { IsValueType: true, IsPrimitive: false, IsEnum: false }
        && (type.Assembly == typeof(LiveState).Assembly || type.Name.StartsWith("ValueTuple`", StringComparison.Ordinal)
            || type.Name == "KeyValuePair`2");

    private static List<FieldInfo> FieldsOf(Type type)
    {
        var fields = new List<FieldInfo>();
        for (Type? at = type; at is not null && at != typeof(object) && at != typeof(ValueType); at = at.BaseType)
        {
            Type declaring = at;
            fields.InsertRange(0, declaring.GetFields(Own)
                .Where(field => declaring != typeof(Exception) || field.Name is "_message" or "_innerException" or "_HResult" or "_helpURL"));
        }
        return fields;
    }

    private static string NameOf(FieldInfo field, List<FieldInfo> all)
    {
        if (all.Count(each => each.Name == field.Name) > 1 && field.DeclaringType != all[^1].DeclaringType)
            return $"{field.DeclaringType!.Name}.{field.Name}";
        return field.Name.StartsWith('<') ? field.Name[1..field.Name.IndexOf('>')] : field.Name;
    }

    private static string NameOf(Type type)
    {
        if (!type.IsGenericType) return type.FullName!;
        string name = type.GetGenericTypeDefinition().FullName!;
        return $"{name[..name.IndexOf('`')]}<{string.Join(", ", type.GetGenericArguments().Select(NameOf))}>";
    }
}
