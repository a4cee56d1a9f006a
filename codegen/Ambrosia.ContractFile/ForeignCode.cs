using System.Reflection.Emit;
using System.Reflection.Metadata;
using Ambrosia.Builds;
using Ambrosia.Generators.Determinism;
using Ambrosia.MethodBodies;

namespace Ambrosia.ContractFile;

/// <summary>
/// Judges what handlers execute in other assemblies than their own: packages and other projects, whose source the analyzers do not see. It
/// follows the calls in the IL of the assemblies that will run. In a package a call whose method is chosen at run time is followed to the
/// method that it names, and no further. What a handler does in its own assembly is left to the analyzers, and the framework to its list.
/// </summary>
/// <param name="trusted">Names of assemblies that are not followed.</param>
internal sealed class ForeignCode(AppCode code, IReadOnlyCollection<string> trusted)
{
    /// <summary>Packages cache and lock in ways that nobody sees. What is judged there gives another result in another process.</summary>
    private static readonly string[] s_rules = ["AMB101", "AMB102", "AMB103", "AMB104", "AMB106"];

    /// <summary>
    /// Uses that do not matter there: the compiler's own in iterators, switches of a library, and waiting that ends.
    /// </summary>
    private static readonly string[] s_harmless =
    [
        "System.Environment.CurrentManagedThreadId", "System.AppContext", "System.AppDomain",
            "System.Runtime.InteropServices.RuntimeInformation",
        "System.OperatingSystem", "System.Diagnostics.StackTrace", "System.Exception.StackTrace", "System.Threading.Monitor",
        "System.Threading.Lock", "System.Threading.SemaphoreSlim", "System.Threading.ReaderWriterLockSlim",
            "System.Threading.LazyInitializer",
        "System.Threading.Tasks.Task.ConfigureAwait", "System.Threading.Tasks.ValueTask.ConfigureAwait",
            "System.Threading.Tasks.TaskScheduler",
        "System.Threading.SynchronizationContext", "System.Threading.Tasks.Task.Result", "System.Threading.CancellationTokenRegistration",
    ];

    private readonly Dictionary<AppMethod, (AppMethod? From, int At)> _way = [];
    private readonly Dictionary<(int Assembly, EntityHandle Token), TokenTarget> _targets = [];
    private readonly List<ForeignFault> _found = [];

    /// <summary>Returns what handlers reach, each call of theirs that leads there once, in the order of their names.</summary>
    internal IReadOnlyList<ForeignFault> Find()
    {
        var handlers = new AppHandlers(code);
        var open = new Queue<AppMethod>();
        foreach (AppMethod root in handlers.ById.Values.SelectMany(static each => each.Dispatchers).Concat(handlers.First)
            .Concat(KeptBodies()).OrderBy(static method => method.Signature, StringComparer.Ordinal)) Take(root, null, 0, open);
        while (open.TryDequeue(out AppMethod? method)) Follow(method, open);
        return _found;
    }

    /// <summary>Returns the methods that nobody calls, and in which what was suspended in an earlier build goes on.</summary>
    private IEnumerable<AppMethod> KeptBodies() => code.Types.SelectMany(static type => type.Methods)
        .Where(static method => FormerName.Of(method.Type.Assembly.Metadata, method.Handle) is not null);

    private void Take(AppMethod method, AppMethod? from, int at, Queue<AppMethod> open)
    {
        if (IsTrusted(method) || !_way.TryAdd(method, (from, at))) return;
        open.Enqueue(method);
    }

    private void Follow(AppMethod method, Queue<AppMethod> open)
    {
        List<(AppMethod Function, int At)> functions = [];
        foreach (Instruction instruction in method.Text.Members)
        {
            TokenTarget target = TargetOf(method, instruction);
            if (IsTask(target) && functions.Count > 0) functions.RemoveAt(functions.Count - 1); // its body runs outside of the handlers
            if (target.Type is { IsPartOfMethod: true } part && GeneratedNames.RoleOfType(part.SimpleName)?.EndsWith("machine",
                StringComparison.Ordinal) == true)
                foreach (AppMethod step in part.Methods.Where(static each => each.Name == "MoveNext")) Take(step, method, instruction.At,
                    open);
            foreach (AppMethod called in target.Methods)
            {
                if (instruction.Code == OpCodes.Ldftn) functions.Add((called, instruction.At));
                else Take(called, method, instruction.At, open);
                if (called.IsVirtual && instruction.Code == OpCodes.Callvirt)
                    foreach (AppMethod filled in FillsOf(called, method)) Take(filled, method, instruction.At, open);
            }
            if (target is { Type: null, Name.Length: > 0 }) Judge(method, target, instruction);
        }
        foreach ((AppMethod function, int at) in functions) Take(function, method, at, open);
    }

    /// <summary>
    /// Returns what a virtual call of the handler's own assembly may run there: so a dispatcher leads to its handler. What a package
    /// decides at
    /// run time is not guessed.
    /// </summary>
    private IEnumerable<AppMethod> FillsOf(AppMethod called, AppMethod caller)
    {
        AppAssembly own = WayTo(caller, 0)[0].Method.Type.Assembly;
        if (caller.Type.Assembly != own) yield break;
        foreach (AppType type in code.Types.Where(type => type.Assembly == own && type.Ancestors.Contains(called.Type)))
            for (AppType? at = type; at is not null; at = at.Base)
                foreach (AppMethod each in at.Methods.Where(each => each.IsVirtual && each.Fills(called.Name, called.ParameterCount)))
                    yield return each;
    }

    /// <summary>Reports a member of the framework, if it is not for handlers and another assembly uses it.</summary>
    private void Judge(AppMethod method, TokenTarget target, Instruction instruction)
    {
        List<(AppMethod Method, int At)> way = WayTo(method, instruction.At);
        AppAssembly own = way[0].Method.Type.Assembly;
        if (method.Type.Assembly == own) return;
        string type = Plain(target.Outside), name = target.Name;
        if (name.StartsWith("get_", StringComparison.Ordinal) || name.StartsWith("set_", StringComparison.Ordinal)) name = name[4..];
        string? first = target.Parameters.Count > 0 ? target.Parameters[0][(target.Parameters[0].LastIndexOf('.') + 1)..] : null;
        if (FrameworkNames.Of(type, name, target.IsField ? null : target.ParameterCount, first) is not { } verdict
            || !s_rules.Contains(verdict.Rule) || s_harmless.Any(each => $"{type}.{name}".StartsWith(each,
                StringComparison.Ordinal))) return;
        Add(verdict.Rule, $"{type[(type.LastIndexOf('.') + 1)..]}.{name}", verdict.Mend, way, own);
    }

    private void Add(string rule, string what, string mend, List<(AppMethod Method, int At)> way, AppAssembly own)
    {
        (AppMethod call, int at) = way.Last(each => each.Method.Type.Assembly == own);
        if (_found.Exists(each => each.Rule == rule && each.Call == call && each.At == at)) return;
        IEnumerable<string> names = way.Select(static each => ShownName.Of(each.Method));
        _found.Add(new ForeignFault(rule, what, mend, call, at, [.. names.Where((name, i) => i == 0 || name != names.ElementAt(i - 1))]));
    }

    private List<(AppMethod Method, int At)> WayTo(AppMethod method, int at)
    {
        List<(AppMethod, int)> way = [(method, at)];
        for (AppMethod step = method; _way[step] is { From: { } from } came; step = from) way.Insert(0, (from, came.At));
        return way;
    }

    private TokenTarget TargetOf(AppMethod method, Instruction instruction)
    {
        var key = (method.Type.AssemblyIndex, instruction.Member);
        if (!_targets.TryGetValue(key, out TokenTarget? known))
            _targets.Add(key, known = TokenTarget.Of(code, method.Type.Assembly, instruction.Member));
        return known;
    }

    private static bool IsTask(TokenTarget target) =>
        target is { Outside: "Ambrosia.Immortal", Name: "NondetTask" or "NondetMethod" } or { Outside: "Ambrosia.NondetOptions",
            Name: "set_Retry" };

    private bool IsTrusted(AppMethod method)
    {
        string assembly = method.Type.Assembly.Name;
        return trusted.Contains(assembly) || assembly.StartsWith("System.", StringComparison.Ordinal)
            || assembly.StartsWith("Microsoft.", StringComparison.Ordinal) || AppHandlers.IsProxy(method.Type)
                || StatedCode.IsDeterministic(method);
    }

    /// <summary>Returns a name without the counts of type parameters, as the list has it.</summary>
    private static string Plain(string name)
    {
        string[] parts = name.Replace('+', '.').Split('.');
        return string.Join('.', parts.Select(static part => part.Split('`')[0]));
    }
}

/// <summary>It is a call of a handler's assembly that leads to something in another one which is no function of the log.</summary>
/// <param name="Call">The method that makes it.</param>
/// <param name="At">The offset of the call in its IL.</param>
/// <param name="Way">The names of the methods from the handler to it.</param>
internal sealed record ForeignFault(string Rule, string What, string Mend, AppMethod Call, int At, IReadOnlyList<string> Way);

/// <summary>Reads from metadata that an author answers for a method.</summary>
internal static class StatedCode
{
    internal static bool IsDeterministic(AppMethod method)
    {
        AppAssembly assembly = method.Type.Assembly;
        return Has(assembly, assembly.Metadata.GetMethodDefinition(method.Handle).GetCustomAttributes())
            || Has(assembly, method.Type.Definition.GetCustomAttributes()) || Has(assembly,
                assembly.Metadata.GetAssemblyDefinition().GetCustomAttributes());
    }

    private static bool Has(AppAssembly assembly, CustomAttributeHandleCollection attributes)
    {
        foreach (CustomAttributeHandle each in attributes)
            if (assembly.Names.Of(assembly.Metadata.GetCustomAttribute(each).Constructor)
                .StartsWith("Ambrosia.DeterministicAttribute.", StringComparison.Ordinal)) return true;
        return false;
    }
}

/// <summary>Spells methods as people wrote them.</summary>
internal static class ShownName
{
    private const string Dispatcher = "__Handle";

    internal static string Of(AppMethod method)
    {
        string name = method.Name, type = method.Type.FullName;
        int generated = type.IndexOf("+<", StringComparison.Ordinal);
        if (generated >= 0)
        {
            string inner = type[(generated + 2)..].TrimStart('<');
            if (method.Name == "MoveNext" && inner.IndexOf('>') is > 0 and var end) name = inner[..end];
            type = type[..generated];
        }
        if (name.StartsWith('<') && name.IndexOf('>') is > 1 and var close) name = name[1..close];
        if (name.StartsWith(Dispatcher, StringComparison.Ordinal)) name = name[Dispatcher.Length..];
        if (name.StartsWith("get_", StringComparison.Ordinal) || name.StartsWith("set_", StringComparison.Ordinal)) name = name[4..];
        string simple = type[(type.LastIndexOfAny(['.', '+']) + 1)..];
        return name == ".ctor" ? $"new {simple}()" : $"{simple}.{name}";
    }
}
