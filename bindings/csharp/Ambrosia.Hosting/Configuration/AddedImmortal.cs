namespace Ambrosia.Hosting.Configuration;

/// <summary>One immortal that the program has added to the host.</summary>
internal sealed record AddedImmortal(string Name, ImmortalDefinition Definition);
