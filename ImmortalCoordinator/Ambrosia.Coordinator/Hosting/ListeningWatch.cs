using System.Globalization;
using System.Net;

namespace Ambrosia.Coordinator.Hosting;

/// <summary>
/// Finds out which ports an app has opened since it began to look at the past: nobody should be served by what was. On Linux the kernel
/// tells whose sockets listen; elsewhere nothing is found. To ask it for that takes milliseconds, so it is asked when the app has another
/// socket than before, and once more, since a socket listens a little later than it is there. One thread at a time.
/// </summary>
/// <param name="process">The app's process id.</param>
internal sealed class ListeningWatch(int process)
{
    private const string SocketPrefix = "socket:[", Listens = "0A";

    /// <summary>These sockets were there when the kernel was asked once, and at least twice.</summary>
    private readonly HashSet<string> _once = [], _twice = [];

    private readonly HashSet<string> _known = [.. ListeningOf(process, IdsOf(process)).Select(static each => each.Id)];

    /// <summary>The process that is watched.</summary>
    public int Process => process;

    /// <summary>Returns where the app listens since the last time it was asked, or since the watch began.</summary>
    public IReadOnlyList<string> FindNew()
    {
        HashSet<string> open = IdsOf(process);
        if (open.IsSubsetOf(_twice)) return [];
        _twice.UnionWith(open.Where(each => !_once.Add(each)));
        return
        [
            .. ListeningOf(process, open).Where(each => _known.Add(each.Id)).Select(static each => each.Address).Distinct()
                .Order(StringComparer.Ordinal),
        ];
    }

    private static List<(string Id, string Address)> ListeningOf(int process, HashSet<string> open)
    {
        if (open.Count == 0) return [];
        try
        {
            return [.. new[] { "tcp", "tcp6" }.SelectMany(table => File.ReadLines($"/proc/{process}/net/{table}").Skip(1))
                .Select(ParseListening).OfType<(string Id, string Address)>().Where(each => open.Contains(each.Id))];
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return []; // it has ended, or is another user's
        }
    }

    /// <summary>Returns the numbers of the sockets that a process has open.</summary>
    private static HashSet<string> IdsOf(int process)
    {
        var ids = new HashSet<string>();
        if (!OperatingSystem.IsLinux()) return ids;
        try
        {
            foreach (string open in Directory.EnumerateFiles($"/proc/{process}/fd"))
                if (TargetOf(open) is { } target && target.StartsWith(SocketPrefix, StringComparison.Ordinal))
                    ids.Add(target[SocketPrefix.Length..^1]);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return ids; // it has ended, or is another user's
        }
        return ids;
    }

    private static string? TargetOf(string open)
    {
        try
        {
            return File.ResolveLinkTarget(open, returnFinalTarget: false)?.Name;
        }
        catch (IOException)
        {
            return null; // it was closed meanwhile
        }
    }

    /// <summary>
    /// Reads a line of the kernel's table: its number, the local and the remote address, the state, and as the tenth word the socket's
    /// number.
    /// </summary>
    private static (string Id, string Address)? ParseListening(string line)
    {
        string[] words = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        if (words is not [_, var local, _, Listens, _, _, _, _, _, var id, ..]) return null;
        if (local.Split(':') is not [var address, var port]) return null;
        int number = int.Parse(port, NumberStyles.HexNumber, CultureInfo.InvariantCulture);
        return (id, new IPEndPoint(AddressOf(address), number).ToString());
    }

    /// <summary>Reads an address as the kernel writes it: words of four bytes, each as a number of this machine.</summary>
    private static IPAddress AddressOf(string digits)
    {
        byte[] bytes = Convert.FromHexString(digits);
        if (BitConverter.IsLittleEndian)
            for (int i = 0; i < bytes.Length; i += 4) bytes.AsSpan(i, 4).Reverse();
        return new IPAddress(bytes);
    }
}
