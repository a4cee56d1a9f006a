namespace Ambrosia.Tools.Tests;

/// <summary>A directory that one test uses and that is removed at its end.</summary>
internal sealed class TemporaryDirectory : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory("ambrosia-tools-").FullName;

    public string Of(string name) => System.IO.Path.Combine(Path, name);

    public void Dispose() => Directory.Delete(Path, recursive: true);
}
