using System.Collections.Generic;
using System.Linq;
using Ambrosia.Generators.Contracts;
using Ambrosia.Generators.Output;
using Ambrosia.Generators.Serialization;

namespace Ambrosia.Generators.Immortals;

/// <summary>
/// Generates the other part of an immortal's class, which calls the handlers: a switch on the method id, without reflection.
/// </summary>
internal static class DispatchSource
{
    internal static string Of(ImmortalModel immortal)
    {
        var code = new CodeWriter();
        code.Namespace(immortal.Namespace);
        code.Within(immortal.Containing, () => WriteClass(code, immortal));
        return code.ToString();
    }

    private static void WriteClass(CodeWriter code, ImmortalModel immortal)
    {
        var codec = new ValueCodecSource();
        using var type = code.Open($"partial class {immortal.Name} : global::Ambrosia.IImmortal<{immortal.Name}>");
        code.Line(
            $"static ulong global::Ambrosia.IImmortal<{immortal.Name}>.ContractHash => 0x{Manifest.HashOf(immortal.Contract):X16}ul;");
        code.Line();
        code.Line($"static {immortal.Name} global::Ambrosia.IImmortal<{immortal.Name}>.Create() => new();");
        code.Line();
        WriteSelf(code, immortal);
        WriteSwitch(code, "Dispatch", immortal.Contract.Methods.Where(static method => !method.IsQuery));
        if (immortal.Contract.Methods.Any(static method => method.IsQuery))
        {
            code.Line();
            WriteSwitch(code, "DispatchQuery", immortal.Contract.Methods.Where(static method => method.IsQuery));
        }
        foreach (MethodModel method in immortal.Contract.Methods) WriteHandle(code, codec, method);
        WriteResults(code, codec, immortal.Contract);
        ArgumentsSource.Write(code, codec, immortal.Contract);
        codec.WriteMethods(code);
    }

    private static void WriteSelf(CodeWriter code, ImmortalModel immortal)
    {
        if (immortal.SelfAccess.Length == 0) return;
        string proxy = $"{immortal.Contract.TypeName}Proxy";
        code.Line("/// <summary>A proxy of this immortal itself: what it sends comes back through the log.</summary>");
        code.Line($"{immortal.SelfAccess} new {proxy} thisProxy => base.thisProxy.As<{proxy}>();");
        code.Line();
    }

    /// <summary>Writes a switch over methods. Queries have one of their own, since a message in the log can never be a query.</summary>
    private static void WriteSwitch(CodeWriter code, string name, IEnumerable<MethodModel> methods)
    {
        code.Line(BindingNames.NotStepped);
        using var body = code.Open($"protected override void {name}(ref {BindingNames.Incoming} message)");
        using var cases = code.Open("switch (message.Method)");
        foreach (MethodModel method in methods) code.Line($"case 0x{method.Id:X}u: __Handle{method.PlainName}(ref message); return;");
        code.Line("default: message.Unknown(); return;");
    }

    /// <summary>Writes the call of one handler. It is a method of its own, so that its locals are cleared only when it runs.</summary>
    private static void WriteHandle(CodeWriter code, ValueCodecSource codec, MethodModel method)
    {
        code.Line();
        code.Line(BindingNames.NotStepped);
        using var body = code.Open($"private void __Handle{method.PlainName}(ref {BindingNames.Incoming} message)");
        string call = $"(({method.Interface})this).{method.Name}({WriteArguments(code, codec, method)})";
        switch (method.ReturnKind)
        {
            case ReturnKind.Nothing:
                code.Line($"{call};");
                code.Line("message.Done();");
                return;
            case ReturnKind.Call:
                code.Line($"message.Done({call});");
                return;
            case ReturnKind.CallOfValue:
                code.Line($"if (!message.IsDone({call}, out {method.Result!.Name} result)) return;");
                break;
            case ReturnKind.Value:
                code.Line($"{method.Result!.Name} result = {call};");
                break;
        }
        code.Line("if (!message.WantsResult) return;");
        code.Line($"{BindingNames.Outgoing} answer = message.BeginResult();");
        WriteValue(code, codec, method.Result!, "answer", "result");
        code.Line("message.SendResult(answer);");
    }

    private static string WriteArguments(CodeWriter code, ValueCodecSource codec, MethodModel method)
    {
        if (method.Parameters.Count == 0) return "";
        if (method.IsRaw) return RawArgument(method);
        code.Line("message.ReadArguments();");
        code.Line($"{BindingNames.Reader} reader = new(message.Arguments);");
        ArgumentsSource.WriteReads(code, codec, method);
        code.Line("message.ArgumentsRead();");
        return string.Join(", ", method.Parameters.Select((_, i) => $"argument{i}"));
    }

    /// <summary>
    /// Returns a view on the receive buffer as a span, which the language lets nobody keep. Memory may be kept, by tasks, suspended
    /// handlers and the state, while the buffer is filled anew, so it is a copy.
    /// </summary>
    private static string RawArgument(MethodModel method) =>
        method.Parameters[0].Type.Shape == Shape.ByteSpan ? "message.Arguments" : "message.Arguments.ToArray()";

    private static void WriteResults(CodeWriter code, ValueCodecSource codec, ContractModel contract)
    {
        if (contract.Methods.All(method => method.ReturnKind != ReturnKind.CallOfValue)) return;
        code.Line();
        code.Line(BindingNames.NotStepped);
        using var body = code.Open($"protected override void WriteResult(global::Ambrosia.FinishedCall call, {BindingNames.Outgoing} answer)");
        using var cases = code.Open("switch (call.Method)");
        foreach (MethodModel method in contract.Methods)
        {
            if (method.ReturnKind != ReturnKind.CallOfValue) continue;
            using (code.Open($"case 0x{method.Id:X}u:"))
            {
                WriteValue(code, codec, method.Result!, "answer", $"call.Value<{method.Result!.Name}>()");
                code.Line("return;");
            }
        }
    }

    private static void WriteValue(CodeWriter code, ValueCodecSource codec, TypeModel type, string message, string value)
    {
        if (type.IsRawWhenAlone)
        {
            code.Line($"global::System.ReadOnlySpan<byte> bytes = {value}.Span;");
            ValueCodecSource.WriteRaw(code, message, "bytes");
            return;
        }
        codec.WriteAll(code, message, "writer", [(type, value)]);
    }
}
