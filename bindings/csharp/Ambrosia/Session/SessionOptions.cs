using Ambrosia.Builds;
using Ambrosia.Protocol.Frames;
using Ambrosia.Session;
using Ambrosia.Tasks;

namespace Ambrosia;

/// <summary>
/// Tells a session what it cannot know itself: token, versions, limits, and where its lines go. A session reads no environment.
/// </summary>
public sealed record SessionOptions
{
    /// <summary>The content of the token file, 32 bytes.</summary>
    public required ReadOnlyMemory<byte> Token { get; init; }

    /// <summary>The version of the app's code, in the log's headers and in upgrades.</summary>
    public uint AppVersion { get; init; } = 1;

    /// <summary>The version before that the process can execute, too; null: it can execute one alone.</summary>
    internal FormerVersion? Former { get; init; }

    /// <summary>The build of the app, by which a redeploy is judged; null: it states none.</summary>
    internal AppBuild? Build { get; init; }

    /// <summary>The process of the app, for the coordinator's messages; 0: unknown.</summary>
    public uint ProcessId { get; init; }

    /// <summary>The number of bytes of impulses that may wait to be sent before their senders wait.</summary>
    public int ImpulseBytesMax { get; init; } = 1024 * 1024;

    /// <summary>
    /// True if suspended methods whose IL differs from that of the checkpoint's build go on if their source, fields and number of awaits
    /// are the same. It is the operator's word after a change of compiler, and not enough between Debug and Release.
    /// </summary>
    public bool AcceptSource { get; init; }

    /// <summary>
    /// Says how often a query is held against the state before and behind it. Null: always where the app was built for debugging, else
    /// sampled.
    /// </summary>
    public QueryChecking? QueryChecking { get; init; }

    /// <summary>Says at which waits for input the state is held against what it was before: another thread must not change it.</summary>
    internal QueryChecking StateChecking { get; init; } = Ambrosia.QueryChecking.Never;

    /// <summary>Runs the bodies of NondetTasks. Null: an immortal that begins one fails.</summary>
    internal ITaskRunner? TaskRunner { get; init; }

    /// <summary>Says how long the handlers of a view take; they themselves never see it. Null: nothing is measured.</summary>
    internal TimeProvider? Time { get; init; }

    /// <summary>Takes one line for the operator.</summary>
    public Action<string> Log { get; init; } = static _ => { };

    /// <summary>Takes a line that the immortal wrote to its <c>Logger</c>. Any thread may call it.</summary>
    public Action<ImmortalLogLevel, string> LogOfImmortal { get; init; } = static (_, _) => { };

    /// <summary>True if the immortal's lines come from replay and from secondaries too.</summary>
    public bool LogsDuringReplay { get; init; }
}

/// <summary>Says how far the exchange of a session with its coordinator has come.</summary>
public enum SessionState
{
    /// <summary>The output begins with AppHello, and Welcome is awaited.</summary>
    AwaitingWelcome,

    /// <summary>The Welcome announced an image, whose beginning is awaited.</summary>
    AwaitingImage,

    /// <summary>The chunks of the image arrive.</summary>
    ReceivingImage,

    /// <summary>Records are executed.</summary>
    Running,

    /// <summary>Nothing is fed or sent any more; see <see cref="ImmortalSession.End"/>.</summary>
    Ended,
}

/// <summary>Says why a session ended, and which side ended it.</summary>
/// <param name="ByCoordinator">The coordinator said goodbye; false: this side did.</param>
public sealed record SessionEnd(GoodbyeCode Code, string Why, bool ByCoordinator)
{
    /// <summary>The app cannot restore the image with which the session was to begin; its coordinator may have an older one.</summary>
    internal bool RefusesImage => !ByCoordinator && new Goodbye(Code, Why).WhyUnrestorable is not null;
}
