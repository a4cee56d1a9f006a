using System.Linq;

namespace Ambrosia.Generators;

/// <summary>The proxy class of a contract.</summary>
internal static class ProxySource
{
    internal static string Of(ContractModel contract)
    {
        var code = new CodeWriter();
        var codec = new Codec();
        code.Namespace(contract.Namespace);
        code.Line(
            $"/// <summary>Sends to immortals that implement <see cref=\"{contract.TypeName}\"/>: …Async is awaited, …Fork is one-way.</summary>");
        code.Line(Names.Generated);
        using (code.Open(
            $"{contract.Access} sealed partial class {contract.ProxyName} : global::Ambrosia.ImmortalProxy, global::Ambrosia.IImmortalProxy<{contract.ProxyName}>"))
        {
            code.Line($"private {contract.ProxyName}(global::Ambrosia.ProxyTarget target) : base(target) {{ }}");
            code.Line();
            code.Line(
                $"static {contract.ProxyName} global::Ambrosia.IImmortalProxy<{contract.ProxyName}>.Create(global::Ambrosia.ProxyTarget target) => new(target);");
            code.Line();
            code.Line(
                $"public static implicit operator {contract.ProxyName}(global::Ambrosia.ProxyOf<{contract.TypeName}> proxy) => new(proxy.Target);");
            code.Line();
            code.Line(
                $"public static implicit operator {contract.ProxyName}(global::Ambrosia.ProxyOf<{contract.ProxyName}> proxy) => new(proxy.Target);");
            foreach (MethodModel method in contract.Methods)
            {
                if (method.IsQuery) continue;
                if (method.IsImpulse) WriteImpulse(code, method);
                else WriteMethod(code, method);
                WriteEncode(code, codec, method, Names.Outgoing);
            }
            WriteComplete(code, codec, contract);
            codec.WriteMethods(code);
        }
        return code.ToString();
    }

    private static void WriteMethod(CodeWriter code, MethodModel method)
    {
        string call = method.Result is null ? Names.Call : $"{Names.Call}<{method.Result.Name}>";
        string send = method.Result is null ? "SendCall" : $"SendCall<{method.Result.Name}>";
        code.Line();
        using (code.Open($"public void {method.PlainName}Fork({Parameters(method)})"))
        {
            if (method.IsRaw)
                code.Line(
                    $"SendForkOfBytes(0x{method.Id:X}u, {method.Parameters[0].Name}{(method.Parameters[0].Type.Shape == Shape.ByteMemory ? ".Span" : "")});");
            else WriteBody(code, method, $"BeginFork(0x{method.Id:X}u)", "SendFork(__message);");
        }
        code.Line();
        using (code.Open($"public {call} {method.PlainName}Async({Parameters(method)})"))
            WriteBody(code, method, $"BeginCall(0x{method.Id:X}u{Hint(method)})", $"return {send}(__message);");
    }

    /// <summary>From a handler an ordinary call or fork; from elsewhere an impulse, with or without a key.</summary>
    private static void WriteImpulse(CodeWriter code, MethodModel method)
    {
        string keyed = method.Parameters.Count == 0 ? $"{Names.Key} __key" : $"{Names.Key} __key, {Parameters(method)}";
        foreach ((string parameters, string key) in new[] { (Parameters(method), "default"), (keyed, "__key") })
        {
            code.Line();
            using (code.Open($"public void {method.PlainName}Fork({parameters})"))
                WriteBody(code, method, $"BeginImpulseFork(0x{method.Id:X}u, {key}{Hint(method)})", "SendFork(__message);");
            code.Line();
            using (code.Open($"public {Names.Call} {method.PlainName}Async({parameters})"))
                WriteBody(code, method, $"BeginImpulseCall(0x{method.Id:X}u, {key}{Hint(method)})", "return SendCall(__message);");
        }
    }

    private static void WriteBody(CodeWriter code, MethodModel method, string begin, string send)
    {
        code.Line($"{Names.Outgoing} __message = {begin};");
        CallEncode(code, method);
        code.Line(send);
    }

    internal static void CallEncode(CodeWriter code, MethodModel method)
    {
        if (method.Parameters.Count > 0)
            code.Line($"__Encode{method.PlainName}(__message, {string.Join(", ", method.Parameters.Select(each => each.Name))});");
    }

    /// <param name="message">Type of the message that is encoded.</param>
    internal static void WriteEncode(CodeWriter code, Codec codec, MethodModel method, string message)
    {
        if (method.Parameters.Count == 0) return;
        code.Line();
        string parameters = string.Join(", ", method.Parameters.Select(each => $"{each.Type.Name} {each.Name}"));
        using var body = code.Open($"private static void __Encode{method.PlainName}({message} __message, {parameters})");
        if (method.IsRaw)
        {
            ParameterModel bytes = method.Parameters[0];
            Codec.WriteRaw(code, "__message", bytes.Type.Shape == Shape.ByteMemory ? $"{bytes.Name}.Span" : bytes.Name);
            return;
        }
        codec.WriteAll(code, "__message", "__writer", method.Parameters.Select(each => (each.Type, each.Name)));
    }

    private static void WriteComplete(CodeWriter code, Codec codec, ContractModel contract)
    {
        if (contract.Methods.All(method => method.Result is null || method.IsQuery)) return;
        code.Line();
        using var body = code.Open("protected override void Complete(global::Ambrosia.ArrivedResult result)");
        using var cases = code.Open("switch (result.Method)");
        foreach (MethodModel method in contract.Methods)
        {
            if (method.IsQuery || method.Result is not { } type) continue;
            using (code.Open($"case 0x{method.Id:X}u:"))
            {
                if (type.IsRawWhenAlone)
                {
                    code.Line($"result.Complete<{type.Name}>(result.Value.ToArray());");
                }
                else
                {
                    code.Line($"{Names.Reader} reader = new(result.Value);");
                    code.Line($"result.Complete<{type.Name}>({codec.Read(type)});");
                }
                code.Line("return;");
            }
        }
        using (code.Open("default:"))
        {
            code.Line("base.Complete(result);");
            code.Line("return;");
        }
    }

    internal static string Parameters(MethodModel method) =>
        string.Join(", ",
            method.Parameters.Select(each => $"{each.Type.Name} {each.Name}{(each.Default is null ? "" : " = " + each.Default)}"));

    /// <summary>Raw bytes are as long as they are; what is short needs no hint.</summary>
    private static string Hint(MethodModel method) => method.IsRaw ? $", {method.Parameters[0].Name}.Length" : "";
}
