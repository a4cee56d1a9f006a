using System.Diagnostics;
using Ambrosia.Protocol;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Development;

/// <summary>Says what <c>ambrosia dev</c> runs under a name: a project that it builds, or a program that is there.</summary>
/// <param name="Path">Whole path of a project's folder or file, of a dll, or of a program.</param>
internal sealed record DevProject(string Name, string Path)
{
    private const string ProjectFiles = "*.*proj";

    /// <summary>It is built before it runs.</summary>
    public bool IsSource => Directory.Exists(Path) || Path.EndsWith("proj", StringComparison.Ordinal);

    /// <summary>Reads <c>NAME=PATH</c>, or a path whose last part gives the name.</summary>
    /// <exception cref="ToolMisuse">There is nothing to run, or the name is none.</exception>
    public static DevProject Parse(string text)
    {
        int sign = text.IndexOf('=');
        string path = System.IO.Path.TrimEndingDirectorySeparator(System.IO.Path.GetFullPath(sign < 0 ? text : text[(sign + 1)..]));
        string name = sign < 0 ? System.IO.Path.GetFileNameWithoutExtension(path) : text[..sign];
        if (!Names.IsValid(name.Replace('.', '-')))
            throw new ToolMisuse($"'{name}' is no name", "it has 1 to 63 letters, digits, '_', '-' or '.'", "give one, as in shop=src/Shop");
        if (Directory.Exists(path) && Directory.GetFiles(path, ProjectFiles).Length != 1)
            throw new ToolMisuse($"'{path}' is no folder of one project", "", "give the project's folder or file, or a program");
        return Directory.Exists(path) || File.Exists(path) ? new DevProject(name, path)
            : throw new ToolMisuse($"there is no '{path}'", "", "give the folder or file of a project, or a program");
    }

    /// <summary>Builds the project; true: it is built.</summary>
    /// <param name="tell">Takes the lines of the build.</param>
    public bool Build(Action<string> tell) => Dotnet(tell, "build", Path, "-v", "q", "--nologo") == 0;

    /// <summary>Returns the command that runs what is built.</summary>
    /// <exception cref="ToolMisuse">The project does not say what it builds.</exception>
    public string[] Command()
    {
        string program = IsSource ? TargetPath() : Path;
        return program.EndsWith(".dll", StringComparison.Ordinal) ? ["dotnet", program] : [program];
    }

    private string TargetPath()
    {
        var lines = new List<string>();
        string file = Directory.Exists(Path) ? Directory.GetFiles(Path, ProjectFiles)[0] : Path;
        if (Dotnet(lines.Add, "msbuild", file, "-getProperty:TargetPath") == 0 && lines.Find(File.Exists) is { } target) return target;
        throw new ToolMisuse($"'{Path}' does not say what it builds", string.Join(' ', lines), "give the program that it builds");
    }

    private static int Dotnet(Action<string> tell, params string[] arguments)
    {
        using Process dotnet = Process.Start(
            new ProcessStartInfo("dotnet", arguments) { RedirectStandardOutput = true, RedirectStandardInput = true })!;
        dotnet.StandardInput.Close();
        while (dotnet.StandardOutput.ReadLine() is { } line)
            if (line.Trim().Length > 0) tell(line.Trim());
        dotnet.WaitForExit();
        return dotnet.ExitCode;
    }
}
