using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;

namespace Ambrosia.Generators.Tests;

/// <summary>What is generated fits the project that it is generated into, or one diagnostic says what the project has to change.</summary>
public sealed class LanguageVersionTests
{
    private const string Source = """
        public interface IShop { void Sell(string article, string note = null!); Call<List<string>> All(IReadOnlyDictionary<string, int> stock); }
        public partial class Shop : Immortal<IShop>, IShop
        {
            private Order _last = new();
            public void Sell(string article, string note) { _last = new Order { Name = note }; }
            public async Call<List<string>> All(IReadOnlyDictionary<string, int> stock) { await thisProxy.SellAsync("a"); return [_last.Name]; }
        }
        [Data] public class Order { public string Name { get; set; } = ""; public string[] Parts { get; set; } = []; }
        """;

    [Theory]
    [InlineData(LanguageVersion.CSharp9, "9.0")]
    [InlineData(LanguageVersion.CSharp10, "10.0")]
    [InlineData(LanguageVersion.CSharp11, "11.0")]
    public void Language_TooOld_IsOneDiagnosticAndNoCode(LanguageVersion version, string name)
    {
        Generation generation = Generation.Of(Source).In(version);
        Diagnostic diagnostic = Assert.Single(generation.Diagnostics);
        Assert.Equal("AMB021", diagnostic.Id);
        Assert.Contains($"compiled as C# {name}, and what is generated for it is C# 12", diagnostic.GetMessage(), StringComparison.Ordinal);
        Assert.Equal(generation.Input.SyntaxTrees.Length, generation.Output.SyntaxTrees.Count());
    }

    [Fact]
    public void Language_TooOldWithoutAnythingToGenerate_IsFine() =>
        Assert.Empty(Generation.Of("public class Shop { }").In(LanguageVersion.CSharp9).Diagnostics);

    [Fact]
    public void Nulls_OfWhichTheProjectSaysNothing_AreNotWarnedOf()
    {
        string[] errors = Generation.Of(Source).Errors();
        Assert.True(errors.Length == 0, string.Join('\n', errors));
    }
}
