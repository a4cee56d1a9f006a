using System.Diagnostics;
using System.Text.Json;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>One run of the command 'ambrosia', or of another one, as its users run it.</summary>
internal sealed record Tool(int Code, string Output, string Error)
{
    /// <summary>The only line of the output.</summary>
    public JsonElement Json => JsonDocument.Parse(Output).RootElement;

    /// <summary>What, why and how to mend it, of an error in JSON.</summary>
    public JsonElement JsonError => JsonDocument.Parse(Error).RootElement.GetProperty("error");

    public static Tool Run(params string[] arguments) => Of(Executables.Ambrosia, arguments);

    /// <summary>Looks at the past, with these arguments behind the verb.</summary>
    public static Tool Debug(params string[] arguments) => Of(Executables.Coordinator, ["debug", .. arguments]);

    /// <summary>The same with further variables in its environment.</summary>
    public static Tool With(IReadOnlyDictionary<string, string> settings, params string[] arguments) =>
        Of(Executables.Ambrosia, arguments, settings: settings);

    /// <summary>Runs a program to its end.</summary>
    /// <param name="meanwhile">Is done while it runs, and is given its process.</param>
    public static Tool Of(
        string program, string[] arguments, Action<int>? meanwhile = null, IReadOnlyDictionary<string, string>? settings = null)
    {
        using var process = new Process
        {
            StartInfo = Executables.StartOf(program, arguments, settings ?? new Dictionary<string, string>(), AppContext.BaseDirectory)
        };
        process.Start();
        Task<string> output = process.StandardOutput.ReadToEndAsync(), error = process.StandardError.ReadToEndAsync();
        meanwhile?.Invoke(process.Id);
        if (!process.WaitForExit(Cluster.Patience))
        {
            Signals.Kill(process.Id);
            throw new TimeoutException($"'{program} {string.Join(' ', arguments)}' has not ended");
        }
        return new Tool(process.ExitCode, output.Result, error.Result);
    }
}
