namespace Ambrosia.Tidy.Tests.Form;

/// <summary>
/// Analyzers keep clocks, chance, threads and files out of the core, and names in one style. A small project with the core's wiring is
/// built: clean code must pass and each planted fault must be refused.
/// </summary>
public sealed class AnalyzerTests
{
    private static readonly string[] s_core = ["Ambrosia.Protocol", "Ambrosia.Log", "CRA", "Ambrosia.Coordinator", "Ambrosia"];

    [Fact]
    public void Wiring_CoreProjects_AllExist() => Repository.AssertNone(
        s_core.Where(static name => Repository.Projects.All(project => project.Name != name))
            .Select(static name => $"{name}: no such project; is the name in Directory.Build.targets stale?"));

    [Fact]
    public void Wiring_BannedUsesAndNames_AreRefusedInTheCoreAndAllowedInPumps()
    {
        using var core = new PlantedProject("Ambrosia.Log");
        core.Write("Bad.cs", """
            namespace Planted;
            /// <summary>Everything that the core must not do.</summary>
            public static class Bad
            {
                public static System.DateTime Clock() => System.DateTime.UtcNow;
                public static System.Guid Chance() => System.Guid.NewGuid();
                public static System.Threading.Tasks.Task Thread() => System.Threading.Tasks.Task.Run(() => { });
                public static bool File() => System.IO.File.Exists("x");
            }
            """);
        core.Write("BadNames.cs", """
            namespace Planted;
            /// <summary>Names in every style but ours.</summary>
            public sealed class BadNames
            {
                private const int limitMax = 1;
                private static readonly int counts = limitMax;
                private static int _sum = counts;
                private readonly int bytes = _sum;
                private readonly int Left = _sum;
                public int Read() => bytes + Left;
            }
            """);
        core.Write("App/Pumps/Good.cs", """
            namespace Planted;
            /// <summary>What a pump may do, and names in our style.</summary>
            public sealed class Good
            {
                private const int LimitMax = 1;
                private static readonly int s_counts = LimitMax;
                private readonly int _bytes = s_counts;
                public void Wait() => System.Threading.Thread.Sleep(_bytes);
            }
            """);
        string output = core.Build();
        Assert.Equal([5, 6, 7, 8], LinesOf(output, "Bad.cs"));
        Assert.Equal([5, 6, 7, 8, 9], LinesOf(output, "BadNames.cs"));
        Assert.DoesNotContain("Good.cs(", output);
        core.Delete("Bad.cs");
        core.Delete("BadNames.cs");
        Assert.DoesNotContain("error", core.Build());
    }

    [Theory]
    [InlineData("Ambrosia.Client")]
    [InlineData("Ambrosia")]
    [InlineData("CRA")]
    public void Wiring_EncodersThatReplace_AreRefusedWhereIdentitiesAreMade(string project)
    {
        using var planted = new PlantedProject(project);
        planted.Write("Bad.cs", """
            namespace Planted;
            /// <summary>Makes one key of many texts.</summary>
            public static class Bad
            {
                public static byte[] One(string key) => System.Text.Encoding.UTF8.GetBytes(key);
                public static byte[] Two(string key) => new System.Text.UTF8Encoding(false).GetBytes(key);
                public static byte[] Three(string key) => System.Text.Encoding.ASCII.GetBytes(key);
                public static byte[] Good(string key) => new System.Text.UTF8Encoding(false, true).GetBytes(key);
            }
            """);
        Assert.Equal([5, 6, 7], LinesOf(planted.Build(), "Bad.cs"));
    }

    private static IEnumerable<int> LinesOf(string output, string file) =>
        Enumerable.Range(1, 20).Where(line => output.Contains($"/{file}({line},", StringComparison.Ordinal));
}
