using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests.Layout;

/// <summary>
/// Who may know whom. Projects may know exactly those listed; sources use no namespace of a project that theirs may not know, and stay out
/// of the parts of the framework that belong to somebody else.
/// </summary>
internal static class KnowledgeRules
{
    private const string Protocol = "Ambrosia.Protocol", AppChannel = "Ambrosia.AppChannel", Log = "Ambrosia.Log", Links = "CRA",
        Coordinator = "Ambrosia.Coordinator";

    /// <summary>Projects whose knowledge is limited. A new one outside tests, samples and perf must be entered here.</summary>
    private static readonly Dictionary<string, string[]> s_mayKnow = new()
    {
        [Protocol] = [],
        [AppChannel] = [Protocol],
        [Log] = [Protocol],
        [Links] = [Protocol],
        [Coordinator] = [Protocol, AppChannel, Log, Links],
        ["ImmortalCoordinator"] = [Coordinator, Protocol, AppChannel, Log, Links, "Ambrosia.Inspection"],
        ["Ambrosia"] = [Protocol, AppChannel],
        ["Ambrosia.Client"] = [Protocol, Links],
        ["Ambrosia.Embedded"] = ["Ambrosia", Coordinator, Protocol, Log, Links, "Ambrosia.Inspection"],
        ["Ambrosia.Hosting"] = ["Ambrosia", "Ambrosia.Client", "Ambrosia.Embedded", Coordinator, Protocol, Log],
        ["Ambrosia.Testing"] = ["Ambrosia", Protocol],
        ["Ambrosia.Stores.Azure"] = [Links],
        ["ImmortalCoordinator.Azure"] = ["ImmortalCoordinator", "Ambrosia.Stores.Azure"],
        ["Ambrosia.Generators"] = [],
        ["Ambrosia.Generators.CodeFixes"] = ["Ambrosia.Generators"],
        ["Ambrosia.ContractFile"] = [],
        ["Ambrosia.Images"] = [Protocol],
        ["Ambrosia.Inspection"] = [Coordinator, Log, Protocol, "Ambrosia.Images"],
        ["Ambrosia.Templates"] = ["Ambrosia", "Ambrosia.Client", "Ambrosia.Hosting"], // by their packages
        ["ambrosia"] = [Coordinator, Protocol, Log, Links, "Ambrosia.Images", "Ambrosia.Inspection", "Ambrosia.Stores.Azure"],
    };

    /// <summary>Namespaces that are not for a project, and why.</summary>
    private static readonly (string Project, string Namespace, string Why)[] s_closed =
    [
        (Protocol, "System.IO", "it turns bytes into messages and does no I/O"),
        (Protocol, "System.Net", "it turns bytes into messages and does no I/O"),
        (Protocol, "System.Threading", "it has no threads; its locks are for the libraries that have"),
        (Log, "System.Net", "it knows no socket"),
        (Coordinator, "System.Net.Sockets", "parts do no I/O; pumps and CRA do"),
    ];

    /// <summary>
    /// Namespaces of sources that a project compiles itself, by a link, instead of referring to their owner: what describes the bodies of
    /// methods is read by the app, by the build step that writes it, and by the tool; what the state may be made of, by the analyzers, too.
    /// </summary>
    private static readonly (string Project, string Namespace)[] s_linked =
    [
        ("Ambrosia.ContractFile", "Ambrosia.MethodBodies"), ("Ambrosia.ContractFile", "Ambrosia.Builds"),
        ("Ambrosia.ContractFile", "Ambrosia.Generators.Determinism"),
        ("ambrosia", "Ambrosia.MethodBodies"), ("ambrosia", "Ambrosia.Suspension"), ("Ambrosia.Generators", "Ambrosia.State"),
    ];

    /// <summary>Folders exempt from <see cref="s_closed"/>: the pumps do the waiting.</summary>
    private const string PumpsFolder = "/Hosting/";

    private static readonly string[] s_free = ["tests/", "samples/", "perf/"];

    public static IEnumerable<string> OfProject(ProjectFile project)
    {
        if (s_free.Any(folder => project.Path.StartsWith(folder, StringComparison.Ordinal))) yield break;
        if (!s_mayKnow.TryGetValue(project.Name, out string[]? known))
        {
            yield return $"{project.Path}: a new project; enter in {nameof(KnowledgeRules)} whom it may know";
            yield break;
        }

        foreach (string reference in project.References.Except(known)) yield return $"{project.Path}: must not know {reference}";
        if (project.Name is Protocol)
        {
            foreach (string package in project.Packages) yield return $"{project.Path}: takes no packages, not {package} either";
        }
    }

    public static IEnumerable<string> OfSource(SourceFile source, IReadOnlyList<ProjectFile> projects)
    {
        ProjectFile? owner = Repository.ProjectOf(source.Path);
        if (owner is null || !s_mayKnow.TryGetValue(owner.Name, out string[]? known)) yield break;
        foreach (UsingDirectiveSyntax use in source.Syntax.DescendantNodes().OfType<UsingDirectiveSyntax>())
        {
            string used = use.NamespaceOrType.ToString();
            string? project = OwnerOf(used, projects);
            if (project is not null && project != owner.Name && !known.Contains(project) && !s_linked.Contains((owner.Name, used)))
                yield return $"{source}: uses {used}, and {owner.Name} must not know {project}";
            foreach ((string closedTo, string space, string why) in s_closed)
            {
                if (closedTo == owner.Name && IsIn(used, space) && !source.Path.Contains(PumpsFolder, StringComparison.Ordinal))
                    yield return $"{source}: uses {used}, but {why}";
            }
        }
    }

    /// <summary>
    /// The project whose namespace it is: the longest that fits, and where two share one, the project of that name; null when it is none
    /// of ours.
    /// </summary>
    private static string? OwnerOf(string space, IReadOnlyList<ProjectFile> projects) =>
        projects.SelectMany(static project => new[] { (project.Name, Space: project.Name), (project.Name, Space: project.RootNamespace) })
            .Where(each => IsIn(space, each.Space)).OrderByDescending(static each => each.Space.Length)
            .ThenBy(static each => each.Name.Length).FirstOrDefault().Name;

    private static bool IsIn(string space, string outer) =>
        space == outer || (space.StartsWith(outer, StringComparison.Ordinal) && space[outer.Length] == '.');
}
