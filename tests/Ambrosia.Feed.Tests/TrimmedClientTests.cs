using System.Globalization;
using Ambrosia.TestKit;

namespace Ambrosia.Feed.Tests;

/// <summary>
/// Publishes a program of a client outside with nothing but what it uses. The trimmer's warnings are errors, so it has none.
/// </summary>
[Collection(FeedCollection.Name)]
public sealed class TrimmedClientTests(Feed feed)
{
    private const string ProjectFile = """
        <Project Sdk="Microsoft.NET.Sdk">
          <PropertyGroup>
            <TargetFramework>net10.0</TargetFramework>
            <OutputType>Exe</OutputType>
            <ImplicitUsings>enable</ImplicitUsings>
            <Nullable>enable</Nullable>
            <PublishTrimmed>true</PublishTrimmed>
            <TrimmerSingleWarn>false</TrimmerSingleWarn>
            <TreatWarningsAsErrors>true</TreatWarningsAsErrors>
          </PropertyGroup>
          <ItemGroup>
            <PackageReference Include="Ambrosia" Version="[{0}]" />
            <PackageReference Include="Ambrosia.Client" Version="[{0}]" />
            <Compile Include="../Till/ICounters.cs" />
          </ItemGroup>
        </Project>
        """;

    private const string Program = """
        using Ambrosia.Client;
        using Till;
        await using ImmortalClient client = ImmortalClient.Create(args[0], "counters", new ClientOptions());
        ClientProxy<ICounters> counters = client.GetProxy<ICounters>();
        long sum = await counters.WithKey("trimmed").AddAsync("visits", 8);
        Console.WriteLine($"{sum} {(await counters.ReadAsync("visits")).Value}");
        """;

    [ReleaseFact("it fetches a runtime and trims it, which takes half a minute")]
    public void Client_PublishedTrimmed_IsAnsweredByAnImmortal()
    {
        feed.Run(feed.Work, "dotnet", "new", "immortal-web", "-o", "Till");
        string till = Path.Combine(feed.Work, "Till"), folder = Directory.CreateDirectory(Path.Combine(feed.Work, "Caller")).FullName;
        File.WriteAllText(
            Path.Combine(folder, "Caller.csproj"), string.Format(CultureInfo.InvariantCulture, ProjectFile, feed.Version));
        File.WriteAllText(Path.Combine(folder, "Caller.cs"), Program);
        feed.Run(till, "dotnet", "build", "-v", "q");
        feed.Run(folder, "dotnet", "publish", "-v", "q", "--use-current-runtime", "-o", "out");
        Assert.False(File.Exists(Path.Combine(folder, "out", "System.Xml.dll"))); // which the whole framework has

        string app = Path.Combine(till, "bin", "Debug", "net10.0", "Till.dll");
        using Command server = feed.Start(till, "dotnet", app, "--urls", "http://127.0.0.1:0");
        server.AwaitText("Now listening on: ");
        string said = feed.Run(till, Path.Combine(folder, "out", "Caller"), Path.Combine(till, ".ambrosia", "catalog"));
        Assert.EndsWith("8 8\n", said, StringComparison.Ordinal);
    }

    /// <summary>A test of the run of a release; skipped elsewhere, with the reason.</summary>
    [AttributeUsage(AttributeTargets.Method)]
    private sealed class ReleaseFactAttribute : FactAttribute
    {
        public ReleaseFactAttribute(string why)
        {
            if (TestScale.Value < 1) Skip = $"{why}: {TestScale.Variable}=1";
        }
    }
}
