using System.CommandLine;

namespace Ambrosia.Tools;

/// <summary>ambrosia status --catalog DIR: every instance of a catalog and each of its replicas that runs.</summary>
internal sealed class StatusCommand : ToolCommand
{
    private static readonly TimeSpan every = TimeSpan.FromSeconds(1);

    private readonly Option<string> _catalog = new("--catalog")
    {
        Description = "Directory of the catalog.", Required = true, HelpName = "DIR"
    };
    private readonly Option<bool> _watch = new("--watch") { Description = "Again each second, until it is interrupted." };

    public StatusCommand(ToolStreams streams)
        : base(streams, "status", "Shows roles, epochs, positions, lag, links and kept calls of every replica that runs.")
    {
        Add(_catalog);
        Add(_watch);
    }

    protected override int Run(ParseResult parsed, Screen screen)
    {
        string catalog = Path.GetFullPath(parsed.GetRequiredValue(_catalog));
        if (!Directory.Exists(catalog))
            throw new ToolMisuse($"'{catalog}' is not there", "a catalog is a directory",
                "give the directory that the coordinators' --catalog names");
        while (true)
        {
            CatalogStatus status = CatalogStatus.Read(catalog);
            screen.Show(status);
            if (!parsed.GetValue(_watch)) return status.IsAtWork() ? ToolExit.Fine : ToolExit.Damage;
            if (!screen.IsJson) screen.Line();
            screen.Flush();
            Thread.Sleep(every);
        }
    }
}
