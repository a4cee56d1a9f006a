using Ambrosia.ContractFile;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.Emit;

namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>
/// What a handler executes in a package is found in the IL of the assemblies that run, at the line of the handler that calls it, where the
/// analyzers see no source.
/// </summary>
public sealed class ForeignCodeTests : IDisposable
{
    private const string Package = """
        namespace Vendor;
        public static class Clock
        {
            public static long Stamp() => Inner();
            private static long Inner() => DateTime.UtcNow.Ticks;
            public static IEnumerable<int> Numbers() { yield return 1; }
            public static async Task<string> Fetch() { await Task.Yield(); return System.IO.File.ReadAllText("a"); }
            public static int Cached(string key) { lock (s_cache) return s_cache.TryGetValue(key, out int known) ? known
                : s_cache[key] = key.Length; }
            private static readonly Dictionary<string, int> s_cache = [];
            [Deterministic] public static long Trusted() => DateTime.UtcNow.Ticks;
        }
        public class Stamped { public Guid Id { get; } = Guid.NewGuid(); }
        """;

    private readonly string _folder = Directory.CreateTempSubdirectory("ambrosia-foreign-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Theory]
    [InlineData("AMB101", "DateTime.UtcNow", "Shop.Go → Clock.Stamp → Clock.Inner", "public void Go() => Vendor.Clock.Stamp(); // here")]
    [InlineData("AMB101", "DateTime.UtcNow", "Shop.Go → Shop.Deep → Clock.Stamp → Clock.Inner",
        "public void Go() => Deep();\nprivate void Deep() => Vendor.Clock.Stamp(); // here")]
    [InlineData("AMB103", "Guid.NewGuid", "Shop.Go → new Stamped()", "public void Go() => _ = new Vendor.Stamped(); // here")]
    [InlineData("AMB101", "DateTime.UtcNow", "Shop.Go → Clock.Stamp → Clock.Inner",
        "public void Go() { Func<long> read = () => Vendor.Clock.Stamp(); read(); } // here")]
    [InlineData("AMB101", "DateTime.UtcNow", "Shop.Go → Shop.Later → Clock.Stamp → Clock.Inner",
        "public void Go() => _ = Later();\nprivate async Call Later() { await Delay(TimeSpan.Zero); Vendor.Clock.Stamp(); } // here")]
    [InlineData("AMB101", "DateTime.UtcNow", "Shop.GoOfMay → Clock.Stamp → Clock.Inner",
        "public void Go() { }\n[Formerly(nameof(Go))] private void GoOfMay() => Vendor.Clock.Stamp(); // here")]
    [InlineData("AMB106", "File.ReadAllText", "Shop.Go → Clock.Fetch", "public void Go() => _ = Vendor.Clock.Fetch(); // here")]
    public void Method_OfAPackage_IsReportedAtTheCallThatLeadsThere(string rule, string what, string way, string handler)
    {
        (string[] found, string source) = Judge(handler);

        string line = Assert.Single(found, each => each.Contains(rule, StringComparison.Ordinal));
        int marked = source.Split('\n').ToList().FindIndex(static each => each.Contains("// here", StringComparison.Ordinal)) + 1;
        Assert.StartsWith($"Demo.cs({marked},", line, StringComparison.Ordinal);
        Assert.Contains($"error {rule}: {what} is no function of the log. It is executed by {way}, in another assembly. Use ", line,
            StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("public void Go() => NondetTask(() => Vendor.Clock.Stamp());")]
    [InlineData("public void Go() => NondetTask(context => Vendor.Clock.Stamp(), new NondetOptions { Attempts = 3 });")]
    [InlineData("public void Go() => NondetTask(Vendor.Clock.Stamp);")]
    [InlineData("public void Go() { } protected override void BecomingPrimary() => Vendor.Clock.Stamp();")]
    [InlineData("public void Go() { foreach (int a in Vendor.Clock.Numbers()) Console.Write(a); }")]
    [InlineData("public void Go() => Vendor.Clock.Cached(\"a\");")]
    [InlineData("public void Go() => Vendor.Clock.Trusted();")]
    [InlineData("public void Go() => Console.Write(DateTime.UtcNow.Ticks);")] // of its own assembly: the analyzers report it
    public void Method_OfAPackage_ThatIsFine_IsNotReported(string handler) => Assert.Empty(Judge(handler).Found);

    [Fact]
    public void Package_ThatIsTrusted_IsNotReported() => Assert.Empty(Judge("public void Go() => Vendor.Clock.Stamp();", "Vendor").Found);

    /// <summary>A build opens what has changed since the last one, and what has to be followed; the result is the same.</summary>
    [Fact]
    public void Assemblies_ThatWereSeen_AreNotOpenedAgain()
    {
        Generation package = Generation.OfAssembly("Vendor", Package), plain = Generation.OfAssembly("Plain", "public class A { public int B; }");
        Generation app = Generation.OfAssembly("Demo", """
            namespace Demo;
            public interface IShop { void Go(); }
            public partial class Shop : Immortal<IShopProxy>, IShop { public void Go() => _ = Vendor.Clock.Stamp() + new A().B; }
            """, package.AsReference(), plain.AsReference());
        string[] paths = [Emit(app), Emit(package), Emit(plain)];
        string seen = Path.Combine(_folder, "seen.txt");
        var first = new ForeignAssemblies(seen);

        Assert.Equal(paths[..2], first.Followed(paths, []));
        Assert.Equal(3, first.Opened);
        var second = new ForeignAssemblies(seen);
        Assert.Equal(paths[..2], second.Followed(paths, []));
        Assert.Equal(0, second.Opened);
        Assert.Equal(ForeignCodeReport.Of(paths, []), ForeignCodeReport.Of(paths, [], seen));
        Assert.Single(ForeignCodeReport.Of(paths, [], seen));

        Emit(Generation.OfAssembly("Plain", "public class A { public long B => DateTime.UtcNow.Ticks; }"));
        var third = new ForeignAssemblies(seen);
        Assert.Equal(paths, third.Followed(paths, []));
        Assert.Equal(1, third.Opened);
    }

    [Fact]
    public void Assemblies_ThatLeadToOne_AreFollowedWithIt()
    {
        Generation package = Generation.OfAssembly("Vendor", Package);
        Generation middle = Generation.OfAssembly("Middle", "public static class M { public static long Do() => Vendor.Clock.Stamp(); }",
            package.AsReference());
        Generation app = Generation.OfAssembly("Demo", """
            namespace Demo;
            public interface IShop { void Go(); }
            public partial class Shop : Immortal<IShopProxy>, IShop { public void Go() => _ = M.Do(); }
            """, package.AsReference(), middle.AsReference());

        string line = Assert.Single(ForeignCodeReport.Of([Emit(app), Emit(middle), Emit(package)], []));

        Assert.Contains("Shop.Go → M.Do → Clock.Stamp → Clock.Inner", line, StringComparison.Ordinal);
        Assert.Empty(ForeignCodeReport.Of([Emit(app), Emit(middle), Emit(package)], ["Middle"]));
    }

    private (string[] Found, string Source) Judge(string handler, params string[] trusted)
    {
        Generation package = Generation.OfAssembly("Vendor", Package);
        Generation app = Generation.OfAssembly("Demo", $$"""
            #pragma warning disable CS8321
            namespace Demo;
            public interface IShop { void Go(); }
            public partial class Shop : Immortal<IShopProxy>, IShop
            {
                {{handler}}
            }
            """, package.AsReference());
        string[] paths = [Emit(app), Emit(package)];
        return ([.. ForeignCodeReport.Of(paths, trusted)], app.Input.SyntaxTrees[0].ToString());
    }

    private string Emit(Generation generation)
    {
        string path = Path.Combine(_folder, $"{generation.Output.AssemblyName}.dll");
        using FileStream file = File.Create(path);
        EmitResult emitted = generation.Output.Emit(file, options: new EmitOptions(
            debugInformationFormat: DebugInformationFormat.Embedded));
        Assert.True(emitted.Success, string.Join('\n', emitted.Diagnostics));
        return path;
    }
}
