using System.Runtime.InteropServices;
using Ambrosia.Session;

namespace Ambrosia.Binding.Tests;

/// <summary>The log says under which runtime, time zone and zone data a process executes handlers.</summary>
public sealed class RuntimeTextTests
{
    [Fact]
    public void Text_OfThisProcess_NamesItsZone() => Assert.StartsWith(
        $"{RuntimeInformation.FrameworkDescription}, zone {TimeZoneInfo.Local.Id}", RuntimeText.Of(), StringComparison.Ordinal);

    [Fact]
    public void Text_ThatHasNoRoom_IsTheRuntimeAlone()
    {
        Assert.Equal(".NET 10, zone UTC, zone data 2025b", RuntimeText.Of(".NET 10", "UTC", "2025b"));
        Assert.Equal(".NET 10, zone UTC", RuntimeText.Of(".NET 10", "UTC", null));
        Assert.Equal(".NET 10", RuntimeText.Of(".NET 10", new string('z', 128), null));
    }
}
