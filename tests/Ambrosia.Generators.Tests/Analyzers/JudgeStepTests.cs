using System.Diagnostics;
using Microsoft.CodeAnalysis.Emit;

namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>
/// The step behind the compiler, as MSBuild runs it: what it finds are errors at their lines, each time until they are mended, and no error
/// about its command; what must not run is left out of the output.
/// </summary>
public sealed class JudgeStepTests : IDisposable
{
    private const string Project = """
        <Project DefaultTargets="Build">
          <PropertyGroup>
            <OutputType>Exe</OutputType><TargetName>Demo</TargetName><IntermediateOutputPath>obj/</IntermediateOutputPath>
            <AmbrosiaContractFileProgram>{0}Ambrosia.ContractFile.dll</AmbrosiaContractFileProgram>
          </PropertyGroup>
          <ItemGroup>
            <AmbrosiaGeneratorReference Include="Ambrosia.Generators.dll" />
            <IntermediateAssembly Include="Demo.dll" />
            <ReferenceCopyLocalPaths Include="Vendor.dll" />
          </ItemGroup>
          <Import Project="{1}" />
          <Target Name="AfterCompile" />
          <Target Name="Build" DependsOnTargets="AfterCompile"><Message Importance="high" Text="skips the product: $(SkipCopyBuildProduct)." /></Target>
        </Project>
        """;

    private readonly string _outer = Directory.CreateTempSubdirectory("ambrosia-judge-").FullName;

    /// <summary>A folder whose name a shell would read between quotation marks: a variable, and a command that leaves a file.</summary>
    private readonly string _folder;

    public JudgeStepTests() => _folder = Directory.CreateDirectory(
        Path.Combine(_outer, "a $b `touch ran` \u00e9 o'x; $(touch ran)")).FullName;

    public void Dispose() => Directory.Delete(_outer, recursive: true);

    [Fact]
    public void Step_ThatFindsSomething_FailsTheBuildByItsLinesAlone()
    {
        Generation package = Generation.OfAssembly("Vendor", "namespace Vendor; public static class Clock { public static long Stamp() => DateTime.UtcNow.Ticks; public static Guid Name() => Guid.NewGuid(); }");
        Generation app = Generation.OfAssembly("Demo", """
            namespace Demo;
            public interface IShop { void Go(); }
            public partial class Shop : Immortal<IShopProxy>, IShop { public void Go()
            {
                _ = Vendor.Clock.Stamp();
                _ = Vendor.Clock.Name();
            } }
            """, package.AsReference());
        foreach (Generation each in (Generation[])[app, package])
        {
            using FileStream file = File.Create(Path.Combine(_folder, $"{each.Output.AssemblyName}.dll"));
            EmitResult emitted = each.Output.Emit(file, options: new EmitOptions(debugInformationFormat: DebugInformationFormat.Embedded));
            Assert.True(emitted.Success, string.Join('\n', emitted.Diagnostics));
        }
        Directory.CreateDirectory(Path.Combine(_folder, "obj"));
        File.WriteAllText(Path.Combine(_folder, "Demo.proj"), string.Format(System.Globalization.CultureInfo.InvariantCulture, Project,
            AppContext.BaseDirectory, Path.Combine(Root(), "codegen", "Ambrosia.ContractFile", "Ambrosia.ContractFile.targets")));

        for (int times = 0; times < 2; times++)
        {
            (int code, string output) = Build();
            Assert.True(code == 1, output);
            string[] errors = [.. output.Split('\n').Where(IsError)];
            Assert.True(errors.Length == 2, output);
            Assert.Contains("Demo.cs(9,5): error AMB101: DateTime.UtcNow is no function of the log. It is executed by Shop.Go → Clock.Stamp, ",
                errors[0], StringComparison.Ordinal);
            Assert.Contains("Demo.cs(10,5): error AMB103: Guid.NewGuid is no function of the log. It is executed by Shop.Go → Clock.Name, ",
                errors[1], StringComparison.Ordinal);
            Assert.Contains("skips the product: true.", output, StringComparison.Ordinal);
        }

        (int passed, string told) = Build("-p:AmbrosiaTrustedAssemblies=Vendor");
        Assert.True(passed == 0, told);
        Assert.Contains("skips the product: .", told, StringComparison.Ordinal);

        File.Delete(Path.Combine(_folder, "obj", "Demo.judged.stamp"));
        (int odd, string said) = Build("-p:AmbrosiaTrustedAssemblies=Vendor%3bo'x%22 one too many `touch ran` %22");
        Assert.True(odd == 0, said);
        Assert.False(File.Exists(Path.Combine(_folder, "ran")));

        // What cannot be written ends the program with 1.
        File.Delete(Path.Combine(_folder, "obj", "Demo.judged.stamp"));
        File.Delete(Path.Combine(_folder, "obj", "Demo.build.json"));
        Directory.CreateDirectory(Path.Combine(_folder, "obj", "Demo.build.json"));
        (int failed, string why) = Build("-p:AmbrosiaTrustedAssemblies=Vendor");
        Assert.Equal(1, failed);
        Assert.Contains("ended with code 1.", Assert.Single(why.Split('\n'), IsError), StringComparison.Ordinal);
    }

    private static bool IsError(string line) => line.Contains("error", StringComparison.Ordinal);

    private (int Code, string Output) Build(params string[] more)
    {
        var start = new ProcessStartInfo("dotnet", ["msbuild", "Demo.proj", "-nologo", "-v:m", "-nr:false", .. more])
        {
            WorkingDirectory = _folder, RedirectStandardOutput = true, RedirectStandardError = true,
        };
        // A test host hands down where it found its own build tools.
        string[] handedDown = [.. start.Environment.Keys.Where(static each => each.StartsWith("MSBUILD", StringComparison.OrdinalIgnoreCase))];
        foreach (string name in handedDown) start.Environment.Remove(name);
        using Process build = Process.Start(start)!;
        Task<string> errors = build.StandardError.ReadToEndAsync();
        string output = build.StandardOutput.ReadToEnd();
        build.WaitForExit();
        return (build.ExitCode, output + errors.GetAwaiter().GetResult());
    }

    private static string Root()
    {
        string at = AppContext.BaseDirectory;
        while (!File.Exists(Path.Combine(at, "Ambrosia.sln"))) at = Path.GetDirectoryName(at)!;
        return at;
    }
}
