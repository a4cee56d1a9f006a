using System.Linq;
using Ambrosia.Generators.Contracts;
using Ambrosia.Generators.Output;
using Ambrosia.Generators.Serialization;

namespace Ambrosia.Generators.Proxies;

/// <summary>
/// Generates the proxy class of a contract. The ending of a method's name says what its caller waits for: …Async for the answer, …Logged
/// until an impulse is logged, …Fork for nothing.
/// </summary>
internal static class ProxySource
{
    internal static string Of(ContractModel contract)
    {
        var code = new CodeWriter();
        var codec = new ValueCodecSource();
        code.Namespace(contract.Namespace);
        code.Line(
            $"/// <summary>Sends to immortals that implement <see cref=\"{contract.TypeName}\"/>: …Async waits for the answer, …Fork for nothing, …Logged until an impulse is logged.</summary>");
        code.Line(BindingNames.Generated);
        using (code.Open(
            $"{contract.Access} sealed partial class {contract.ProxyName} : global::Ambrosia.ImmortalProxy, global::Ambrosia.IImmortalProxy<{contract.ProxyName}>"))
        {
            code.Line($"private {contract.ProxyName}(global::Ambrosia.ProxyTarget target) : base(target) {{ }}");
            code.Line();
            code.Line(
                $"static {contract.ProxyName} global::Ambrosia.IImmortalProxy<{contract.ProxyName}>.Create(global::Ambrosia.ProxyTarget target) => new(target);");
            code.Line();
            code.Line(
                $"public static implicit operator {contract.ProxyName}(global::Ambrosia.ProxyOf<{contract.TypeName}> proxy) => proxy.As<{contract.ProxyName}>();");
            code.Line();
            code.Line(
                $"public static implicit operator {contract.ProxyName}(global::Ambrosia.ProxyOf<{contract.ProxyName}> proxy) => proxy.As<{contract.ProxyName}>();");
            foreach (MethodModel method in contract.Methods)
            {
                if (method.IsQuery) continue;
                if (method.IsImpulse) WriteImpulse(code, method);
                else WriteMethod(code, method);
                WriteEncode(code, codec, method, BindingNames.Outgoing);
            }
            WriteComplete(code, codec, contract);
            WriteFailures(code, "protected override", "Failure", contract);
            WriteDescribe(code, codec, contract);
            codec.WriteMethods(code);
            if (HasImpulses(contract)) WriteKeyed(code, contract);
        }
        ProxyCallsSource.Write(code, contract);
        return code.ToString();
    }

    private static void WriteMethod(CodeWriter code, MethodModel method)
    {
        code.Line();
        using (code.Open($"public void {method.PlainName}Fork({Parameters(method)})"))
        {
            if (method.IsRaw)
                code.Line(
                    $"base.SendForkOfBytes(0x{method.Id:X}u, {method.Parameters[0].Name}{(method.Parameters[0].Type.Shape == Shape.ByteMemory ? ".Span" : "")});");
            else WriteBody(code, method, $"base.BeginFork(0x{method.Id:X}u)", "base.SendFork(__message);");
        }
        WriteAsync(code, method);
    }

    private static void WriteAsync(CodeWriter code, MethodModel method)
    {
        string result = method.Result is null ? "" : $"<{method.Result.Name}>";
        code.Line();
        using (code.Open($"public {BindingNames.Call}{result} {method.PlainName}Async({Parameters(method)})"))
            WriteBody(code, method, $"base.BeginCall(0x{method.Id:X}u{Hint(method)})", $"return base.SendCall{result}(__message);");
    }

    /// <summary>
    /// An impulse handler is called from handlers like any method. Elsewhere …Fork and …Logged send an impulse; nobody there can wait for
    /// an answer, so that …Async is refused at run time. The private methods take a key, which WithKey gives.
    /// </summary>
    private static void WriteImpulse(CodeWriter code, MethodModel method)
    {
        string keyed = Joined($"{BindingNames.Key} __key", Parameters(method)), passed = Joined("default", Arguments(method));
        code.Line();
        code.Line($"public void {method.PlainName}Fork({Parameters(method)}) => __{method.PlainName}Fork({passed});");
        code.Line();
        code.Line($"public {BindingNames.Call} {method.PlainName}Logged({Parameters(method)}) => __{method.PlainName}Logged({passed});");
        code.Line();
        using (code.Open($"private void __{method.PlainName}Fork({keyed})"))
            WriteBody(code, method, $"base.BeginImpulseFork(0x{method.Id:X}u, __key{Hint(method)})", "base.SendFork(__message);");
        code.Line();
        using (code.Open($"private {BindingNames.Call} __{method.PlainName}Logged({keyed})"))
            WriteBody(code, method, $"base.BeginLogged(0x{method.Id:X}u, __key)", "return base.SendLogged(__message);");
        WriteAsync(code, method);
    }

    /// <summary>Writes WithKey, and the impulses that can be sent with a key.</summary>
    private static void WriteKeyed(CodeWriter code, ContractModel contract)
    {
        code.Line();
        code.Line("/// <summary>Gives an impulse an idempotency key of 1 to 128 bytes as UTF-8: sent again with it, it takes effect once.</summary>");
        code.Line("public Keyed WithKey(string key) => new(this, base.KeyOf(key));");
        code.Line();
        code.Line("/// <summary>Gives an impulse an idempotency key of bytes.</summary>");
        code.Line("public Keyed WithKey(global::System.ReadOnlySpan<byte> key) => new(this, base.KeyOf(key));");
        code.Line();
        code.Line("/// <summary>Sends an impulse with a key.</summary>");
        using var type = code.Open("public readonly struct Keyed");
        code.Line($"private readonly {contract.ProxyName} __proxy;");
        code.Line("private readonly byte[] __key;");
        code.Line();
        code.Line($"internal Keyed({contract.ProxyName} __proxy, byte[] __key) {{ this.__proxy = __proxy; this.__key = __key; }}");
        foreach (MethodModel method in contract.Methods.Where(static each => each.IsImpulse))
        {
            string passed = Joined($"new {BindingNames.Key}(__key)", Arguments(method));
            code.Line();
            code.Line($"public void {method.PlainName}Fork({Parameters(method)}) => __proxy.__{method.PlainName}Fork({passed});");
            code.Line();
            code.Line(
                $"public {BindingNames.Call} {method.PlainName}Logged({Parameters(method)}) => __proxy.__{method.PlainName}Logged({passed});");
        }
    }

    internal static bool HasImpulses(ContractModel contract) => contract.Methods.Any(static each => each.IsImpulse);

    internal static string Joined(string first, string rest) => rest.Length == 0 ? first : $"{first}, {rest}";

    /// <summary>Returns a method's parameters as arguments of another call.</summary>
    internal static string Arguments(MethodModel method) => string.Join(", ", method.Parameters.Select(static each => each.Name));

    private static void WriteBody(CodeWriter code, MethodModel method, string begin, string send)
    {
        code.Line($"{BindingNames.Outgoing} __message = {begin};");
        CallEncode(code, method);
        code.Line(send);
    }

    /// <summary>Writes the statement that encodes the arguments into <c>__message</c>, if there are any.</summary>
    internal static void CallEncode(CodeWriter code, MethodModel method)
    {
        if (method.Parameters.Count > 0)
            code.Line($"__Encode{method.PlainName}(__message, {Arguments(method)});");
    }

    /// <summary>Writes the private method that encodes the arguments of a contract's method into a message.</summary>
    /// <param name="message">The type of the message.</param>
    internal static void WriteEncode(CodeWriter code, ValueCodecSource codec, MethodModel method, string message)
    {
        if (method.Parameters.Count == 0) return;
        code.Line();
        string parameters = string.Join(", ", method.Parameters.Select(each => $"{each.Type.Name} {each.Name}"));
        using var body = code.Open($"private static void __Encode{method.PlainName}({message} __message, {parameters})");
        if (method.IsRaw)
        {
            ParameterModel bytes = method.Parameters[0];
            ValueCodecSource.WriteRaw(code, "__message", bytes.Type.Shape == Shape.ByteMemory ? $"{bytes.Name}.Span" : bytes.Name);
            return;
        }
        codec.WriteAll(code, "__message", "__writer", method.Parameters.Select(each => (each.Type, each.Name)));
    }

    private static void WriteComplete(CodeWriter code, ValueCodecSource codec, ContractModel contract)
    {
        if (contract.Methods.All(method => method.Result is null || method.IsQuery)) return;
        code.Line();
        code.Line(BindingNames.NotStepped);
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
                    code.Line($"{BindingNames.Reader} reader = new(result.Value);");
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

    /// <summary>Writes what makes the exceptions of the contract of the failures that arrive.</summary>
    internal static void WriteFailures(CodeWriter code, string modifiers, string name, ContractModel contract)
    {
        if (contract.Failures.Count == 0) return;
        code.Line();
        using (code.Open(
            $"{modifiers} global::System.Exception? {name}(string typeName, string message, global::System.Exception? inner)"))
        using (code.Open("switch (typeName)"))
        {
            foreach (FailureModel failure in contract.Failures) code.Line($"case \"{failure.SentName}\": return {failure.Made};");
            code.Line("default: return null;");
        }
    }

    /// <summary>Writes what decodes the arguments of any method, for those who look at a message that was sent.</summary>
    private static void WriteDescribe(CodeWriter code, ValueCodecSource codec, ContractModel contract)
    {
        code.Line();
        using var body = code.Open(
            $"protected override {BindingNames.Sent} Describe(uint method, global::System.ReadOnlySpan<byte> arguments)");
        code.Line($"{BindingNames.Reader} reader = new(arguments);");
        using var cases = code.Open("switch (method)");
        foreach (MethodModel method in contract.Methods)
        {
            if (method.IsQuery) continue;
            string arguments = method.IsRaw ? "arguments.ToArray()"
                : string.Join(", ", method.Parameters.Select(each =>
                    each.Type.Shape == Shape.ByteSpan ? "reader.ReadBytes().ToArray()" : codec.Read(each.Type)));
            code.Line($"case 0x{method.Id:X}u: return new(\"{method.PlainName}\", [{arguments}]);");
        }
        code.Line("default: return base.Describe(method, arguments);");
    }

    /// <summary>Returns a method's parameters as C#, with their default values.</summary>
    internal static string Parameters(MethodModel method) =>
        string.Join(", ",
            method.Parameters.Select(each => $"{each.Type.Name} {each.Name}{(each.Default is null ? "" : " = " + each.Default)}"));

    /// <summary>
    /// Returns the argument that tells how many bytes will follow. Only raw bytes need it, since other arguments are short.
    /// </summary>
    private static string Hint(MethodModel method) => method.IsRaw ? $", {method.Parameters[0].Name}.Length" : "";
}
