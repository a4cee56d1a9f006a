namespace ImmortalCoordinator;

/// <summary>One option of the command line: what help says of it, its default, and what is wrong with a value.</summary>
/// <param name="Name">With its dashes.</param>
/// <param name="Description">A line of the help.</param>
internal sealed record CommandOption(string Name, string Description)
{
    /// <summary>What stands behind the name in the help; null: the option is a switch and has no value.</summary>
    public string? Value { get; init; }

    /// <summary>The value where none is given; null: none.</summary>
    public string? Default { get; init; }

    public bool IsRequired { get; init; }

    /// <summary>Not in the help: for tests and measurements.</summary>
    public bool IsHidden { get; init; }

    /// <summary>What is wrong with a given value, and how to mend it; null: nothing.</summary>
    public Func<string, string?> WhatIsWrong { get; init; } = static _ => null;
}
