using Microsoft.CodeAnalysis;

namespace Ambrosia.Suspension.Tests;

/// <summary>
/// Real coordinators, and ten methods that are edited while calls are suspended in them: with their old bodies kept the new build goes on
/// where the old one stopped, on two replicas.
/// </summary>
public sealed class KeptUpgradeTests : IDisposable
{
    private const string Immortal = "Demo.Ten", Other = "Demo.Oracle";

    /// <summary>Every handler waits until a file is there. GATE is its path.</summary>
    private const string Source = """
        using System;
        using System.Collections.Generic;
        using System.IO;
        using System.Linq;
        using System.Threading.Tasks;
        using Ambrosia;
        namespace Demo;
        public interface IOracle { [MethodId(1)] Call<long> Get(string what); }
        public sealed partial class Oracle : Immortal<IOracleProxy>, IOracle
        {
            public async Call<long> Get(string what) { await NondetTask(Gate.Open); return what.Length; }
        }
        public static class Gate
        {
            public static async Task<string> Open()
            {
                while (!File.Exists("GATE")) await Task.Delay(20);
                return "open";
            }
        }
        public interface ITen
        {
            [MethodId(1)] Call Timer(string tag); [MethodId(2)] Call Peer(string tag); [MethodId(3)] Call Task(string tag);
            [MethodId(4)] Call All(string tag); [MethodId(5)] Call Any(string tag); [MethodId(6)] Call Loop(string tag);
            [MethodId(7)] Call Finally(string tag); [MethodId(8)] Call Nested(string tag); [MethodId(9)] Call Closure(string tag);
            [MethodId(10)] Call Generic(string tag); [MethodId(11)] Call OpenTimer();
        }
        public sealed partial class Ten : Immortal<ITenProxy>, ITen
        {
            private readonly IOracleProxy _oracle;
            private bool _isOpen, _hasAskedAgain;
            private int _begun, _done, _ticks;
            public Ten() => _oracle = GetProxy<IOracle>("oracle");
            protected override void OnFirstStart()
            {
                thisProxy.OpenTimerFork();
                Ask("old");
                Every(TimeSpan.FromMilliseconds(20), Tick);
            }
            private void Tick()
            {
                /*tick*/
                if (++_ticks % 5 == 0) RequestCheckpoint();
            }
            private void Ask(string tag)
            {
                thisProxy.TimerFork(tag); thisProxy.PeerFork(tag); thisProxy.TaskFork(tag); thisProxy.AllFork(tag); thisProxy.AnyFork(tag);
                thisProxy.LoopFork(tag); thisProxy.FinallyFork(tag); thisProxy.NestedFork(tag); thisProxy.ClosureFork(tag); thisProxy.GenericFork(tag);
            }
            private void Begin() { if (++_begun % 10 == 0) Console.WriteLine($"begun {_begun}"); }
            private void Done(string what) { Console.WriteLine($"done {what}"); if (++_done == 20) Console.WriteLine("all done"); }
            public async Call OpenTimer() { await NondetTask(Gate.Open); _isOpen = true; }
            public async Call Timer(string tag)
            {
                Begin();
                int turns = 0;
                while (!_isOpen) { await Delay(TimeSpan.FromMilliseconds(50)); turns++; }
                Done("timer " + tag + (turns > 0 ? " one" : " at once"));
            }
            public async Call Peer(string tag)
            {
                Begin();
                Done("peer " + tag + " one " + await _oracle.GetAsync("peer"));
            }
            public async Call Task(string tag)
            {
                Begin();
                string got = await NondetTask(async () => await Gate.Open() + " " + tag);
                Done("task " + tag + " one " + got);
            }
            public async Call All(string tag)
            {
                Begin();
                long[] all = await Call.WhenAll(_oracle.GetAsync("a"), _oracle.GetAsync("bb"));
                Done("all " + tag + " one " + all.Sum());
            }
            public async Call Any(string tag)
            {
                Begin();
                Call<long> first = await Call.WhenAny(_oracle.GetAsync("any"), _oracle.GetAsync("all"));
                Done("any " + tag + " one " + await first);
            }
            public async Call Loop(string tag)
            {
                Begin();
                long sum = 0;
                foreach (string key in new List<string> { "x", "yy", "zzz" }) sum += await _oracle.GetAsync(key) * 1;
                Done("loop " + tag + " one " + sum);
            }
            public async Call Finally(string tag)
            {
                Begin();
                string text = "";
                try
                {
                    try { text += await _oracle.GetAsync("try"); throw new InvalidOperationException("one"); }
                    finally { text += await _oracle.GetAsync("finally"); }
                }
                catch (InvalidOperationException e) { text += e.Message; }
                Done("finally " + tag + " " + text);
            }
            public async Call Nested(string tag)
            {
                Begin();
                Done("nested " + tag + " " + await Deep(3));
            }
            private async Call<string> Deep(int depth)
            {
                string inner = depth > 0 ? await Deep(depth - 1) : "" + await _oracle.GetAsync("deep");
                return inner + " one";
            }
            public async Call Closure(string tag)
            {
                Begin();
                long sum = 0;
                Func<long, string> show = value => tag + " one " + (sum += value);
                async Call<string> Inner(string key) { sum += await _oracle.GetAsync(key); return show(1); }
                Func<string, Call<string>> ask = async key => await Inner(key) + show(await _oracle.GetAsync(key));
                Done("closure " + await ask("key"));
            }
            public async Call Generic(string tag)
            {
                Begin();
                Done("generic " + tag + " " + await Of(7, new List<int>()));
            }
            private async Call<string> Of<T>(T value, List<T> more)
            {
                more.Add(value);
                Func<T, string> text = each => each + "!" + value;
                long got = await _oracle.GetAsync("of");
                return typeof(T).Name + string.Concat(more.Select(text)) + got + " one";
            }
        }
        """;

    /// <summary>One edit of each of the ten methods, two of which are helpers.</summary>
    private static readonly (string From, string To)[] s_edits =
    [
        ("(turns > 0 ? \" one\" : \" at once\")", "(turns > 0 ? \" two\" : \" at once\")"),
        ("Done(\"peer \" + tag + \" one \" +", "Done(\"peer \" + tag + \" two \" +"),
        ("Done(\"task \" + tag + \" one \" + got);", "await Delay(TimeSpan.Zero); Done(\"task \" + tag + \" two \" + got);"),
        ("Done(\"all \" + tag + \" one \" + all.Sum());", "Done(\"all \" + tag + \" two \" + all.Length);"),
        ("Done(\"any \" + tag + \" one \" + await first);", "Done(\"any \" + tag + \" two\");"),
        ("sum += await _oracle.GetAsync(key) * 1;", "sum += await _oracle.GetAsync(key) * 2;"),
        ("throw new InvalidOperationException(\"one\");", "throw new InvalidOperationException(\"two\");"),
        ("return inner + \" one\";", "return inner + \" two\";"),
        ("show = value => tag + \" one \"", "show = value => tag + \" two \""),
        ("+ got + \" one\";", "+ got + \" two\";"),
    ];

    private static readonly string[] s_finished =
    [
        "timer old one", "peer old one 4", "task old one open old", "all old one 3", "any old one 3", "loop old one 6", "finally old 37one",
        "nested old 4 one one one one", "closure old one 4old one 7", "generic old Int327!72 one",
        "timer new two", "peer new two 4", "task new two open new", "all new two 2", "any new two", "loop new one 12", "finally new 37two",
        "nested new 4 two two two two", "closure new two 4new two 7", "generic new Int327!72 two",
    ];

    private readonly string _root = Directory.CreateTempSubdirectory("ambrosia-kept-").FullName;
    private readonly string _log, _gate;

    public KeptUpgradeTests() => (_log, _gate) = (Path.Combine(_root, "ten"), Path.Combine(_root, "gate"));

    public void Dispose() => Directory.Delete(_root, recursive: true);

    [Fact]
    public void TenChangedMethods_WithTheirOldBodiesKept_AllFinishAndNewCallsRunTheNewOnes()
    {
        UpgradeTests.Build first = new(_root, "first", FirstSource), changed = new(_root, "changed", Variant.Edit(AskingSource, s_edits)),
            kept = new(_root, "kept", Keeping.Edit(AskingSource, s_edits));
        using CoordinatorProcess oracle = new(Path.Combine(_root, "oracle"), first, Other);
        Suspend(first);
        AssertRefused(changed);
        AssertJudged(kept);
        using CoordinatorProcess r1 = GoOn(kept);
        using CoordinatorProcess r0 = new(_log, kept, Immortal, "--replica", "r0"); // it begins with an image that kept bodies are in
        r0.Await("Continues ");
        File.WriteAllText(_gate, "");
        foreach (CoordinatorProcess replica in (CoordinatorProcess[])[r1, r0])
        {
            replica.Await("all done");
            AssertFinished(replica);
        }
        r0.Stop();
        r1.Stop();
        foreach (CoordinatorProcess replica in (CoordinatorProcess[])[r1, r0])
            Assert.DoesNotContain(replica.Lines, static line => line.Contains("differs", StringComparison.Ordinal));
    }

    /// <summary>The new build is a new version: its app takes over what the old one, beside it, has converted.</summary>
    [Fact]
    public void Upgrade_ToAVersionThatKeepsTheOldBodies_CarriesWhatIsSuspendedAcross()
    {
        const string declared = "public sealed partial class Ten";
        UpgradeTests.Build first = new(_root, "first", FirstSource), kept = new(_root, "kept",
            Variant.Edit(Keeping.Edit(AskingSource, s_edits), (declared, $"[AppVersion(2)] {declared}")));
        using CoordinatorProcess oracle = new(Path.Combine(_root, "oracle"), first, Other);
        Suspend(first);
        string app = Path.Combine(AppContext.BaseDirectory, "Ambrosia.Suspension.App.dll");
        using CoordinatorProcess process = new(_log, kept, Immortal, "--replica", "v2", "--upgrade-to", "2", "--old-app",
            $"dotnet {app} run {first.File} {Immortal}");
        process.Await("begun 20");
        File.WriteAllText(_gate, "");
        process.Await("all done");
        AssertFinished(process);
        process.Stop();
    }

    private string FirstSource => Source.Replace("GATE", _gate, StringComparison.Ordinal);

    /// <summary>It calls everything once more when it begins.</summary>
    private string AskingSource =>
        Variant.Edit(FirstSource, ("/*tick*/", "if (!_hasAskedAgain) { _hasAskedAgain = true; Ask(\"new\"); }"));

    /// <summary>The old build stops with its checkpoint when calls are suspended in all ten methods.</summary>
    private void Suspend(UpgradeTests.Build first)
    {
        using CoordinatorProcess process = new(_log, first, Immortal);
        process.Await("begun 10");
        process.Stop();
    }

    private static void AssertFinished(CoordinatorProcess replica) => Assert.Equal(s_finished.Order(), replica.Lines
        .Where(static line => line.StartsWith("done ", StringComparison.Ordinal)).Select(static line => line["done ".Length..]).Order());

    /// <summary>
    /// Two replicas go on with the new build, and the first one dies when both kinds of bodies are in checkpoints: returns the other, which
    /// is primary then. Where the images of two differ, a line says so, and the one that is a secondary ends.
    /// </summary>
    private CoordinatorProcess GoOn(UpgradeTests.Build kept)
    {
        using CoordinatorProcess r0 = new(_log, kept, Immortal, "--replica", "r0");
        r0.Await("begun 20");
        Assert.Equal(10, r0.Lines.Count(static line => line.Contains(", which has ", StringComparison.Ordinal)));
        CoordinatorProcess r1 = new(_log, kept, Immortal, "--replica", "r1");
        r1.Await("Continues ");
        r1.Await("checkpoint ckpt.");
        Assert.DoesNotContain(r0.Lines.Concat(r1.Lines), static line => line.Contains("differs", StringComparison.Ordinal));
        Assert.DoesNotContain(r0.Lines, static line => line.StartsWith("done ", StringComparison.Ordinal));
        r0.Kill();
        r1.Await("ready ");
        return r1;
    }

    private void AssertRefused(UpgradeTests.Build changed)
    {
        (int code, string said) = ShapeProcess.RunTool(["suspended", _log, "--build", changed.Directory]);
        Assert.Equal(1, code);
        Assert.Contains("keep the old body beside the new one, in a private method of the same class under [Formerly(nameof(X))]", said,
            StringComparison.Ordinal);
        using CoordinatorProcess process = new(_log, changed, Immortal);
        Assert.Equal(2, process.AwaitExit());
        process.Await("keep the old body beside the new one");
        process.Await("suspended call of Demo.Ten.Peer(string) at await #0");
    }

    /// <summary>What the tools say is what the app does.</summary>
    private void AssertJudged(UpgradeTests.Build kept)
    {
        (int code, string said) = ShapeProcess.RunTool(["suspended", _log, "--build", kept.Directory]);
        Assert.True(code == 0, said);
        Assert.Contains("1 suspended call of Demo.Ten.Timer(string) goes on in Demo.Ten.TimerBefore(string), which has its body.",
            said, StringComparison.Ordinal);
        Assert.Contains("4 suspended calls of Demo.Ten.Deep(int) go on in Demo.Ten.DeepBefore(int), which has their body.", said,
            StringComparison.Ordinal);
        Assert.Equal(10, said.Split('\n').Count(static line => line.Contains(", which has ", StringComparison.Ordinal)));
        string json = ShapeProcess.RunTool(["upgrade", "check", _log, "--build", Whole(kept), "--json"]).Said;
        Assert.Contains("\"suspended\":[]", json.Replace(" ", "", StringComparison.Ordinal), StringComparison.Ordinal);
        Assert.Contains("TimerBefore(string)", json, StringComparison.Ordinal);
    }

    /// <summary>Returns the directory of a build with all that it runs with.</summary>
    private string Whole(UpgradeTests.Build build)
    {
        string whole = Directory.CreateDirectory(Path.Combine(_root, "whole")).FullName;
        string[] binding = ["Ambrosia.dll", "Ambrosia.Protocol.dll", "Ambrosia.AppChannel.dll"];
        foreach (string file in Directory.GetFiles(build.Directory)
            .Concat(binding.Select(static name => Path.Combine(AppContext.BaseDirectory, name))))
            File.Copy(file, Path.Combine(whole, Path.GetFileName(file)));
        return whole;
    }
}
