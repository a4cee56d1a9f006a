using Ambrosia.Coordinator.Replica;
using Microsoft.Extensions.Options;

namespace Ambrosia.Hosting.Configuration;

/// <summary>The options of a host once they are checked, and what they come to. Nothing in it changes; any thread asks.</summary>
internal sealed class CheckedOptions(IOptions<AmbrosiaOptions> options, IEnumerable<AddedImmortal> added, HostForm form)
{
    private readonly Lazy<IReadOnlyList<CoordinatorOptions>> _each = new(
        () => HostedOptions.Of(options.Value, [.. added.Select(static each => each.Name)], !form.IsApp).Each);

    internal AmbrosiaOptions Given => options.Value;

    internal HostForm Form => form;

    internal IReadOnlyList<AddedImmortal> Immortals { get; } = [.. added];

    /// <summary>The options of the coordinators, in the order of the immortals.</summary>
    internal IReadOnlyList<CoordinatorOptions> Each => _each.Value;

    /// <summary>The place of the catalog, for clients of this process.</summary>
    /// <exception cref="InvalidOperationException">Nothing says where it is.</exception>
    internal string Catalog => Given.Catalog ?? (form.IsApp ? form.Catalog : null)
        ?? (Given.Log is { } log ? Path.Combine(log, "catalog") : throw new InvalidOperationException(
            "It is not known where the catalog is: give Ambrosia:Catalog, or Ambrosia:Log, the directory that holds the logs and the catalog."));
}
