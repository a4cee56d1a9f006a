namespace Ambrosia.Perf;

/// <summary>One of the two builds of the books, which are made of each other in turn under ever higher versions.</summary>
/// <param name="Number">The number that its answers have, and the version that it states.</param>
/// <param name="Words">Its program, and that program's arguments.</param>
internal sealed record BooksBuild(int Number, IReadOnlyList<string> Words)
{
    private const string Project = "Ambrosia.Perf.Upgraded", Program = "Ambrosia.Perf";

    /// <summary>Faults of the second build: each rehearsal fails at its end; or one works, and the conversion behind it throws.</summary>
    public const string Refuses = "refuse", GivesUp = "give-up";

    public static BooksBuild First { get; } = new(1, [Path.Combine(AppContext.BaseDirectory, Program), "app", "books"]);

    /// <exception cref="FailedRoundException">This program is in no source tree.</exception>
    public static BooksBuild Second { get; } = new(2, [
        SourceVersion.Root() is { } root
            ? Path.Combine(root, "perf", Project, "bin", ResultFile.ThisConfiguration, "net10.0", Program)
            : throw new FailedRoundException($"{Project} is found in the source tree, and this program is in none"),
        "books"]);

    public BooksBuild Other => this == First ? Second : First;

    /// <summary>The directory of its files.</summary>
    public string Place => Path.GetDirectoryName(Words[0])!;

    public BooksBuild With(string fault) => this with { Words = [.. Words, fault] };

    /// <summary>It states this version of itself.</summary>
    public bool IsOwn(uint version) => version == Number;

    /// <summary>As one text; a version that it does not state it is told.</summary>
    public string CommandAs(uint version) => IsOwn(version) ? Command : $"env AMBROSIA_APP_VERSION={version} {Command}";

    public string Command => string.Join(' ', Words.Select(static word => word.Contains(' ') ? $"\"{word}\"" : word));
}
