namespace Ambrosia.Perf;

/// <summary>Finds the programs with a host of .NET, which lie where they are built.</summary>
internal static class HostedProgram
{
    private const string Name = "Ambrosia.Perf.Hosted";

    /// <exception cref="FailedRoundException">This program is in no source tree.</exception>
    public static string Path => SourceVersion.Root() is { } root
        ? System.IO.Path.Combine(root, "perf", Name, "bin", ResultFile.ThisConfiguration, "net10.0", Name)
        : throw new FailedRoundException($"{Name} is found in the source tree, and this program is in none");
}
