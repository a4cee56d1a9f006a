using System.Globalization;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Two network namespaces joined by a pair of virtual interfaces: two machines as far as links can tell. Owns both names in /run/netns;
/// they carry the id of this process, so that what a killed run has left is found and removed by the next. Processes in them are the
/// caller's and are gone before this is disposed of.
/// </summary>
internal sealed class TwoNetworks : IDisposable
{
    private const string Prefix = "ambrosia-e2e-", Directory = "/run/netns";

    private static int s_made;
    private readonly string[] _names;

    /// <exception cref="IOException">Not allowed, or there is no 'ip' here.</exception>
    public TwoNetworks()
    {
        RemoveLeftovers();
        int number = Interlocked.Increment(ref s_made);
        _names = [$"{Prefix}{Environment.ProcessId}-{number}a", $"{Prefix}{Environment.ProcessId}-{number}b"];
        try
        {
            foreach (string name in _names) Ip("netns", "add", name);
            Ip("-n", _names[0], "link", "add", "veth", "type", "veth", "peer", "name", "veth", "netns", _names[1]);
            foreach (int side in new[] { 0, 1 })
            {
                Ip("-n", _names[side], "link", "set", "lo", "up");
                Up(side);
            }
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    public static string AddressOf(int side, bool isIPv6) => isIPv6 ? $"fd77::{side + 1}" : $"10.77.0.{side + 1}";

    /// <summary>What stands in front of a command that is to run on a side; it becomes the command, under the same process id.</summary>
    public string[] Inside(int side) => ["nsenter", $"--net={Directory}/{_names[side]}", "--"];

    /// <summary>The side's interface goes down: neither side reaches the other, and nobody is told.</summary>
    public void Down(int side) => Ip("-n", _names[side], "link", "set", "veth", "down");

    /// <summary>And up again, with its addresses: IPv6 ones go with the interface.</summary>
    public void Up(int side)
    {
        Ip("-n", _names[side], "link", "set", "veth", "up");
        Ip("-n", _names[side], "addr", "replace", $"{AddressOf(side, isIPv6: false)}/24", "dev", "veth");
        Ip("-n", _names[side], "addr", "replace", $"{AddressOf(side, isIPv6: true)}/64", "dev", "veth", "nodad");
    }

    public void Dispose()
    {
        foreach (string name in _names.Where(static name => File.Exists(Path.Combine(Directory, name))))
            SmallDisk.Run("ip", "netns", "del", name);
    }

    private static void RemoveLeftovers()
    {
        if (!System.IO.Directory.Exists(Directory)) return;
        foreach (string path in System.IO.Directory.EnumerateFiles(Directory, $"{Prefix}*"))
        {
            string name = Path.GetFileName(path);
            if (int.TryParse(name[Prefix.Length..].Split('-')[0], NumberStyles.None, CultureInfo.InvariantCulture, out int process)
                && !System.IO.Directory.Exists($"/proc/{process}"))
                SmallDisk.Run("ip", "netns", "del", name);
        }
    }

    private static void Ip(params string[] arguments)
    {
        if (SmallDisk.Run("ip", arguments) is { Length: > 0 } why) throw new IOException(why);
    }
}
