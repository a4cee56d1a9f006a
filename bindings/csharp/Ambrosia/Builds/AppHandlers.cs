using System.Reflection;
using System.Reflection.Metadata;
using System.Text.Json;

namespace Ambrosia.Builds;

/// <summary>Holds a handler of the app by its method id. Where immortals of one app share an id, all that serve it count.</summary>
internal sealed record AppHandler(uint Id, SortedSet<string> Names, List<AppMethod> Dispatchers);

/// <summary>
/// Finds the immortals of the app and where the binding enters them: the generated methods that read arguments and call a handler, the
/// constructors, and what the generated and the overridden members do beside handlers.
/// </summary>
internal sealed class AppHandlers
{
    private const string Base = "Ambrosia.Immortal`1", BaseOfAll = "Ambrosia.Immortal", Proxy = "Ambrosia.ImmortalProxy",
        DispatcherPrefix = "__Handle";

    private static readonly string[] s_hooks = ["Dispatch", "DispatchQuery", "WriteResult", "WriteArguments", "OnFirstStart", "OnUpgraded",
        "BecomingPrimary", "WhilePrimary"];

    private readonly Dictionary<AppAssembly, List<ContractMethod>> _manifests = [];

    internal AppHandlers(AppCode code)
    {
        foreach (AppType type in code.Types)
            if (IsImmortal(type) && (type.Definition.Attributes & TypeAttributes.Abstract) == 0) Add(type);
    }

    private sealed record ContractMethod(string Contract, string Name, uint Id, bool IsQuery);

    internal SortedDictionary<uint, AppHandler> ById { get; } = [];

    /// <summary>The methods that the first start of an immortal executes.</summary>
    internal List<AppMethod> First { get; } = [];

    /// <summary>
    /// Methods of immortals from which suspended methods and delegates can come, whether handlers call them in this build or not.
    /// </summary>
    internal List<AppMethod> Own { get; } = [];

    internal static bool IsImmortal(AppType type) =>
        type.AncestorsOutside.Contains(Base) || type.AncestorsOutside.Contains(BaseOfAll);

    internal static bool IsProxy(AppType type) => type.AncestorsOutside.Contains(Proxy);

    /// <summary>Says whether the binding alone calls a member, for what is a root by itself or no part of the log.</summary>
    internal static bool IsHook(AppMethod method) =>
        (IsImmortal(method.Type) && (s_hooks.Contains(method.Name)
            || method.Implements.Exists(static each => each.Outside == "Ambrosia.IImmortal`1")))
        || (IsProxy(method.Type) && method.Name is "Complete" or "Describe");

    private void Add(AppType immortal)
    {
        List<ContractMethod> contract = ContractOf(immortal);
        HashSet<string> queries = [.. contract.Where(static each => each.IsQuery).Select(static each => each.Name)];
        foreach (AppMethod method in immortal.Methods)
        {
            if (method.Name is ".ctor" or "OnFirstStart") First.Add(method);
            if (IsAskedOnly(method, queries)) continue;
            if (method.Name is not ("BecomingPrimary" or "WhilePrimary" or "DispatchQuery" or "WriteArguments") && !method.IsFunction)
                Own.Add(method);
            if (!method.Name.StartsWith(DispatcherPrefix, StringComparison.Ordinal)) continue;
            if (contract.Find(each => each.Name == method.Name[DispatcherPrefix.Length..]) is { } handler) Add(handler, method);
        }
    }

    private void Add(ContractMethod handler, AppMethod dispatcher)
    {
        if (!ById.TryGetValue(handler.Id, out AppHandler? known))
            ById.Add(handler.Id, known = new AppHandler(handler.Id, new SortedSet<string>(StringComparer.Ordinal), []));
        known.Names.Add($"{handler.Contract}.{handler.Name}");
        known.Dispatchers.Add(dispatcher);
    }

    private static bool IsAskedOnly(AppMethod method, HashSet<string> queries) =>
        queries.Contains(method.Name)
        || (method.Name.StartsWith(DispatcherPrefix, StringComparison.Ordinal) && queries.Contains(method.Name[DispatcherPrefix.Length..]));

    /// <summary>
    /// Returns the methods of the contract that an immortal serves: it is named in its base class, as IFoo or IFooProxy. Where a class of
    /// the app's own stands between, it is the one whose handlers were generated.
    /// </summary>
    private List<ContractMethod> ContractOf(AppType immortal)
    {
        if (immortal.Definition.BaseType.Kind != HandleKind.TypeSpecification) return GeneratedFor(immortal);
        string spelled = immortal.Assembly.Names.Of(immortal.Definition.BaseType);
        int open = spelled.IndexOf('<', StringComparison.Ordinal);
        string proxy = spelled[(open + 1)..^1];
        string name = proxy[(proxy.LastIndexOfAny(['.', '+']) + 1)..];
        if (name.EndsWith("Proxy", StringComparison.Ordinal)) name = name[..^"Proxy".Length];
        AppType? contract = immortal.Ancestors.FirstOrDefault(each => each.IsInterface && each.SimpleName == name);
        return contract is null ? GeneratedFor(immortal) : MethodsOf(contract);
    }

    private List<ContractMethod> GeneratedFor(AppType immortal)
    {
        HashSet<string> dispatchers = [.. immortal.Methods.Select(static each => each.Name)];
        return immortal.Ancestors.Where(static each => each.IsInterface).Select(MethodsOf)
            .Where(methods => methods.Count > 0 && methods.TrueForAll(each => dispatchers.Contains(DispatcherPrefix + each.Name)))
            .MaxBy(static methods => methods.Count) ?? [];
    }

    private List<ContractMethod> MethodsOf(AppType contract)
    {
        string space = contract.Assembly.Metadata.GetString(contract.Definition.Namespace), name = contract.SimpleName;
        return ManifestOf(contract.Assembly).FindAll(each => each.Contract == (space.Length == 0 ? name : $"{space}.{name}"));
    }

    private List<ContractMethod> ManifestOf(AppAssembly assembly)
    {
        if (_manifests.TryGetValue(assembly, out List<ContractMethod>? known)) return known;
        _manifests.Add(assembly, known = []);
        if (JsonOf(assembly) is not { } json) return known;
        using JsonDocument document = JsonDocument.Parse(json);
        foreach (JsonElement contract in document.RootElement.GetProperty("contracts").EnumerateArray())
        {
            string space = contract.GetProperty("namespace").GetString()!, name = contract.GetProperty("name").GetString()!;
            string full = space.Length == 0 ? name : $"{space}.{name}";
            foreach (JsonElement method in contract.GetProperty("methods").EnumerateArray())
                known.Add(new ContractMethod(full, method.GetProperty("name").GetString()!, method.GetProperty("id").GetUInt32(),
                    method.TryGetProperty("query", out _)));
        }
        return known;
    }

    private static string? JsonOf(AppAssembly assembly)
    {
        foreach (CustomAttributeHandle each in assembly.Metadata.GetAssemblyDefinition().GetCustomAttributes())
        {
            CustomAttribute attribute = assembly.Metadata.GetCustomAttribute(each);
            if (!assembly.Names.Of(attribute.Constructor).StartsWith("Ambrosia.ContractManifestAttribute.", StringComparison.Ordinal))
                continue;
            BlobReader value = assembly.Metadata.GetBlobReader(attribute.Value);
            value.ReadUInt16(); // the prolog
            value.ReadUInt64(); // the hash
            return value.ReadSerializedString();
        }
        return null;
    }
}
