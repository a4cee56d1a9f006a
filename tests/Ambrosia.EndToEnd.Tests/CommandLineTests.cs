using System.Diagnostics;
using System.Net;
using System.Net.Sockets;

namespace Ambrosia.EndToEnd.Tests;

/// <summary>A mistake on the command line: exit 2, what and how to mend on the standard error, and nothing made on disk.</summary>
public sealed class CommandLineTests
{
    [Theory]
    [InlineData("", "'--log' is required")]
    [InlineData("--log", "'--log'")]
    [InlineData("--log ''", "--log is empty", "give a path")]
    [InlineData("--log bad.name", "bad.name", "--instance")]
    [InlineData("--log d --instance a.b", "a.b", "letters, digits")]
    [InlineData("--log d --instance", "'--instance'")]
    [InlineData("--log d --replica ''", "--replica", "letters, digits")]
    [InlineData("--log d --listen here", "here", "127.0.0.1:4711")]
    [InlineData("--log d --listen 127.0.0.1", "127.0.0.1", "127.0.0.1:4711")]
    [InlineData("--log d --listen 0.0.0.0:0", "0.0.0.0:0", "loopback")]
    [InlineData("--log d --listen 127.0.0.1:70000", "70000", "127.0.0.1:4711")]
    [InlineData("--log d --app-port 70000", "70000", "0 to 65535")]
    [InlineData("--log d --app-port x", "x", "--app-port")]
    [InlineData("--log d --app-socket s --app-port 1", "exclude", "give one")]
    [InlineData("--log d --app-rings --app-port 0", "--app-rings", "leave --app-port out")]
    [InlineData("--log d --checkpoint-every 12Q", "12Q", "64M")]
    [InlineData("--log d --checkpoint-every 0", "'0'", "64M")]
    [InlineData("--log d --checkpoint-every 9999999999999G", "9999999999999G", "64M")]
    [InlineData("--log d --checkpoint-interval 10", "'10'", "10m")]
    [InlineData("--log d --checkpoint-interval 0s", "'0s'", "10m")]
    [InlineData("--log d --checkpoint-interval 99999999999h", "99999999999h", "10m")]
    [InlineData("--log /proc/x", "/proc/x", "--log", "may write")]
    [InlineData("--log d --catalog /proc/x", "/proc/x", "--catalog", "may write")]
    [InlineData("--log /dev/null", "--log /dev/null", "no directory")]
    [InlineData("--log d --catalog /dev/null", "--catalog /dev/null", "no directory")]
    [InlineData("--log d --catalog d", "--catalog", "of its own")]
    [InlineData("--log ./d --catalog d/", "--catalog", "of its own")]
    [InlineData("--log d --catalog ''", "empty", "etcd://host:port")]
    [InlineData("--log d --catalog zookeeper://h:1/x --insecure", "'zookeeper'", "no kind of catalog", "etcd://host:port")]
    [InlineData("--log d --catalog etcd://h/x --insecure", "has no port", "2379")]
    [InlineData("--log d --catalog etcd://h:1/a/../b --insecure", "'..'", "prefix")]
    [InlineData("--log d --catalog etcd://h:1/x,etcd://i:1/x --insecure", "two schemes", "commas")]
    [InlineData("--log d --catalog etcd://ann:word@h:1/x --insecure", "a user or a password", "AMBROSIA_CATALOG_PASSWORD_FILE")]
    [InlineData("--log d --catalog etcd://127.0.0.1:1/x", "could pass for any instance", "--tls-cert", "--insecure")]
    [InlineData("--log d --catalog azure-tables://account/names --insecure", "no store for 'azure-tables'", "another place")]
    [InlineData("--log d --catalog etcd://127.0.0.1:1/x --insecure", "127.0.0.1:1 cannot be reached", "Start the store")]
    [InlineData("--log d -- /etc", "/etc", "is a directory")]
    [InlineData("--log d --app-socket /tmp/a.sock", "/tmp", "mode 0700", "--app-socket")]
    [InlineData("--log d --app-socket /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "107 bytes", "--app-socket")]
    [InlineData("--log d --log-write fast", "fast", "buffered")]
    [InlineData("--log d --max-message 63K", "63K", "from 64K to 1G")]
    [InlineData("--log d --max-message 2G", "2G", "from 64K to 1G")]
    [InlineData("--log d --segment 1M", "1M", "from 2M")]
    [InlineData("--log d --segment 2049K", "2049K", "multiple of 4K")]
    [InlineData("--log d --retain checkpoints=1", "checkpoints=1", "from 2")]
    [InlineData("--log d --retain span=7", "span=7", "span=7d")]
    [InlineData("--log d --retain none", "none", "or all")]
    [InlineData("--log d --accept-build 12", "12", "8 to 32 hexadecimal digits")]
    [InlineData("--log d --accept-build mybuild12", "mybuild12", "8 to 32 hexadecimal digits")]
    [InlineData("--log d --hold-limit 1h", "'1h'", "1h,16G")]
    [InlineData("--log d --hold-limit 16G,1h", "'16G,1h'", "1h,16G")]
    [InlineData("--log d --listen 10.0.0.1:0", "10.0.0.1:0", "--tls-cert", "--insecure")]
    [InlineData("--log d --insecure --listen 0.0.0.0:0", "0.0.0.0:0", "--advertise")]
    [InlineData("--log d --advertise 10.0.0.1:5", "10.0.0.1:5", "--tls-cert", "--insecure")]
    [InlineData("--log d --advertise 127.0.0.1:0", "--advertise", "the port")]
    [InlineData("--log d --tls-cert a", "--tls-key", "all three")]
    [InlineData("--log d --tls-cert a --tls-key b --tls-ca c --insecure", "exclude")]
    [InlineData("--log d --tls-cert a --tls-key b --tls-ca c", "--tls-cert", "cannot be read")]
    [InlineData("--log d --nonsense", "--nonsense", "behind --")]
    [InlineData("--log d --log e", "'--log'", "single")]
    [InlineData("--log d --create=yes", "'yes'", "behind --")]
    [InlineData("--log d --instance --create", "--instance", "'--create'", "no name")]
    [InlineData("--log=d --replica:a.b", "a.b", "letters, digits")]
    [InlineData("--log d stray", "stray", "behind --")]
    [InlineData("--log d stray -- dotnet", "stray", "behind --")]
    [InlineData("--log d -- ./no-such-app", "./no-such-app", "behind --")]
    [InlineData("--log d -- no-such-app x", "no-such-app", "behind --")]
    public void Coordinator_WrongCommandLine_SaysWhatAndHowToMend(string line, params string[] said) => AssertMisuse(Words(line), said, []);

    [Theory]
    [InlineData("--help", "--checkpoint-every <SIZE>", "[default: 256M]")]
    [InlineData("--log d -h", "--log <DIR> (REQUIRED)")]
    [InlineData("--version", "0.1.0")]
    public void Coordinator_AskedForHelp_SaysItAndMakesNothing(string line, params string[] said)
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("ambrosia-e2e-");
        try
        {
            (int code, string error, string output) = RunWhole(folder.FullName, Words(line));
            Assert.Equal((0, ""), (code, error));
            foreach (string words in said) Assert.Contains(words, output);
            Assert.DoesNotContain("--unsafe", output, StringComparison.Ordinal);
            Assert.Empty(folder.EnumerateFileSystemInfos());
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    [Fact]
    public void Coordinator_PortInUse_SaysSoBeforeItMakesAnything()
    {
        using var taken = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        taken.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        taken.Listen();
        string address = taken.LocalEndPoint!.ToString()!;
        AssertMisuse(["--log", "d", "--listen", address], [address, "port 0"], []);
    }

    [Fact]
    public void Coordinator_AppPortInUse_SaysSoBeforeItMakesAnything()
    {
        using var taken = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        taken.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        taken.Listen();
        string port = $"{((IPEndPoint)taken.LocalEndPoint!).Port}";
        AssertMisuse(["--log", "d", "--app-port", port], [port, "--app-port"], []);
    }

    [Theory]
    [InlineData(32, UnixFileMode.GroupRead, "chmod 600")]
    [InlineData(31, UnixFileMode.None, "31 bytes")]
    [InlineData(33, UnixFileMode.None, "more than 32 bytes")]
    public void Coordinator_SecretThatIsNone_IsRefusedBeforeAnythingIsMade(int bytes, UnixFileMode open, string said)
    {
        const UnixFileMode own = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        AssertMisuse(["--log", "d"], ["catalog/secret", "remove", said], ["catalog/secret"], folder =>
        {
            File.WriteAllBytes(Path.Combine(folder, "catalog", "secret"), new byte[bytes]);
            File.SetUnixFileMode(Path.Combine(folder, "catalog", "secret"), own | open);
        });
    }

    [Theory]
    [InlineData("log", "d")]
    [InlineData("catalog", "catalog")]
    public void Coordinator_DirectoryThatOthersMayChange_IsRefused(string what, string directory) =>
        AssertMisuse(["--log", "d"], [what, "chmod 700", "0777"], [$"{directory}/x"], folder =>
            File.SetUnixFileMode(Path.Combine(folder, directory), (UnixFileMode)0x1FF));

    [Fact]
    public void Coordinator_LogThatIsAFile_IsRefused() => AssertMisuse(["--log", "x/f"], ["x/f is no directory"], ["x/f"]);

    [Fact]
    public void Coordinator_AppThatMayNotBeExecuted_IsRefusedBeforeAnythingIsMade() =>
        AssertMisuse(["--log", "d", "--", "./x/app"], ["./x/app", "chmod +x"], ["x/app"]);

    [Fact]
    public void Coordinator_EmptyDirectoryOfTheUser_BecomesPrivate()
    {
        using var cluster = new Cluster();
        Replica ledger = cluster.Add("ledger", "ledger");
        Directory.CreateDirectory(ledger.LogDirectory, (UnixFileMode)0x1ED); // 0755
        ledger.Start().AwaitReady();
        Assert.Equal((UnixFileMode)0x1C0, File.GetUnixFileMode(ledger.LogDirectory));
        cluster.Passed();
    }

    /// <summary>Two instances of one name: the one that the catalog knows keeps it, the other is refused at its start.</summary>
    [Fact]
    public void Coordinator_NameOfAnotherInstance_IsRefusedAtItsStart()
    {
        using var cluster = new Cluster();
        Replica ledger = cluster.Add("ledger", "ledger").Start();
        ledger.AwaitReady();
        ledger.KillCoordinator();
        Directory.Move(ledger.LogDirectory, ledger.LogDirectory + "-old");
        ledger.Options.Add("--create");
        ledger.Start().AwaitReady();
        ledger.KillCoordinator();
        (int code, string error) = Run(cluster.Root, ["--log", ledger.LogDirectory + "-old", "--instance", "ledger"]);
        Assert.Equal(2, code);
        Assert.Contains("belongs to another instance", error);
        Assert.Contains(ledger.LogDirectory, error);
        cluster.Passed();
    }

    /// <summary>Its locks say that it lives; where its directory is not to be seen from here, its address does.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void Coordinator_CreateWithTheNameOfALivingInstance_IsRefused(bool isLogSeen)
    {
        using var cluster = new Cluster();
        Replica ledger = cluster.Add("ledger", "ledger").Start();
        ledger.AwaitReady();
        string elsewhere = Path.Combine(cluster.Root, "elsewhere"), catalog = cluster.Catalog;
        if (!isLogSeen)
        {
            catalog += "-there"; // as another machine has it
            Directory.CreateDirectory(catalog, (UnixFileMode)0x1C0);
            File.Copy(Path.Combine(cluster.Catalog, "secret"), Path.Combine(catalog, "secret"));
            File.WriteAllText(Path.Combine(catalog, "ledger.1"),
                File.ReadAllText(Path.Combine(cluster.Catalog, "ledger.1")).Replace(ledger.LogDirectory, "/nowhere/ledger"));
        }
        (int code, string error) = Run(cluster.Root, ["--log", elsewhere, "--instance", "ledger", "--create", "--catalog", catalog]);
        Assert.Equal(2, code);
        Assert.Contains(isLogSeen ? $"replica 'r0' runs on {ledger.LogDirectory}" : "answers at 127.0.0.1:", error);
        Assert.Contains("Stop it first", error);
        Assert.False(Directory.Exists(elsewhere));
        Assert.Single(Directory.EnumerateFiles(catalog, "ledger.*"));
        Assert.NotNull(ledger.Status());
        cluster.Passed();
    }

    /// <summary>It is no directory for a new instance: advice to empty it, or to begin anew, would delete the log.</summary>
    [Fact]
    public void Coordinator_LogWithoutItsInstanceFile_IsDamaged()
    {
        using var cluster = new Cluster();
        Replica ledger = cluster.Add("ledger", "ledger").Start();
        ledger.AwaitReady();
        ledger.KillCoordinator();
        File.Delete(Path.Combine(ledger.LogDirectory, "instance"));
        int files = Directory.GetFiles(ledger.LogDirectory).Length;
        ledger.Options.Add("--create");
        Assert.Equal(65, ledger.Start().AwaitExit());
        string why = ledger.AwaitLine("its end", static line => line.StartsWith("exit 65: ", StringComparison.Ordinal));
        Assert.Contains(Path.Combine(ledger.LogDirectory, "instance"), why);
        Assert.DoesNotContain("remove", why);
        Assert.DoesNotContain("--create", why);
        Assert.Equal(files, Directory.GetFiles(ledger.LogDirectory).Length);
        cluster.Passed();
    }

    [Fact]
    public void Coordinator_DirectoryWithSomethingElse_LeavesItAlone() =>
        AssertMisuse(["--log", "d"], ["d", "holiday.jpg", "empty directory"], ["d/holiday.jpg"]);

    [Fact]
    public void Coordinator_NameOfAnInstanceElsewhere_TellsWhereItsLogIs()
    {
        using var cluster = new Cluster();
        Replica ledger = cluster.Add("ledger", "ledger").Start();
        ledger.AwaitReady();
        ledger.KillCoordinator();
        string elsewhere = Path.Combine(cluster.Root, "elsewhere");
        (int code, string error) = Run(cluster.Root, ["--log", elsewhere, "--instance", "ledger"]);
        Assert.Equal(2, code);
        Assert.Contains(ledger.LogDirectory, error);
        Assert.Contains("--create", error);
        Assert.False(Directory.Exists(elsewhere));
        (code, error) = Run(cluster.Root, ["--log", ledger.LogDirectory, "--instance", "other"]);
        Assert.Equal(2, code);
        Assert.Contains("'ledger'", error);
        cluster.Passed();
    }

    /// <summary>Every option that takes a number, a size or a time refuses what is none, names itself, and makes nothing.</summary>
    [Theory]
    [InlineData("--app-port")]
    [InlineData("--app-version")]
    [InlineData("--checkpoint-bound")]
    [InlineData("--checkpoint-every")]
    [InlineData("--checkpoint-interval")]
    [InlineData("--drain-within")]
    [InlineData("--handler-warning")]
    [InlineData("--hang-limit")]
    [InlineData("--hold-limit")]
    [InlineData("--key-bytes")]
    [InlineData("--key-count")]
    [InlineData("--key-window")]
    [InlineData("--max-message")]
    [InlineData("--segment")]
    [InlineData("--stop-within")]
    [InlineData("--upgrade-limit")]
    [InlineData("--upgrade-within")]
    public void Coordinator_NumberThatIsNone_IsRefusedByItsOption(string option)
    {
        foreach (string wrong in (string[])["100000000000000000000", "-1", "", "1e3", "\u0663", " 5 ", "0x10"])
            AssertMisuse(["--log", "d", $"{option}={wrong}"], [option], []);
    }

    private static void AssertMisuse(string[] arguments, string[] said, string[] there, Action<string>? prepare = null)
    {
        DirectoryInfo folder = Directory.CreateTempSubdirectory("ambrosia-e2e-");
        try
        {
            foreach (string file in there)
            {
                Directory.CreateDirectory(Path.GetDirectoryName(Path.Combine(folder.FullName, file))!);
                File.WriteAllText(Path.Combine(folder.FullName, file), "");
            }
            prepare?.Invoke(folder.FullName);
            (int code, string error) = Run(folder.FullName, arguments);
            Assert.True(code == 2, $"exit {code}: {error}");
            foreach (string words in said) Assert.Contains(words, error);
            Assert.DoesNotContain("   at ", error);
            Assert.Equal(there,
                Directory.EnumerateFiles(folder.FullName, "*", SearchOption.AllDirectories)
                    .Select(file => Path.GetRelativePath(folder.FullName, file)));
            Assert.Equal(there.Length == 0 ? 0 : 1, Directory.GetDirectories(folder.FullName).Length);
        }
        finally
        {
            folder.Delete(recursive: true);
        }
    }

    private static (int Code, string Error) Run(string folder, string[] arguments)
    {
        (int code, string error, _) = RunWhole(folder, arguments);
        return (code, error);
    }

    private static (int Code, string Error, string Output) RunWhole(string folder, string[] arguments)
    {
        using Process process = Process.Start(
            Executables.StartOf(Executables.Coordinator, arguments, new Dictionary<string, string>(), folder))!;
        Task<string> error = process.StandardError.ReadToEndAsync(), output = process.StandardOutput.ReadToEndAsync();
        if (!process.WaitForExit(Cluster.Patience))
        {
            Signals.Kill(process.Id);
            process.WaitForExit();
            Assert.Fail($"it runs: {output.Result}{error.Result}");
        }
        return (process.ExitCode, error.Result, output.Result);
    }

    /// <summary>Words as a shell would cut them; '' is the empty one.</summary>
    private static string[] Words(string line) =>
        [.. line.Split(' ', StringSplitOptions.RemoveEmptyEntries).Select(static word => word == "''" ? "" : word)];
}
