using System.Text;

namespace Ambrosia.Builds;

/// <summary>
/// Computes what a build is, out of the files of its assemblies. The binding's own are one thing: they count as a whole, since the loop
/// that executes handlers is theirs and is called by none.
/// </summary>
internal static class BuildReader
{
    /// <summary>Names of the product's assemblies; a test holds them against the projects.</summary>
    internal static readonly string[] Product =
    [
        "Ambrosia", "Ambrosia.AppChannel", "Ambrosia.Client", "Ambrosia.Coordinator", "Ambrosia.Embedded", "Ambrosia.Hosting",
        "Ambrosia.Images", "Ambrosia.Inspection", "Ambrosia.Log",
        "Ambrosia.Protocol", "Ambrosia.Stores.Azure", "CRA", "ImmortalCoordinator",
    ];

    /// <exception cref="BadImageFormatException">A file is broken.</exception>
    internal static BuildDocument Read(IReadOnlyList<string> paths)
    {
        List<AppAssembly> own = [], product = [];
        List<string> others = [];
        try
        {
            foreach (string path in paths)
            {
                if (AppAssembly.Open(path) is { } assembly) (Product.Contains(assembly.Name) ? product : own).Add(assembly);
                else others.Add($"{AppAssembly.IdOf(path)}\n");
            }
            return Read(paths, own, product, others);
        }
        finally
        {
            foreach (AppAssembly each in own.Concat(product)) each.Dispose();
        }
    }

    private static BuildDocument Read(
        IReadOnlyList<string> paths, List<AppAssembly> own, List<AppAssembly> product, List<string> others)
    {
        others.Sort(StringComparer.Ordinal);
        StringBuilder outside = new(), content = new();
        foreach (string each in others) outside.Append(each);
        var ownUnits = new UnitReader(new AppCode(own));
        foreach (AppAssembly each in ByName(own))
        {
            (byte[] seen, byte[] rest) = AssemblyText.Read(each, ownUnits);
            outside.Append(each.Name).Append(' ').Append(Convert.ToHexStringLower(seen)).Append('\n');
            content.Append(each.Name).Append(' ').Append(Convert.ToHexStringLower(rest)).Append('\n');
        }
        var productUnits = new UnitReader(new AppCode(product));
        foreach (AppAssembly each in ByName(product))
        {
            (byte[] seen, byte[] rest) = AssemblyText.Read(each, productUnits);
            outside.Append(each.Name).Append(' ').Append(Convert.ToHexStringLower([.. seen, .. rest])).Append('\n');
        }
        string outsideHash = Digest.Short(outside);
        string build = Convert.ToHexStringLower(Digest.Of(content.Append(outside)).AsSpan(0, AppBuild.BuildBytes));
        var handlers = new AppHandlers(ownUnits.Code);
        var graph = new CallGraph(ownUnits, handlers);
        IEnumerable<BuiltMethod> methods = handlers.ById.Values.Select(
            each => new BuiltMethod(each.Id, string.Join(", ", each.Names), graph.HashOf(each.Dispatchers, build)));
        return new BuildDocument(
            build, outsideHash, graph.HashOf(handlers.First, build), graph.HashOf(graph.Resumed, build), [.. methods],
            BuildFileId.Of(paths));
    }

    private static IEnumerable<AppAssembly> ByName(List<AppAssembly> assemblies) =>
        assemblies.OrderBy(static each => each.Name, StringComparer.Ordinal);
}
