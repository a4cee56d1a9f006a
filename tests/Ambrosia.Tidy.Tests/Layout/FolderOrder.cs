namespace Ambrosia.Tidy.Tests.Layout;

/// <summary>
/// The order of the folders of each project, the lowest first: a folder knows those before it. <c>.</c> is the project's own folder. A new
/// folder is entered here at the lowest place that its references allow; docs/architecture.md draws the same order.
/// </summary>
internal static class FolderOrder
{
    private static readonly Dictionary<string, string> s_folders = new()
    {
        ["Ambrosia.Protocol"] = ". Locking Hashing Payloads Texts Cbor Images Runs Records Checkpoints Frames",
        ["Ambrosia.AppChannel"] = ".",
        ["CRA"] = ". Authentication Catalog Etcd Places Streams Links",
        ["Ambrosia.Log"] = "Files Format Instances Pages Checkpoints Fencing Segments Commit Reading Retention Recovery Cutting",
        ["Ambrosia.Coordinator"] =
            "Framing Replica LogFeed Outboxes Views Divergence Quarantine Replay Checkpoints Upgrades Inbox Primary Links Clients Builds AppSessions Admin . Hosting",
        ["Ambrosia"] = "Contracts Failures MethodBodies Builds Outbound Suspension State Calls Replay Messages Impulses Timers Proxies Tasks Testing "
            + "Immortals Quarantine Queries ClientCalls Checkpoints Dispatch Session Pumps .",
        ["Ambrosia.Client"] = "Requests Queries Connections .",
        ["Ambrosia.Generators"] = "Roslyn Determinism Diagnostics Output State Serialization Losses Suspension Contracts Immortals Proxies .",
        ["Ambrosia.Generators.CodeFixes"] = ".",
        ["Ambrosia.Hosting"] = "Configuration Logs Services Replicas Running Health Telemetry Clients .",
        ["ImmortalCoordinator"] = ".",
        ["Ambrosia.Embedded"] = ".",
        ["Ambrosia.ContractFile"] = ".",
        ["Ambrosia.Images"] = "Reading Json Paths Nodes Comparison Masking",
        ["Ambrosia.Inspection"] = "Texts Decoding Checkpoints States Records Places Cuts Masking Debugging Upgrades Replays Incidents",
        ["Ambrosia.Stores.Azure"] = ".",
        ["ImmortalCoordinator.Azure"] = ".",
        ["ambrosia"] = "Output Logs Commands Certificates Contracts Generation Listing Replicas Catalogs SuspendedCalls States Replays Upgrades Cuts Verification Quarantine "
            + "Diagnosis Development .",
    };

    /// <summary>Projects whose public types stay in the root namespace, and why; their internal types have their folder's.</summary>
    private static readonly Dictionary<string, string> s_publicTypesInRoot = new()
    {
        ["Ambrosia"] = "users write one using for all that an immortal needs",
        ["Ambrosia.Client"] = "users write one using for all that a caller needs",
        ["Ambrosia.Embedded"] = "it adds to the binding, whose users have its namespace already",
        ["Ambrosia.Hosting"] = "users write one using for all that a host needs",
    };

    /// <summary>
    /// Sources whose types keep the root namespace though they are internal, or stand in a folder of a project that has no such rule: their
    /// full names are data, in images of state, in failures that callers see, or in the code that users' builds generate.
    /// </summary>
    private static readonly HashSet<string> s_stableNames =
    [
        .. "Calls/CallJoin Calls/LoggedImpulse Calls/Source Checkpoints/ImageRoot ClientCalls/OutsideCall Dispatch/OwedAnswer Failures/ListedExceptions Failures/Misuse Quarantine/SetAsideMessage Replay/ReplayedRandom Tasks/PendingTask Timers/WaitingTimer"
            .Split(' ').Select(static name => $"bindings/csharp/Ambrosia/{name}.cs"),
        .. "CborException CborReader CborReader.Cold CborReader.Skip CborReader.Values CborWriter TravelOrder"
            .Split(' ').Select(static name => $"protocol/Ambrosia.Protocol/Cbor/{name}.cs"),
    ];

    public static IEnumerable<string> Projects => s_folders.Keys;

    public static string[] Of(ProjectFile project) => s_folders.TryGetValue(project.Name, out string? folders) ? folders.Split(' ') : [];

    public static bool MayStayInRoot(ProjectFile project, SourceFile source) =>
        s_stableNames.Contains(source.Path)
        || (s_publicTypesInRoot.ContainsKey(project.Name) && source.Types.Any(static type => type.IsPublic));
}
