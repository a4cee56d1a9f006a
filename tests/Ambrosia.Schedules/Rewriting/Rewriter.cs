using System.Reflection;
using Mono.Cecil;
using Mono.Cecil.Cil;
using Mono.Cecil.Rocks;

namespace Ambrosia.Schedules.Rewriting;

/// <summary>
/// Rewrites a copy of an assembly so that it synchronises through the scheduler: the framework's types of threads and locks become the
/// shims of the same name, and a step comes before each access to a volatile field and each call into a concurrent collection, a token or
/// a task. The sources know nothing of it.
/// </summary>
public static class Rewriter
{
    private const string ShimsNamespace = "Ambrosia.Schedules.Shims";

    private static readonly Dictionary<string, Type> s_shims = typeof(Rewriter).Assembly.GetTypes()
        .Where(static type => type is { Namespace: ShimsNamespace, IsPublic: true }).ToDictionary(static type => FrameworkNameOf(type));

    private static readonly MethodInfo s_step = typeof(Scheduler).GetMethod(nameof(Scheduler.Step))!;

    private static string FrameworkNameOf(Type shim) =>
        shim.Name == "Socket" ? "System.Net.Sockets.Socket" : $"System.Threading.{shim.Name}";

    /// <summary>Returns the rewritten assembly.</summary>
    /// <param name="plants">Faults to plant in it.</param>
    public static byte[] Rewrite(string path, IEnumerable<Plant> plants)
    {
        using var resolver = new DefaultAssemblyResolver();
        resolver.AddSearchDirectory(Path.GetDirectoryName(path));
        resolver.AddSearchDirectory(Path.GetDirectoryName(typeof(object).Assembly.Location));
        var how = new ReaderParameters(ReadingMode.Immediate) { AssemblyResolver = resolver, InMemory = true };
        using ModuleDefinition module = ModuleDefinition.ReadModule(path, how);
        StandingEdits.Into(module);
        foreach (Plant plant in plants) plant.Into(module);
        Substitute(module);
        MethodReference step = module.ImportReference(s_step);
        foreach (TypeDefinition type in module.GetTypes())
            foreach (MethodDefinition method in type.Methods)
                if (method.HasBody) InsertSteps(method.Body, step);
        using var to = new MemoryStream();
        module.Write(to);
        return to.ToArray();
    }

    private static void Substitute(ModuleDefinition module)
    {
        var engine = new AssemblyNameReference("Ambrosia.Schedules", typeof(Rewriter).Assembly.GetName().Version);
        bool isAny = false;
        foreach (TypeReference type in module.GetTypeReferences())
        {
            if (type.IsNested || !s_shims.ContainsKey(type.FullName)) continue;
            isAny = true;
            type.Scope = engine;
            type.Namespace = ShimsNamespace;
        }
        if (isAny) module.AssemblyReferences.Add(engine);
    }

    private static void InsertSteps(Mono.Cecil.Cil.MethodBody body, MethodReference step)
    {
        List<(Instruction Before, StepKind Kind)> places = [
            .. body.Instructions.Where(static each => KindOf(each) is not null).Select(static each => (each, KindOf(each)!.Value))];
        if (places.Count == 0) return;
        body.SimplifyMacros();
        ILProcessor il = body.GetILProcessor();
        foreach ((Instruction before, StepKind kind) in places)
        {
            // Branches lead to the instruction itself, so it becomes the first of the step, and a copy of it follows.
            Instruction copy = il.Create(OpCodes.Nop);
            (copy.OpCode, copy.Operand) = (before.OpCode, before.Operand);
            (before.OpCode, before.Operand) = (OpCodes.Ldc_I4, (int)kind);
            Instruction call = il.Create(OpCodes.Call, step);
            il.InsertAfter(before, call);
            il.InsertAfter(call, copy);
            if (kind != StepKind.VolatileWrite) continue;
            Instruction behind = il.Create(OpCodes.Ldc_I4, (int)StepKind.Published);
            il.InsertAfter(copy.Next, behind);
            il.InsertAfter(behind, il.Create(OpCodes.Call, step));
        }
        body.OptimizeMacros();
    }

    private static StepKind? KindOf(Instruction each)
    {
        if (each.OpCode == OpCodes.Volatile) return IsRead(each.Next) ? StepKind.VolatileRead : StepKind.VolatileWrite;
        if (each.OpCode != OpCodes.Call && each.OpCode != OpCodes.Callvirt) return null;
        if (each.Previous?.OpCode == OpCodes.Constrained || each.Previous?.OpCode == OpCodes.Tail) return null;
        TypeReference owner = ((MethodReference)each.Operand).DeclaringType.GetElementType();
        return owner.Namespace switch
        {
            "System.Collections.Concurrent" => StepKind.Concurrent,
            "System.Threading" when owner.Name is "CancellationToken" or "CancellationTokenSource" => StepKind.Cancellation,
            "System.Threading.Tasks" when owner.Name.StartsWith("TaskCompletionSource", StringComparison.Ordinal) => StepKind.Task,
            _ => null,
        };
    }

    private static bool IsRead(Instruction access) =>
        access.OpCode == OpCodes.Ldfld || access.OpCode == OpCodes.Ldsfld || access.OpCode == OpCodes.Ldobj
        || access.OpCode.Name.StartsWith("ldind", StringComparison.Ordinal);

    /// <summary>Names the members of substituted types that an assembly uses and no shim has: who runs into one cannot go on.</summary>
    public static List<string> Missing(string path)
    {
        using ModuleDefinition module = ModuleDefinition.ReadModule(path);
        return [
            .. module.GetMemberReferences().OfType<MethodReference>()
                .Where(static member => s_shims.TryGetValue(member.DeclaringType.FullName, out Type? shim) && !Has(shim, member))
                .Select(static member => member.FullName).Distinct().Order(StringComparer.Ordinal)];
    }

    private static bool Has(Type shim, MethodReference member) =>
        shim.GetMembers().OfType<MethodBase>().Any(each => each.Name == member.Name && each.GetParameters()
            .Select(static p => p.ParameterType.Name).SequenceEqual(member.Parameters.Select(static p => NameOf(p.ParameterType))));

    private static string NameOf(TypeReference type) => type is ByReferenceType { ElementType: GenericParameter } ? "T&"
        : type is RequiredModifierType required ? NameOf(required.ElementType)
        : type is GenericParameter ? "T" : type is GenericInstanceType generic ? generic.ElementType.Name : type.Name;
}
