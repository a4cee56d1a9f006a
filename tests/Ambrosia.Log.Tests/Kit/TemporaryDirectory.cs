namespace Ambrosia.Log.Tests;

/// <summary>A directory of the real file system that goes with the test.</summary>
internal sealed class TemporaryDirectory : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory("ambrosia-log-").FullName;

    public void Dispose() => Directory.Delete(Path, recursive: true);
}
