using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests.Form;

/// <summary>
/// What a program writes to the console may hold texts of others: names, failures, what a log says. It goes through
/// <c>HarmlessText</c>, so that none of it commands a terminal.
/// </summary>
public sealed class ConsoleTests
{
    /// <summary>Path → why what it writes, or hands to others, is harmless. An entry that is no longer needed must go.</summary>
    private static readonly Dictionary<string, string> s_excused = new()
    {
        ["bindings/csharp/Ambrosia.Embedded/HostedImmortal.cs"] = "It hands the stream to the coordinator's EventWriter.",
        ["bindings/csharp/Ambrosia/AmbrosiaApp.cs"] = "It flushes, and writes nothing.",
        ["bindings/csharp/Ambrosia/Pumps/WholeLines.cs"] = "It writes to the stream itself, by one write, and makes each text harmless.",
        ["codegen/Ambrosia.ContractFile/Program.cs"] = "It runs inside a build, and names that build's own files and methods.",
        ["ImmortalCoordinator/ImmortalCoordinator/Program.cs"] = "It hands the stream to the coordinator's EventWriter.",
        ["tools/ambrosia/Diagnosis/LockCheck.cs"] = "It writes two words of its own, for the process that started it.",
        ["tools/ambrosia/Program.cs"] = "It hands the streams to Screen.",
    };

    [Fact]
    public void Consoles_OfPrograms_GetHarmlessTexts() =>
        Repository.AssertNone(Repository.Product.SelectMany(FindBare), s_excused);

    [Theory]
    [InlineData("Console.WriteLine(text);")]
    [InlineData("Console.Error.Write($\"{name}: gone\");")]
    [InlineData("System.Console.Out.WriteLine(text);")]
    [InlineData("TextWriter to = Console.Error; to.Write(text);")]
    [InlineData("var to = Console.OpenStandardOutput();")]
    [InlineData("Console.WriteLine(HarmlessText.Line(a), b);")]
    public void Console_PlantedBare_IsFound(string statement) => Assert.NotEmpty(FindBare(Planted(statement)));

    [Theory]
    [InlineData("Console.WriteLine(HarmlessText.Line(text));")]
    [InlineData("Console.Error.Write(HarmlessText.Lines($\"{name}: gone\"));")]
    [InlineData("int width = Console.WindowWidth;")]
    public void Console_PlantedWithHarmlessText_IsNot(string statement) => Assert.Empty(FindBare(Planted(statement)));

    private static SourceFile Planted(string statement) => new("CRA/A.cs", $"class A {{ void B() {{ {statement} }} }}");

    private static IEnumerable<Finding> FindBare(SourceFile source)
    {
        foreach (MemberAccessExpressionSyntax access in source.Syntax.DescendantNodes().OfType<MemberAccessExpressionSyntax>())
        {
            if (access.Expression.ToString() is not ("Console" or "System.Console")) continue;
            string name = access.Name.Identifier.Text;
            bool isStream = name is "Out" or "Error" or "OpenStandardOutput" or "OpenStandardError";
            if (!isStream && !name.StartsWith("Write", StringComparison.Ordinal)) continue;
            MemberAccessExpressionSyntax member = isStream && access.Parent is MemberAccessExpressionSyntax outer ? outer : access;
            if (member.Parent is InvocationExpressionSyntax { ArgumentList.Arguments: [{ Expression: InvocationExpressionSyntax made }] }
                && made.Expression.ToString().StartsWith("HarmlessText.", StringComparison.Ordinal)) continue;
            yield return new Finding(source.Path, $"writes to the console without HarmlessText: {member}");
        }
    }
}
