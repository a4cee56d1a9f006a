using System.CommandLine;
using System.CommandLine.Parsing;

namespace ImmortalCoordinator;

/// <summary>An option whose value is taken as it is written and looked at by <see cref="WhatIsWrong"/>.</summary>
/// <param name="name">With its dashes.</param>
/// <param name="value">What stands behind the name in the help.</param>
internal sealed class TextOption : Option<string>
{
    public TextOption(string name, string value, string description, string? standard = null)
        : base(name)
    {
        (HelpName, Description) = (value, description);
        if (standard is not null) DefaultValueFactory = _ => standard;
        Validators.Add(result =>
        {
            if (result.Tokens is [var given] && WhatIsWrong(given.Value) is { } wrong) result.AddError(wrong);
        });
    }

    /// <summary>What is wrong with a given value, and how to mend it; null: nothing.</summary>
    public Func<string, string?> WhatIsWrong { get; init; } = static _ => null;

    /// <summary>As it stands on the command line; null: it does not, or without a value, which has an error of its own.</summary>
    public static string? Given(CommandResult result, TextOption option) =>
        result.GetResult(option) is { Implicit: false, Tokens: [var given] } ? given.Value : null;
}
