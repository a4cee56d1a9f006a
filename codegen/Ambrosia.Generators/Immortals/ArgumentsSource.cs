using System.Linq;
using Ambrosia.Generators.Contracts;
using Ambrosia.Generators.Output;
using Ambrosia.Generators.Serialization;

namespace Ambrosia.Generators.Immortals;

/// <summary>
/// Generates the method that writes arguments as this build reads them, by which the window of keys knows a request again that a caller of
/// another build repeats (contract C1.9): what is not known is left out, as are trailing arguments that are what a missing one would be.
/// </summary>
internal static class ArgumentsSource
{
    internal static void Write(CodeWriter code, ValueCodecSource codec, ContractModel contract)
    {
        MethodModel[] methods = [.. contract.Methods.Where(static method => !method.IsQuery && !method.IsRaw)];
        if (methods.Length == 0) return;
        code.Line();
        code.Line(BindingNames.NotStepped);
        using var body = code.Open(
            $"protected override bool WriteArguments(uint method, global::System.ReadOnlySpan<byte> arguments, {BindingNames.Outgoing} to)");
        code.Line($"{BindingNames.Reader} reader = new(arguments);");
        using (code.Open("switch (method)"))
        {
            foreach (MethodModel method in methods)
            {
                using (code.Open($"case 0x{method.Id:X}u:"))
                {
                    WriteMethod(code, codec, method);
                    code.Line("return true;");
                }
            }
            code.Line("default: return false;");
        }
    }

    /// <summary>Writes the locals <c>argument0</c>, <c>argument1</c> …, which are read from <c>reader</c>.</summary>
    internal static void WriteReads(CodeWriter code, ValueCodecSource codec, MethodModel method)
    {
        for (int i = 0; i < method.Parameters.Count; i++)
        {
            ParameterModel parameter = method.Parameters[i];
            code.Line($"{parameter.Type.Name} argument{i} = reader.AtEnd ? {Missing(parameter)} : {codec.Read(parameter.Type)};");
        }
    }

    /// <summary>Returns the expression of what a missing argument is.</summary>
    private static string Missing(ParameterModel parameter) =>
        parameter.Default ?? (parameter.Type.IsReference && !parameter.Type.IsNullable ? "default!" : "default");

    private static void WriteMethod(CodeWriter code, ValueCodecSource codec, MethodModel method)
    {
        int count = method.Parameters.Count;
        if (count == 0) return;
        WriteReads(code, codec, method);
        code.Line($"int kept = {count};");
        for (int i = count - 1; i >= 0 && IsMissing(method.Parameters[i], i) is { } isMissing; i--)
            code.Line($"if (kept == {i + 1} && {isMissing}) kept = {i};");
        code.Line($"{BindingNames.Writer} writer = new(to.Body);");
        for (int i = 0; i < count; i++)
        {
            using (code.Open($"if (kept > {i})")) code.Line(codec.Write(method.Parameters[i].Type, $"argument{i}"));
        }
        code.Line("writer.Flush();");
    }

    /// <summary>
    /// Returns the expression that an argument is what a missing one would be; null where only code of the app could say it.
    /// </summary>
    private static string? IsMissing(ParameterModel parameter, int i) => parameter.Type.Shape switch
    {
        Shape.ByteSpan or Shape.ByteMemory => $"argument{i}.IsEmpty",
        Shape.Simple or Shape.Enum or Shape.Text or Shape.Parsed => Equal(parameter, i),
        Shape.NullableValue when parameter.Type.Inner[0].Shape is Shape.Simple or Shape.Enum => Equal(parameter, i),
        Shape.NullableValue => $"argument{i} is null",
        _ => parameter.Type.IsReference ? $"argument{i} is null" : null,
    };

    private static string Equal(ParameterModel parameter, int i) =>
        $"global::System.Collections.Generic.EqualityComparer<{parameter.Type.Name}>.Default.Equals(argument{i}, {Missing(parameter)})";
}
