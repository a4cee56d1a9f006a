using System.Text.RegularExpressions;

namespace Ambrosia.Tools.Development;

/// <summary>
/// Hands on what an app under <c>ambrosia dev</c> prints, and knows what its lines have said: where its web server listens, and which build
/// its coordinator has refused. Any thread.
/// </summary>
/// <param name="tell">Takes lines for people.</param>
internal sealed partial class DevAppLines(Action<string> tell)
{
    private volatile string? _refused, _accepted, _address;

    /// <summary>Hears that the address has changed.</summary>
    public Action Changed { get; set; } = static () => { };

    /// <summary>The address at which the web server of the running process listens; null: it has said nothing of one.</summary>
    public string? Address => _address;

    /// <summary>The build that was refused and is accepted since; null: none was.</summary>
    public string? Accepted => _accepted;

    public void Tell(string line) => tell(line);

    /// <summary>A process begins, which has refused nothing yet.</summary>
    public void Begin() => _refused = null;

    /// <summary>The process has ended.</summary>
    public void End() => _address = null;

    /// <summary>Takes one line of the process; null: its output has ended.</summary>
    public void Take(string? line)
    {
        if (line is null) return;
        tell(line);
        if (Refusal().Match(line) is { Success: true } refusal) _refused = refusal.Groups[1].Value;
        if (Listening().Match(line) is not { Success: true } listening) return;
        _address = listening.Groups[1].Value;
        Changed();
    }

    /// <summary>Accepts the build that was refused; false: none was, or it was accepted before.</summary>
    public bool TryAccept()
    {
        if (_refused is not { } build || build == _accepted) return false;
        _accepted = build;
        tell($"build {build} executes recorded inputs otherwise than the one before, and is accepted, since it was made behind a kill");
        return true;
    }

    [GeneratedRegex(@"(?:--accept-build|Ambrosia:AcceptBuild) ([0-9a-fA-F]{8,32})")]
    private static partial Regex Refusal();

    [GeneratedRegex(@"Now listening on: (\S+)")]
    private static partial Regex Listening();
}
