namespace Ambrosia.Hosting;

/// <summary>
/// Says how the coordinator of an immortal runs. Each value is written as the option of the same name of the program ImmortalCoordinator
/// has it (<c>64M</c>, <c>30s</c>), is checked as there, and has the default that it has there where it is null.
/// </summary>
public class ImmortalOptions
{
    /// <summary>The values that are given, by the names of the options without their dashes in front.</summary>
    internal Dictionary<string, string> Values { get; } = new(StringComparer.Ordinal);

    /// <summary>The name of this replica.</summary>
    public string? Replica { get => this["replica"]; set => this["replica"] = value; }

    /// <summary>The address and port on which peers, and callers outside, are accepted.</summary>
    public string? Listen { get => this["listen"]; set => this["listen"] = value; }

    /// <summary>The address and port that these dial, where it is another one.</summary>
    public string? Advertise { get => this["advertise"]; set => this["advertise"] = value; }

    /// <summary>The file of the certificate, PEM.</summary>
    public string? TlsCert { get => this["tls-cert"]; set => this["tls-cert"] = value; }

    /// <summary>The file of its private key, PEM.</summary>
    public string? TlsKey { get => this["tls-key"]; set => this["tls-key"] = value; }

    /// <summary>The file of the authorities that signed the peers' certificates, PEM.</summary>
    public string? TlsCa { get => this["tls-ca"]; set => this["tls-ca"] = value; }

    /// <summary>Links may leave the machine without being encrypted: <c>true</c> or <c>false</c>.</summary>
    public string? Insecure { get => this["insecure"]; set => this["insecure"] = value; }

    /// <summary>The path of the unix socket between the app's side and the coordinator's.</summary>
    public string? AppSocket { get => this["app-socket"]; set => this["app-socket"] = value; }

    /// <summary>A loopback port in its place.</summary>
    public string? AppPort { get => this["app-port"]; set => this["app-port"] = value; }

    /// <summary>The two sides exchange bytes through shared memory: <c>true</c> or <c>false</c>.</summary>
    public string? AppRings { get => this["app-rings"]; set => this["app-rings"] = value; }

    /// <summary>A new log is begun although the catalog has an instance of this name: <c>true</c> or <c>false</c>.</summary>
    public string? Create { get => this["create"]; set => this["create"] = value; }

    /// <summary>The size of the log between checkpoints.</summary>
    public string? CheckpointEvery { get => this["checkpoint-every"]; set => this["checkpoint-every"] = value; }

    /// <summary>The time between checkpoints.</summary>
    public string? CheckpointInterval { get => this["checkpoint-interval"]; set => this["checkpoint-interval"] = value; }

    /// <summary>The size of log for which a checkpoint waits until no handler is suspended.</summary>
    public string? CheckpointBound { get => this["checkpoint-bound"]; set => this["checkpoint-bound"] = value; }

    /// <summary>The history that stays.</summary>
    public string? Retain { get => this["retain"]; set => this["retain"] = value; }

    /// <summary>The time, and the size of log, for which a reader may keep history.</summary>
    public string? HoldLimit { get => this["hold-limit"]; set => this["hold-limit"] = value; }

    /// <summary>The policy for handlers that throw and that nobody awaits: <c>continue</c>, <c>stop</c> or <c>quarantine</c>.</summary>
    public string? ForkPolicy { get => this["fork-policy"]; set => this["fork-policy"] = value; }

    /// <summary>The size of the longest message.</summary>
    public string? MaxMessage { get => this["max-message"]; set => this["max-message"] = value; }

    /// <summary>The time for which the answer to a call with a key is kept.</summary>
    public string? KeyWindow { get => this["key-window"]; set => this["key-window"] = value; }

    /// <summary>The number of these answers that are kept.</summary>
    public string? KeyCount { get => this["key-count"]; set => this["key-count"] = value; }

    /// <summary>The size that they may have.</summary>
    public string? KeyBytes { get => this["key-bytes"]; set => this["key-bytes"] = value; }

    /// <summary>The way in which pages of the log reach the disk: <c>auto</c>, <c>direct</c> or <c>buffered</c>.</summary>
    public string? LogWrite { get => this["log-write"]; set => this["log-write"] = value; }

    /// <summary>The size of a file of the log.</summary>
    public string? Segment { get => this["segment"]; set => this["segment"] = value; }

    /// <summary>The seconds after which a secondary takes over from a primary that does not move.</summary>
    public string? HangLimit { get => this["hang-limit"]; set => this["hang-limit"] = value; }

    /// <summary>The time for which one record may be executed before operators are told.</summary>
    public string? HandlerWarning { get => this["handler-warning"]; set => this["handler-warning"] = value; }

    /// <summary>The time that the last checkpoint may take at the end.</summary>
    public string? StopWithin { get => this["stop-within"]; set => this["stop-within"] = value; }

    /// <summary>The time for which callers outside are still answered at the end; 20s unless it is given.</summary>
    public string? DrainWithin { get => this["drain-within"]; set => this["drain-within"] = value; }

    /// <summary>The build that may execute recorded inputs otherwise than they were executed.</summary>
    public string? AcceptBuild { get => this["accept-build"]; set => this["accept-build"] = value; }

    /// <summary>The directory for what belongs to this machine alone, where machines share the log's.</summary>
    public string? Run { get => this["run"]; set => this["run"] = value; }

    /// <summary>No replica on another machine has the log: <c>true</c> or <c>false</c>.</summary>
    public string? Alone { get => this["alone"]; set => this["alone"] = value; }

    private protected string? this[string option]
    {
        get => Values.GetValueOrDefault(option);
        set
        {
            if (value is null) Values.Remove(option);
            else Values[option] = value;
        }
    }
}
