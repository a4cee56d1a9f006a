using System.Diagnostics;
using System.Text.Json.Nodes;
using Ambrosia.Binding.Tests.Images;

namespace Ambrosia.Binding.Tests;

/// <summary>
/// The entry point of this suite, by which a test has something said by processes of its own: the seeds of hash codes, which each process
/// draws anew, must show nowhere, nor must its zone and its culture.
/// </summary>
internal static class Processes
{
    private static readonly Dictionary<string, Func<string[], string>> s_sayings = new()
    {
        ["travel-order"] = static _ => TravelOrderTests.SentByThisProcess(),
        ["images"] = static _ => ElsewhereTests.ImagesOfThisProcess(),
        ["generated-states"] = static files => GeneratedProcess.Follow(files[0]),
    };

    private static void Main(string[] arguments) => Console.Write(s_sayings[arguments[0]](arguments[1..]));

    /// <summary>Returns what a new process says under a name.</summary>
    internal static string Said(string name) => Run(Path.ChangeExtension(Here, ".runtimeconfig.json"), [name], elsewhere: false).Said;

    /// <summary>
    /// Returns what a new process says under a name on a machine of another zone and culture. Where the machine has no cultures it is the
    /// zone alone.
    /// </summary>
    internal static string SaidElsewhere(params string[] arguments)
    {
        string own = Path.ChangeExtension(Here, ".runtimeconfig.json"), cultured = Path.ChangeExtension(Here, $".{Guid.NewGuid():N}.json");
        JsonNode settings = JsonNode.Parse(File.ReadAllText(own))!;
        settings["runtimeOptions"]!["configProperties"]!["System.Globalization.Invariant"] = false;
        File.WriteAllText(cultured, settings.ToJsonString());
        try
        {
            (int code, string said, string errors) = Run(cultured, arguments, elsewhere: true, mayFail: true);
            if (code == 0) return said;
            Assert.Contains("ICU", errors, StringComparison.Ordinal);
            return Run(own, arguments, elsewhere: true).Said;
        }
        finally
        {
            File.Delete(cultured);
        }
    }

    private static string Here => typeof(Processes).Assembly.Location;

    private static (int Code, string Said, string Errors) Run(string settings, string[] arguments, bool elsewhere, bool mayFail = false)
    {
        var start = new ProcessStartInfo("dotnet",
            ["exec", "--runtimeconfig", settings, "--depsfile", Path.ChangeExtension(Here, ".deps.json"), Here, .. arguments])
        {
            RedirectStandardOutput = true, RedirectStandardError = true,
        };
        if (elsewhere)
            foreach ((string name, string value) in new[] { ("TZ", "Asia/Tokyo"), ("LANG", "tr_TR.UTF-8"), ("LC_ALL", "tr_TR.UTF-8") })
                start.Environment[name] = value;
        using Process process = Process.Start(start)!;
        Task<string> errors = process.StandardError.ReadToEndAsync();
        string said = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        if (!mayFail) Assert.True(process.ExitCode == 0, errors.Result);
        return (process.ExitCode, said, errors.Result);
    }
}
