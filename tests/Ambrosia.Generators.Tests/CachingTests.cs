using Microsoft.CodeAnalysis;

namespace Ambrosia.Generators.Tests;

/// <summary>An edit that changes no contract makes no code again.</summary>
public sealed class CachingTests
{
    private const string Source = """
        namespace Demo;
        [Data] public record Point(int X);
        public interface IOne { void Go(Point to); }
        public interface ITwo { int Come(); }
        public partial class One : Immortal<IOneProxy>, IOne
        {
            private readonly ITwoProxy two;
            public One() { two = GetProxy<ITwo>("two"); }
            public void Go(Point to) { /* body */ }
            private async Call<int> Ask() { int a = await two.ComeAsync(); return /* value */a; }
        }
        public class Unrelated { /* here */ }
        """;

    private static readonly string[] s_steps = [ImmortalGenerator.ContractStep, ImmortalGenerator.ImmortalStep, ImmortalGenerator.DataStep,
        ImmortalGenerator.ManifestStep, ImmortalGenerator.SuspendableStep];

    [Theory]
    [InlineData("/* here */", "public int More() => 1;")]
    [InlineData("/* body */", "two.ComeFork();")]
    [InlineData("public interface ITwo", "\n\n// a comment in front\npublic interface ITwo")]
    [InlineData("int Come();", "int   Come( ) ;")]
    [InlineData("/* value */", "// a comment in an async body\n")]
    public void Edit_ThatIsUnrelated_MakesNothingAgain(string from, string to)
    {
        Generation edited = Generation.Of(Source).Edited(from, to);

        Assert.Empty(edited.Errors());
        foreach (string step in s_steps)
        {
            IncrementalStepRunReason[] reasons = edited.Reasons(step);
            Assert.NotEmpty(reasons);
            Assert.All(reasons,
                reason =>
                    Assert.True(reason is IncrementalStepRunReason.Cached or IncrementalStepRunReason.Unchanged, $"{step}: {reason}"));
        }
    }

    /// <summary>The negative control: the steps that are watched do see a change, and only those that it concerns.</summary>
    [Fact]
    public void Edit_OfAContract_MakesItsCodeAgain()
    {
        Generation edited = Generation.Of(Source).Edited("int Come();", "int Come(int late);");

        Assert.Equal(
            [IncrementalStepRunReason.Cached, IncrementalStepRunReason.Modified],
            edited.Reasons(ImmortalGenerator.ContractStep).Select(Settled).OrderBy(reason => reason.ToString()));
        Assert.All(edited.Reasons(ImmortalGenerator.ImmortalStep),
            reason => Assert.Equal(IncrementalStepRunReason.Cached, Settled(reason)));
        Assert.Contains(IncrementalStepRunReason.Modified, edited.Reasons(ImmortalGenerator.ManifestStep));
    }

    /// <summary>An edit of a method that awaits concerns the table of its source hash, and no other code.</summary>
    [Fact]
    public void Edit_OfAnAsyncBody_MakesItsSourceHashAgain()
    {
        Generation edited = Generation.Of(Source).Edited("/* value */", "1 + ");

        Assert.Contains(IncrementalStepRunReason.Modified, edited.Reasons(ImmortalGenerator.SuspendableStep));
        foreach (string step in s_steps.Except([ImmortalGenerator.SuspendableStep]))
            Assert.All(edited.Reasons(step), reason => Assert.Equal(IncrementalStepRunReason.Cached, Settled(reason)));
    }

    private static IncrementalStepRunReason Settled(IncrementalStepRunReason reason) =>
        reason == IncrementalStepRunReason.Unchanged ? IncrementalStepRunReason.Cached : reason;
}
