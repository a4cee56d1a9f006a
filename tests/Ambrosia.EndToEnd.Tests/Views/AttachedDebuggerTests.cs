using System.Diagnostics;
using System.Globalization;
using Ambrosia.EndToEnd.Tests.Debugger;
using Ambrosia.TestKit;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// The past of a service under a real debugger, which is attached to the app: it breaks before the message that was asked for, a step from
/// there is in the user's handler, and it stays attached wherever the console sends the app.
/// </summary>
public sealed class AttachedDebuggerTests : IDisposable
{
    private const int WalksOfARelease = 1_000;

    /// <summary>A step is one instruction, where no symbols say which belong together.</summary>
    private const int StepsInAConstructorMax = 40;

    private readonly Cluster _cluster = new();
    private readonly Replica _diary;

    public AttachedDebuggerTests()
    {
        _diary = _cluster.Add("diary", "diary");
        _diary.App = Executables.DebuggedApp;
        _diary.Start();
        _diary.AwaitLine("its last page", static line => line == "the diary is full");
        Signals.Terminate(_diary.Coordinator.Id);
        _diary.AwaitExit();
    }

    public void Dispose() => _cluster.Dispose();

    [DebuggerFact]
    public void Step_FromTheStop_LandsInTheHandler() => _cluster.Run(Cluster.Again(nameof(Step_FromTheStop_LandsInTheHandler)), () =>
    {
        using var view = new DebuggedView(_diary.LogDirectory, "method:Write#20", _cluster.Root);
        for (int left = 40, from = 0; left > 0; left--)
        {
            view.Debugger.Await(StopKind.Break);
            DiaryMessage before = view.AwaitStop(from);
            from = view.LineCount;
            StepInto(before, view);
            if (left == 40) Assert.Equal(("Write", 3_040), (before.Handler, before.Number));
            view.Debugger.GoOn();
        }
        view.AssertOneProcess();
    });

    /// <summary>
    /// The console sends the app to and fro while the debugger holds it, and its user goes on. Each place is reached with its break, and
    /// the process is one and the same.
    /// </summary>
    [DebuggerFact]
    public void Walks_UnderADebugger_BreakWhereTheyEndAndStayInTheProcess()
    {
        var chance = new Chance();
        _cluster.Run(chance.Again(nameof(Walks_UnderADebugger_BreakWhereTheyEndAndStayInTheProcess)), () =>
        {
            DiaryMessage[] messages = Messages();
            using var view = new DebuggedView(_diary.LogDirectory, messages[0].Place, _cluster.Root, "--console");
            view.Debugger.Await(StopKind.Break);
            StepInto(messages[0], view);
            int at = 0;
            for (int left = TestScale.Rounds(WalksOfARelease); left > 0; left--)
            {
                if (at + 1 < messages.Length && chance.Below(3) == 0) GoOnTo(messages[++at], view);
                else WalkTo(messages[at = WithArgument(messages, chance)], view);
                view.AssertOneProcess();
            }
        });
    }

    /// <summary>Goes on where the debugger stands, so that it breaks before the next message.</summary>
    private static void GoOnTo(DiaryMessage next, DebuggedView view)
    {
        view.Debugger.GoOn();
        view.Debugger.Await(StopKind.Break);
        StepInto(next, view);
    }

    /// <summary>
    /// Asks the console for a place, and goes on. What the debugger has held is done first, so a step may land on the way: in the next
    /// handler, or in what begins another session; and it goes on message by message until the console has found the place.
    /// </summary>
    private static void WalkTo(DiaryMessage goal, DebuggedView view)
    {
        const int stepsOnTheWayMax = 500;
        int from = view.LineCount;
        view.Tell($"to {goal.Place}");
        for (int left = stepsOnTheWayMax; ; left--)
        {
            view.Debugger.GoOn();
            view.Debugger.Await(StopKind.Break);
            string landed = Step(view)[0];
            if (landed == goal.Code && view.Debugger.Argument(1) == goal.Number) break;
            Assert.True(left > 0, $"{landed} instead of {goal}");
        }
        view.AwaitStop(goal, from);
    }

    private static int WithArgument(DiaryMessage[] messages, Chance chance)
    {
        while (true)
        {
            int at = chance.Below(messages.Length);
            if (messages[at].HasArgument) return at;
        }
    }

    /// <summary>All messages of the log, as the command goes through them without a debugger.</summary>
    private DiaryMessage[] Messages()
    {
        string commands = Path.Combine(_cluster.Root, "commands");
        File.WriteAllLines(commands, ["to method:Turn", .. Enumerable.Repeat("next", 1_000)]);
        Tool all = Tool.Debug("--log", _diary.LogDirectory, "--until", "start", "--commands", commands, "--", Executables.DebuggedApp);
        Assert.True(all.Code == 0, all.Error);
        Assert.Contains("stopped at", all.Output, StringComparison.Ordinal);
        return [.. all.Output.Split('\n').Select(DiaryMessage.TryRead).OfType<DiaryMessage>().Skip(1)]; // the start is no message
    }

    /// <summary>
    /// A test of its developer lives the message again in one process, where a breakpoint in the handler is hit. It was set behind what
    /// leads to the message, which the handler has executed, too.
    /// </summary>
    [DebuggerFact]
    public void Breakpoint_InTheHandler_IsHitByNextInATest()
    {
        // The debugger's library waits for the process that it holds, so only whoever is not its parent hears of its end in any case.
        using var shell = new Process
        {
            StartInfo = DebuggedView.StartOf("sh",
                ["-c", "\"$@\"; exit $?", "sh", Executables.DebuggedApp, "look", _diary.LogDirectory, "method:Note#20"], _cluster.Root),
        };
        var lines = new LineLog("test");
        shell.OutputDataReceived += (_, line) => lines.Add(line.Data ?? "");
        shell.Start();
        shell.BeginOutputReadLine();
        try
        {
            _cluster.Run(Cluster.Again(nameof(Breakpoint_InTheHandler_IsHitByNextInATest)), () =>
            {
                string app = lines.Await(
                    "the process", static line => line.StartsWith("app ", StringComparison.Ordinal), 0, Cluster.Patience);
                var debugger = new AppDebugger(int.Parse(app.AsSpan("app ".Length), CultureInfo.InvariantCulture), Cluster.Patience);
                Assert.Contains(".Program.<Main>$", debugger.Await(StopKind.Break));
                debugger.BreakIn("Ambrosia.Debugged.App.Diary.Note");
                debugger.GoOn();
                string[] stack = debugger.Await(StopKind.Breakpoint);
                Assert.Equal(("Ambrosia.Debugged.App.Diary.Note", 3_041), (stack[0], debugger.Argument(1)));
                debugger.GoOn();
                debugger.Await(StopKind.Exit);
                Assert.True(shell.WaitForExit(Cluster.Patience), "the test has not ended");
                Assert.Equal(0, shell.ExitCode);
                lines.Await("the message behind it", static line => line.StartsWith("stopped before ", StringComparison.Ordinal)
                    && line.Contains("Read", StringComparison.Ordinal), 0, Cluster.Patience);
            });
        }
        finally
        {
            shell.Kill(entireProcessTree: true);
        }
        Assert.Matches("stopped before .*Note(.|\n)*stopped before .*Read", lines.ToString());
    }

    /// <summary>Steps into the code for a message, and fails unless that is where the debugger stops, and for that very message.</summary>
    private static void StepInto(DiaryMessage message, DebuggedView view)
    {
        string[] stack = Step(view);
        Assert.True(stack[0].StartsWith(message.Code, StringComparison.Ordinal), $"{message}: {string.Join(" < ", stack)}");
        if (message.HasArgument) Assert.Equal(message.Number, view.Debugger.Argument(1));
    }

    /// <summary>Steps into the user's code. Where an argument is made by such code, too, that comes first, and is gone through.</summary>
    private static string[] Step(DebuggedView view)
    {
        for (int left = StepsInAConstructorMax; ; left--)
        {
            view.Debugger.StepInto();
            string[] stack = view.Debugger.Await(StopKind.Step);
            if (stack[0] != "Ambrosia.Debugged.App.Entry..ctor" || left == 0) return stack;
        }
    }
}
