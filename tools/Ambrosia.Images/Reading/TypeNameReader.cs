using System.Text;
using Ambrosia.Protocol;

namespace Ambrosia.Images.Reading;

/// <summary>
/// Turns the name of a type in an image into the one that a person knows: without assemblies, with arguments in brackets.
/// </summary>
internal static class TypeNameReader
{
    private const int DepthMax = 32;

    internal static string Read(ref CborReader from, int depth = 0)
    {
        if (depth > DepthMax) throw new ImageException("a type that is nested too deeply");
        if (from.PeekKind() != CborKind.Array) return Plain(from.ReadString());
        int items = from.ReadArrayHeader();
        if (from.PeekKind() == CborKind.Unsigned)
        {
            int rank = from.ReadInt32();
            if (items != 2 || rank > DepthMax) throw new ImageException($"an array of rank {rank}");
            return $"{Read(ref from, depth + 1)}[{new string(',', Math.Max(rank - 1, 0))}]";
        }
        if (items < 2) throw new ImageException("a generic type without arguments");
        string definition = Plain(from.ReadString());
        var arguments = new List<string>();
        for (int i = 1; i < items; i++) arguments.Add(Read(ref from, depth + 1));
        return WithArguments(definition, arguments);
    }

    /// <summary>Gives each part of the name as many of the arguments as stand behind its tick.</summary>
    private static string WithArguments(string definition, List<string> arguments)
    {
        var name = new StringBuilder();
        int given = 0;
        foreach (string part in definition.Split('+'))
        {
            if (name.Length > 0) name.Append('+');
            int tick = part.IndexOf('`', StringComparison.Ordinal);
            int count = tick >= 0 && int.TryParse(part.AsSpan(tick + 1), out int own) ? Math.Min(own, arguments.Count - given) : 0;
            name.Append(tick >= 0 ? part[..tick] : part);
            if (count > 0) name.Append('<').AppendJoin(", ", arguments.GetRange(given, count)).Append('>');
            given += count;
        }
        if (given < arguments.Count) name.Append('<').AppendJoin(", ", arguments.Skip(given)).Append('>');
        return name.ToString();
    }

    /// <summary>
    /// Takes the assembly from a name. What the compiler made of a method has the method's name and its role, an anonymous type its members,
    /// and a numbered case its number behind the name of the interface that gives it.
    /// </summary>
    private static string Plain(string name)
    {
        int comma = name.LastIndexOf(", ", StringComparison.Ordinal);
        string plain = comma < 0 ? name : name[..comma];
        if (plain.StartsWith('%')) return $"{{{plain[1..].Replace(",", ", ", StringComparison.Ordinal)}}}";
        if (plain.StartsWith('#') && plain.IndexOf(' ', StringComparison.Ordinal) is > 0 and { } space)
            return $"{plain[(space + 1)..]}#{plain[1..space]}";
        return plain.StartsWith('@') ? plain[1..] : plain;
    }
}
