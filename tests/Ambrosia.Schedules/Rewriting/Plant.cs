using System.Reflection;
using Mono.Cecil;
using Mono.Cecil.Cil;

namespace Ambrosia.Schedules.Rewriting;

/// <summary>
/// A fault for the scheduler to find: a change to one method of an assembly's copy. The sources are never changed.
/// </summary>
/// <param name="Name">What tests and the command line call it.</param>
/// <param name="Scenario">The scenario that finds it.</param>
/// <param name="Edits">The changes.</param>
public sealed record Plant(string Name, string Scenario, params PlantEdit[] Edits)
{
    /// <summary>Plants what belongs into this assembly.</summary>
    internal void Into(ModuleDefinition module)
    {
        foreach (PlantEdit edit in Edits)
            if (edit.Assembly == module.Assembly.Name.Name) edit.Into(module);
    }

    internal bool Touches(string assembly) => Edits.Any(edit => edit.Assembly == assembly);
}

/// <summary>
/// Replaces calls in one method by a call of a static method that takes the same stack, or whose further arguments the method's own
/// arguments are.
/// </summary>
/// <param name="In">The type and the method that is changed, as <c>Namespace.Type::Method</c>.</param>
/// <param name="Called">The name of the method whose calls are replaced.</param>
/// <param name="By">What is called instead.</param>
/// <param name="Arguments">Indices of the changed method's arguments that are pushed as well.</param>
/// <param name="IsBefore">The call stays, and the other comes before it; it takes only <paramref name="Arguments"/>.</param>
public sealed record PlantEdit(string Assembly, string In, string Called, MethodInfo By, int[] Arguments, bool IsBefore = false)
{
    internal void Into(ModuleDefinition module)
    {
        string[] parts = In.Split("::");
        MethodDefinition method = module.GetType(parts[0])?.Methods.SingleOrDefault(each => each.Name == parts[1])
            ?? throw new InvalidOperationException($"nothing to plant in: {In}");
        ILProcessor il = method.Body.GetILProcessor();
        List<Instruction> calls = [
            .. method.Body.Instructions.Where(each => each.Operand is MethodReference called && called.Name == Called)];
        if (calls.Count == 0) throw new InvalidOperationException($"{In} does not call {Called}: the plant is of another build");
        foreach (Instruction call in calls) Replace(module, method, il, call);
    }

    private void Replace(ModuleDefinition module, MethodDefinition method, ILProcessor il, Instruction call)
    {
        Instruction by = il.Create(OpCodes.Call, module.ImportReference(By));
        Instruction original = il.Create(OpCodes.Nop);
        (original.OpCode, original.Operand) = (call.OpCode, call.Operand);
        Instruction last = call;
        (call.OpCode, call.Operand) = (OpCodes.Nop, null);
        foreach (int argument in Arguments) last = Insert(il, last, il.Create(OpCodes.Ldarg, ParameterOf(method, argument)));
        last = Insert(il, last, by);
        if (IsBefore) Insert(il, last, original);
    }

    private static ParameterDefinition ParameterOf(MethodDefinition method, int argument) =>
        method.HasThis ? argument == 0 ? method.Body.ThisParameter : method.Parameters[argument - 1] : method.Parameters[argument];

    private static Instruction Insert(ILProcessor il, Instruction after, Instruction what)
    {
        il.InsertAfter(after, what);
        return what;
    }
}
