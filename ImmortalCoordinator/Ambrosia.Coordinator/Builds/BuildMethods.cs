using System.Globalization;
using System.Text.Json;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Records;

namespace Ambrosia.Coordinator.Builds;

/// <summary>
/// Says what each handler of one build executes, as hashes that its binding made (contract C4): two builds whose hashes of a handler are
/// equal execute its messages alike.
/// </summary>
internal sealed class BuildMethods
{
    private const int KnownFormat = 1, HashCharsMax = 64, NameCharsMax = 1024;

    private readonly Dictionary<uint, BuildMethod> _methods = [];

    private BuildMethods(BuildId build) => Build = build;

    public BuildId Build { get; }

    /// <summary>The hash of what is no method's body. Where it differs nothing is known to be executed alike.</summary>
    public string Outside { get; private set; } = "";

    /// <summary>The hash of what the first start executes.</summary>
    public string First { get; private set; } = "";

    /// <summary>The hash of what a record executes without naming it: answers, timers and results of tasks resume it.</summary>
    public string Resumed { get; private set; } = "";

    public IEnumerable<uint> Ids => _methods.Keys;

    public BuildMethod? this[uint id] => _methods.GetValueOrDefault(id);

    /// <exception cref="ProtocolViolation">P5.23: it is no such document.</exception>
    public static BuildMethods Read(ReadOnlyMemory<byte> json)
    {
        try
        {
            using JsonDocument document = JsonDocument.Parse(json);
            return Read(document.RootElement);
        }
        catch (Exception e) when (e is JsonException or InvalidOperationException or KeyNotFoundException or FormatException)
        {
            throw new ProtocolViolation("P5.23", $"methods of a build that break contract C4: {e.Message}");
        }
    }

    private static BuildMethods Read(JsonElement root)
    {
        if (root.GetProperty("format").GetInt32() != KnownFormat) throw new FormatException("its format is not 1");
        string build = root.GetProperty("build").GetString() ?? "";
        if (build.Length != 2 * BuildId.Bytes) throw new FormatException($"a build of {build.Length} digits");
        var methods = new BuildMethods(new BuildId(UInt128.Parse(build, NumberStyles.AllowHexSpecifier, CultureInfo.InvariantCulture)))
        {
            Outside = Hash(root, "outside"), First = Hash(root, "first"), Resumed = Hash(root, "resumed"),
        };
        if (!root.TryGetProperty("methods", out JsonElement listed)) return methods; // any change of the app shows outside of methods, then
        foreach (JsonElement method in listed.EnumerateArray())
        {
            string name = method.GetProperty("name").GetString() ?? "";
            if (name.Length > NameCharsMax) throw new FormatException($"a method's name of {name.Length} characters");
            uint id = method.GetProperty("id").GetUInt32();
            if (!methods._methods.TryAdd(id, new BuildMethod(name, Hash(method, "hash"))))
                throw new FormatException($"method {id:X} twice");
        }
        return methods;
    }

    /// <summary>A binding that does not say one leaves it out; two of these are equal.</summary>
    private static string Hash(JsonElement of, string property)
    {
        string hash = of.TryGetProperty(property, out JsonElement value) ? value.GetString() ?? "" : "";
        return hash.Length <= HashCharsMax ? hash : throw new FormatException($"{property} of {hash.Length} characters");
    }
}

/// <summary>Says what executing one handler of a build may run.</summary>
/// <param name="Name">Contract and method, for people.</param>
/// <param name="Hash">What executing it may run.</param>
internal sealed record BuildMethod(string Name, string Hash);
