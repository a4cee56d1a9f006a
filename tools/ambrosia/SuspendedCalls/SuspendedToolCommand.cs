using System.Buffers;
using System.CommandLine;
using Ambrosia.Images.Reading;
using Ambrosia.Log.Checkpoints;
using Ambrosia.Log.Format;
using Ambrosia.Protocol;
using Ambrosia.Suspension;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.SuspendedCalls;

/// <summary>
/// The command <c>ambrosia suspended DIR --build PATH</c> says whether a new build of the app can continue the calls that are suspended in
/// the newest checkpoint. It is asked before an upgrade. It reads the file that the build has written, and loads neither the app nor its
/// code.
/// </summary>
internal sealed class SuspendedToolCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };

    private readonly Option<string[]> _builds = new("--build")
    {
        Description = $"The new build: its {BuildMethodBodies.Pattern} files, or the directory that holds them.", HelpName = "PATH",
        Required = true, AllowMultipleArgumentsPerToken = true,
    };

    private readonly Option<bool> _acceptSource = new("--accept-source")
    {
        Description = "Accept a method whose source is equal, as AMBROSIA_ACCEPT_SOURCE=1 does at the app."
    };

    public SuspendedToolCommand(ToolStreams streams)
        : base(streams, "suspended", "Says which suspended calls of the newest checkpoint a new build of the app could not continue.")
    {
        Add(_directory);
        Add(_builds);
        Add(_acceptSource);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        var builds = BuildMethodBodies.Load(parsed.GetRequiredValue(_builds));
        SuspendedReport report = Report(log, builds, parsed.GetValue(_acceptSource));
        screen.Show(report);
        return report.Refused.Count == 0 ? ToolExit.Fine : ToolExit.Damage;
    }

    private static SuspendedReport Report(LogDirectory log, BuildMethodBodies builds, bool acceptSource)
    {
        using CheckpointReader? checkpoint = SoundCheckpoint.TryOpenNewest(log);
        if (checkpoint is null) return new SuspendedReport(null, null, builds.Assemblies, [], []);
        CheckpointHeader header = checkpoint.Header;
        BodyFindings bodies = SuspendedCallsCheck.Judge(checkpoint, builds, acceptSource);
        return new SuspendedReport(header.FileName.ToString(), header.Lsn.Value, builds.Assemblies, bodies.Refusals, bodies.Kept);
    }
}

/// <summary>Reports the suspended calls of a checkpoint that a build would refuse.</summary>
/// <param name="Checkpoint">The newest sound checkpoint, or null where there is none, so that nothing is suspended in one.</param>
/// <param name="Assemblies">The assemblies of the build.</param>
/// <param name="Refused">A line for each method and await, as the app would write it.</param>
/// <param name="Kept">A line for each method that goes on in a body which the build keeps for it.</param>
internal sealed record SuspendedReport(
    string? Checkpoint, ulong? Lsn, IReadOnlyList<string> Assemblies, IReadOnlyList<string> Refused, IReadOnlyList<string> Kept) : IReport
{
    public void Draw(Screen screen)
    {
        foreach (string line in Refused) screen.Line(line, Tone.Bad);
        foreach (string line in Kept) screen.Line($"{line}.");
        if (Checkpoint is null) screen.Line("There is no checkpoint: nothing is suspended in one.");
        else if (Refused.Count == 0) screen.Line($"This build can continue everything that is suspended in {Checkpoint}.", Tone.Good);
        else screen.Line($"This build cannot continue {Checkpoint}. Nothing is lost: {BodyFindings.Mend}.");
    }
}

/// <summary>
/// Reads the part of an app's image that says on which methods it depends. That part stands in front, so the rest need not be held in
/// memory.
/// </summary>
internal static class SuspendedCallsCheck
{
    /// <summary>Says what the builds make of each suspended method.</summary>
    /// <param name="moved">Gives a method of the image as it is looked for in the builds; null: as it is.</param>
    /// <exception cref="ToolMisuse">It is no image of the C# binding.</exception>
    public static BodyFindings Judge(
        CheckpointReader checkpoint, BuildMethodBodies builds, bool acceptSource, Func<SuspendedBody, SuspendedBody>? moved = null)
    {
        var front = new ArrayBufferWriter<byte>();
        while (checkpoint.Read(out CheckpointSection section, out ReadOnlySpan<byte> content))
        {
            if (section != CheckpointSection.Image) continue;
            front.Write(content);
            if (TryRead(front.WrittenSpan, builds, acceptSource, moved) is { } bodies) return bodies;
        }
        throw new ToolMisuse("the checkpoint holds no image of a C# app", "its binding keeps suspended calls in another form",
            "ask with the tools of its language");
    }

    /// <summary>Reads what is there of the image; returns null where more of it is needed.</summary>
    private static BodyFindings? TryRead(
        ReadOnlySpan<byte> image, BuildMethodBodies builds, bool acceptSource, Func<SuspendedBody, SuspendedBody>? moved)
    {
        try
        {
            var from = new CborReader(image);
            ImageFront.Read(ref from).ExpectCSharp();
            return MethodBodyCheck.Judge(ref from, builds.Of, acceptSource, moved);
        }
        catch (CborException e) when (e.Error == CborError.Truncated)
        {
            return null;
        }
        catch (Exception e) when (e is CborException or ImageException)
        {
            throw new ToolMisuse("the checkpoint holds no image of a C# app", e.Message, "ask with the tools of its language");
        }
    }
}
