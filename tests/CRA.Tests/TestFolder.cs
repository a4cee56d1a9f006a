namespace CRA.Tests;

/// <summary>Owns a temporary folder for one test.</summary>
internal sealed class TestFolder : IDisposable
{
    public string Path { get; } = System.IO.Path.Combine(System.IO.Path.GetTempPath(), $"cra-{Guid.NewGuid():N}");

    public void Dispose()
    {
        if (Directory.Exists(Path)) Directory.Delete(Path, recursive: true);
    }
}
