using Ambrosia.ContractFile;
using Microsoft.CodeAnalysis.Emit;

namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>
/// Each mistake that is judged in code without source, behind each way by which a package hides it, and each way from a handler to a
/// package: all are in one app and one package, and each is an error at the line of the handler's own code that leads there.
/// </summary>
public sealed class ForeignWayTests : IDisposable
{
    /// <summary>What gives another result in another process, whoever executes it.</summary>
    private static readonly (string Id, string Statement)[] s_mistakes =
    [
        ("AMB101", "_ = DateTime.UtcNow;"), ("AMB101", "_ = DateTimeOffset.Now;"), ("AMB101", "_ = DateTime.Today;"),
        ("AMB101", "_ = System.Diagnostics.Stopwatch.GetTimestamp();"), ("AMB101", "_ = Environment.TickCount64;"),
        ("AMB101", "_ = TimeProvider.System.GetUtcNow();"), ("AMB101", "_ = TimeZoneInfo.Local.Id;"),
        ("AMB102", "_ = new Random().Next();"), ("AMB102", "_ = Random.Shared.Next();"),
        ("AMB102", "_ = System.Security.Cryptography.RandomNumberGenerator.GetInt32(5);"),
        ("AMB103", "_ = Guid.NewGuid();"), ("AMB103", "_ = Guid.CreateVersion7();"),
        ("AMB104", "_ = Task.Run(Console.WriteLine);"), ("AMB104", "new Thread(() => { }).Start();"),
        ("AMB104", "_ = new Timer(Console.WriteLine);"), ("AMB104", "Parallel.For(0, 3, Console.WriteLine);"),
        ("AMB104", "Thread.Sleep(1);"),
        ("AMB104", "_ = Task.Delay(5);"), ("AMB104", "_ = ThreadPool.QueueUserWorkItem(Console.WriteLine);"),
        ("AMB106", "_ = System.IO.File.ReadAllText(\"a\");"), ("AMB106", "_ = new System.Net.Http.HttpClient();"),
        ("AMB106", "_ = Console.ReadLine();"), ("AMB106", "_ = Environment.MachineName;"), ("AMB106", "_ = System.Net.Dns.GetHostName();"),
        ("AMB106", "_ = Environment.GetEnvironmentVariable(\"a\");"), ("AMB106", "_ = Environment.ProcessorCount;"),
    ];

    /// <summary>The ways within the package: what the handler calls, and the package's code. {0} is the mistake, # its number.</summary>
    private static readonly (string Name, string Call, string Package)[] s_waysInside =
    [
        ("method", "Vendor.A#.Do();", "public static class A# { public static void Do() { {0} } }"),
        ("two calls", "Vendor.A#.Do();",
            "public static class A# { public static void Do() => B#.Second(); } static class B# { internal static void Second() { {0} } }"),
        ("lambda", "Vendor.A#.Do();", "public static class A# { public static void Do() { Action run = () => { {0} }; run(); } }"),
        ("captured", "Vendor.A#.Do(3);",
            "public static class A# { public static void Do(int a) { Action run = () => { Console.Write(a); {0} }; run(); } }"),
        ("extension method", "Vendor.A#.Do#(1);", "public static class A# { public static void Do#(this int a) { {0} } }"),
        ("property", "_ = new Vendor.A#().Age;", "public sealed class A# { public int Age { get { {0} return 1; } } }"),
        ("base class", "new Vendor.A#().Do();",
            "public abstract class B# { protected void Touch() { {0} } } public sealed class A# : B# { public void Do() => Touch(); }"),
        ("inherited", "new Vendor.A#().Do();", "public abstract class B# { public void Do() { {0} } } public sealed class A# : B#;"),
        ("constructor", "_ = new Vendor.A#();", "public sealed class A# { public A#() { {0} } }"),
        ("iterator", "foreach (int each in Vendor.A#.All()) { }",
            "public static class A# { public static IEnumerable<int> All() { {0} yield return 1; } }"),
        ("async", "_ = Vendor.A#.Do();", "public static class A# { public static async Task Do() { {0} } }"),
        ("generic", "Vendor.A#<int>.Do(1);", "public static class A#<T> { public static void Do<TOther>(TOther a) { {0} } }"),
        ("interface", "Vendor.A#.Do();",
            "public interface IPart# { void Do(); } sealed class Part# : IPart# { public void Do() { {0} } } public static class A# { private static readonly IPart# s_part = new Part#(); public static void Do() => s_part.Do(); }"),
        ("override", "Vendor.A#.Do();",
            "public abstract class B# { public abstract void Do(); } sealed class C# : B# { public override void Do() { {0} } } public static class A# { private static readonly B# s_part = new C#(); public static void Do() => s_part.Do(); }"),
    ];

    /// <summary>The ways from a handler to the package: its body, and what stands outside. {0} is the call that leads out.</summary>
    private static readonly (string Name, string Body, string Outside)[] s_waysThere =
    [
        ("handler", "{0}", ""),
        ("two calls", "A#.First();", "static class A# { internal static void First() => B#.Second(); } static class B# { internal static void Second() { {0} } }"),
        ("interface", "IPart# part = new Part#(); part.Do();",
            "interface IPart# { void Do(); } sealed class Part# : IPart# { public void Do() { {0} } }"),
        ("lambda", "Action run = () => { {0} }; run();", ""),
        ("local function", "Run(); void Run() { {0} }", ""),
        ("extension method", "1.Do#();", "static class Ext# { internal static void Do#(this int a) { {0} } }"),
        ("property", "_ = new Part#().Age;", "sealed class Part# { internal int Age { get { {0} return 1; } } }"),
        ("base class", "new Heir#().Do();",
            "abstract class Base# { protected void Touch() { {0} } } sealed class Heir# : Base# { internal void Do() => Touch(); }"),
        ("override", "Base# made = new Heir#(); made.Do();",
            "abstract class Base# { internal abstract void Do(); } sealed class Heir# : Base# { internal override void Do() { {0} } }"),
        ("constructor", "_ = new Part#();", "sealed class Part# { internal Part#() { {0} } }"),
        ("iterator", "foreach (int each in All#.Of()) { }",
            "static class All# { internal static IEnumerable<int> Of() {\n{0} yield return 1; } }"),
        ("suspended", "_ = Part#.Do();", "static class Part# { internal static async Call Do() { await default(Call); {0} } }"),
    ];

    private readonly string _folder = Directory.CreateTempSubdirectory("ambrosia-foreign-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Fact]
    public void Mistakes_OfAPackage_BehindEachWay_AreErrorsAtTheLinesThatLeadThere()
    {
        var app = new System.Text.StringBuilder();
        var package = new System.Text.StringBuilder("#pragma warning disable\nnamespace Vendor; using System.Threading;\n");
        List<(string Id, string Name)> planted = [];
        void Plant(string id, string name, string body, string outside, string call, string foreign, string statement)
        {
            string number = $"{planted.Count}";
            package.Append(foreign.Replace("#", number, StringComparison.Ordinal)
                .Replace("{0}", statement, StringComparison.Ordinal)).Append('\n');
            string line = $"\n{call} // planted {number}.\n";
            app.Append($"partial class X {{ public void Go#() {{ {body} }} }} {outside}".Replace("{0}", line, StringComparison.Ordinal)
                .Replace("#", number, StringComparison.Ordinal)).Append('\n');
            planted.Add((id, $"{name}: {statement}"));
        }

        foreach ((string name, string call, string foreign) in s_waysInside)
            foreach ((string id, string statement) in s_mistakes) Plant(id, name, "{0}", "", call, foreign, statement);
        foreach ((string name, string body, string outside) in s_waysThere)
            foreach ((string id, string statement) in s_mistakes.DistinctBy(static each => each.Id))
                Plant(id, $"from {name}", body, outside, s_waysInside[0].Call, s_waysInside[0].Package, statement);
        (string[] found, string[] lines) = Judge($$"""
            #pragma warning disable CS8321, CS1998
            namespace Demo;
            public interface IX { {{string.Concat(planted.Index().Select(static each => $"void Go{each.Index}(); "))}} }
            public partial class X : Immortal<IXProxy>, IX;
            {{app}}
            """, package.ToString());

        ILookup<string, string> ids = found.Select(each => each.Split('(', ',', ':')).ToLookup(
            part => lines[int.Parse(part[1], System.Globalization.CultureInfo.InvariantCulture) - 1].Split("// planted ")[^1].TrimEnd('.'),
            static part => part[3].Trim()["error ".Length..]);
        string[] missed = [.. planted.Index().Where(each => !ids[$"{each.Index}"].SequenceEqual([each.Item.Id]))
            .Select(each => $"{each.Item.Id} {each.Item.Name} -> {string.Join(", ", ids[$"{each.Index}"])}")];
        Assert.True(missed.Length == 0, string.Join('\n', missed));
        Assert.Equal(planted.Count, found.Length);
    }

    /// <summary>What leads there is looked for among what the app names and inherits, before the bodies of its methods are read.</summary>
    [Fact]
    public void Mistake_BehindOneWayAlone_IsAnError()
    {
        const string clock = "_ = DateTime.UtcNow;";
        IEnumerable<(string Name, string Body, string Outside, string Package)> ways =
        [
            .. s_waysInside.Select(static way => (way.Name, way.Call, "", way.Package)),
            ("interface of its own, inherited body", "IDo part = new Mine(); part.Do();",
                "interface IDo { void Do(); } sealed class Mine : Vendor.A, IDo;", "public class A { public virtual void Do() { {0} } }"),
            ("body of a foreign interface", "Vendor.IA part = new Mine(); part.Do();", "sealed class Mine : Vendor.IA;",
                "public interface IA { void Do() { {0} } }"),
        ];
        foreach ((string name, string body, string outside, string package) in ways)
        {
            (string[] found, _) = Judge($$"""
                namespace Demo;
                public interface IX { void Go(); }
                public partial class X : Immortal<IXProxy>, IX { public void Go() { {{body.Replace("#", "1", StringComparison.Ordinal)}} } }
                {{outside}}
                """, "#pragma warning disable\nnamespace Vendor;\n"
                + package.Replace("#", "1", StringComparison.Ordinal).Replace("{0}", clock, StringComparison.Ordinal));
            Assert.True(found is [var line] && line.Contains("error AMB101", StringComparison.Ordinal), $"{name}: {string.Join(", ", found)}");
        }
    }

    private (string[] Found, string[] Lines) Judge(string app, string package)
    {
        Generation vendor = Generation.OfAssembly("Vendor", package), demo = Generation.OfAssembly("Demo", app, vendor.AsReference());
        return ([.. ForeignCodeReport.Of([Emit(demo), Emit(vendor)], [])], demo.Input.SyntaxTrees[0].ToString().Split('\n'));
    }

    private string Emit(Generation generation)
    {
        string path = Path.Combine(_folder, $"{generation.Output.AssemblyName}.dll");
        using FileStream file = File.Create(path);
        EmitResult emitted = generation.Output.Emit(file, options: new EmitOptions(debugInformationFormat: DebugInformationFormat.Embedded));
        Assert.True(emitted.Success, string.Join('\n', emitted.Diagnostics));
        return path;
    }
}
