using System.Reflection.Emit;
using System.Reflection.Metadata;
using Ambrosia.Builds;
using Ambrosia.Generators.Determinism;
using Ambrosia.MethodBodies;

namespace Ambrosia.ContractFile;

/// <summary>
/// Judges what handlers execute in other assemblies than their own: packages and other projects, whose source the analyzers do not see. It
/// follows the calls in the IL of the assemblies that will run. In a package a call whose method is chosen at run time is followed to the
/// method that it names, and to the only one there is where that has no body. What a handler does in its own assembly is left to the
/// analyzers, and the framework to its list.
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

    /// <summary>
    /// It says of each method that is executed where it was called first, and in which assembly the handler is; null: in any.
    /// </summary>
    private readonly Dictionary<AppMethod, (AppMethod? From, int At, AppAssembly? Own)> _way = [];
    private readonly Dictionary<(int Assembly, EntityHandle Token), TokenTarget> _targets = [];
    private readonly Dictionary<TokenTarget, Verdict?> _verdicts = [];
    private readonly Heirs _heirs = new(code);
    private readonly Queue<AppMethod> _open = [];
    private readonly List<ForeignFault> _found = [];

    /// <summary>The uses of the framework that the walk has met, each in another assembly than the handler's.</summary>
    private readonly List<(AppMethod Method, int At, TokenTarget Target, Verdict Verdict)> _met = [];

    /// <summary>Returns what handlers reach, each call of theirs that leads there once, in the order of their names.</summary>
    internal IReadOnlyList<ForeignFault> Find()
    {
        foreach (AppMethod method in new Doorways(code).All) Take(method, null, 0, null);
        Walk();
        if (_met.Count == 0) return []; // as of most apps; the bodies of their own methods need not be read
        _way.Clear();
        _met.Clear();
        var handlers = new AppHandlers(code);
        foreach (AppMethod root in handlers.ById.Values.SelectMany(static each => each.Dispatchers).Concat(handlers.First)
            .Concat(KeptBodies()).OrderBy(static method => method.Signature, StringComparer.Ordinal))
            Take(root, null, 0, root.Type.Assembly);
        Walk();
        foreach ((AppMethod method, int at, TokenTarget target, Verdict verdict) in _met) Add(method, at, target, verdict);
        return _found;
    }

    private void Walk()
    {
        while (_open.TryDequeue(out AppMethod? method)) Follow(method);
    }

    /// <summary>Returns the methods that nobody calls, and in which what was suspended in an earlier build goes on.</summary>
    private IEnumerable<AppMethod> KeptBodies() => code.Types.SelectMany(static type => type.Methods)
        .Where(static method => FormerName.Of(method.Type.Assembly.Metadata, method.Handle) is not null);

    private void Take(AppMethod method, AppMethod? from, int at, AppAssembly? own)
    {
        if (_way.ContainsKey(method) || IsTrusted(method)) return;
        _way.Add(method, (from, at, own));
        _open.Enqueue(method);
    }

    private void Follow(AppMethod method)
    {
        AppAssembly? own = _way[method].Own;
        List<(AppMethod Function, int At)> functions = [];
        foreach (Instruction instruction in method.Members)
        {
            TokenTarget target = TargetOf(method, instruction);
            if (IsTask(target) && functions.Count > 0) functions.RemoveAt(functions.Count - 1); // its body runs outside of the handlers
            if (target.Type is { IsPartOfMethod: true } part && GeneratedNames.RoleOfType(part.SimpleName)?.EndsWith("machine",
                StringComparison.Ordinal) == true)
                foreach (AppMethod step in part.Methods.Where(static each => each.Name == "MoveNext"))
                    Take(step, method, instruction.At, own);
            foreach (AppMethod called in target.Methods)
            {
                if (instruction.Code == OpCodes.Ldftn) functions.Add((called, instruction.At));
                else Take(called, method, instruction.At, own);
            }
            if (instruction.Code == OpCodes.Callvirt || instruction.Code == OpCodes.Ldvirtftn)
                foreach (AppMethod filled in FillsOf(target, method, own)) Take(filled, method, instruction.At, own);
            if (method.Type.Assembly != own && VerdictOn(target) is { } verdict) _met.Add((method, instruction.At, target, verdict));
        }
        foreach ((AppMethod function, int at) in functions) Take(function, method, at, own);
    }

    /// <summary>
    /// Returns what a virtual call may run: in the handler's own assembly all that it declares, so that a dispatcher leads to its handler.
    /// What a package decides at run time is not guessed, unless there is nothing to decide.
    /// </summary>
    private IEnumerable<AppMethod> FillsOf(TokenTarget target, AppMethod caller, AppAssembly? own)
    {
        if (caller.Type.Assembly == own)
            return target.Methods.Count > 0 ? target.Methods.Where(static each => each.IsVirtual).SelectMany(each => _heirs.Of(each, own))
                : _heirs.OfOutside(target, own);
        return target.Methods is [{ IsAbstract: true } called] && _heirs.Of(called, null) is [var only] ? [only] : [];
    }

    /// <summary>Returns what is said of a member of the framework, if it is not for handlers.</summary>
    private Verdict? VerdictOn(TokenTarget target)
    {
        if (target is not { Type: null, Name.Length: > 0 }) return null;
        if (!_verdicts.TryGetValue(target, out Verdict? verdict)) _verdicts.Add(target, verdict = Judged(target));
        return verdict;
    }

    private static Verdict? Judged(TokenTarget target)
    {
        string? first = target.Parameters.Count > 0 ? target.Parameters[0][(target.Parameters[0].LastIndexOf('.') + 1)..] : null;
        return Judged(target.Outside, target.Name, target.IsField ? null : target.ParameterCount, first);
    }

    /// <summary>Adds a fault, if the same call has not led to one of its kind before.</summary>
    private void Add(AppMethod method, int at, TokenTarget target, Verdict verdict)
    {
        List<(AppMethod Method, int At)> way = WayTo(method, at);
        (AppMethod call, int from) = way.Last(each => each.Method.Type.Assembly == _way[method].Own);
        if (_found.Exists(each => each.Rule == verdict.Rule && each.Call == call && each.At == from)) return;
        string type = Plain(target.Outside), name = IsAccessor(target.Name) ? target.Name[4..] : target.Name;
        IEnumerable<string> names = way.Select(static each => ShownName.Of(each.Method));
        _found.Add(new ForeignFault(verdict.Rule, $"{type[(type.LastIndexOf('.') + 1)..]}.{name}", verdict.Mend, call, from,
            [.. names.Where((each, i) => i == 0 || each != names.ElementAt(i - 1))]));
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

    private bool IsTrusted(AppMethod method) => IsTrusted(method.Type.Assembly.Name, trusted) || AppHandlers.IsProxy(method.Type)
        || StatedCode.IsDeterministic(method);

    /// <summary>Tells whether an assembly is not followed: the framework's own are judged by the list.</summary>
    internal static bool IsTrusted(string assembly, IReadOnlyCollection<string> trusted) => trusted.Contains(assembly)
        || assembly.StartsWith("System.", StringComparison.Ordinal) || assembly.StartsWith("Microsoft.", StringComparison.Ordinal);

    /// <summary>Returns what the list says of a member; null where nothing is said that holds for code without source.</summary>
    internal static Verdict? Judged(string type, string member, int? parameters, string? first)
    {
        string plain = Plain(type), name = IsAccessor(member) ? member[4..] : member;
        return FrameworkNames.Of(plain, name, parameters, first) is { } verdict && s_rules.Contains(verdict.Rule)
            && !s_harmless.Any(each => $"{plain}.{name}".StartsWith(each, StringComparison.Ordinal)) ? verdict : null;
    }

    private static bool IsAccessor(string member) =>
        member.StartsWith("get_", StringComparison.Ordinal) || member.StartsWith("set_", StringComparison.Ordinal);

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

/// <summary>Finds the methods of the app that stand behind a virtual one.</summary>
internal sealed class Heirs(AppCode code)
{
    /// <summary>What everybody implements: to follow its calls to all who do would tell of what no handler calls.</summary>
    private static readonly string[] s_common = ["System.", "Microsoft.", "Ambrosia."];

    private readonly ILookup<AppType, AppType> _children = code.Types
        .SelectMany(static type => type.Parents.Select(parent => (Parent: parent, Type: type))).ToLookup(static each => each.Parent,
            static each => each.Type);

    private readonly ILookup<string, AppType> _outside = code.Types
        .SelectMany(static type => type.ParentsOutside.Select(parent => (Parent: parent, Type: type)))
        .Where(static each => !s_common.Any(space => each.Parent.StartsWith(space, StringComparison.Ordinal)))
        .ToLookup(static each => each.Parent, static each => each.Type);

    private readonly Dictionary<(AppMethod Called, AppAssembly? Of), AppMethod[]> _known = [];

    /// <summary>Returns the methods with a body that a call of the method may run.</summary>
    /// <param name="of">The assembly of the objects that are called; null: any.</param>
    internal AppMethod[] Of(AppMethod called, AppAssembly? of)
    {
        if (_known.TryGetValue((called, of), out AppMethod[]? known)) return known;
        return _known[(called, of)] = [.. BehindAll([called.Type], called.Name, called.ParameterCount, of)];
    }

    /// <summary>Returns those that a call of a method outside of the app may run. The framework's are too many to mean anything.</summary>
    internal IEnumerable<AppMethod> OfOutside(TokenTarget target, AppAssembly of) =>
        BehindAll(_outside[target.Outside], target.Name, target.ParameterCount, of);

    private HashSet<AppMethod> BehindAll(IEnumerable<AppType> types, string name, int parameters, AppAssembly? of)
    {
        var seen = new HashSet<AppType>();
        var open = new Stack<AppType>(types);
        var found = new HashSet<AppMethod>();
        while (open.TryPop(out AppType? type))
        {
            if (!seen.Add(type)) continue;
            foreach (AppType child in _children[type]) open.Push(child);
            if (of is not null && type.Assembly != of) continue;
            for (AppType? at = type; at is not null; at = at.Base)
                found.UnionWith(at.Methods.Where(each => each.IsVirtual && !each.IsAbstract && each.Fills(name, parameters)));
        }
        return found;
    }
}

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
