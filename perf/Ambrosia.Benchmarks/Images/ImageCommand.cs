using System.Diagnostics;
using System.Globalization;

namespace Ambrosia.Benchmarks.Images;

/// <summary>
/// <c>images MEBIBYTES [KIND …]</c>: for each kind of state, how fast an image is written and restored (bytes of the live managed heap for
/// each second of processor time), its bytes, and the peak of the process's resident memory meanwhile, over the live managed heap; and how
/// long it takes to show a state that is not large as JSON. Each state is made, and each image restored, in a process of its own.
/// </summary>
internal static class ImageCommand
{
    private const int ShownMebibytesMax = 256;

    internal static int Run(ReadOnlySpan<string> arguments)
    {
        long mebibytes = long.Parse(arguments[0], CultureInfo.InvariantCulture);
        string[] kinds = arguments.Length > 1 ? arguments[1..].ToArray() : States.KindNames;
        Console.WriteLine("| state | live MB | image MB | written: processor s | GB/s | peak ÷ live | restored: processor s | GB/s | peak ÷ live | shown: processor s |");
        Console.WriteLine("|---|---|---|---|---|---|---|---|---|---|");
        string file = Path.GetTempFileName();
        try
        {
            foreach (string kind in kinds) Measure(kind, mebibytes, file);
        }
        finally
        {
            File.Delete(file);
        }
        return 0;
    }

    private static void Measure(string kind, long mebibytes, string file)
    {
        Dictionary<string, long> taken = Child(ImageRound.Take, kind, $"{mebibytes}", file), restored = Child(ImageRound.Restore, file);
        for (int i = 1; i < ImageRound.Rounds; i++) restored["ns"] = Math.Min(restored["ns"], Child(ImageRound.Restore, file)["ns"]);
        string shown = mebibytes > ShownMebibytesMax ? "–" : $"{Child(ImageRound.Show, file)["ns"] / 1e9:F2}";
        double live = taken["live"], image = taken["image"];
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"| {kind} | {live / 1e6:F0} | {image / 1e6:F0} | {taken["ns"] / 1e9:F2} | {live / taken["ns"]:F2} | {taken["peak"] / live:F2} | {restored["ns"] / 1e9:F2} | {live / restored["ns"]:F2} | {restored["peak"] / (double)restored["live"]:F2} | {shown} |"));
    }

    private static Dictionary<string, long> Child(params ReadOnlySpan<string> arguments)
    {
        var start = new ProcessStartInfo(Environment.ProcessPath!) { RedirectStandardOutput = true };
        if (Path.GetFileNameWithoutExtension(Environment.ProcessPath) == "dotnet")
            start.ArgumentList.Add(typeof(ImageCommand).Assembly.Location);
        foreach (string argument in arguments) start.ArgumentList.Add(argument);
        using Process child = Process.Start(start)!;
        var found = new Dictionary<string, long>();
        while (child.StandardOutput.ReadLine() is { } line)
        {
            string[] parts = line.Split(' ');
            found[parts[0]] = long.Parse(parts[1], CultureInfo.InvariantCulture);
        }
        child.WaitForExit();
        return child.ExitCode == 0 ? found : throw new InvalidOperationException($"{arguments[0]} ended with {child.ExitCode}");
    }
}
