using Ambrosia.Images.Nodes;
using Ambrosia.Images.Paths;
using Ambrosia.Images.Reading;

namespace Ambrosia.Images.Comparison;

/// <summary>
/// Compares two images by path, without the app. What stands at one path in both is compared, wherever its object lies: fields by their
/// names, entries of maps and sets by their keys, other elements by their numbers. Each pair of objects is compared once, at the path by
/// which it is found first, so sharing and cycles end. Two images whose bytes are equal have no difference; two without a difference may
/// still have other bytes, as where a hash table has other room.
/// </summary>
public sealed class ImageComparison
{
    /// <summary>The steps that are gone within each other; what lies deeper waits until these are done.</summary>
    private const int DepthMax = 64;

    private readonly int _shownMax;
    private readonly List<ImageDifference> _shown = [];
    private readonly Dictionary<int, int> _ofBefore = [], _ofAfter = [];
    private readonly HashSet<(int, int)> _compared = [];
    private readonly Queue<(ImagePath Path, ImageNode Before, ImageNode After)> _deep = [];
    private long _count;
    private int _depth;

    private ImageComparison(int shownMax) => _shownMax = shownMax;

    /// <summary>Compares the immortals of two images.</summary>
    /// <param name="shownMax">So many differences are shown; the rest is counted.</param>
    /// <exception cref="ImageException">One of them is damaged.</exception>
    public static ImageDifferences Of(ImageTree before, ImageTree after, int shownMax) =>
        Of(ImagePath.Root, before.State, after.State, shownMax);

    /// <summary>Compares what stands at one path in two images.</summary>
    /// <inheritdoc cref="Of(ImageTree, ImageTree, int)"/>
    public static ImageDifferences Of(ImagePath path, ImageNode before, ImageNode after, int shownMax)
    {
        var comparison = new ImageComparison(shownMax);
        try
        {
            comparison._deep.Enqueue((path, before, after));
            while (comparison._deep.TryDequeue(out var next)) comparison.Compare(next.Path, next.Before, next.After);
        }
        catch (Exception e) when (ImageException.Of(e) is { } damaged)
        {
            throw damaged;
        }
        return new ImageDifferences(comparison._shown, comparison._count);
    }

    private void Compare(ImagePath path, ImageNode before, ImageNode after)
    {
        if (before.Kind != after.Kind || before.TypeName != after.TypeName || (before.Kind == NodeKind.Value && before.Text != after.Text))
        {
            bool withType = before.TypeName.Length > 0 && after.TypeName.Length > 0 && before.TypeName != after.TypeName;
            Add(path, DifferenceKind.Changed, BriefValue.Of(before, withType: withType), BriefValue.Of(after, withType: withType));
        }
        else if (!IsCompared(path, before, after) && !before.IsSamePacked(after)) Descend(path, before, after);
    }

    /// <summary>Says whether two objects were compared already, and tells where an object stands for two of the other image.</summary>
    private bool IsCompared(ImagePath path, ImageNode before, ImageNode after)
    {
        (int first, int second) = (before.Id, after.Id);
        if (first == ImageNode.NoId || second == ImageNode.NoId) return false;
        if (!_compared.Add((first, second))) return true;
        _ofBefore.TryAdd(first, second);
        _ofAfter.TryAdd(second, first);
        if (_ofBefore[first] != second || _ofAfter[second] != first) Add(path, DifferenceKind.Sharing, null, null);
        return false;
    }

    private void Descend(ImagePath path, ImageNode before, ImageNode after)
    {
        if (_depth == DepthMax)
        {
            _compared.Remove((before.Id, after.Id)); // it is compared when it comes again
            _deep.Enqueue((path, before, after));
            return;
        }
        _depth++;
        using var first = before.Members().GetEnumerator();
        using var second = after.Members().GetEnumerator();
        bool hasFirst = first.MoveNext(), hasSecond = second.MoveNext();
        while (hasFirst && hasSecond && first.Current.Step == second.Current.Step)
        {
            Compare(path.Then(first.Current.Step), first.Current.Node, second.Current.Node);
            (hasFirst, hasSecond) = (first.MoveNext(), second.MoveNext());
        }
        if (hasFirst || hasSecond)
            CompareRest(path, Rest(hasFirst, first), Rest(hasSecond, second), isOrdered: before.Kind == NodeKind.Entries);
        _depth--;
    }

    private static List<(PathStep Step, ImageNode Node)> Rest(bool has, IEnumerator<(PathStep Step, ImageNode Node)> from)
    {
        var rest = new List<(PathStep, ImageNode)>();
        for (; has; has = from.MoveNext()) rest.Add(from.Current);
        return rest;
    }

    /// <summary>Compares members that are not in the same places: each with the one that has the same name.</summary>
    /// <param name="isOrdered">The order in which they come is part of the state.</param>
    private void CompareRest(
        ImagePath path, List<(PathStep Step, ImageNode Node)> before, List<(PathStep Step, ImageNode Node)> after, bool isOrdered)
    {
        ILookup<PathStep, int> places = Enumerable.Range(0, after.Count).ToLookup(i => after[i].Step);
        var taken = new bool[after.Count];
        int last = -1;
        bool isInOrder = true;
        foreach ((PathStep step, ImageNode node) in before)
        {
            int at = places[step].Where(i => !taken[i]).DefaultIfEmpty(-1).First();
            if (at < 0)
            {
                Add(path.Then(step), DifferenceKind.Removed, BriefValue.Of(node), null);
                continue;
            }
            taken[at] = true;
            isInOrder &= at > last;
            last = at;
            Compare(path.Then(step), node, after[at].Node);
        }
        for (int i = 0; i < taken.Length; i++)
            if (!taken[i]) Add(path.Then(after[i].Step), DifferenceKind.Added, null, BriefValue.Of(after[i].Node));
        if (isOrdered && !isInOrder) Add(path, DifferenceKind.Order, null, null);
    }

    private void Add(ImagePath path, DifferenceKind kind, BriefValue? before, BriefValue? after)
    {
        _count++;
        if (_shown.Count < _shownMax) _shown.Add(new ImageDifference(path, kind, before, after));
    }
}
