using System.Text;

namespace Ambrosia.Images.Paths;

/// <summary>
/// A way from the immortal to a place of its state, by the names that an image has: <c>accounts["alice"].Balance</c>, <c>orders[3]</c>. A
/// path is its last step behind the path before, so longer ones share what they begin with. Immutable.
/// </summary>
public sealed class ImagePath
{
    /// <summary>The words that lead to other parts of an image than a field of the immortal does.</summary>
    public const string StateWord = "$state", SessionWord = "$session", FlowsWord = "$flows";

    private ImagePath(ImagePath? before, PathStep step) => (Before, Step) = (before, step);

    /// <summary>The immortal itself.</summary>
    public static ImagePath Root { get; } = new(null, PathStep.Name(StateWord));

    /// <summary>The path without its last step; null: it has none.</summary>
    public ImagePath? Before { get; }

    /// <summary>The last step.</summary>
    public PathStep Step { get; }

    /// <summary>Reads a path as a person writes it.</summary>
    /// <exception cref="ImagePathException">It is none.</exception>
    public static ImagePath Parse(string text) => PathParser.Parse(text);

    /// <summary>Returns the path that goes one step further.</summary>
    public ImagePath Then(PathStep step) => new(this, step);

    /// <summary>Returns the steps from the immortal on.</summary>
    public IReadOnlyList<PathStep> Steps()
    {
        var steps = new List<PathStep>();
        for (ImagePath at = this; at.Before is { } before; at = before) steps.Add(at.Step);
        steps.Reverse();
        return steps;
    }

    public override string ToString()
    {
        if (Before is null) return StateWord;
        var text = new StringBuilder();
        foreach (PathStep step in Steps()) text.Append(step.ToString());
        return text[0] == '.' ? text.ToString(1, text.Length - 1) : text.ToString();
    }
}
