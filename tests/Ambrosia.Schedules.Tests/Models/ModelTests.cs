using System.Diagnostics;

namespace Ambrosia.Schedules.Tests.Models;

/// <summary>The models of protocol/models: each explores its baselines, and each of its mutants has to break a property.</summary>
public sealed class ModelTests
{
    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(10);

    [PythonFact]
    public async Task Upgrade_EveryBaselineAndMutant_BreaksWhatItShould()
    {
        (int code, string said) = await RunAsync("upgrade.py");
        Assert.True(code == 0, said);
        Assert.Contains(" runs, 0 failed", said);
    }

    /// <summary>The rule that is taken away is missed: what its mutant breaks is named with the steps that lead there.</summary>
    [PythonFact]
    public async Task Upgrade_WhoGivesUpBehindTheRecord_IsTracedToTheRecord()
    {
        (int code, string said) = await RunAsync("upgrade.py", "--traces", "--only", "gives_up_behind_record");
        Assert.True(code == 0, said);
        Assert.Contains("appends the switch ; a2 gives up behind the record ; a2 appends input", said);
    }

    [PythonFact]
    public async Task Upgrade_NameThatNothingHas_Fails()
    {
        (int code, string said) = await RunAsync("upgrade.py", "--only", "nothing");
        Assert.Equal((1, "0 runs, 0 failed"), (code, said.Trim()));
    }

    [PythonFact]
    public async Task Drain_EveryWiringUnderEveryRule_GetsStuckWhereItShould()
    {
        (int code, string said) = await RunAsync("drain.py", "--traces");
        Assert.True(code == 0, said);
        Assert.Contains("24 runs, 0 failed", said);
    }

    [PythonFact]
    public async Task Flows_BaselineAndEachMutant_BreakWhatTheyShould()
    {
        (int code, string said) = await RunAsync("flows.py");
        Assert.True(code == 0, said);
        Assert.Contains("8 runs, 0 failed", said);
    }

    private static async Task<(int Code, string Said)> RunAsync(string model, params string[] arguments)
    {
        using var limit = new CancellationTokenSource(s_limit);
        using Process python = Process.Start(new ProcessStartInfo("python3", ["-B", Path.Join(FolderOfModels(), model), .. arguments])
        {
            RedirectStandardOutput = true, RedirectStandardError = true,
        })!;
        try
        {
            Task<string> output = python.StandardOutput.ReadToEndAsync(limit.Token);
            string faults = await python.StandardError.ReadToEndAsync(limit.Token);
            string said = await output + faults;
            await python.WaitForExitAsync(limit.Token);
            return (python.ExitCode, said);
        }
        finally
        {
            if (!python.HasExited) python.Kill();
        }
    }

    private static string FolderOfModels()
    {
        string folder = AppContext.BaseDirectory;
        while (!Directory.Exists(Path.Join(folder, "protocol", "models")))
            folder = Path.GetDirectoryName(folder) ?? throw new DirectoryNotFoundException("protocol/models");
        return Path.Join(folder, "protocol", "models");
    }

    /// <summary>Marks a test that wants python3, and nothing besides its standard library.</summary>
    private sealed class PythonFactAttribute : FactAttribute
    {
        public PythonFactAttribute()
        {
            string[] folders = (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':');
            if (!folders.Any(static folder => File.Exists(Path.Join(folder, "python3"))))
                Skip = "python3 not installed; .ci/run installs what is missing";
        }
    }
}
