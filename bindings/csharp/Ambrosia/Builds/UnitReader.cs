using System.Reflection;
using System.Reflection.Emit;
using System.Reflection.Metadata;
using System.Text;
using Ambrosia.MethodBodies;

namespace Ambrosia.Builds;

/// <summary>Reads the units of the app's code, each once.</summary>
internal sealed class UnitReader(AppCode code)
{
    private readonly Dictionary<AppMethod, CodeUnit> _units = [];
    private readonly Dictionary<(int Assembly, EntityHandle Token), TokenTarget> _mentions = [];

    internal AppCode Code => code;

    internal CodeUnit Of(AppMethod method)
    {
        if (!_units.TryGetValue(method, out CodeUnit? unit)) _units.Add(method, unit = Read(method));
        return unit;
    }

    private CodeUnit Read(AppMethod method)
    {
        var unit = new CodeUnit(method) { RunsAnything = method.IsFoundByRuntime };
        var text = new StringBuilder();
        List<AppMethod> methods = [method];
        for (int i = 0; i < methods.Count; i++)
        {
            text.Append(Convert.ToHexStringLower(methods[i].Text.Hash)).Append('\n');
            IReadOnlyList<Instruction> members = methods[i].Text.Members;
            for (int at = 0; at < members.Count; at++)
                Meet(unit, methods, text, members[at].Code, MentionOf(methods[i], members[at]),
                    () => DelegateOf(methods[i], members, at + 1));
        }
        unit.Hash = Convert.ToHexStringLower(Digest.Of(text));
        if (!method.IsPartOfAnother)
            foreach (AppMethod each in methods.Skip(1)) each.Owner ??= method;
        return unit;
    }

    private TokenTarget MentionOf(AppMethod method, Instruction instruction)
    {
        var key = (method.Type.AssemblyIndex, instruction.Member);
        if (!_mentions.TryGetValue(key, out TokenTarget? mention))
            _mentions.Add(key, mention = TokenTarget.Of(code, method.Type.Assembly, instruction.Member));
        return mention;
    }

    /// <summary>
    /// Returns the type of the delegate that is made of a function's address by the next instruction; empty: of another kind.
    /// </summary>
    private string DelegateOf(AppMethod method, IReadOnlyList<Instruction> members, int at) =>
        at < members.Count && members[at].Code == OpCodes.Newobj && MentionOf(method, members[at]) is { ParameterCount: 2 } made
            ? made.Type?.FullName ?? made.Outside : "";

    private static void Meet(
        CodeUnit unit, List<AppMethod> methods, StringBuilder text, OpCode op, TokenTarget mention, Func<string> delegateOf)
    {
        foreach (NamedType each in mention.Types)
            if (each.Type is not null) MeetType(unit, methods, text, each.Type);
        if (mention.Type is not null) MeetType(unit, methods, text, mention.Type);
        if (op == OpCodes.Calli) unit.RunsAnything = true;
        else if (mention.IsField) MeetField(unit, op, mention);
        else if (mention.Name.Length == 0) MeetUseOfType(unit, op, mention);
        else if (mention.Type is null) MeetOutside(unit, op, mention);
        else foreach (AppMethod called in mention.Methods) MeetMethod(unit, methods, op, called, delegateOf);
    }

    /// <summary>A type that the compiler made joins the unit with its fields; of a state machine the methods join, too.</summary>
    private static void MeetType(CodeUnit unit, List<AppMethod> methods, StringBuilder text, AppType type)
    {
        if (!type.IsGenerated) unit.Types.Add(type);
        if (GeneratedNames.RoleOfType(type.SimpleName) is not { } role || GeneratedNames.IsStatics(type.SimpleName)
            || unit.Made.Contains(type)) return;
        unit.Made.Add(type);
        text.Append(role);
        foreach (FieldDefinitionHandle each in type.Definition.GetFields())
        {
            FieldDefinition field = type.Assembly.Metadata.GetFieldDefinition(each);
            text.Append(' ').Append(GeneratedNames.Plain(type.Assembly.Metadata.GetString(field.Name))).Append(':')
                .Append(type.Assembly.Names.TypeOf(field));
        }
        text.Append('\n');
        if (role.EndsWith("machine", StringComparison.Ordinal)) methods.AddRange(type.Methods.Except(methods).ToList());
    }

    private static void MeetField(CodeUnit unit, OpCode op, TokenTarget mention)
    {
        bool isCacheOfDelegate = mention.Type is { IsGenerated: true } && (op == OpCodes.Ldsfld || op == OpCodes.Stsfld);
        if (!isCacheOfDelegate) Hold(unit, mention);
    }

    private static void MeetUseOfType(CodeUnit unit, OpCode op, TokenTarget mention)
    {
        if (op == OpCodes.Castclass || op == OpCodes.Isinst || op == OpCodes.Unbox || op == OpCodes.Unbox_Any) Hold(unit, mention);
        if (op == OpCodes.Ldtoken || op == OpCodes.Box) Serialize(unit, mention.Types);
    }

    private static void MeetOutside(CodeUnit unit, OpCode op, TokenTarget mention)
    {
        if (op == OpCodes.Callvirt || op == OpCodes.Ldvirtftn)
            unit.Slots.Add(new VirtualMember(null, mention.Outside, mention.Name, mention.ParameterCount));
        Serialize(unit, mention.Arguments);
        unit.RunsAnything |= OutsideRules.RunsAnything(mention);
        unit.Resumes |= OutsideRules.Resumes(mention);
        if (!OutsideRules.UsesAtOnce(mention)) unit.GivenAway.UnionWith(mention.Parameters);
    }

    private static void MeetMethod(CodeUnit unit, List<AppMethod> methods, OpCode op, AppMethod called, Func<string> delegateOf)
    {
        if (op == OpCodes.Ldftn || op == OpCodes.Ldvirtftn) unit.Functions.Add((called, delegateOf()));
        if (called.IsFunction)
        {
            if (!methods.Contains(called)) methods.Add(called);
            return;
        }
        if (called.Type.IsPartOfMethod || OutsideRules.IsRegistry(called.Type)) return;
        unit.Calls.Add(called);
        bool isStatic = (called.Attributes & MethodAttributes.Static) != 0;
        if (called.IsVirtual && (op != OpCodes.Call || called.IsAbstract || isStatic))
            unit.Slots.Add(new VirtualMember(called.Type, "", called.Name, called.ParameterCount));
    }

    private static void Hold(CodeUnit unit, TokenTarget mention)
    {
        foreach (NamedType each in mention.Types) unit.Held.Add(each.Name);
    }

    private static void Serialize(CodeUnit unit, IEnumerable<NamedType> types)
    {
        foreach (NamedType each in types)
            if (each.Type is { IsGenerated: false } type) unit.Serialized.Add(type);
    }
}

/// <summary>What is known of code outside, whose bodies are not read: by these names it does more than to call virtual members.</summary>
internal static class OutsideRules
{
    private static readonly string[] s_invoking =
    [
        "Invoke", "GetValue", "SetValue", "CreateDelegate", "DynamicInvoke", "InvokeMember", "GetType", "GetTypes", "Load", "LoadFrom",
        "Compile",
    ];

    /// <summary>
    /// The types whose methods execute a delegate before they return, or with what they return, whose users have the delegate in sight.
    /// </summary>
    private static readonly string[] s_atOnce =
    [
        "System.Linq.", "System.Array", "System.Collections.Generic.List`1", "System.Collections.Concurrent.ConcurrentDictionary`2",
        "System.MemoryExtensions", "System.String", "System.Threading.", "System.Delegate", "System.MulticastDelegate", "Ambrosia.",
    ];

    private static readonly string[] s_resuming =
    [
        "SetResult", "TrySetResult", "SetException", "TrySetException", "SetCanceled", "TrySetCanceled", "Cancel", "CancelAsync", "Release",
        "Set", "Complete", "TryComplete", "TryWrite", "WriteAsync",
    ];

    internal static bool RunsAnything(TokenTarget mention) =>
        mention.Outside.StartsWith("Microsoft.CSharp.RuntimeBinder.", StringComparison.Ordinal)
        || ((mention.Outside.StartsWith("System.Reflection.", StringComparison.Ordinal)
            || mention.Outside is "System.Type" or "System.Delegate"
            || mention.Outside.StartsWith("System.Linq.Expressions.", StringComparison.Ordinal)) && s_invoking.Contains(mention.Name))
        || (mention.Outside == "System.Activator" && mention.Arguments.Count == 0);

    /// <summary>Says whether it completes something that a suspended method awaits.</summary>
    internal static bool Resumes(TokenTarget mention) =>
        (mention.Outside.StartsWith("System.Threading.", StringComparison.Ordinal) || mention.Outside == "Ambrosia.CallCancellation")
        && s_resuming.Contains(mention.Name);

    internal static bool UsesAtOnce(TokenTarget mention) =>
        s_atOnce.Any(each => mention.Outside.StartsWith(each, StringComparison.Ordinal));

    /// <summary>Says whether a type only announces generated codecs: each codec is made of fields, which count by themselves.</summary>
    internal static bool IsRegistry(AppType type) => type.FullName == "Ambrosia.Generated.StateRegistry";
}
