using System.Globalization;
using System.Text;
using Ambrosia.Tools.Contracts;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Generation;

/// <summary>Writes one contract in C++: its ids, its proxies, and the switch that gives a message to its handler.</summary>
internal sealed class CppContract(ContractRow contract, ulong hash)
{
    private readonly StringBuilder _text = new();
    private readonly string _name = CppNames.Of(contract.Name);

    private IEnumerable<MethodRow> Called => contract.Methods.Where(static each => !each.IsImpulse && !each.IsQuery);

    public string Write()
    {
        Line($"struct {_name} {{");
        Line($"  static constexpr std::string_view name = {CppNames.Literal(contract.Name)};");
        Line($"  static constexpr std::uint64_t contract_hash = 0x{hash:X16};");
        Line("  static const std::string_view manifest;");
        Line();
        WriteIds();
        WriteForks();
        WriteProxy();
        WriteImpulses();
        WriteDispatch();
        Line("};");
        return _text.ToString();
    }

    private void WriteIds()
    {
        Line("  // The methods by name, for timers (set_timer) and callers by id.");
        Line("  struct id {");
        foreach (MethodRow method in contract.Methods)
            Line($"    static constexpr std::uint32_t {CppNames.Of(method.Name)} = {method.Id.ToString(CultureInfo.InvariantCulture)}u;");
        Line("  };");
        Line();
    }

    private void WriteForks()
    {
        Begin("What any handler sends: forks, which nobody answers.", "forks", "sender", "ambrosia::sender");
        foreach (MethodRow method in Called)
            Line($"    void {Name(method)}Fork({Parameters(method)}) const {{ tell{Sent(method, "")}; }}");
        End();
    }

    private void WriteProxy()
    {
        Begin("What a flow sends besides: calls, whose results it awaits.", "proxy", "forks", "forks");
        foreach (MethodRow method in Called)
        {
            string result = Result(method) + (method.IsResultRaw ? ", true" : "");
            Line($"    ambrosia::pending<{result}> {Name(method)}({Parameters(method)}) const {{ return ask{Sent(method, $"<{result}>")}; }}");
        }
        End();
    }

    private void WriteImpulses()
    {
        Begin("What a primary sends from outside the log: impulses.", "impulses", "impulse_sender", "ambrosia::impulse_sender");
        foreach (MethodRow method in contract.Methods.Where(static each => each.IsImpulse))
        {
            string parameters = Parameters(method);
            Line($"    void {Name(method)}({parameters}{(parameters.Length == 0 ? "" : ", ")}std::string_view key = {{}}) const {{ send{(method.IsRaw ? "_raw" : "")}({string.Join(", ", [$"id::{Name(method)}", "key", .. Arguments(method)])}); }}");
        }
        End();
    }

    private void WriteDispatch()
    {
        Line("  template <class A>");
        Line("  static void dispatch(A& app, ambrosia::incoming& in) {");
        Line("    switch (in.method) {");
        foreach (MethodRow method in contract.Methods) Line($"      case id::{Name(method)}: return {Invocation(method)};");
        Line("      default: return;");
        Line("    }");
        Line("  }");
    }

    private static string Invocation(MethodRow method)
    {
        string handler = $"(in, app, &A::{Name(method)}";
        string isRaw = method.IsResultRaw ? ", true" : "";
        if (method.IsRaw)
            return method.IsQuery
                ? throw new ToolMisuse($"the query {method.Name} cannot be written in C++", "its argument is bytes as they are", "let it have a parameter beside the bytes")
                : $"ambrosia::invoke_raw<{Result(method)}{isRaw}>{handler})";
        string signature = $"{Result(method)}({string.Join(", ", method.Parameters.Select(static each => CppTypes.Of(each.Type)))})";
        string defaults = method.Parameters.Any(static each => each.Default is not null)
            ? string.Concat(method.Parameters.Select(static each => $", \"{each.Default}\"")) : "";
        return $"ambrosia::invoke{(method.IsQuery ? "_query" : "")}<{signature}{isRaw}>{handler}{defaults})";
    }

    private static string Result(MethodRow method) => method.Result is { } type ? CppTypes.Of(type) : "void";

    private static string Name(MethodRow method) => CppNames.Of(method.Name);

    private static string Parameters(MethodRow method) => method.IsRaw ? $"ambrosia::byte_span {CppNames.Of(method.Parameters[0].Name)}"
        : string.Join(", ", method.Parameters.Select(static each => $"const {CppTypes.Of(each.Type)}& {CppNames.Of(each.Name)}"));

    private static IEnumerable<string> Arguments(MethodRow method) => method.Parameters.Select(static each => CppNames.Of(each.Name));

    private static string Sent(MethodRow method, string result) =>
        $"{(method.IsRaw ? "_raw" : "")}{result}({string.Join(", ", [$"id::{Name(method)}", .. Arguments(method)])})";

    private void Begin(string comment, string name, string baseName, string baseType)
    {
        Line($"  // {comment}");
        Line($"  class {name} : public {baseType} {{");
        Line("   public:");
        Line($"    using {baseName}::{baseName};");
    }

    private void End()
    {
        Line("  };");
        Line();
    }

    private void Line(string text = "") => _text.Append(text).Append('\n');
}
