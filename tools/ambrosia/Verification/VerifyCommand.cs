using System.CommandLine;
using Ambrosia.Log;

namespace Ambrosia.Tools;

/// <summary>ambrosia verify DIR: reads everything that a log directory holds, and says what is lost and what is not.</summary>
internal sealed class VerifyCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log." };

    public VerifyCommand(ToolStreams streams)
        : base(streams, "verify", "Reads the whole history, checkpoints included, and says what is lost and what is not.") =>
            Add(_directory);

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogPlace place = LogPlace.Open(parsed.GetRequiredValue(_directory));
        VerifyReport report = screen.WithProgress("reading", BytesOf(place), done => Verify(place, done));
        screen.Show(report);
        return report.Sound ? ToolExit.Fine : ToolExit.Damage;
    }

    /// <summary>
    /// Reads everything. On a live log checkpoints come and go meanwhile, so those that came are looked at behind the
    /// history that begins with them.
    /// </summary>
    /// <param name="done">Gets the bytes read so far.</param>
    internal static VerifyReport Verify(LogPlace place, Action<long> done)
    {
        var headers = HeaderCheck.Run(place);
        var checkpoints = new CheckpointCheck(place);
        checkpoints.Run(done);
        var history = new HistoryCheck(place with { Files = headers.Readable }, checkpoints.Verdicts);
        history.Run(bytes => done(checkpoints.BytesRead + bytes));
        checkpoints.Run(done: static _ => { });
        return VerifyReport.Of(place, headers, checkpoints.Verdicts, history);
    }

    private static long BytesOf(LogPlace place)
    {
        long bytes = 0;
        foreach (string name in place.Files.List(place.Directory))
        {
            if (SegmentFileName.TryParse(name) is null && CheckpointFileName.Parse(name) is null) continue;
            try
            {
                using IFile file = place.Files.Open(place.PathOf(name), FileUse.Read);
                bytes += file.Length;
            }
            catch (FileNotFoundException) { } // truncated meanwhile
        }
        return bytes;
    }
}
