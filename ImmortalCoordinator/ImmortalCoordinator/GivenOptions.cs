// What a command line gives, word by word. Written out, and not taken from a library, because it stands between the start of the process
// and the open log: docs/decisions/0011. Thread: the starting one.
namespace ImmortalCoordinator;

/// <summary>The values of options as they were given, and what is wrong with the words between them.</summary>
internal sealed class GivenOptions
{
    private readonly CommandOption[] known;
    private readonly string?[] values; // by the option's place in known
    private readonly List<string> errors = [];

    /// <param name="words">What stands before the first --.</param>
    public GivenOptions(CommandOption[] known, ReadOnlySpan<string> words)
    {
        this.known = known;
        values = new string?[known.Length];
        for (int i = 0; i < words.Length;) i += Take(words[i..]);
        foreach (CommandOption option in known)
            if (option.IsRequired && !Has(option)) errors.Add($"Option '{option.Name}' is required.");
    }

    public IReadOnlyList<string> Errors => errors;

    /// <summary>Help was asked for, or the version.</summary>
    public bool WantsHelp { get; private set; }

    public bool WantsVersion { get; private set; }

    public void AddError(string? error)
    {
        if (error is not null) errors.Add(error);
    }

    public bool Has(CommandOption option) => values[PlaceOf(option)] is not null;

    /// <summary>As given, else the default; null: neither.</summary>
    public string? Get(CommandOption option) => values[PlaceOf(option)] ?? option.Default;

    /// <summary>Of an option that is required or has a default, behind a look at <see cref="Errors"/>.</summary>
    public string GetNeeded(CommandOption option) => Get(option) ?? throw new InvalidOperationException($"{option.Name} has no value");

    /// <summary>Takes an option with its value, and says how many words that were.</summary>
    private int Take(ReadOnlySpan<string> words)
    {
        string word = words[0];
        WantsHelp |= word is "--help" or "-h" or "-?" or "/?";
        WantsVersion |= word == "--version";
        if (WantsHelp || WantsVersion) return words.Length;
        int sign = word.StartsWith("--", StringComparison.Ordinal) ? word.AsSpan().IndexOfAny('=', ':') : -1;
        int place = Array.FindIndex(known, option => word.AsSpan(0, sign < 0 ? word.Length : sign).SequenceEqual(option.Name));
        if (place < 0)
        {
            errors.Add($"'{word}' is no option; the app and its arguments stand behind --");
            return 1;
        }
        CommandOption found = known[place];
        if (values[place] is not null) errors.Add($"'{found.Name}' is given more than once; give it once");
        if (found.Value is null) return TakeSwitch(place, sign < 0);
        bool isBehind = sign < 0;
        if (isBehind && (words.Length < 2 || IsName(words[1])))
        {
            errors.Add($"'{found.Name}' needs a value: {found.Name} {found.Value}");
            return 1;
        }
        values[place] = isBehind ? words[1] : word[(sign + 1)..];
        AddError(found.WhatIsWrong(values[place]!));
        return isBehind ? 2 : 1;
    }

    private int TakeSwitch(int place, bool isBare)
    {
        if (!isBare) errors.Add($"'{known[place].Name}' takes no value; leave it out, or give the name alone");
        values[place] = "";
        return 1;
    }

    private bool IsName(string word) => Array.Exists(known, option => option.Name == word);

    private int PlaceOf(CommandOption option) => Array.IndexOf(known, option);
}
