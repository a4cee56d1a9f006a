using Ambrosia.Log.Files;

namespace Ambrosia.TestKit.Tests;

/// <summary>
/// The simulated disk answers as the real one does, as long as nothing fails: what is proved on the one holds on the other.
/// </summary>
public sealed class PosixAgreementTests : IDisposable
{
    private const int Steps = 400;

    private readonly string _folder = Directory.CreateTempSubdirectory("ambrosia-testkit-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public void SimulatedDisk_SameRandomOperations_AnswersAsTheRealOne(ulong seed)
    {
        var disk = new SimulatedFileSystem();
        disk.MakeDirectory("/data");
        var simulated = new FileScript(disk, "/data", seed);
        var real = new FileScript(new PosixFileSystem(), _folder, seed);
        try
        {
            for (int i = 0; i < Steps; i++) Assert.Equal($"{i} {real.Step()}", $"{i} {simulated.Step()}");
        }
        finally
        {
            real.Close();
        }
    }
}
