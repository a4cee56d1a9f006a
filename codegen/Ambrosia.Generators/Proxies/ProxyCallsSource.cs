using Ambrosia.Generators.Contracts;
using Ambrosia.Generators.Output;

namespace Ambrosia.Generators.Proxies;

/// <summary>
/// Generates what a <c>ProxyOf&lt;IFoo&gt;</c>, which GetProxy gives, can do: extension methods that hand each call to the proxy class, so
/// that a proxy can be used without naming that class.
/// </summary>
internal static class ProxyCallsSource
{
    internal static void Write(CodeWriter code, ContractModel contract)
    {
        string self = $"this global::Ambrosia.ProxyOf<{contract.TypeName}> __proxy", typed = $"__proxy.As<{contract.ProxyName}>()";
        code.Line();
        code.Line($"/// <summary>Gives proxies that GetProxy has made for <see cref=\"{contract.TypeName}\"/> the methods of the contract.</summary>");
        code.Line(BindingNames.Generated);
        using var type = code.Open($"{contract.Access} static partial class {contract.ProxyName}Calls");
        foreach (MethodModel method in contract.Methods)
        {
            if (method.IsQuery) continue;
            string result = method.Result is null ? "" : $"<{method.Result.Name}>";
            WriteMethod("void", "Fork");
            WriteMethod($"{BindingNames.Call}{result}", "Async");
            if (method.IsImpulse) WriteMethod(BindingNames.Call, "Logged");

            void WriteMethod(string returned, string ending)
            {
                string name = method.PlainName + ending;
                code.Line();
                code.Line($"public static {returned} {name}({ProxySource.Joined(self, ProxySource.Parameters(method))}) => {typed}.{name}({ProxySource.Arguments(method)});");
            }
        }
        if (!ProxySource.HasImpulses(contract)) return;
        foreach (string key in new[] { "string key", "global::System.ReadOnlySpan<byte> key" })
        {
            code.Line();
            code.Line("/// <summary>Gives an impulse an idempotency key: sent again with it, it takes effect once.</summary>");
            code.Line($"public static {contract.ProxyName}.Keyed WithKey({self}, {key}) => {typed}.WithKey(key);");
        }
    }
}
