using Ambrosia.Coordinator.Hosting;

namespace Ambrosia.Coordinator.Tests.Hosting;

/// <summary>The app of a view begins in the culture in which the log was executed, by the variable that .NET honours.</summary>
public sealed class ViewAppTests
{
    [Theory]
    [InlineData("", "C.UTF-8")]
    [InlineData("de", "de.UTF-8")]
    [InlineData("en-US", "en_US.UTF-8")]
    [InlineData("zh-Hans-CN", "zh_Hans_CN.UTF-8")]
    public void Culture_OfABuildRecord_IsWrittenAsASystemKnowsIt(string culture, string posix) =>
        Assert.Equal(posix, ViewApp.CultureValue(culture));
}
