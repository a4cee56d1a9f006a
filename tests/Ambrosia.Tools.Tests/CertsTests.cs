using CRA.Authentication;

namespace Ambrosia.Tools.Tests;

public sealed class CertsTests : IDisposable
{
    private readonly DirectoryInfo _folder = System.IO.Directory.CreateTempSubdirectory("ambrosia-certs-");

    private string Place => Path.Combine(_folder.FullName, "authority");

    public void Dispose() => _folder.Delete(recursive: true);

    private LinkCertificates Read(string name) => LinkCertificates.Read(
        File.ReadAllText(Path.Combine(Place, $"{name}.instance.pem")), File.ReadAllText(Path.Combine(Place, $"{name}.instance.key")),
        File.ReadAllText(Path.Combine(Place, "ca.pem")), TimeProvider.System);

    [Fact]
    public void Certs_OfTwoNames_AreUsableAndPrivate()
    {
        ToolRun run = ToolRun.Of("certs", "--ca", Place, "--name", "source", "ledger", "--json");
        Assert.Equal((0, ""), (run.Code, run.Error));
        Assert.Equal(6, run.Json.GetProperty("made").GetArrayLength());
        Assert.Contains($"--tls-ca {Path.Combine(Place, "ca.pem")}", run.Json.GetProperty("options")[0].GetString());
        foreach (string name in new[] { "source", "ledger" }) Assert.Null(Read(name).WhatIsWrongFor(name));
        Assert.Equal((UnixFileMode)0x1C0, File.GetUnixFileMode(Place));
        Assert.All(System.IO.Directory.EnumerateFiles(Place), static file => Assert.Equal((UnixFileMode)0x180, File.GetUnixFileMode(file)));
    }

    [Fact]
    public void Certs_OfAnAuthorityThatIsThere_AreSignedByIt()
    {
        Assert.Equal(0, ToolRun.Of("certs", "--ca", Place).Code);
        string authority = File.ReadAllText(Path.Combine(Place, "ca.pem"));
        Assert.Equal(0, ToolRun.Of("certs", "--ca", Place, "--name", "late").Code);
        Assert.Equal(authority, File.ReadAllText(Path.Combine(Place, "ca.pem")));
        Assert.Null(Read("late").WhatIsWrongFor("late"));
    }

    [Fact]
    public void Certs_OverAFileThatIsThere_MakeNothing()
    {
        ToolRun.Of("certs", "--ca", Place, "--name", "ledger");
        string before = File.ReadAllText(Path.Combine(Place, "ledger.instance.pem"));
        ToolRun run = ToolRun.Of("certs", "--ca", Place, "--name", "other", "ledger");
        Assert.Equal(2, run.Code);
        Assert.Contains("is there already", run.Error);
        Assert.Equal(before, File.ReadAllText(Path.Combine(Place, "ledger.instance.pem")));
        Assert.False(File.Exists(Path.Combine(Place, "other.instance.pem")));
    }

    [Theory]
    [InlineData("no name of an instance", "--name", "bad.name")]
    [InlineData("stands there twice", "--name", "a", "a")]
    [InlineData("--days", "--days", "0")]
    public void Certs_OfSomethingElse_AreRefusedBeforeAnythingIsMade(string said, params string[] args)
    {
        ToolRun run = ToolRun.Of(["certs", "--ca", Place, .. args]);
        Assert.Equal(2, run.Code);
        Assert.Contains(said, run.Error);
        Assert.False(System.IO.Directory.Exists(Place));
    }
}
