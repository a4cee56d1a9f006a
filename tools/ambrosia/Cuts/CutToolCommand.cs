using System.CommandLine;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.Inspection.Cuts;
using Ambrosia.Inspection.Decoding;
using Ambrosia.Inspection.Masking;
using Ambrosia.Inspection.Places;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Logs;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Cuts;

/// <summary>
/// The command <c>ambrosia cut DIR --around POS --out DIR2</c> copies what is needed to live one message again into a small log of its own,
/// and writes a test that does so.
/// </summary>
internal sealed class CutToolCommand : ToolCommand
{
    private readonly Argument<string> _directory = new("DIR") { Description = "Directory of the log, or of a copy of it." };

    private readonly Option<string> _around = new("--around")
    {
        Description = "The message: LSN:INDEX, call:[INSTANCE#]ID, key:TEXT, method:NAME[#N], a time, end, crash or divergence. The cut ends with its page.",
        HelpName = "POS", Required = true,
    };

    private readonly Option<string> _out = new("--out")
    {
        Description = "Where the cut is to be; the directory must not be there.", HelpName = "DIR2", Required = true,
    };

    private readonly Option<string?> _checkpoint = new("--checkpoint")
    {
        Description = "The checkpoint to begin with: its name, its Lsn, its number from the newest, or 'start' for the log's first record. The newest before the message in which nothing is suspended, if left out.",
        HelpName = "NAME|LSN|N",
    };

    private readonly Option<string?> _app = new("--app")
    {
        Description = "The command that starts the build of then, for the shell: it executes the cut once, and what it does is kept as what was done.",
        HelpName = "COMMAND",
    };

    private readonly Option<string?> _mask = new("--mask")
    {
        Description = "Replace the values of these fields, parameters and results, by name and with commas between: Owner, Account.Owner, IBank.Transfer.to, IBank.Balance.result, accounts.keys, $key, $failure, $task, $why; or @FILE with one a line.",
        HelpName = "RULES",
    };

    private readonly Option<string?> _test = new("--test")
    {
        Description = "Write an xUnit test that executes the cut, into this new file.", HelpName = "FILE.cs",
    };

    private readonly Option<string?> _class = new("--class")
    {
        Description = "With --test: the class of the immortal, with its namespace.", HelpName = "CLASS",
    };

    private readonly Option<string[]> _expect = new("--expect")
    {
        Description = "With --test: what must stand in the state behind the message, as 'accounts[\"alice\"].Balance=0'. May be given again.",
        HelpName = "PATH=JSON",
    };

    public CutToolCommand(ToolStreams streams)
        : base(streams, "cut", "Copies what one message needs to be lived again into a small log of its own, with a test.")
    {
        Add(_directory);
        foreach (Option option in (Option[])[_around, _out, _checkpoint, _app, _mask, _test, _class, _expect]) Add(option);
        Validators.Add(result =>
        {
            if ((result.GetValue(_test) is null) != (result.GetValue(_class) is null))
                result.AddError("--test needs the immortal's class, and --class a test: give both or neither");
            else if (result.GetValue(_test) is null && result.GetValue(_expect) is [_, ..]) result.AddError("--expect is for --test");
        });
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        LogDirectory log = LogDirectory.Open(parsed.GetRequiredValue(_directory));
        string to = Path.TrimEndingDirectorySeparator(Path.GetFullPath(parsed.GetRequiredValue(_out)));
        if (Path.Exists(to)) throw new ToolMisuse($"'{to}' is there already", "a cut has a directory of its own", "give another with --out");
        IncidentTest? test = parsed.GetValue(_test) is { } file
            ? new IncidentTest(file, parsed.GetValue(_class)!, parsed.GetValue(_expect) ?? []) : null;
        FoundPlace place = new PlaceFinder(log.Location, TimeProvider.System).Find(parsed.GetRequiredValue(_around));
        CutBeginning beginning = CutBeginning.Choose(log.Location, place.Place, parsed.GetValue(_checkpoint));
        using CutMasking? masking = MaskRulesText.Parse(parsed.GetValue(_mask)) is { } rules
            ? new CutMasking(log.Location, ContractManifests.Load([], log.Location), rules) : null;
        try
        {
            MadeCut made = new CutMaker(log, to, parsed.GetValue(_app), masking, screen).Make(place, beginning);
            screen.Show(new CutReport(made, beginning, test?.Write(made.Cut, to, masking)));
            if (made.Masking is { NotMasked.Count: > 0 }) return ToolExit.Damage;
        }
        catch (ViewEndedException ended)
        {
            throw new ToolMisuse("the build cannot execute the cut", ended.Message,
                masking is null ? "give the build that made this log with --app, begin with another --checkpoint, or leave --app out"
                    : "it may do something else with masked values: mask fewer (bytes of the app's own form, numbers), or leave --app out");
        }
        return ToolExit.Fine;
    }
}
