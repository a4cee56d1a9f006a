// An app's process: finds its coordinator, connects, pumps, and says with which exit code the process ends. The environment, the exit
// and the lines for people come from outside, so that tests run it in their own process.
using System.Net.Sockets;
using System.Reflection;
using Ambrosia.AppChannel;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <param name="definition">What it runs.</param>
/// <param name="faults">Why an app of this assembly must not run; empty: it may.</param>
internal sealed class AppHost(
    ImmortalDefinition definition, Func<Assembly, IEnumerable<string>> faults, Func<string, string?> environment, Action<string> log,
    TimeProvider time)
{
    internal const int Ok = 0, AppFailure = 1, Misuse = 2, Divergence = 70, InputOutput = 74;
    private const string AddressName = "AMBROSIA_APP", TokenName = "AMBROSIA_TOKEN", VersionName = "AMBROSIA_APP_VERSION",
        LogReplayName = "AMBROSIA_LOG_REPLAY",
        AcceptName = "AMBROSIA_ACCEPT_SOURCE", CheckQueriesName = "AMBROSIA_CHECK_QUERIES";

    /// <summary>For so long a coordinator that is just starting is waited for.</summary>
    private static readonly TimeSpan s_connectWithin = TimeSpan.FromSeconds(10);

    /// <summary>
    /// For so long the process lives on when impulses were under way, so that who awaits them can act on their exception.
    /// </summary>
    private static readonly TimeSpan s_lastWords = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_connectEvery = TimeSpan.FromMilliseconds(50);

    /// <summary>The session that ended had been told to become primary.</summary>
    internal bool WasPrimary { get; private set; }

    internal int Run()
    {
        AppAddress address;
        SessionOptions options;
        try
        {
            address = AppAddress.Parse(Required(AddressName, "unix:PATH, ring:PATH or tcp:PORT of its ImmortalCoordinator"));
            options = new SessionOptions
            {
                Token = ReadToken(Required(TokenName, "the path of the coordinator's token file")),
                AppVersion = ReadVersion(),
                AcceptSource = environment(AcceptName) == "1",
                ProcessId = (uint)Environment.ProcessId,
                QueryChecking = QueryChecks.Parse(environment(CheckQueriesName)),
                TaskRunner = new TaskThreads(time),
                Log = log,
                LogOfImmortal = (level, text) => log(level == LogLevel.Information ? text : $"{level}: {text}"),
                LogsDuringReplay = environment(LogReplayName) is { Length: > 0 },
            };
        }
        catch (Exception e) when (e is FormatException or IOException or UnauthorizedAccessException)
        {
            log($"This app cannot start: {e.Message}. ImmortalCoordinator … -- APP sets what it needs.");
            return Misuse;
        }
        string[] found = [.. faults(definition.Type.Assembly)];
        foreach (string fault in found) log(fault);
        if (found.Length > 0) return Misuse;
        using Socket? socket = Connect(address);
        if (socket is null) return InputOutput;
        var session = new ImmortalSession(definition, options);
        AppStream stream = address.HasRings ? new AwaitedRings(socket) : new SocketStream(socket);
        int code = Report(new AppChannelPump(session, stream).Run());
        WasPrimary = session.IsPrimary;
        if (session.LostImpulses > 0) Thread.Sleep(s_lastWords);
        return code;
    }

    private Socket? Connect(AppAddress address)
    {
        long begun = time.GetTimestamp();
        bool said = false;
        while (true)
        {
            try
            {
                return address.Connect();
            }
            catch (SocketException e)
            {
                if (time.GetElapsedTime(begun) >= s_connectWithin)
                {
                    log($"No coordinator answers at {address.EndPoint}: {e.Message}.");
                    return null;
                }
                if (!said) log($"Waiting for the coordinator at {address.EndPoint}: {e.Message}.");
                said = true;
                Thread.Sleep(s_connectEvery);
            }
        }
    }

    private int Report(SessionEnd end)
    {
        (int code, bool isQuiet) = end.Code switch
        {
            GoodbyeCode.CleanStop => (end.ByCoordinator ? Ok : InputOutput, end.ByCoordinator),
            GoodbyeCode.Refused => (Misuse, false),
            GoodbyeCode.Divergence => (Divergence, false),
            GoodbyeCode.AppFailed => (AppFailure, false),
            _ => (InputOutput, false),
        };
        if (!isQuiet) log($"The session {(end.ByCoordinator ? "was ended by the coordinator" : "ended")}: {end.Why} ({end.Code}).");
        return code;
    }

    private string Required(string name, string what) =>
        environment(name) is { Length: > 0 } value ? value : throw new FormatException($"{name} is not set; it is {what}");

    private static byte[] ReadToken(string path)
    {
        byte[] token = File.ReadAllBytes(path);
        return token.Length == AppHello.TokenBytes ? token
            : throw new FormatException($"the token file {path} holds {token.Length} bytes instead of {AppHello.TokenBytes}");
    }

    private uint ReadVersion()
    {
        if (environment(VersionName) is not { Length: > 0 } text) return 1;
        return uint.TryParse(text, out uint version) && version > 0 ? version
            : throw new FormatException($"{VersionName} is '{text}', not a number from 1 on");
    }
}
