using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Reflection;
using Ambrosia.AppChannel;
using Ambrosia.Builds;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Frames;
using Ambrosia.Queries;
using Ambrosia.Session;
using Ambrosia.Tasks;

namespace Ambrosia.Pumps;

/// <summary>
/// Runs the process of an app: it finds its coordinator, connects, pumps, and says with which exit code the process ends. The environment,
/// the exit and the lines for people come from outside, so that tests run it in their own process.
/// </summary>
/// <param name="definition">What it runs.</param>
/// <param name="faults">Why an app of this assembly must not run; empty: it may.</param>
/// <param name="abandon">Ends the process at once, with an exit code, when its coordinator is gone and a handler does not come back; null:
/// the coordinator is in this process, and goes with it.</param>
internal sealed class AppHost(
    ImmortalDefinition definition, Func<Assembly, IEnumerable<string>> faults, Func<string, string?> environment, Action<string> log,
    TimeProvider time, Action<int>? abandon = null)
{
    internal const int Ok = 0, AppFailure = 1, Misuse = 2, Divergence = 70, InputOutput = 74;
    private const string AddressName = "AMBROSIA_APP", TokenName = "AMBROSIA_TOKEN", LogReplayName = "AMBROSIA_LOG_REPLAY",
        ViewName = "AMBROSIA_VIEW", WaitName = "AMBROSIA_WAIT_FOR_DEBUGGER",
        ParentName = "AMBROSIA_PARENT", AcceptName = "AMBROSIA_ACCEPT_SOURCE", CheckQueriesName = "AMBROSIA_CHECK_QUERIES",
        CheckStateName = "AMBROSIA_CHECK_STATE", VersionName = "AMBROSIA_APP_VERSION",
        TasksName = "AMBROSIA_TASKS";

    /// <summary>The time for which a coordinator that is just starting is waited for.</summary>
    private static readonly TimeSpan s_connectWithin = TimeSpan.FromSeconds(10);

    /// <summary>
    /// The time for which the process lives on when impulses were under way, so that who awaits them can act on their exception.
    /// </summary>
    private static readonly TimeSpan s_lastWords = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_connectEvery = TimeSpan.FromMilliseconds(50);

    /// <summary>A debugger that is waited for is looked for so often.</summary>
    private static readonly TimeSpan s_debuggerEvery = TimeSpan.FromMilliseconds(100);

    /// <summary>True if the session that ended had been told to become primary.</summary>
    internal bool WasPrimary { get; private set; }

    /// <summary>The session that runs, or ran last; null: none has begun.</summary>
    internal ImmortalSession? Session { get; private set; }

    /// <summary>An app of this process was one of a view.</summary>
    internal static bool HasViewed { get; private set; }

    /// <summary>Gives the version before that the process can execute, too; null: there is none.</summary>
    internal Func<FormerVersion>? Former { get; init; }

    /// <summary>The services that the process has for code outside of handlers; null: nothing.</summary>
    internal HostServices? Services { get; init; }

    /// <summary>Takes the lines that the immortal writes to its <c>Logger</c>; null: they go where all lines go.</summary>
    internal Action<ImmortalLogLevel, string>? LinesOfImmortal { get; init; }

    /// <summary>It breaks where a view has stopped.</summary>
    internal IDebugger Debugger { get; init; } = new AttachedDebugger();

    /// <summary>Says whether the environment is that of a view's app.</summary>
    internal static bool IsViewOf(Func<string, string?> environment) => environment(ViewName) == "1";

    /// <summary>
    /// Gives the version that the app states: the one in its code, or the later one as which it is to go on behind its successor.
    /// </summary>
    private static uint VersionOf(ImmortalDefinition definition, string? stated)
    {
        if (stated is not { Length: > 0 }) return definition.AppVersion;
        if (uint.TryParse(stated, NumberStyles.None, CultureInfo.InvariantCulture, out uint version) && version >= definition.AppVersion)
            return version;
        throw new FormatException(
            $"{VersionName} is '{stated}', and the code is of version {definition.AppVersion}: versions only go up, so give that number or a higher one");
    }

    internal int Run()
    {
        AppAddress address;
        SessionOptions options;
        try
        {
            address = AppAddress.Parse(Required(AddressName, "unix:PATH, ring:PATH or tcp:PORT of its ImmortalCoordinator"));
            options = new SessionOptions
            {
                Token = ReadEarly(Required(TokenName, "the path of the coordinator's token file")),
                AppVersion = VersionOf(definition, environment(VersionName)),
                Former = Former?.Invoke(),
                Build = AppBuild.OfThisApp(definition.Type.Assembly),
                AcceptSource = environment(AcceptName) == "1",
                ProcessId = (uint)Environment.ProcessId,
                QueryChecking = QueryChecks.Parse(CheckQueriesName, environment(CheckQueriesName)),
                StateChecking = QueryChecks.Parse(CheckStateName, environment(CheckStateName)) ?? QueryChecking.Sampled,
                TaskRunner = new TaskThreads(time, environment(TasksName), NameOfBuild(), log) { Services = Services }, Time = time,
                Log = log,
                LogOfImmortal = LinesOfImmortal
                    ?? ((level, text) => log(level == ImmortalLogLevel.Information ? text : $"{level}: {text}")),
                LogsDuringReplay = environment(LogReplayName) is { Length: > 0 },
            };
        }
        catch (Exception e) when (e is FormatException or IOException or UnauthorizedAccessException or ArgumentOutOfRangeException
            or InvalidOperationException)
        {
            return CannotStart(e);
        }
        string[] found = [.. faults(definition.Type.Assembly)];
        foreach (string fault in found) log(fault);
        if (found.Length > 0) return Misuse;
        HasViewed |= IsViewOf(environment);
        if (environment(WaitName) == "1") AwaitDebugger();
        Lsn? unrestorable = null;
        while (true)
        {
            if (RunSession(address, options, ref unrestorable) is { } code) return code;
        }
    }

    /// <summary>Runs one session; returns the exit code, or null where the coordinator wants another session with this process.</summary>
    /// <param name="unrestorable">The lowest checkpoint that this process could not restore; null: it could each. A later session begins
    /// below.</param>
    private int? RunSession(AppAddress address, SessionOptions options, ref Lsn? unrestorable)
    {
        using Socket? socket = Connect(address);
        if (socket is null) return InputOutput;
        if (OrphanWatch.ParentOf(environment(ParentName)) is { } parent && OrphanWatch.IsGone(parent))
        {
            // Behind the connection, or the one that was gone a moment later would be missed. The one that answers has an app of its own.
            log($"The coordinator that started this app, process {parent}, is gone, and another one answers here.");
            return InputOutput;
        }
        try
        {
            options = options with { Token = ReadToken(Required(TokenName, "")) };
        }
        catch (Exception e) when (e is FormatException or IOException or UnauthorizedAccessException)
        {
            return CannotStart(e);
        }
        ImmortalSession session = Session = new ImmortalSession(definition, options);
        AppStream stream = address.HasRings ? new AwaitedRings(socket) : new SocketStream(socket);
        SessionEnd end = new AppChannelPump(session, stream, NewWatch(session, stream), Debugger).Run();
        WasPrimary = session.IsPrimary;
        if (end is { Code: GoodbyeCode.Again, ByCoordinator: true }) return null;
        if (end.RefusesImage && session.Welcome!.Checkpoint is var refused && (unrestorable is null || refused < unrestorable))
        {
            unrestorable = refused;
            return null; // the coordinator may have an older one
        }
        int code = Report(end);
        if (session.LostImpulses > 0) Thread.Sleep(s_lastWords);
        return code;
    }

    /// <summary>What was found out about a body counts for one build; an app that states none has that of its assembly.</summary>
    private ReadOnlyMemory<byte> NameOfBuild() =>
        AppBuild.OfThisApp(definition.Type.Assembly)?.Build ?? definition.Type.Module.ModuleVersionId.ToByteArray();

    private int CannotStart(Exception why)
    {
        log($"This app cannot start: {why.Message}. ImmortalCoordinator … -- APP sets what it needs.");
        return Misuse;
    }

    private void AwaitDebugger()
    {
        if (!Debugger.IsAttached) log($"Waiting for a debugger: process {Environment.ProcessId}.");
        while (!Debugger.IsAttached) Thread.Sleep(s_debuggerEvery);
    }

    private OrphanWatch? NewWatch(ImmortalSession session, AppStream stream) =>
        abandon is null ? null : new OrphanWatch(stream, OrphanWatch.ParentOf(environment(ParentName)), () =>
        {
            log($"The app channel has ended, and the handler of the record at or behind Lsn {session.Executed} has not come back since: the process ends.");
            abandon(InputOutput);
        });

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
            GoodbyeCode.Refused => (end.RefusesImage ? AppFailure : Misuse, false),
            GoodbyeCode.Divergence => (Divergence, false),
            GoodbyeCode.AppFailed => (AppFailure, false),
            _ => (InputOutput, false),
        };
        if (!isQuiet) log($"The session {(end.ByCoordinator ? "was ended by the coordinator" : "ended")}: {end.Why} ({end.Code}).");
        return code;
    }

    private string Required(string name, string what) =>
        environment(name) is { Length: > 0 } value ? value : throw new FormatException($"{name} is not set; it is {what}");

    /// <summary>
    /// Looks whether the token will do. One that is not there yet is awaited with the coordinator, which makes a new one at each start,
    /// before it listens: so it is read again behind the connection (protocol P5.0).
    /// </summary>
    private static byte[] ReadEarly(string path) => File.Exists(path) ? ReadToken(path) : [];

    private static byte[] ReadToken(string path)
    {
        byte[] token = File.ReadAllBytes(path);
        return token.Length == AppHello.TokenBytes ? token
            : throw new FormatException($"the token file {path} holds {token.Length} bytes instead of {AppHello.TokenBytes}");
    }
}

/// <summary>
/// Gives the address at which an app finds its coordinator: <c>unix:PATH</c>, <c>tcp:PORT</c> on the loopback, or <c>ring:PATH</c>, a unix
/// socket whose coordinator offers rings (P5.19).
/// </summary>
internal sealed record AppAddress(EndPoint EndPoint, bool HasRings = false)
{
    /// <exception cref="FormatException">None of these forms, or a path longer than the system allows for a socket.</exception>
    internal static AppAddress Parse(string text)
    {
        if (text.StartsWith("unix:", StringComparison.Ordinal) && text.Length > 5) return new AppAddress(SocketAt(text));
        if (text.StartsWith("ring:", StringComparison.Ordinal) && text.Length > 5) return new AppAddress(SocketAt(text), HasRings: true);
        if (text.StartsWith("tcp:", StringComparison.Ordinal)
            && ushort.TryParse(text.AsSpan(4), NumberStyles.None, CultureInfo.InvariantCulture, out ushort port) && port != 0)
            return new AppAddress(new IPEndPoint(IPAddress.Loopback, port));
        throw new FormatException($"'{text}' is none of unix:PATH, ring:PATH and tcp:PORT");
    }

    private static UnixDomainSocketEndPoint SocketAt(string text)
    {
        try
        {
            return new UnixDomainSocketEndPoint(text[5..]);
        }
        catch (ArgumentOutOfRangeException)
        {
            throw new FormatException(
                $"the path in '{text}' is too long for a socket: let the coordinator take a shorter one with --app-socket");
        }
    }

    /// <exception cref="SocketException">Nobody listens there.</exception>
    internal Socket Connect()
    {
        bool isUnix = EndPoint is UnixDomainSocketEndPoint;
        var socket = new Socket(EndPoint.AddressFamily, SocketType.Stream, isUnix ? ProtocolType.Unspecified : ProtocolType.Tcp);
        try
        {
            if (!isUnix) socket.NoDelay = true;
            socket.Connect(EndPoint);
            return socket;
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }
}
