using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace Ambrosia.Tidy.Tests.Layout;

/// <summary>
/// The folders of one project know each other in one direction only: a source mentions types of its own folder and of those before it in
/// the project's list. Sub-folders count as folders; files directly in the project are in the folder ".".
/// </summary>
/// <param name="project">Whose sources are judged.</param>
/// <param name="order">Its folders, the lowest first.</param>
/// <param name="sources">All its sources.</param>
internal sealed class FolderRules(ProjectFile project, IReadOnlyList<string> order, IReadOnlyList<SourceFile> sources)
{
    private sealed record Declaration(string Name, int Arity, string Namespace, string Folder);

    /// <summary>References to a folder that stands above the one of the source.</summary>
    public IEnumerable<Finding> FindUpward()
    {
        ILookup<string, Declaration> declared = sources
            .SelectMany(source => source.Types.Select(type => new Declaration(type.Name, type.Arity, type.Namespace, FolderOf(source))))
            .ToLookup(static declaration => declaration.Name);
        string[] global = [.. sources.SelectMany(static source => source.Syntax.Usings)
            .Where(static use => use.GlobalKeyword != default).Select(static use => use.NamespaceOrType.ToString())];
        foreach (SourceFile source in sources)
        {
            string folder = FolderOf(source);
            foreach (Declaration known in KnownTo(source, declared, global).Distinct())
            {
                if (PlaceOf(known.Folder) > PlaceOf(folder))
                {
                    yield return new Finding(
                        source.Path, $"mentions {known.Name} of the folder {known.Folder}, which stands above {folder}");
                }
            }
        }
    }

    /// <summary>Folders that are not in the list, and entries of the list without a folder.</summary>
    public IEnumerable<Finding> FindUnlisted()
    {
        string[] folders = [.. sources.Select(FolderOf).Distinct()];
        return folders.Except(order).Select(folder => new Finding(project.Path, $"its folder {folder} is not in {nameof(FolderOrder)}"))
            .Concat(order.Except(folders).Select(
                folder => new Finding(project.Path, $"{nameof(FolderOrder)} lists the folder {folder}, which has no sources")));
    }

    /// <summary>
    /// Sources whose namespace is not the one of their folder. What stands in a namespace of the framework is there because the compiler
    /// looks for it under that name.
    /// </summary>
    /// <param name="mayStayInRoot">Whether a source may be in the root namespace wherever it stands.</param>
    public IEnumerable<Finding> FindStrayNamespaces(Func<SourceFile, bool> mayStayInRoot)
    {
        foreach (SourceFile source in sources)
        {
            string folder = FolderOf(source);
            string expected = folder == "." ? project.RootNamespace : $"{project.RootNamespace}.{folder.Replace('/', '.')}";
            foreach (string space in source.Types.Select(static type => type.Namespace).Distinct())
            {
                if (space == expected || IsAround("System", space) || (space == project.RootNamespace && mayStayInRoot(source))) continue;
                yield return new Finding(source.Path, $"its namespace is {space}, its folder's is {expected}");
            }
        }
    }

    /// <summary>
    /// The declarations in other folders that the names in a source lead to. A name counts when its namespace is in sight; the same name
    /// in the source's own folder, or in a namespace around it, goes first.
    /// </summary>
    private IEnumerable<Declaration> KnownTo(SourceFile source, ILookup<string, Declaration> declared, string[] global)
    {
        string folder = FolderOf(source);
        string own = source.Types.Select(static type => type.Namespace).FirstOrDefault() ?? project.RootNamespace;
        HashSet<string> inSight = [.. global, .. source.Syntax.DescendantNodes().OfType<UsingDirectiveSyntax>()
            .Select(static use => use.NamespaceOrType.ToString())];
        foreach (TypeMentions.Mention mention in TypeMentions.In(source.Syntax))
        {
            Declaration[] candidates = [.. declared[mention.Name].Where(each => each.Arity == mention.Arity)];
            if (mention.Qualifier is { } qualifier)
                candidates = [.. candidates.Where(each => qualifier == "" || each.Namespace.Split('.')[^1] == qualifier)];
            else
                candidates = Nearest([.. candidates.Where(each => IsAround(each.Namespace, own) || inSight.Contains(each.Namespace))], own);
            if (candidates.Any(each => each.Folder == folder)) continue;
            foreach (Declaration candidate in candidates) yield return candidate;
        }
    }

    private static Declaration[] Nearest(Declaration[] candidates, string own)
    {
        Declaration? nearest = candidates.Where(each => IsAround(each.Namespace, own)).MaxBy(static each => each.Namespace.Length);
        return nearest is null ? candidates : [.. candidates.Where(each => each.Namespace == nearest.Namespace)];
    }

    private static bool IsAround(string outer, string inner) =>
        inner == outer || inner.StartsWith(outer + ".", StringComparison.Ordinal);

    private string FolderOf(SourceFile source)
    {
        int slash = source.Path.LastIndexOf('/');
        return slash < project.Folder.Length ? "." : source.Path[project.Folder.Length..slash];
    }

    /// <summary>Folders that nobody listed stand at the top: what mentions them is found, and so are they.</summary>
    private int PlaceOf(string folder)
    {
        for (int i = 0; i < order.Count; i++)
        {
            if (order[i] == folder) return i;
        }

        return order.Count;
    }
}
