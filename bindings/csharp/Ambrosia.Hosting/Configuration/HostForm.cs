namespace Ambrosia.Hosting.Configuration;

/// <summary>
/// The form in which a program runs, which its environment alone decides: by itself it holds the coordinators of its immortals, and started
/// by a coordinator it is the app of that one. Nothing in it changes.
/// </summary>
/// <param name="IsApp">A coordinator is beside this process.</param>
/// <param name="IsView">The app executes the past for somebody who looks at it, and nothing else of the program is to run.</param>
/// <param name="Instance">The instance of that coordinator; null: it does not say it.</param>
/// <param name="Catalog">The place of its catalog; null: it does not say it.</param>
/// <param name="Token">The file with the token of its start; null: there is none.</param>
internal sealed record HostForm(bool IsApp, bool IsView, string? Instance, string? Catalog, string? Token)
{
    internal static HostForm Of(Func<string, string?> environment) => new(
        environment("AMBROSIA_APP") is { Length: > 0 }, AmbrosiaApp.IsView, environment("AMBROSIA_INSTANCE"), environment("AMBROSIA_CATALOG"),
        environment("AMBROSIA_TOKEN"));

    /// <summary>Returns the immortal that this process runs as the app of its coordinator; null: none of those that were added.</summary>
    internal AddedImmortal? AppOf(IReadOnlyList<AddedImmortal> added) =>
        added.Count == 1 ? added[0] : added.FirstOrDefault(each => each.Name == Instance);

    /// <summary>Says why this process cannot be the app of its coordinator; null: it can, or it is none.</summary>
    internal string? WhatIsWrong(IReadOnlyList<AddedImmortal> added)
    {
        if (!IsApp || added.Count == 0 || AppOf(added) is not null) return null;
        string has = string.Join(", ", added.Select(static each => each.Name));
        return Instance is null
            ? $"the coordinator does not say of which instance it is (AMBROSIA_INSTANCE), and this program has {has}; start both from one build"
            : $"the coordinator is of instance '{Instance}', and this program has {has}; give its --log the directory of one of these";
    }
}
