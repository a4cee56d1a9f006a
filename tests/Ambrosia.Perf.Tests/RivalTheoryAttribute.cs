using Ambrosia.TestKit;

namespace Ambrosia.Perf.Tests;

/// <summary>
/// A theory that needs CMake and compilers, or gRPC's as well; without them it is skipped and says so, and with gRPC's at a commit, too.
/// </summary>
[AttributeUsage(AttributeTargets.Method)]
public class RivalTheoryAttribute : TheoryAttribute
{
    private static readonly string[] s_compilers = ["cmake", "cc", "c++"], s_grpc = ["protoc", "grpc_cpp_plugin"];

    public RivalTheoryAttribute(bool needsGrpc = false)
    {
        string[] missing = [.. s_compilers.Concat(needsGrpc ? s_grpc : []).Where(static tool => !IsOnPath(tool))];
        if (needsGrpc && TestScale.Value < 1) Skip = $"it compiles against gRPC, which takes half a minute: {TestScale.Variable}=1";
        if (missing.Length > 0) Skip = $"the rivals cannot be built here: no {string.Join(", no ", missing)}";
    }

    private static bool IsOnPath(string tool) =>
        (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':').Any(folder => File.Exists(Path.Combine(folder, tool)));
}
