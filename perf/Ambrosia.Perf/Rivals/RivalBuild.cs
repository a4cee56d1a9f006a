// The rivals are built by CMake from perf/rivals into its build folder: by hand with the two commands in perf/README.md, or by the driver
// when it needs one. Whoever builds at the same time waits: two CMakes in one folder spoil each other's files.
using System.ComponentModel;
using System.Diagnostics;

namespace Ambrosia.Perf;

/// <summary>Where the rivals' programs are; builds those that are not there yet.</summary>
internal static class RivalBuild
{
    private const string CompilerHint = "apt-get install cmake g++",
        GrpcHint = "apt-get install libgrpc++-dev libprotobuf-dev protobuf-compiler protobuf-compiler-grpc";

    private static readonly TimeSpan s_limit = TimeSpan.FromMinutes(5);

    /// <summary>The path of a rival's program, which is up to date with its sources.</summary>
    /// <exception cref="MissingRivalException">It cannot be built here.</exception>
    public static string Find(string target)
    {
        string sources = Path.Combine(
            SourceVersion.Root()
            ?? throw new MissingRivalException(
                "The rivals are built from perf/rivals of the source tree, and this program does not run inside one."), "perf", "rivals");
        string build = Path.Combine(sources, "build");
        Directory.CreateDirectory(build);
        using FileStream alone = Lock(Path.Combine(build, ".lock"));
        if (!IsOf(sources, Path.Combine(build, "CMakeCache.txt")))
            Run("cmake", "--fresh", "-S", sources, "-B", build, "-DCMAKE_BUILD_TYPE=Release");
        (int code, string output) = Run("cmake", "--build", build, "--target", target);
        if (code == 0) return Path.Combine(build, target);
        // CMake leaves the target out where the libraries are missing, and finds them only when it looks again.
        Run("cmake", "-S", sources, "-B", build, "-DCMAKE_BUILD_TYPE=Release");
        (code, output) = Run("cmake", "--build", build, "--target", target);
        if (code == 0) return Path.Combine(build, target);
        string hint = target.StartsWith(RivalNames.Grpc, StringComparison.Ordinal) ? GrpcHint : CompilerHint;
        throw new MissingRivalException($"{target} cannot be built. What it needs comes with: {hint}\nCMake says:\n{output}");
    }

    /// <summary>False for the build folder of a tree that was copied or moved: CMake would go on building in the old place.</summary>
    private static bool IsOf(string sources, string cache) =>
        File.Exists(cache) && File.ReadLines(cache).Contains($"CMAKE_HOME_DIRECTORY:INTERNAL={sources}");

    private static FileStream Lock(string path)
    {
        for (long begun = Stopwatch.GetTimestamp(); ; Thread.Sleep(50))
        {
            try
            {
                return new FileStream(path, FileMode.OpenOrCreate, FileAccess.ReadWrite, FileShare.None);
            }
            catch (IOException) when (Stopwatch.GetElapsedTime(begun) < s_limit)
            {
                // Another driver builds.
            }
        }
    }

    private static (int Code, string Output) Run(string program, params ReadOnlySpan<string> arguments)
    {
        var start = new ProcessStartInfo(program) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (string argument in arguments) start.ArgumentList.Add(argument);
        try
        {
            using Process process = Process.Start(start)!;
            Task<string> errors = process.StandardError.ReadToEndAsync();
            string output = process.StandardOutput.ReadToEnd();
            if (!process.WaitForExit(s_limit)) process.Kill();
            return (process.ExitCode, output + errors.GetAwaiter().GetResult());
        }
        catch (Win32Exception)
        {
            throw new MissingRivalException($"The rivals are built by {program}, which is not here: {CompilerHint}");
        }
    }
}
