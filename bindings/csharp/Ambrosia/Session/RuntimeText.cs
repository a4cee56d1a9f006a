using System.Runtime.InteropServices;
using System.Text;

namespace Ambrosia.Session;

/// <summary>
/// Says in which runtime, time zone and zone data this process executes handlers, which the log keeps for whoever looks for a difference
/// (protocol P5.1). Any thread may call it.
/// </summary>
internal static class RuntimeText
{
    /// <summary>The text is part of a frame, which has room for so many bytes.</summary>
    private const int BytesMax = 128;

    private const int FirstLineMax = 64;

    /// <summary>Returns the text for this process as it is now.</summary>
    internal static string Of() => Of(RuntimeInformation.FrameworkDescription, TimeZoneInfo.Local.Id, DataVersion());

    /// <param name="data">The version of the zone data; null where the machine does not tell it.</param>
    internal static string Of(string runtime, string zone, string? data)
    {
        string all = $"{runtime}, zone {zone}{(data is null ? "" : $", zone data {data}")}";
        return all.Length <= BytesMax && Ascii.IsValid(all) ? all : runtime;
    }

    /// <summary>Reads the first line of the zone data's source, <c># version 2025b</c>, where the system keeps it.</summary>
    private static string? DataVersion()
    {
        const string Begin = "# version ";
        try
        {
            string directory = Environment.GetEnvironmentVariable("TZDIR") is { Length: > 0 } own ? own : "/usr/share/zoneinfo";
            using StreamReader file = File.OpenText(Path.Combine(directory, "tzdata.zi"));
            var line = new char[FirstLineMax];
            string read = new string(line, 0, file.ReadBlock(line)).Split('\n')[0].Trim();
            return read.StartsWith(Begin, StringComparison.Ordinal) ? read[Begin.Length..] : null;
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null; // the machine has no such data, or none that says which it is
        }
    }
}
