using Ambrosia.Inspection.Texts;
using Ambrosia.Tools.Listing;

namespace Ambrosia.Tools.Tests;

public sealed class TimeArgumentTests
{
    private static readonly DateTimeOffset s_now = new(2026, 11, 21, 8, 0, 0, TimeSpan.Zero);

    [Theory]
    [InlineData("2026-11-21T07:59:00Z", -60)]
    [InlineData("2026-11-21 07:59", -60)]
    [InlineData("2026-11-21T08:59:00+01:00", -60)]
    [InlineData("60s", -60)]
    [InlineData("1m", -60)]
    [InlineData("2h", -7200)]
    [InlineData("1d", -86400)]
    public void Moment_AsUsersWriteIt_IsUtc(string text, int seconds) =>
        Assert.Equal(s_now.AddSeconds(seconds).ToUnixTimeMilliseconds() * 1000, TimeArgument.Parse(text, s_now));

    [Theory]
    [InlineData("")]
    [InlineData("m")]
    [InlineData("-1m")]
    [InlineData("soon")]
    [InlineData("5y")]
    public void Moment_ThatIsNone_IsNull(string text) => Assert.Null(TimeArgument.Parse(text, s_now));
}
