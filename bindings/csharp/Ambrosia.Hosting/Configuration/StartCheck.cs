using System.Reflection;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol.Texts;
using Microsoft.Extensions.Options;

namespace Ambrosia.Hosting.Configuration;

/// <summary>
/// Checks the options at the start of the host, before anything is made. A program whose options will not do ends with exit code 2 and the
/// sentences on its standard error, as a coordinator does; in a process that is somebody else's, such as a test's, it throws.
/// </summary>
internal sealed class StartCheck(IEnumerable<AddedImmortal> added, IEnumerable<AddedClient> clients, HostForm form)
    : IValidateOptions<AmbrosiaOptions>
{
    /// <summary>Where one of these is loaded, the process is a test's.</summary>
    private static readonly string[] s_testing = ["Microsoft.Testing.Platform", "Microsoft.VisualStudio.TestPlatform.ObjectModel"];

    public ValidateOptionsResult Validate(string? name, AmbrosiaOptions options)
    {
        AddedImmortal[] immortals = [.. added];
        HostedOptions found = HostedOptions.Of(options, [.. immortals.Select(static each => each.Name)], !form.IsApp);
        List<string> faults = [.. PackageVersions.Faults(), .. found.Faults, .. ContractCheck.Faults(immortals, clients)];
        faults.AddRange(clients.Select(static each => each.Instance).Distinct().Select(HostedOptions.WhatIsWrong).OfType<string>()
            .Except(faults).Select(static wrong => $"{wrong}; a client is to call it"));
        if (form.WhatIsWrong(immortals) is { } wrong) faults.Add(wrong);
        if (faults.Count == 0) return ValidateOptionsResult.Success;
        if (!IsOwnProcess()) return ValidateOptionsResult.Fail(faults);
        foreach (string fault in faults) Console.Error.WriteLine(HarmlessText.Lines(fault));
        Environment.Exit(ExitCodes.Misuse);
        return ValidateOptionsResult.Fail(faults);
    }

    /// <summary>The process's program is one with a host of ours, and nobody's who only tries it.</summary>
    private static bool IsOwnProcess()
    {
        string own = typeof(StartCheck).Assembly.GetName().Name!;
        return Assembly.GetEntryAssembly()?.GetReferencedAssemblies().Any(each => each.Name == own) == true
            && !AppDomain.CurrentDomain.GetAssemblies().Any(static each => s_testing.Contains(each.GetName().Name));
    }
}
