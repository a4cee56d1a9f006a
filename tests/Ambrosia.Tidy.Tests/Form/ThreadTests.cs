using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests.Form;

/// <summary>
/// Each thread of a coordinator has an outermost catch: it is started by CRA's <c>Threads</c>, which has one. An exception that left a
/// thread would end the process without its line and its exit code.
/// </summary>
public sealed partial class ThreadTests
{
    private const string Home = "CRA/Links/Threads.cs";

    private static readonly string[] s_folders = ["ImmortalCoordinator/", "CRA/", "stores/", "protocol/"];

    /// <summary>Path → why its thread needs no catch. An entry that is no longer needed must go.</summary>
    private static readonly Dictionary<string, string> s_excused = new()
    {
        ["ImmortalCoordinator/Ambrosia.Log/Files/PosixFileSystem.cs"] =
            "It makes one call of the system in a loop and hands its error on; the log does not know CRA.",
    };

    [Fact]
    public void Threads_OfACoordinator_HaveAnOutermostCatch() =>
        Repository.AssertNone(Repository.Product.SelectMany(FindBare), s_excused);

    [Theory]
    [InlineData("class A { void B() => new Thread(C).Start(); }")]
    [InlineData("class A { Thread _a = new(C); }")]
    [InlineData("class A { void B() => ThreadPool.QueueUserWorkItem(_ => C()); }")]
    [InlineData("class A { void B() => Task.Run(C); }")]
    [InlineData("class A { void B() => Task.Factory.StartNew(C); }")]
    [InlineData("class A { void B() { Thread made = new(C); made.Start(); } }")]
    public void Thread_PlantedWithoutACatch_IsFound(string text) => Assert.NotEmpty(FindBare(new SourceFile("CRA/A.cs", text)));

    [Theory]
    [InlineData("class A { void B() => Threads.TryStart(\"b\", C, static _ => { }); }")]
    [InlineData("class A { Thread? _a; void B() => _a = Threads.TryStart(\"b\", C, D); }")]
    [InlineData("class A { void B() => Thread.Sleep(1); }")]
    public void Thread_PlantedWithOne_IsNot(string text) => Assert.Empty(FindBare(new SourceFile("CRA/A.cs", text)));

    private static IEnumerable<Finding> FindBare(SourceFile source)
    {
        if (source.Path == Home || !s_folders.Any(folder => source.Path.StartsWith(folder, StringComparison.Ordinal))) yield break;
        foreach (ObjectCreationExpressionSyntax made in source.Syntax.DescendantNodes().OfType<ObjectCreationExpressionSyntax>())
            if (made.Type.ToString() is "Thread" or "System.Threading.Thread")
                yield return new Finding(source.Path, "makes a thread; take Threads.TryStart or PumpThread, which have a catch");
        foreach (VariableDeclarationSyntax declared in source.Syntax.DescendantNodes().OfType<VariableDeclarationSyntax>())
            if (declared.Type.ToString() == "Thread"
                && declared.Variables.Any(static each => each.Initializer?.Value is ImplicitObjectCreationExpressionSyntax))
                yield return new Finding(source.Path, "makes a thread; take Threads.TryStart or PumpThread, which have a catch");
        if (Pooled().IsMatch(source.Text))
            yield return new Finding(source.Path, "gives work to the thread pool, whose threads have no catch");
    }

    [GeneratedRegex(@"\bThreadPool\.\w*Queue|\bTask\.Run\(|\bTask\.Factory\b")]
    private static partial Regex Pooled();
}
