namespace Ambrosia.Generators.Tests;

/// <summary>
/// What stands in a program twice, rightly or by mistake: the generator goes on, so that the compiler's word about the mistake
/// is not lost among others.
/// </summary>
public sealed class DoubledTests
{
    private const string Rest = """
        public interface ICaller { Call Go(); }
        public partial class Caller : Immortal<ICallerProxy>, ICaller
        {
            private readonly IAccountProxy account;
            private Item item = new(1);
            public Caller() { account = GetProxy<IAccount>("account"); }
            public async Call Go() { await account.PutAsync(item); item = await account.TakeAsync(); account.PutFork(item); }
        }
        """;

    private const string Contract = "public interface IAccount { void Put(Item item); Call<Item> Take(); }";
    private const string Data = "[Data] public sealed record Item(int N);";
    private const string Class =
        "public partial class Account : Immortal<IAccountProxy>, IAccount { private Item? kept; public void Put(Item item) => kept = item; public async Call<Item> Take() { await thisProxy.PutAsync(kept!); return kept!; } }";

    [Theory]
    [InlineData("CS0101", Contract + Contract + Data + Class)]
    [InlineData("CS0101", Contract + Data + Data + Class)]
    [InlineData("CS0111", Contract + Data + Class + Class)]
    [InlineData("CS0260", Contract + Data + Class + "public class Account { }")]
    [InlineData("CS0111", "public interface IAccount { void Put(Item item); void Put(Item item); Call<Item> Take(); }" + Data + Class)]
    [InlineData("CS0111",
        Contract + Data
        + "public partial class Account : Immortal<IAccountProxy>, IAccount { public void Put(Item item) { } public void Put(Item item) { } public async Call<Item> Take() { await thisProxy.PutAsync(new(1)); return new(2); } }")]
    public void Mistake_IsWhatTheCompilerTells(string expected, string source)
    {
        Generation generation = Generation.Of(source + Rest);
        string[] errors = generation.Errors();

        Assert.Contains(errors, error => error.Contains($": error {expected}:", StringComparison.Ordinal));
        // Whoever calls what stands there twice is told so, too: that call alone.
        string[] others = [.. errors.Where(static error => !error.Contains(": error CS0121: ", StringComparison.Ordinal))
            .Where(
                static error => !error.StartsWith("Demo.cs(", StringComparison.Ordinal)
                    || error.Contains("Proxy'", StringComparison.Ordinal))];
        Assert.True(others.Length == 0, string.Join('\n', others));
    }

    /// <summary>Rightly: a class in parts, each with its bases; names that differ in the case of their letters.</summary>
    [Theory]
    [InlineData(Contract + Data + Class + "public partial class Account : Immortal<IAccountProxy>, IAccount { public int More; }")]
    [InlineData(Contract + Data + Class
        + "[Data] public sealed record ITEM(int N); public interface IAcCount { void Put(ITEM item); } public partial class AcCount : Immortal<IAcCountProxy>, IAcCount { public void Put(ITEM item) { } }")]
    public void Program_ThatIsRight_Compiles(string source)
    {
        Generation generation = Generation.Of(source + Rest);

        Assert.Empty(generation.Diagnostics);
        Assert.Empty(generation.Errors());
    }
}
