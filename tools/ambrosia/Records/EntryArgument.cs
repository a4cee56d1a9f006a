namespace Ambrosia.Tools;

/// <summary>An argument as text.</summary>
/// <param name="Name">Of the parameter; null: not known.</param>
/// <param name="Type">As the manifest writes it; null: not known.</param>
internal sealed record EntryArgument(string? Name, string? Type, string Value)
{
    public override string ToString() => Name is null ? Value : $"{Name}: {Value}";
}
