namespace Ambrosia.Hosting.Tests;

/// <summary>A directory that one test uses and removes.</summary>
internal sealed class TemporaryDirectory : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory("hosting-test-").FullName;

    public void Dispose() => Directory.Delete(Path, recursive: true);
}
