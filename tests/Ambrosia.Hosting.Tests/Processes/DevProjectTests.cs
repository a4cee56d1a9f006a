using System.Diagnostics;
using System.Text.RegularExpressions;

namespace Ambrosia.Hosting.Tests.Processes;

/// <summary>The command <c>ambrosia dev</c> with a project that is edited while it runs.</summary>
public sealed partial class DevProjectTests
{
    private const string Program = """
        using Ambrosia;
        using Ambrosia.Client;
        using Ambrosia.Hosting;
        WebApplicationBuilder builder = WebApplication.CreateBuilder(args);
        builder.AddAmbrosia().AddImmortal<Sum>("sum");
        builder.Services.AddImmortalClient<ISum>("sum");
        WebApplication app = builder.Build();
        app.MapPost("/add/{key}", async (string key, long amount, ClientProxy<ISum> sum) => await sum.WithKey(key).AddAsync(amount));
        app.Run();
        public interface ISum { long Add(long amount); }
        public sealed partial class Sum : Immortal<ISumProxy>, ISum
        {
            private long _value;
            public long Add(long amount) => _value += 1 * amount;
        }
        """;

    /// <summary>
    /// A rebuild stops the app in order, so that the new build begins at a checkpoint. A build that is there behind a kill would execute
    /// inputs again that the one before has executed otherwise; while one develops that is accepted, with a line.
    /// </summary>
    [Fact]
    public async Task Dev_OfAProjectThatIsEdited_RebuildsAndAcceptsWhatIsBuiltBehindAKill()
    {
        using var directory = new TemporaryDirectory();
        string project = Directory.CreateDirectory(Path.Combine(directory.Path, "Sums")).FullName;
        File.WriteAllText(Path.Combine(project, "Sums.csproj"), ProjectFile());
        Write(project, 1);
        using var dev = new DevProcess(directory.Path, $"sums={project}");
        using var caller = new TillCaller(() => dev.Address);
        await dev.Until(() => dev.Address is not null);
        Assert.Equal("5", await caller.PostAsync("/add/k1?amount=5"));

        Uri first = dev.Address!;
        Write(project, 10);
        dev.Press('r');
        await dev.Until(() => dev.Address is { } address && address != first);
        Assert.Equal("55", await caller.PostAsync("/add/k2?amount=5"));
        Assert.DoesNotContain("is accepted", dev.Output, StringComparison.Ordinal);

        Write(project, 100);
        Build(project);
        dev.Press('k');
        await dev.Until(() => Accepted().IsMatch(dev.Output));
        Assert.Equal("505", await caller.PostAsync("/add/k3?amount=0")); // 5, and the other 5 a hundred times, as this build has it
        dev.Press('q');
        Assert.True(dev.AwaitEnd() == 0, dev.Output);
    }

    private static void Write(string project, int factor) => File.WriteAllText(
        Path.Combine(project, "Program.cs"), Program.Replace("1 * amount", $"{factor} * amount", StringComparison.Ordinal));

    private static void Build(string project)
    {
        using Process build = Process.Start(new ProcessStartInfo("dotnet", ["build", project, "-v", "q", "--nologo", "-nodeReuse:false"])
        {
            RedirectStandardOutput = true,
        })!;
        string said = build.StandardOutput.ReadToEnd();
        build.WaitForExit();
        Assert.True(build.ExitCode == 0, said);
    }

    [GeneratedRegex("build [0-9a-f]+ executes recorded inputs otherwise than the one before, and is accepted")]
    private static partial Regex Accepted();

    /// <summary>The project of somebody who has the assemblies, and the generator.</summary>
    private static string ProjectFile()
    {
        string output = Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory), root = output;
        while (!File.Exists(Path.Combine(root, "Ambrosia.sln"))) root = Path.GetDirectoryName(root)!;
        string configuration = Path.GetFileName(Path.GetDirectoryName(output)!),
            generators = Path.Combine(root, "codegen", "Ambrosia.Generators", "bin", configuration, "netstandard2.0");
        IEnumerable<string> ours = new[] { "Ambrosia", "Ambrosia.Client", "Ambrosia.Embedded", "Ambrosia.Hosting", "Ambrosia.Protocol" }
            .Select(name => Path.Combine(output, $"{name}.dll"));
        return $"""
            <Project Sdk="Microsoft.NET.Sdk.Web">
              <PropertyGroup>
                <TargetFramework>net10.0</TargetFramework>
                <Nullable>enable</Nullable>
                <ImplicitUsings>enable</ImplicitUsings>
                <UseAppHost>false</UseAppHost>
              </PropertyGroup>
              <ItemGroup>
                <Reference Include="{string.Join(';', ours)}" />
                <Analyzer Include="{Path.Combine(generators, "Ambrosia.Generators.dll")}" />
              </ItemGroup>
            </Project>
            """;
    }
}
