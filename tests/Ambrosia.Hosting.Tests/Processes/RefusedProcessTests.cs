using System.Reflection;
using System.Text;
using CRA.Catalog;

namespace Ambrosia.Hosting.Tests.Processes;

/// <summary>A program that will not do ends with exit code 2 and sentences, before anything is made.</summary>
public sealed class RefusedProcessTests
{
    private const string Here = "{here}";

    [Theory]
    [InlineData("Ambrosia__CheckpointEvery", "64MB", "'64MB' of Ambrosia:CheckpointEvery is no size; write it like 64M or 1G")]
    [InlineData("Ambrosia__CheckpointEvery", "64", "'64' of Ambrosia:CheckpointEvery has no unit, and would be bytes; write it like 64K, 64M or 1G")]
    [InlineData("TILL_FAULT", "twice", "'till' is the name of 2 immortals; give each a name of its own")]
    [InlineData("TILL_FAULT", "name", "'../till' is no name for an instance: 1 to 63 letters, digits, '_' or '-', beginning with a letter or digit")]
    [InlineData("TILL_FAULT", "contract", "the client ITill of 'till' calls Refund, which the contract of Till in Ambrosia.Hosting.App does not have; build both ")]
    [InlineData("Ambrosia__Chekpoint", "x", "'Ambrosia:Chekpoint' is no option; the section Ambrosia has AcceptBuild, ")]
    [InlineData("Ambrosia__Log", Here + "/file/below", "is a file. Give with Ambrosia:Log a directory on a file system where this user may")]
    [InlineData("Ambrosia__Catalog", Here + "/file/below", "the catalog in " + Here + "/file/below cannot be read: ")]
    [InlineData("Ambrosia__Catalog", "ftp://somewhere", "'ftp://somewhere'")]
    public void Program_WithWhatWillNotDo_EndsWith2AndNothingIsMade(string name, string value, string sentence)
    {
        using var logs = new TemporaryDirectory();
        File.WriteAllText(Path.Combine(logs.Path, "file"), "");
        using TillProcess process = TillProcess.Embedded(
            Path.Combine(logs.Path, "log"), (name, value.Replace(Here, logs.Path, StringComparison.Ordinal)));
        Assert.True(process.AwaitEnd() == 2, process.Output);
        Assert.Contains(sentence.Replace(Here, logs.Path, StringComparison.Ordinal), process.Output, StringComparison.Ordinal);
        Assert.DoesNotContain(" at Microsoft.", process.Output, StringComparison.Ordinal);
        Assert.Equal([Path.Combine(logs.Path, "file")], Directory.EnumerateFileSystemEntries(logs.Path));
    }

    /// <summary>One assembly of ours says that it is of the next version, as one that somebody has restored by himself would.</summary>
    [Fact]
    public void Program_WithAPackageOfAnotherVersion_EndsWith2AndNamesBoth()
    {
        using var logs = new TemporaryDirectory();
        string program = Directory.CreateDirectory(Path.Combine(logs.Path, "program")).FullName;
        foreach (string file in Directory.EnumerateFiles(AppContext.BaseDirectory))
            File.Copy(file, Path.Combine(program, Path.GetFileName(file)));
        string version = typeof(DirectoryCatalog).Assembly
            .GetCustomAttribute<AssemblyInformationalVersionAttribute>()!.InformationalVersion,
            other = version.Replace("0.", "9.", StringComparison.Ordinal);
        string changed = Path.Combine(program, "CRA.dll");
        byte[] assembly = File.ReadAllBytes(changed);
        int at = assembly.AsSpan().IndexOf(Encoding.UTF8.GetBytes(version));
        Encoding.UTF8.GetBytes(other).CopyTo(assembly, at);
        File.WriteAllBytes(changed, assembly);

        string log = Path.Combine(logs.Path, "log");
        using TillProcess process = TillProcess.Embedded(log, program);
        Assert.True(process.AwaitEnd() == 2, process.Output);
        Assert.Contains($"CRA is of version {other.Split('+')[0]}, and Ambrosia.Hosting of {version.Split('+')[0]}: ", process.Output,
            StringComparison.Ordinal);
        Assert.False(Directory.Exists(log));
    }
}
