using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Generators.Tests;

/// <summary>A debugger that shows the user's code alone goes from a message into its handler, past all that is generated between.</summary>
public sealed class SteppingTests
{
    private const string Source = """
        namespace Demo
        {
            [Data] public sealed record Point(int X, List<int[]> Ys);
            public interface ISmall
            {
                Dictionary<string, Point> Add(int by, List<Point> points, (int, Point?)[] pairs);
                Call<Point> Later(ReadOnlySpan<byte> bytes);
                [Query] int Ask(string what);
            }
            public partial class Small : Immortal<ISmallProxy>, ISmall
            {
                public Dictionary<string, Point> Add(int by, List<Point> points, (int, Point?)[] pairs) => [];
                public Call<Point> Later(ReadOnlySpan<byte> bytes) => Call.FromResult(new Point(1, []));
                public int Ask(string what) => 1;
            }
        }
        """;

    [Fact]
    public void Methods_BetweenAMessageAndItsHandler_AreNotTheUsers()
    {
        MethodDeclarationSyntax[] methods = [.. Generated<MethodDeclarationSyntax>("Small.Dispatch.g.cs")
            .Where(static method => method.ExplicitInterfaceSpecifier is null)]; // the others make the immortal, before any message
        Assert.Contains(methods, static method => method.Identifier.Text == "Dispatch");
        Assert.Contains(methods, static method => method.Identifier.Text == "DispatchQuery");
        Assert.Contains(methods, static method => method.Identifier.Text == "WriteResult");
        Assert.Contains(methods, static method => method.Identifier.Text == "__HandleAdd");
        Assert.Contains(methods, static method => method.Identifier.Text.StartsWith("Read_", StringComparison.Ordinal));
        Assert.All(methods, static method => AssertIsMarked(method.AttributeLists, method.Identifier.Text));
    }

    [Fact]
    public void Codecs_OfData_AreNotTheUsers()
    {
        ClassDeclarationSyntax codec = Assert.Single(Generated<ClassDeclarationSyntax>("Point.DataCodec.g.cs"));
        AssertIsMarked(codec.AttributeLists, codec.Identifier.Text);
    }

    private static IEnumerable<T> Generated<T>(string file) =>
        Generation.Of(Source).Output.SyntaxTrees.Single(tree => tree.FilePath.EndsWith(file, StringComparison.Ordinal))
            .GetRoot().DescendantNodes().OfType<T>();

    private static void AssertIsMarked(IEnumerable<AttributeListSyntax> lists, string name) =>
        Assert.True(lists.Any(static list => list.ToString() == "[global::System.Diagnostics.DebuggerNonUserCode]"), name);
}
