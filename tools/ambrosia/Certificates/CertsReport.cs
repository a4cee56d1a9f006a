namespace Ambrosia.Tools;

/// <summary>What <c>ambrosia certs</c> has made, and the options with which a coordinator uses it.</summary>
internal sealed record CertsReport(string Directory, IReadOnlyList<string> Made, IReadOnlyList<string> Options) : IReport
{
    public void Draw(Screen screen)
    {
        foreach (string path in Made) screen.Line($"made {path}");
        foreach (string options in Options) screen.Line(options);
        screen.Line("For development: whoever has ca.key can pass for any instance.", Tone.Warning);
    }
}
