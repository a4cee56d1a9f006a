using System.Reflection;

namespace ImmortalCoordinator;

/// <summary>What --help and --version say.</summary>
internal static class HelpText
{
    private const int NameWidth = 38, LineWidth = 140;

    private static string Version => typeof(HelpText).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion ?? "unknown";

    /// <summary>Says what was asked for; false: neither help nor the version.</summary>
    public static bool TryAnswer(GivenOptions given, TextWriter output)
    {
        if (given.WantsHelp) Write(output, CommandLine.All);
        else if (given.WantsVersion) output.WriteLine(Version);
        return given.WantsHelp || given.WantsVersion;
    }

    private static void Write(TextWriter output, CommandOption[] options)
    {
        output.WriteLine("Runs beside an app and makes it immortal: logs every input before its effects can be seen.");
        output.WriteLine();
        output.WriteLine("Usage: ImmortalCoordinator --log DIR [options] [-- APP ARGS]");
        output.WriteLine();
        output.WriteLine("Options:");
        foreach (CommandOption option in options)
            if (!option.IsHidden) Write(output, $"{option.Name} {option.Value}", Described(option));
        Write(output, "--version", "Says which version this is.");
        Write(output, "--help, -h", "Says this.");
        Write(output, "-- APP ARGS", "The app to start and restart, with its arguments.");
    }

    private static string Described(CommandOption option) =>
        option.IsRequired ? $"{option.Description} Required." : option.Default is { } standard ? $"{option.Description} Default: {standard}." : option.Description;

    private static void Write(TextWriter output, string name, string text)
    {
        var line = new System.Text.StringBuilder($"  {name}".PadRight(NameWidth));
        foreach (string word in text.Split(' '))
        {
            if (line.Length + 1 + word.Length > LineWidth)
            {
                output.WriteLine(line);
                line.Clear().Append(' ', NameWidth);
            }
            line.Append(' ').Append(word);
        }
        output.WriteLine(line);
    }
}
