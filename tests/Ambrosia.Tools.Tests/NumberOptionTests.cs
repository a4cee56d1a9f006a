using System.CommandLine;
using Ambrosia.Tools.Commands;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.Tests;

/// <summary>Every number on a command line is checked: one that is too large, has a sign or is empty ends with exit code 2.</summary>
public sealed class NumberOptionTests
{
    private static readonly string[] s_numeric = ["N", "LSN", "ID", "TIME"];

    [Fact]
    public void Numbers_OfEveryOption_AreChecked()
    {
        int tried = 0;
        foreach ((string[] command, Option option) in Options())
        {
            Type type = Nullable.GetUnderlyingType(option.ValueType) ?? option.ValueType;
            bool isNumber = type == typeof(TimeSpan) || (type.IsPrimitive && type != typeof(bool));
            string name = $"{string.Join(' ', command)} {option.Name}";
            Assert.False(isNumber && option is not (NumberOption or TimeOption), $"{name} is a number of its own kind");
            if (!s_numeric.Contains(option.HelpName)) continue;
            foreach (string wrong in (string[])["100000000000000000000", "-1", "", "0x10", "1e3", "٣"])
            {
                ToolRun run = ToolRun.Of([.. command, .. Enumerable.Repeat("x", Arguments(command)), $"{option.Name}={wrong}"]);
                Assert.True(run.Code == ToolExit.Misuse, $"{name}={wrong}: {run.Code}");
                Assert.Equal("", run.Output);
                tried++;
            }
        }
        Assert.InRange(tried, 60, 1_000);
    }

    [Theory]
    [InlineData("1", 0)]
    [InlineData("1000000", 0)]
    [InlineData("1000001", 2)]
    [InlineData("0", 2)]
    public void Number_AtItsBound_IsTaken(string number, int code)
    {
        using var temporary = new TemporaryDirectory();
        SampleLog.Make(temporary.Of("log"));
        Assert.Equal(code, ToolRun.Of("log", temporary.Of("log"), "--head", number).Code);
    }

    /// <summary>Files that are named by mistake, such as a device without an end, are read to a bound.</summary>
    [Theory]
    [InlineData("log", "LOG", "--records", "--contract", "/dev/zero")]
    [InlineData("contract", "check", "/dev/zero")]
    [InlineData("generate", "cpp", "/dev/zero")]
    [InlineData("cut", "LOG", "--around", "end", "--out", "OUT", "--mask", "@/dev/zero")]
    public void File_WithoutEnd_EndsWith2(params string[] args)
    {
        using var temporary = new TemporaryDirectory();
        SampleLog.Make(temporary.Of("log"));
        ToolRun run = ToolRun.Of([.. args.Select(each => each switch { "LOG" => temporary.Of("log"), "OUT" => temporary.Of("out"), _ => each })]);
        Assert.Equal(ToolExit.Misuse, run.Code);
        Assert.Contains("too long", run.Error);
    }

    private static IEnumerable<(string[] Command, Option Option)> Options()
    {
        using var none = new StringWriter();
        return Options([], Tool.Build(new ToolStreams(none, none)));
    }

    private static IEnumerable<(string[], Option)> Options(string[] path, Command command) =>
        command.Options.Select(each => (path, each)).Concat(command.Subcommands.SelectMany(each => Options([.. path, each.Name], each)));

    private static int Arguments(string[] path)
    {
        using var none = new StringWriter();
        Command command = path.Aggregate((Command)Tool.Build(new ToolStreams(none, none)),
            static (of, name) => of.Subcommands.First(each => each.Name == name));
        return command.Arguments.Sum(static each => each.Arity.MinimumNumberOfValues);
    }
}
