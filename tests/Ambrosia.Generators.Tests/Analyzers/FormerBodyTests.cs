using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Tests.Analyzers;

/// <summary>A kept body in which nothing could go on is reported at its name, with the way to mend it.</summary>
public sealed class FormerBodyTests
{
    private const string Head = """
        namespace Demo;
        public interface IX { Call<int> Go(int n); }

        """;

    private const string Go = "public async Call<int> Go(int n) { await Delay(TimeSpan.Zero); return n; } ";

    [Theory]
    [InlineData("X has no method Stay; where the method is gone, keep its old body under its own name",
        "[Formerly(\"Stay\")] private async Call<int> Kept(int n) { await Delay(TimeSpan.Zero); return n + 1; }")]
    [InlineData("no Go has the same parameters and the same result",
        "[Formerly(nameof(Go))] private async Call<int> Kept(long n) { await Delay(TimeSpan.Zero); return (int)n; }")]
    [InlineData("no Go has the same parameters and the same result",
        "[Formerly(nameof(Go))] private async Call<long> Kept(int n) { await Delay(TimeSpan.Zero); return n; }")]
    [InlineData("no Go has the same parameters and the same result",
        "[Formerly(nameof(Go))] private async Call<int> Kept<T>(int n) { await Delay(TimeSpan.Zero); return n; }")]
    [InlineData("it is that method; give the kept body a name of its own",
        "[Formerly(nameof(Kept))] private async Call<int> Kept(int n) { await Delay(TimeSpan.Zero); return n; }")]
    [InlineData("others could call it; make it private",
        "[Formerly(nameof(Go))] internal async Call<int> Kept(int n) { await Delay(TimeSpan.Zero); return n + 1; }")]
    public void Body_ThatNothingCouldGoOnIn_IsReported(string why, string member)
    {
        Diagnostic found = Assert.Single(Of(Go + member));

        Assert.Equal("AMB128", found.Id);
        Assert.Equal("Kept", Analysis.TextAt(found));
        Assert.Contains(why, found.GetMessage(), StringComparison.Ordinal);
    }

    [Fact]
    public void Body_OfAKeptBody_IsReportedWithTheMethodThatIsCalled()
    {
        Diagnostic found = Assert.Single(Of(Go
            + "[Formerly(nameof(Go))] private async Call<int> One(int n) { await Delay(TimeSpan.Zero); return n + 1; }"
            + "[Formerly(nameof(One))] private async Call<int> Two(int n) { await Delay(TimeSpan.Zero); return n + 2; }"));

        Assert.Contains("One keeps a body itself; name the method that is called, Go", found.GetMessage(), StringComparison.Ordinal);
    }

    /// <summary>Spaces and comments make no other body.</summary>
    [Fact]
    public void Body_ThatAnotherKeeps_IsReportedOnce()
    {
        Diagnostic found = Assert.Single(Of(Go
            + "[Formerly(nameof(Go))] private async Call<int> One(int n) { await Delay(TimeSpan.Zero); return n + 1; }"
            + "[Formerly(nameof(Go))] private async Call<int> Two(int n) { await Delay(TimeSpan.Zero); /* later */ return n+1; }"));

        Assert.Equal("Two", Analysis.TextAt(found));
        Assert.Contains("One keeps the same body; remove one of the two", found.GetMessage(), StringComparison.Ordinal);
    }

    /// <summary>Overloads, generic and static helpers, and several builds' bodies of one method.</summary>
    [Theory]
    [InlineData("[Formerly(nameof(Go))] private async Call<int> One(int n) { await Delay(TimeSpan.Zero); return n + 1; } [Formerly(nameof(Go))] private async Call<int> Two(int n) { await Delay(TimeSpan.Zero); return n + 2; }")]
    [InlineData("private async Call<T> Of<T>(T a, List<T> b) { await Delay(TimeSpan.Zero); return a; } [Formerly(nameof(Of))] private async Call<U> Kept<U>(U a, List<U> b) { await Delay(TimeSpan.Zero); return b[0]; }")]
    [InlineData("private static Call<int> Of(int a) => throw new InvalidOperationException(); private static Call<int> Of(string a) => throw new InvalidOperationException(); [Formerly(nameof(Of))] private static Call<int> Kept(string a) => throw new InvalidOperationException(a);")]
    public void Body_OfAMethodThatIsThere_IsNotReported(string members) => Assert.Empty(Of(Go + members));

    private static IEnumerable<Diagnostic> Of(string members) =>
        Analysis.Of($"{Head}public partial class X : Immortal<IXProxy>, IX {{ {members} }}");
}
