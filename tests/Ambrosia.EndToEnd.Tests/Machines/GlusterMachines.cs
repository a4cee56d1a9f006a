using System.Diagnostics;
using System.Globalization;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>
/// Machines that share a GlusterFS volume: each has a network namespace and a mount namespace of its own, in which the volume is mounted at
/// the same path by a client of its own. The server is a third machine. Owns all of it; what a killed run has left in /run/netns the next
/// one removes. Processes in the machines are the caller's, and are gone before this is disposed of.
/// </summary>
internal sealed class GlusterMachines : IDisposable
{
    /// <summary>The options with which nobody remembers a name, or what a file held.</summary>
    public const string Coherent = RemembersContent + ",auto-invalidation=on",
        RemembersContent = "entry-timeout=0,attribute-timeout=0,negative-timeout=0";

    private const string Prefix = "ambrosia-gluster-", Names = "/run/netns", Server = "10.78.0.1", Volume = "v1";

    private static readonly string[] s_caches =
        ["stat-prefetch", "quick-read", "io-cache", "open-behind", "read-ahead", "readdir-ahead", "write-behind"];

    private static int s_made;

    private readonly string _root, _name;
    private readonly Process _server;
    private readonly List<Process> _machines = [];

    /// <param name="root">A directory of the test, on a file system with extended attributes.</param>
    /// <param name="withoutCaches">The volume's clients remember nothing; false: as the volume comes.</param>
    /// <param name="mounts">The mount's options, for each machine.</param>
    /// <exception cref="IOException">Not allowed, or something is missing here.</exception>
    public GlusterMachines(string root, bool withoutCaches, params string[] mounts)
    {
        RemoveLeftovers();
        (_root, _name) = (root, $"{Prefix}{Environment.ProcessId}-{Interlocked.Increment(ref s_made)}");
        Directory = Path.Combine(root, "shared");
        System.IO.Directory.CreateDirectory(Directory);
        Network(mounts.Length);
        _server = StartServer();
        try
        {
            MakeVolume(withoutCaches);
            foreach (string options in mounts) _machines.Add(Mount(_machines.Count, options));
        }
        catch
        {
            Dispose();
            throw;
        }
    }

    /// <summary>Where each machine has the volume.</summary>
    public string Directory { get; }

    /// <summary>The volume's files, as the server keeps them.</summary>
    public string Brick => Path.Combine(_root, "brick");

    /// <summary>The server's address, on which others may listen as well.</summary>
    public static string ServerAddress => Server;

    /// <summary>A machine's own address.</summary>
    public static string AddressOf(int machine) => $"10.78.{machine + 1}.2";

    /// <summary>What stands in front of a command that is to run on a machine; it becomes the command, under the same process id.</summary>
    public string[] Inside(int machine) => InNamespacesOf(_machines[machine]);

    /// <summary>What stands in front of a command that is to run on the server.</summary>
    public string[] OnServer => InNamespacesOf(_server);

    /// <summary>Starts an etcd of one member on the server, and returns a catalog's place in it. It ends with the machines.</summary>
    public string StartEtcd()
    {
        const string clients = $"http://{Server}:2379", peers = $"http://{Server}:2380";
        _machines.Add(Start([.. OnServer, "etcd", "--data-dir", Path.Combine(_root, "etcd"), "--log-level", "error", "--logger", "zap",
            "--listen-client-urls", clients, "--advertise-client-urls", clients,
            "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", $"default={peers}"]));
        Cluster.Await("etcd on the server", () => SmallDisk.Run(OnServer[0],
            [.. OnServer[1..], "etcdctl", "--endpoints", clients, "endpoint", "health"]).Length == 0);
        return $"etcd://{Server}:2379/shop";
    }

    /// <summary>A machine reaches its storage no more; its links live on.</summary>
    public void CutStorage(int machine) => Ip("-n", Of(machine), "route", "replace", "blackhole", Server);

    /// <summary>It reaches its storage again.</summary>
    public void MendStorage(int machine) => Ip("-n", Of(machine), "route", "del", "blackhole", Server);

    public void Dispose()
    {
        foreach (Process process in (Process[])[.. _machines, _server])
        {
            if (!process.HasExited) Signals.Kill(process.Id);
            process.WaitForExit();
            process.Dispose();
        }
        foreach (string path in System.IO.Directory.EnumerateFiles(Names, _name + "*")) RemoveNamespace(Path.GetFileName(path));
    }

    private string Of(int machine) => $"{_name}m{machine}";

    /// <summary>The server is joined with each machine by a pair of interfaces, and passes on what one sends to another.</summary>
    private void Network(int machines)
    {
        Ip("netns", "add", _name);
        Ip("-n", _name, "link", "set", "lo", "up");
        Ip("-n", _name, "addr", "add", $"{Server}/32", "dev", "lo");
        Run("nsenter", $"--net={Names}/{_name}", "--", "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward");
        for (int machine = 0; machine < machines; machine++)
        {
            string own = Of(machine), wire = $"m{machine}";
            Ip("netns", "add", own);
            Ip("-n", own, "link", "set", "lo", "up");
            Ip("-n", _name, "link", "add", wire, "type", "veth", "peer", "name", "wire", "netns", own);
            Ip("-n", _name, "addr", "add", $"10.78.{machine + 1}.1/24", "dev", wire);
            Ip("-n", own, "addr", "add", $"{AddressOf(machine)}/24", "dev", "wire");
            Ip("-n", _name, "link", "set", wire, "up");
            Ip("-n", own, "link", "set", "wire", "up");
            Ip("-n", own, "route", "add", "default", "via", $"10.78.{machine + 1}.1");
        }
    }

    /// <summary>The server has a /run and a /var/lib of its own, so that it meets no other one of this machine.</summary>
    private Process StartServer()
    {
        string log = Path.Combine(_root, "server.log");
        return Start(["nsenter", $"--net={Names}/{_name}", "--", "unshare", "--mount", "--propagation", "private", "sh", "-c",
            $"mount -t tmpfs tmpfs /run && mkdir -p /run/gluster && mkdir -p /var/lib/glusterd && mount -t tmpfs tmpfs /var/lib/glusterd && exec glusterd -N -l {log} -L ERROR"]);
    }

    private void MakeVolume(bool withoutCaches)
    {
        Cluster.Await("the server of the volume", () => TryGluster("volume", "list"));
        Gluster("volume", "create", Volume, $"{Server}:{Brick}", "force");
        Gluster("volume", "set", Volume, "network.ping-timeout", "2");
        if (withoutCaches)
            foreach (string cache in s_caches) Gluster("volume", "set", Volume, $"performance.{cache}", "off");
        Gluster("volume", "start", Volume);
    }

    private Process Mount(int machine, string options)
    {
        string log = Path.Combine(_root, $"machine{machine}.log"), mounted = Path.Combine(_root, $"mounted{machine}");
        Process process = Start(["nsenter", $"--net={Names}/{Of(machine)}", "--", "unshare", "--mount", "--propagation", "private", "sh", "-c",
            $"mount -t glusterfs -o {options},log-level=ERROR,log-file={log} {Server}:/{Volume} {Directory} && : > {mounted} && exec sleep infinity"]);
        Cluster.Await($"machine {machine} has the volume", () => process.HasExited ? throw new IOException($"machine {machine} cannot mount the volume: {log}")
            : File.Exists(mounted));
        return process;
    }

    private bool TryGluster(params string[] arguments) => SmallDisk.Run(OnServer[0], CommandOf(arguments)).Length == 0;

    private void Gluster(params string[] arguments) => Run(OnServer[0], CommandOf(arguments));

    private string[] CommandOf(string[] arguments) => [.. OnServer[1..], "gluster", "--mode=script", .. arguments];

    private static string[] InNamespacesOf(Process process) =>
        ["nsenter", string.Create(CultureInfo.InvariantCulture, $"--target={process.Id}"), "--mount", "--net", "--"];

    private static Process Start(string[] command) =>
        Process.Start(new ProcessStartInfo(command[0], command[1..]) { RedirectStandardInput = true })
        ?? throw new IOException($"'{command[0]}' could not be started");

    private static void RemoveLeftovers()
    {
        if (!System.IO.Directory.Exists(Names)) return;
        foreach (string path in System.IO.Directory.EnumerateFiles(Names, $"{Prefix}*"))
        {
            string name = Path.GetFileName(path);
            if (int.TryParse(name[Prefix.Length..].Split('-')[0], NumberStyles.None, CultureInfo.InvariantCulture, out int process)
                && !System.IO.Directory.Exists($"/proc/{process}"))
                RemoveNamespace(name);
        }
    }

    /// <summary>Ends what runs in a namespace first: bricks and clients are daemons that outlive who started them.</summary>
    private static void RemoveNamespace(string name)
    {
        using (Process listed = Process.Start(new ProcessStartInfo("ip", ["netns", "pids", name]) { RedirectStandardOutput = true })!)
        {
            foreach (string line in listed.StandardOutput.ReadToEnd().Split('\n', StringSplitOptions.RemoveEmptyEntries))
                if (int.TryParse(line, out int process)) Signals.Kill(process);
            listed.WaitForExit();
        }
        SmallDisk.Run("ip", "netns", "del", name);
    }

    private static void Ip(params string[] arguments) => Run("ip", arguments);

    private static void Run(string program, params string[] arguments)
    {
        if (SmallDisk.Run(program, arguments) is { Length: > 0 } why) throw new IOException(why);
    }
}
