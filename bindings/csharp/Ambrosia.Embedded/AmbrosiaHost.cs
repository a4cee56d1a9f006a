using System.CommandLine;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Coordinator.Replica;
using Ambrosia.Inspection.Cuts;
using Ambrosia.Protocol.Texts;

namespace Ambrosia;

/// <summary>
/// Is the main program of an app that holds its coordinator: <c>return AmbrosiaHost.Run&lt;Counter&gt;(args);</c> It runs the same code as
/// two processes do, over the same channel and with the same promises; kill -9 ends both at once. It has a price: a failover waits until
/// the memory of the whole process is freed, and what ends one immortal (a full stop of its fork policy, a lost epoch, a failed disk) ends
/// the process.
/// </summary>
public static class AmbrosiaHost
{
    /// <summary>Runs one immortal until SIGTERM, or until it or its coordinator has to end, and then ends the process.</summary>
    /// <param name="args">Options of ImmortalCoordinator without an app behind them, for instance <c>--log DIR</c>.</param>
    /// <returns>Exit code of a coordinator (docs/operating.md), or 1 when the app failed.</returns>
    public static int Run<TImmortal>(string[] args)
        where TImmortal : Immortal, IImmortal<TImmortal>
    {
        ArgumentNullException.ThrowIfNull(args);
        return Run([(args, null, ImmortalDefinition.Of<TImmortal>())]);
    }

    /// <summary>Runs several immortals; the first that has to end ends them all.</summary>
    /// <param name="args"> Options as above, for all of them: <c>--log DIR</c> is the directory that holds their logs, each under its
    /// instance's name, and the catalog unless <c>--catalog</c> says otherwise. </param>
    public static int Run(string[] args, params EmbeddedImmortal[] immortals)
    {
        ArgumentNullException.ThrowIfNull(args);
        ArgumentNullException.ThrowIfNull(immortals);
        if (immortals.Select(static immortal => immortal.Instance).Distinct().Count() != immortals.Length || immortals.Length == 0)
            throw new ArgumentException("Name at least one immortal, and each once.", nameof(immortals));
        return Run(
            [.. immortals.Select(
                immortal => (HostArguments.Below(args, immortal.Instance), (string?)immortal.Instance, immortal.Definition))]);
    }

    /// <summary>
    /// Executes the log of an immortal up to a place in the past and stops there, in this process: a line of a unit test or of Main. A
    /// breakpoint in yesterday's handler is hit by <see cref="ReplayedImmortal{TImmortal}.Next"/>. The log is only read; it may be that of
    /// a running service.
    /// </summary>
    /// <param name="directory">Of the log, or of a copy of it.</param>
    /// <param name="until">Where to stop: <c>LSN:INDEX</c>, a time, <c>call:ID</c>, <c>key:TEXT</c>, <c>method:Name#n</c>, <c>ckpt:N</c>,
    /// <c>start</c>, <c>end</c>, <c>crash</c> or <c>divergence</c> (docs/time-travel.md).</param>
    /// <param name="checkpoint">To begin with: its name, its Lsn or its number from the newest; null: the newest before the place.</param>
    /// <exception cref="MisuseException">There is no such log, place or checkpoint.</exception>
    public static ReplayedImmortal<TImmortal> Debug<TImmortal>(string directory, string until = "end", string? checkpoint = null)
        where TImmortal : Immortal, IImmortal<TImmortal> => new(directory, until, checkpoint);

    /// <summary>
    /// Executes a cut of a log, which <c>ambrosia cut</c> has made, and the message that it ends with: a line of a test that says behind it
    /// what must hold. It needs nothing but the cut.
    /// </summary>
    /// <param name="cut">Its directory; a relative path is also looked for beside the running program and above it.</param>
    /// <exception cref="MisuseException">There is no cut, or the immortal cannot continue what is suspended in it.</exception>
    /// <exception cref="ReplayException">The immortal does not survive it.</exception>
    public static ReplayedImmortal<TImmortal> Replay<TImmortal>(string cut)
        where TImmortal : Immortal, IImmortal<TImmortal> => new(Cut.Read(cut));

    private static int Run((string[] Args, string? Instance, ImmortalDefinition Definition)[] immortals)
    {
        var options = new CoordinatorOptions[immortals.Length];
        for (int i = 0; i < immortals.Length; i++)
        {
            CoordinatorOptions? asked = null;
            ParseResult parsed = ImmortalCoordinator.CommandLine.Parse(immortals[i].Args, given => { asked = given; return ExitCodes.Ok; });
            string[] errors = [.. parsed.Errors.Select(static error => error.Message)];
            int code = errors.Length == 0 ? parsed.Invoke() : ExitCodes.Misuse;
            if (asked is null && errors.Length == 0) return code; // help was asked for, or the version
            if (asked is not null && HostArguments.WhatIsWrong(asked, immortals[i].Instance, immortals.Length) is { } wrong)
                errors = [wrong];
            foreach (string error in errors) Console.Error.WriteLine(HarmlessText.Lines(error));
            if (errors.Length > 0) return ExitCodes.Misuse;
            options[i] = asked!;
        }
        int ended = RunAll([.. options.Select((each, i) => new HostedImmortal(each, immortals[i].Definition, immortals.Length > 1))]);
        // Threads that an immortal started must not keep a process alive that has no coordinator.
        if (ended != ExitCodes.Misuse) Environment.Exit(ended);
        return ended;
    }

    private static int RunAll(HostedImmortal[] hosted)
    {
        using var stop = new CancellationTokenSource();
        using var signals = new StopSignals(stop);
        foreach (HostedImmortal each in hosted) each.Start(stop);
        return hosted.Max(static each => each.AwaitEnd());
    }
}
