namespace Ambrosia.Log;

/// <summary>An instance cannot be created in a directory that holds something else already (log-format L1.3).</summary>
public sealed class InstanceExistsException(string directory, string found)
    : Exception($"{directory} holds {found}, so no new instance is created in it; choose an empty directory, or remove what is there")
{
    public string Directory { get; } = directory;
}
