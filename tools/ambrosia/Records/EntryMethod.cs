namespace Ambrosia.Tools;

/// <summary>A message's method.</summary>
/// <param name="Name">"Interface.Method"; null: no manifest has the id. Several joined by '|' where contracts share it.</param>
internal sealed record EntryMethod(uint Id, string? Name)
{
    public override string ToString() => Name ?? $"method {Id}";
}
