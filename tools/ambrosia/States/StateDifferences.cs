using System.Globalization;
using System.Text.Json;
using Ambrosia.Images.Comparison;
using Ambrosia.Images.Json;
using Ambrosia.Images.Nodes;
using Ambrosia.Images.Paths;
using Ambrosia.Inspection.States;
using Ambrosia.Tools.Output;

namespace Ambrosia.Tools.States;

/// <summary>Says how two states of a log differ.</summary>
internal static class StateDifferences
{
    /// <summary>Compares two states, or what stands at a path of both.</summary>
    /// <param name="path">Null: the whole immortals.</param>
    /// <exception cref="MisuseException">Nothing stands at the path in either, or an image cannot be read.</exception>
    public static ImageDifferences Of(TakenState before, TakenState after, ImagePath? path, int shownMax) => StatePaths.Explained(() =>
    {
        ImageTree first = ImageTree.Read(before.Image), second = ImageTree.Read(after.Image);
        if (path is null) return ImageComparison.Of(first, second, shownMax);
        (ImageNode? was, ImagePathException? missing) = Find(first, path);
        (ImageNode? @is, _) = Find(second, path);
        if (was is not null && @is is not null) return ImageComparison.Of(path, was, @is, shownMax);
        if (was is null && @is is null) throw missing!;
        return new ImageDifferences(
            [
                was is null ? new ImageDifference(path, DifferenceKind.Added, null, BriefValue.Of(@is!))
                    : new ImageDifference(path, DifferenceKind.Removed, BriefValue.Of(was), null),
            ], 1);
    });

    private static (ImageNode? Node, ImagePathException? Missing) Find(ImageTree tree, ImagePath path)
    {
        try
        {
            return (tree.Find(path), null);
        }
        catch (ImagePathException missing)
        {
            return (null, missing);
        }
    }

    /// <summary>Shows a line for each difference, and one for all.</summary>
    public static void Show(ImageDifferences found, ImageOrigin before, ImageOrigin after, Screen screen)
    {
        foreach (ImageDifference each in found.Shown) screen.Show(new DifferenceLine(each));
        screen.Show(new DifferenceSum(NameOf(before), NameOf(after), found.Count, found.Shown.Count));
    }

    private static string NameOf(ImageOrigin origin) => origin.Checkpoint ?? origin.Place.ToString();

    private sealed record DifferenceLine(ImageDifference Difference) : IReport
    {
        public object Content => new
        {
            Path = Difference.Path.ToString(), Difference.Kind, Before = JsonOf(Difference.Before), After = JsonOf(Difference.After),
        };

        public void Draw(Screen screen) => screen.Line(Difference.ToString());

        /// <summary>Returns the JSON of a value, or the text of it as far as it is shown.</summary>
        private static object? JsonOf(BriefValue? value) => value switch
        {
            null => null,
            { IsCut: true } cut => cut.Text,
            { } whole => JsonSerializer.Deserialize<JsonElement>(whole.Text),
        };
    }

    /// <param name="From">The first state's place, or its checkpoint.</param>
    /// <param name="To">The second state's.</param>
    private sealed record DifferenceSum(string From, string To, long Differences, int Shown) : IReport
    {
        public void Draw(Screen screen)
        {
            if (Differences == 0) screen.Line($"the states at {From} and {To} are alike");
            else if (Differences > Shown)
                screen.Line(string.Create(CultureInfo.InvariantCulture, $"and {Differences - Shown:N0} more differences (--head N shows more)"));
        }
    }
}
