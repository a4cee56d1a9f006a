using Ambrosia.MethodBodies;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Suspension.Tests;

/// <summary>Bodies are read of whatever C# compiles to.</summary>
public sealed class MethodBodyTests : IDisposable
{
    private readonly string _root = Directory.CreateTempSubdirectory("ambrosia-bodies-").FullName;

    public void Dispose() => Directory.Delete(_root, recursive: true);

    [Fact]
    public void Body_ThatCallsByAPointer_IsRead() => Assert.Contains(
        Rows("public static unsafe class Caller { static int Plus(int x) => x + 1; static int Call(int x) { delegate*<int, int> f = &Plus; System.Func<int> g = () => x; return f(x) + g(); } }"),
        static row => row.Signature == "Caller.Call(int)");

    [Fact]
    public void Body_OfATypeOfOneFile_IsRead() => Assert.Contains(
        Rows("file static class Local { static int Call(int x) { System.Func<int> g = () => x; return g(); } }"),
        static row => row.Id.EndsWith("__Local.Call(System.Int32):System.Int32", StringComparison.Ordinal));

    private List<MethodBodyRow> Rows(string source) =>
        AssemblyMethodBodies.Read(Variant.Compile(_root, "bodies", source, OptimizationLevel.Release).File, static (_, _) => null).Rows;
}
