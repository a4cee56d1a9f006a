using System.Linq;
using Ambrosia.Generators.Contracts;
using Ambrosia.Generators.Output;
using Ambrosia.Generators.Serialization;

namespace Ambrosia.Generators.Proxies;

/// <summary>
/// Generates the methods that a client outside has for a contract: extensions of its ClientProxy, in the contract's namespace. …Async waits
/// for the answer, …Logged until an impulse is logged.
/// </summary>
internal static class ClientSource
{
    private const string Message = "global::Ambrosia.Client.ClientMessage";
    private const string Task = "global::System.Threading.Tasks.Task";

    internal static string Of(ContractModel contract)
    {
        var code = new CodeWriter();
        var codec = new ValueCodecSource();
        string proxy = $"this global::Ambrosia.Client.ClientProxy<{contract.TypeName}> __proxy";
        code.Namespace(contract.Namespace);
        code.Line(
            $"/// <summary>Calls from outside to immortals that implement <see cref=\"{contract.TypeName}\"/>: …Async waits for the answer (of a query from any replica), …Logged until an impulse is logged.</summary>");
        code.Line(BindingNames.Generated);
        using (code.Open($"internal static partial class {contract.Name}ClientCalls"))
        {
            foreach (MethodModel method in contract.Methods)
            {
                string sender = contract.Failures.Count == 0 ? "__proxy" : "__proxy.With(__Failure)";
                string name = $"{contract.Name}.{method.PlainName}";
                if (method.IsQuery) WriteQuery(code, proxy, method, sender, name);
                else WriteRequest(code, proxy, method, sender, name);
                if (method.IsImpulse) WriteImpulse(code, proxy, method, name);
                ProxySource.WriteEncode(code, codec, method, Message);
                WriteDecode(code, codec, method);
            }
            ProxySource.WriteFailures(code, "private static", "__Failure", contract);
            codec.WriteMethods(code);
        }
        return code.ToString();
    }

    private static void WriteRequest(CodeWriter code, string proxy, MethodModel method, string sender, string name)
    {
        string task = method.Result is null ? Task : $"{Task}<{method.Result.Name}>";
        string read = method.Result is null ? "" : $"__Decode{method.PlainName}, ";
        code.Line();
        using (code.Open($"public static {task} {method.PlainName}Async({Parameters(proxy, method)})"))
            WriteBody(code, method, name, $"return {sender}.SendAsync(__message, {read}{Cancellation(method)});");
    }

    private static void WriteQuery(CodeWriter code, string proxy, MethodModel method, string sender, string name)
    {
        code.Line();
        using (code.Open(
            $"public static {Task}<global::Ambrosia.Client.QueryAnswer<{method.Result!.Name}>> {method.PlainName}Async({Parameters(proxy, method)})"))
            WriteBody(code, method, name, $"return {sender}.QueryAsync(__message, __Decode{method.PlainName}, {Cancellation(method)});");
    }

    private static void WriteImpulse(CodeWriter code, string proxy, MethodModel method, string name)
    {
        code.Line();
        using (code.Open($"public static {Task}<global::Ambrosia.Protocol.Lsn> {method.PlainName}Logged({Parameters(proxy, method)})"))
            WriteBody(code, method, name, $"return __proxy.SendLogged(__message, {Cancellation(method)});");
    }

    private static void WriteBody(CodeWriter code, MethodModel method, string name, string send)
    {
        code.Line($"{Message} __message = __proxy.{(method.IsQuery ? "BeginQuery" : "Begin")}(0x{method.Id:X}u, \"{name}\");");
        ProxySource.CallEncode(code, method);
        code.Line(send);
    }

    private static void WriteDecode(CodeWriter code, ValueCodecSource codec, MethodModel method)
    {
        if (method.Result is not { } type) return;
        code.Line();
        using var body = code.Open($"private static {type.Name} __Decode{method.PlainName}(global::System.ReadOnlySpan<byte> __value)");
        if (type.IsRawWhenAlone)
        {
            code.Line("return __value.ToArray();");
            return;
        }
        code.Line($"{BindingNames.Reader} reader = new(__value);");
        code.Line($"return {codec.Read(type)};");
    }

    private static string Parameters(string proxy, MethodModel method)
    {
        string own = ProxySource.Parameters(method);
        return $"{proxy}{(own.Length == 0 ? "" : ", " + own)}, global::System.Threading.CancellationToken {Cancellation(method)} = default";
    }

    private static string Cancellation(MethodModel method) =>
        method.Parameters.Any(static each => each.Name == "cancellationToken") ? "__cancellationToken" : "cancellationToken";
}
