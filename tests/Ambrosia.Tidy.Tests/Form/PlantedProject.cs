namespace Ambrosia.Tidy.Tests.Form;

/// <summary>
/// A small project with the repository's own settings, which is built to see what the compiler and its analyzers refuse. A rule that is not
/// wired in looks exactly like one that is kept.
/// </summary>
internal sealed class PlantedProject : IDisposable
{
    private static readonly string[] s_settings = ["Directory.Build.props", "Directory.Build.targets", "Directory.Packages.props",
        "BannedSymbols.txt", "BannedSymbols.Text.txt", "BannedSymbols.Files.txt", ".editorconfig", "global.json"];

    private readonly string _folder = Directory.CreateTempSubdirectory("ambrosia-tidy-").FullName;

    /// <summary>Makes a project whose name decides about its settings.</summary>
    public PlantedProject(string name)
    {
        Write($"{name}.csproj", """<Project Sdk="Microsoft.NET.Sdk" />""");
        foreach (string setting in s_settings) Write(setting, Repository.Read(setting));
    }

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    public void Write(string path, string text)
    {
        string full = Path.Join(_folder, path);
        Directory.CreateDirectory(Path.GetDirectoryName(full)!);
        File.WriteAllText(full, text);
    }

    public void Delete(string path) => File.Delete(Path.Join(_folder, path));

    /// <summary>Builds it and returns what was said.</summary>
    public string Build() => DotNetCommand.Run(
        _folder, "build", "-v", "q", "--nologo", "-p:AmbrosiaBannedApis=true", "-nodeReuse:false");
}
