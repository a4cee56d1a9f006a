using System.Text;
using System.Text.Json;
using Ambrosia.Coordinator.Admin;
using Ambrosia.Coordinator.Hosting;
using Ambrosia.TestKit;

namespace Ambrosia.Coordinator.Tests;

/// <summary>Small files of JSON in a directory of a log: whatever stands in one, it is read or is as if it were not there.</summary>
public sealed class StrictJsonTests
{
    private const string Dir = "/log";

    private static readonly string[] s_incidents =
        ["\"time\":5,\"lsn\":64", "\"time\":5,\"time\":5,\"lsn\":64", "\"time\":5,\"lsn\":64,\"why\":\"\\ud800\""];

    private static readonly string[] s_places =
    [
        "\"socket\":\"/s\",\"process\":7", "\"socket\":\"/s\",\"socket\":\"/s\",\"process\":7",
        "\"socket\":\"\\ud800\",\"process\":7",
    ];

    private readonly SimulatedFileSystem _files = new();

    public StrictJsonTests() => _files.CreateDirectory(Dir);

    [Fact]
    public void Parse_ANameTwice_IsNoJson()
    {
        Assert.Equal("""{"a":1}""", StrictJson.Parse("""{"a":1}"""u8)!.ToJsonString());
        Assert.ThrowsAny<JsonException>(static () => StrictJson.Parse("""{"a":1,"b":{"c":1,"c":1}}"""u8));
    }

    [Fact]
    public void Incidents_WithANameTwiceOrHalfACharacter_AreAsIfThereWereNone() =>
        Assert.Equal([true, false, false], s_incidents.Select(members => Written("death.r0", members, path =>
            IncidentFiles.LastDeath(_files, Dir) is not null)));

    [Fact]
    public void Places_WithANameTwiceOrHalfACharacter_AreAsIfThereWereNone() =>
        Assert.Equal([true, false, false], s_places.Select(members => Written("admin.r0", members, path =>
            AdminEndpoint.ReadPlace(_files, path) is not null)));

    private bool Written(string name, string members, Func<string, bool> isRead)
    {
        string path = Path.Combine(Dir, name);
        _files.WriteAll(path, Encoding.UTF8.GetBytes($"{{{members}}}"));
        return isRead(path);
    }
}
