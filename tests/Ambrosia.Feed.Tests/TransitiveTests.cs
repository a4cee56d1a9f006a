using System.Globalization;
using System.Text.Json;

namespace Ambrosia.Feed.Tests;

/// <summary>
/// Builds what refers to Ambrosia by way of somebody else's package: a library with an immortal, and an app that runs it. The generator,
/// its analyzers and the step behind the compiler come all the same.
/// </summary>
[Collection(FeedCollection.Name)]
public sealed class TransitiveTests(Feed feed)
{
    private const string ProjectFile = """
        <Project Sdk="Microsoft.NET.Sdk">
          <PropertyGroup>
            <TargetFramework>net10.0</TargetFramework>
            <OutputType>{0}</OutputType>
            <ImplicitUsings>enable</ImplicitUsings>
            <Nullable>enable</Nullable>
          </PropertyGroup>
          <ItemGroup>{1}</ItemGroup>
        </Project>
        """;

    private const string Money = "namespace Acme; public static class Money { public static long Cents(long whole) => whole * 100; }";

    private const string Program = "return Ambrosia.AmbrosiaHost.Run<Books.Ledger>(args);";

    private const string Ledger = """
        using Ambrosia;
        namespace Books;
        public interface ILedger { Call<long> Enter(long whole); }
        public sealed partial class Ledger : Immortal<ILedgerProxy>, ILedger
        {
            private long _sum;
            public async Call<long> Enter(long whole) { _sum += Acme.Money.Cents(whole); await Delay(TimeSpan.FromMilliseconds(1)); return _sum; }
        }
        """;

    [Fact]
    public void Library_BehindAnotherPackage_HasGeneratorAnalyzersAndAllFiles()
    {
        string exact = $"Version=\"[{feed.Version}]\"";
        string money = Project("Acme.Money", "Library", $"<PackageReference Include='Ambrosia.Embedded' {exact} />", Money);
        feed.Run(money, "dotnet", "pack", "-v", "q", "-o", feed.PackagesOfOthers, $"-p:Version={feed.Version}");
        string books = Project("Books", "Library", $"<PackageReference Include='Acme.Money' {exact} />", Ledger);
        string app = Project("App", "Exe", "<ProjectReference Include='../Books/Books.csproj' />", Program);

        feed.Run(app, "dotnet", "publish", "-v", "q", "-o", "out");

        string[] written =
            [.. Directory.EnumerateFiles(Path.Combine(app, "out"), "*.json").Select(static path => Path.GetFileName(path)).Order()];
        Assert.Equal(["App.build.json", "App.deps.json", "App.runtimeconfig.json", "Books.contract.json", "Books.suspend.json"], written);
        Assert.Contains("ILedger", File.ReadAllText(Path.Combine(app, "out", "Books.contract.json")));
        // It counts only where it is of exactly the assemblies of the app.
        using JsonDocument build = JsonDocument.Parse(File.ReadAllText(Path.Combine(app, "out", "App.build.json")));
        Assert.Equal(Directory.EnumerateFiles(Path.Combine(app, "out"), "*.dll").Select(static path => Path.GetFileName(path)).Order(),
            build.RootElement.GetProperty("assemblies").EnumerateArray().Select(static each => each.GetProperty("name").GetString()).Order());

        // An immortal that is not partial is what an analyzer of ours refuses.
        File.WriteAllText(Path.Combine(books, "Books.cs"), Ledger.Replace("partial ", "", StringComparison.Ordinal));
        using Command refused = feed.Start(books, "dotnet", "build", "-v", "q");
        Assert.False(refused.Succeeds());
        Assert.Contains("AMB001", refused.Output);
    }

    private string Project(string name, string output, string reference, string source)
    {
        string folder = Directory.CreateDirectory(Path.Combine(feed.Work, name)).FullName;
        File.WriteAllText(
            Path.Combine(folder, $"{name}.csproj"), string.Format(CultureInfo.InvariantCulture, ProjectFile, output, reference));
        File.WriteAllText(Path.Combine(folder, $"{name}.cs"), source);
        return folder;
    }
}
