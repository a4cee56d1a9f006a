using System.Globalization;
using Microsoft.CodeAnalysis;

namespace Ambrosia.Suspension.Tests;

/// <summary>
/// The real coordinator with an app that is compiled again: what <c>ambrosia suspended</c> says before is what the new build does. And an
/// app whose local cannot be written keeps its log and says which.
/// </summary>
public sealed class UpgradeTests : IDisposable
{
    private const string Source = """
        using System;
        using Ambrosia;
        namespace Demo;
        public interface INobody { [MethodId(1)] long Get(string what); }
        public interface IWaiting { [MethodId(1)] Call<long> Wait(string what); [MethodId(2)] Call<long> Idle(string what); }
        public sealed partial class Waiting : Immortal<IWaitingProxy>, IWaiting
        {
            private long ticks;
            protected override void OnFirstStart()
            {
                thisProxy.WaitFork("a");
                thisProxy.WaitFork("b");
                thisProxy.IdleFork("c");
                Every(TimeSpan.FromMilliseconds(20), Tick);
            }
            private void Tick()
            {
                if (++ticks % 5 == 0) RequestCheckpoint();
            }
            public async Call<long> Wait(string what)
            {
                INobodyProxy nobody = GetProxy<INobody>("nobody");
                /*local*/
                long got = await nobody.GetAsync(what);
                return got + 1 /*body*/;
            }
            public async Call<long> Idle(string what)
            {
                INobodyProxy nobody = GetProxy<INobody>("nobody");
                return await nobody.GetAsync(what) /*idle*/;
            }
            /*members*/
        }
        """;

    private readonly string _root = Directory.CreateTempSubdirectory("ambrosia-upgrade-").FullName;

    public void Dispose() => Directory.Delete(_root, recursive: true);

    [Fact]
    public void Build_IsJudgedBeforeTheUpgrade_AsItIsAtItsStart()
    {
        string log = Path.Combine(_root, "log");
        Build first = new(_root, "first", Source),
            moved = new(_root, "moved",
                Source.Replace("/*members*/", "private static int More(int x) => ((Func<int, int>)(y => y + x))(1); // more",
                    StringComparison.Ordinal));
        Build changed = new(_root, "changed", Source.Replace("got + 1 /*body*/", "got + 2", StringComparison.Ordinal));
        using (CoordinatorProcess process = new(log, first))
        {
            process.Await("ready ");
            process.Await("checkpoint ckpt.");
            process.Stop(); // nothing is left to execute again but what is suspended
        }

        Assert.Equal(0, ShapeProcess.RunTool(["suspended", log, "--build", first.Directory]).Code);
        Assert.Equal(0, ShapeProcess.RunTool(["suspended", log, "--build", moved.Directory]).Code);
        (int code, string said) = ShapeProcess.RunTool(["suspended", log, "--build", changed.Directory]);
        Assert.Equal(1, code);
        string refused = Assert.Single(said.Split('\n'), static line => line.Contains("suspended call", StringComparison.Ordinal));
        Assert.StartsWith("2 suspended calls of Demo.Waiting.Wait(string) at await #0 (now Shapes.cs:", refused, StringComparison.Ordinal);
        Assert.EndsWith(": its body changed", refused, StringComparison.Ordinal);

        using (CoordinatorProcess process = new(log, changed))
        {
            Assert.Equal(2, process.AwaitExit());
            Assert.Contains(process.Lines, line => line.Contains(refused, StringComparison.Ordinal)); // word for word
        }
        using (CoordinatorProcess process = new(log, moved))
        {
            process.Await("Continues ");
            process.Await("ready ");
        }
    }

    /// <summary>A view shows what the same build shows, and with another one begins where that one can, and says so.</summary>
    [Fact]
    public void View_WithABuildThatCannotContinueACheckpoint_BeginsBelowIt()
    {
        string log = Path.Combine(_root, "log");
        Build first = new(_root, "first", Source),
            changed = new(_root, "changed", Source.Replace("got + 1 /*body*/", "got + 2", StringComparison.Ordinal));
        for (int life = 0; life < 2; life++)
        {
            using CoordinatorProcess process = new(log, first, "Demo.Waiting", "--retain", "all");
            process.Await("ready ");
            process.Stop();
        }
        string newest = Path.GetFileName(Directory.GetFiles(log, "ckpt.*").MaxBy(PositionOf)!);

        (int code, string said) = ShapeProcess.Debug(log, first);
        Assert.True(code == 0, said);
        Assert.Contains($"from {newest} (", said, StringComparison.Ordinal);
        Assert.Contains("), 3 methods suspended, app version 1", said, StringComparison.Ordinal);
        Assert.Contains("; yours is the same", said, StringComparison.Ordinal);

        (code, said) = ShapeProcess.Debug(log, changed);
        Assert.True(code == 0, said);
        Assert.Contains(
            $"the app cannot begin with {newest}: this build cannot continue 1 sorts of suspended calls", said, StringComparison.Ordinal);
        Assert.Contains("it begins with the beginning of the log instead", said, StringComparison.Ordinal);
        Assert.Contains("from the beginning of the log, app version 1", said, StringComparison.Ordinal);
        Assert.Matches("; yours is [0-9a-f]{8}", said);
        Assert.Contains("the end of the log", said, StringComparison.Ordinal);

        string cut = Path.Combine(_root, "cut");
        Directory.CreateDirectory(cut);
        string oldest = Directory.GetFiles(log, "log.*").MinBy(PositionOf)!;
        foreach (string file in Directory.GetFiles(log, "log.*").Where(file => file != oldest).Append(newest).Append("instance"))
            File.Copy(Path.Combine(log, file), Path.Combine(cut, Path.GetFileName(file)));
        (code, said) = ShapeProcess.Debug(cut, changed);
        Assert.True(code == 2, said);
        Assert.Contains($"the app cannot begin with {newest}: ", said, StringComparison.Ordinal);
        Assert.Contains("nothing older is kept", said, StringComparison.Ordinal);
    }

    /// <summary>Returns the number that names a segment or a checkpoint.</summary>
    private static ulong PositionOf(string path) => ulong.Parse(Path.GetFileName(path).Split('.')[1], CultureInfo.InvariantCulture);

    [Fact]
    public void Local_ThatCannotBeWritten_IsNamedAndTheLogIsKept()
    {
        string log = Path.Combine(_root, "log");
        var build = new Build(_root, "stuck",
            Source.Replace("/*local*/", "var stream = new System.IO.MemoryStream();", StringComparison.Ordinal)
                .Replace("got + 1 /*body*/", "got + stream.Length", StringComparison.Ordinal));
        for (int life = 0; life < 2; life++)
        {
            using CoordinatorProcess process = new(log, build);
            process.Await("ready ");
            string line = process.Await("local 'stream'");
            Assert.Contains("local 'stream' of Demo.Waiting.Wait(string) at await #0", line, StringComparison.Ordinal);
            Assert.Contains("System.IO.MemoryStream cannot be written", line, StringComparison.Ordinal);
            Assert.DoesNotContain(process.Lines, static each => each.StartsWith("checkpoint ckpt.", StringComparison.Ordinal));
            string refused = process.Await("no checkpoint: local 'stream'");
            Assert.Contains(
                $"r0 publishes no checkpoint, since its app's state cannot be in one: {refused[refused.IndexOf("local 'stream'", StringComparison.Ordinal)..]}",
                ShapeProcess.RunTool(["status", "--catalog", Path.Combine(_root, "catalog")]).Said, StringComparison.Ordinal);
            process.Kill(); // the next life replays from the beginning: nothing was truncated
        }
        Assert.Empty(Directory.GetFiles(log, "ckpt.*"));
        Assert.Contains("There is no checkpoint", ShapeProcess.RunTool(["suspended", log, "--build", build.Directory]).Said,
            StringComparison.Ordinal);
    }

    /// <summary>Compiled and given the file that a build writes beside it.</summary>
    internal sealed class Build
    {
        public Build(string root, string name, string source)
        {
            Variant variant = Variant.Compile(root, name, source, OptimizationLevel.Release);
            ShapeProcess.RunContractFile(variant, Path.ChangeExtension(variant.File, ".suspend.json"));
            File = variant.File;
        }

        public string File { get; }

        public string Directory => Path.GetDirectoryName(File)!;
    }
}
