using System.Text.Json;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Suspension.Tests.Builds;

/// <summary>
/// An app of two assemblies, edited and compiled: its handlers reach code in every way that the document of a build has to follow. A
/// comment with a word marks the place of an edit.
/// </summary>
internal sealed class BuiltApp
{
    public const string Rules = """
        using System;
        using System.Collections.Generic;
        namespace Rules;
        public interface IFee { long Of(long amount); }
        public abstract class Fees : IFee { public abstract long Of(long amount); }
        public sealed class Flat : Fees { public override long Of(long amount) => 2 /*flat*/; }
        public static class Steps
        {
            public static long First(long x) => Second(x);
            private static long Second(long x) => x + 1 /*second*/;
        }
        public static class Limits
        {
            public static long Max;
            static Limits() => Max = 100 /*limit*/;
        }
        public sealed class ByLast : IComparer<long>
        {
            public int Compare(long x, long y) => (x % 10).CompareTo(y % 10 /*last*/);
        }
        public enum Size { Small = 1, Big = 5 /*size*/ }
        public static class Unused { public static long Alone() => 7 /*unused*/; }
        file static class Local { public static Func<long> Delayed(long x) => () => x; }
        public static class Outer { public static long Of(long x) => Local.Delayed(x)(); }
        """;

    public const string Demo = """
        using System;
        using System.Collections.Generic;
        using System.Linq;
        using Ambrosia;
        using Rules;
        namespace Demo;
        [AttributeUsage(AttributeTargets.All)]
        public sealed class NoteAttribute(string text) : Attribute { public string Text => text; }
        public interface IShop
        {
            [MethodId(1)] long Plain(long x);
            [MethodId(2)] long Helped(long x);
            [MethodId(3)] long Charged(long x);
            [MethodId(4)] long Chosen(long[] all);
            [MethodId(5)] Call<long> Later(long x);
            [MethodId(6)] long Limited(long x);
            [MethodId(7)] [ImpulseHandler] void Poke(long x);
            [MethodId(8)] void Store(long by);
            [MethodId(9)] long RunStored(long x);
            [MethodId(10)] long Sorted(long x);
            [MethodId(11)] Call<long> Twice(long x);
            [MethodId(12)] Call<long> Twice2(string x);
            [MethodId(13)] string Dressed(long x);
            [MethodId(14)] long Reflected(long x);
            [Query] long Asked();
            /*contract*/
        }
        [Note("clerk")]
        public sealed class Clerk
        {
            public long Money;
            public Size Size;
            public string Name { get; set; } = "";
            private long Hidden() => 9 /*hidden*/;
            /*fields*/
        }
        public sealed partial class Shop : Immortal<IShopProxy>, IShop
        {
            private readonly Clerk _clerk = new();
            private readonly IFee _fee = new Flat();
            private readonly SortedSet<long> _sorted = new(new ByLast());
            private Func<long, long>? _stored;
            private long _start = 5 /*initial*/;
            protected override void OnFirstStart() => _clerk.Money = 10 /*first*/;
            public long Plain(long x)
            {
                long amount = x * 2 /*plain*/;
                return _clerk.Money += amount;
            }
            public long Helped(long x) => Steps.First(x) + _start;
            public long Charged(long x) => x - _fee.Of(x);
            public long Chosen(long[] all) => Array.Exists(all, each => each > 3 /*chosen*/) ? 1 : 0;
            public async Call<long> Later(long x)
            {
                long before = x + 1;
                await Delay(TimeSpan.FromSeconds(1));
                return before * 3 /*later*/;
            }
            public long Limited(long x) => Math.Min(x, Limits.Max);
            public void Poke(long x) => thisProxy.PlainFork(x /*poke*/);
            public void Store(long by) => _stored = x => x + by /*stored*/;
            public long RunStored(long x) => _stored!(x);
            public long Sorted(long x) { _sorted.Add(x); return _sorted.Min; }
            public Call<long> Twice(long x) => Both(x);
            public Call<long> Twice2(string x) => Both(x);
            private async Call<long> Both(long x) { await Delay(TimeSpan.Zero); return 1; }
            private async Call<long> Both(string x) { await Delay(TimeSpan.Zero); return 2; }
            public string Dressed(long x)
            {
                string Dress(long y) => $"<{y}>" /*dress*/;
                return Dress(x);
            }
            public long Reflected(long x) => Find(_clerk) + x;
            [System.Runtime.CompilerServices.UnsafeAccessor(System.Runtime.CompilerServices.UnsafeAccessorKind.Method, Name = "Hidden")]
            private static extern long Find(Clerk clerk);
            public long Asked() => _clerk.Money /*asked*/;
            private long Unrelated(long x) { Func<long, long> f = y => y + x; return f(1) /*unrelated*/; }
            /*members*/
        }
        """;

    /// <summary>Two overloads, whose machines have one name but for the ordinal.</summary>
    public const string TwoBodies =
        "private async Call<long> Both(long x) { await Delay(TimeSpan.Zero); return 1; }\n    private async Call<long> Both(string x) { await Delay(TimeSpan.Zero); return 2; }";

    public static readonly string TwoBodiesSwapped = TwoBodies.Replace("return 1", "return 3", StringComparison.Ordinal)
        .Replace("return 2", "return 1", StringComparison.Ordinal).Replace("return 3", "return 2", StringComparison.Ordinal);

    private const string Stamp = """
        [assembly: System.Reflection.AssemblyInformationalVersion("1.0.0+SHA")]
        [assembly: System.Reflection.AssemblyFileVersion("1.0.0.BUILD")]
        [assembly: System.Reflection.AssemblyVersion("1.BUILD.0.0")]
        [assembly: System.Reflection.AssemblyMetadata("RepositoryUrl", "https://example.org/SHA")]
        """;

    private BuiltApp(string[] files) => Files = files;

    /// <summary>The files of its assemblies, with the binding's.</summary>
    public IReadOnlyList<string> Files { get; }

    /// <param name="edits">What becomes of which text. Each text must have one place in one of the two sources.</param>
    public static BuiltApp Compile(
        string root, string name, (string From, string To)[] edits, string commit = "a1",
        OptimizationLevel level = OptimizationLevel.Release)
    {
        var inRules = edits.Where(static edit => Rules.Contains(edit.From, StringComparison.Ordinal)).ToArray();
        string stamp = Stamp.Replace("SHA", commit, StringComparison.Ordinal)
            .Replace("BUILD", $"{commit.Length}", StringComparison.Ordinal) + "\n";
        Variant rules = Variant.Compile(root, name, Stamped(Variant.Edit(Rules, inRules), stamp), level, "Rules");
        Variant demo = Variant.Compile(
            root, name, Stamped(Variant.Edit(Demo, [.. edits.Except(inRules)]), stamp), level, "Demo", rules);
        return new BuiltApp([demo.File, rules.File, .. new[] { "Ambrosia", "Ambrosia.AppChannel", "Ambrosia.Protocol" }
            .Select(static each => Path.Combine(AppContext.BaseDirectory, $"{each}.dll"))]);
    }

    public BuildFacts Read()
    {
        using JsonDocument document = JsonDocument.Parse(Ambrosia.Builds.BuildReader.Read(Files).ToJson());
        JsonElement root = document.RootElement;
        return new BuildFacts(
            Text(root, "build"), Text(root, "outside"), Text(root, "first"), Text(root, "resumed"),
            root.GetProperty("methods").EnumerateArray()
                .ToDictionary(static each => each.GetProperty("id").GetUInt32(), static each => Text(each, "hash")));
    }

    /// <summary>Attributes of an assembly stand behind the usings and before everything else.</summary>
    private static string Stamped(string source, string stamp)
    {
        int at = source.IndexOf("namespace ", StringComparison.Ordinal);
        return source[..at] + stamp + source[at..];
    }

    private static string Text(JsonElement element, string name) => element.GetProperty(name).GetString()!;
}

/// <summary>What a document says.</summary>
internal sealed record BuildFacts(string Build, string Outside, string First, string Resumed, Dictionary<uint, string> Methods)
{
    /// <summary>
    /// Names what differs: <c>build</c>, <c>outside</c>, <c>first</c>, <c>resumed</c>, and ids of methods, of which * are all.
    /// </summary>
    public string DifferenceTo(BuildFacts other)
    {
        List<string> changed = [];
        if (Build != other.Build) changed.Add("build");
        if (Outside != other.Outside) changed.Add("outside");
        if (First != other.First) changed.Add("first");
        if (Resumed != other.Resumed) changed.Add("resumed");
        uint[] methods = [.. Methods.Keys.Union(other.Methods.Keys).Order()
            .Where(id => Methods.GetValueOrDefault(id) != other.Methods.GetValueOrDefault(id))];
        if (methods.Length == Methods.Count) changed.Add("*");
        else changed.AddRange(methods.Select(static id => $"{id}"));
        return string.Join(' ', changed);
    }
}
