using System.Text;
using Ambrosia.Images.Paths;

namespace Ambrosia.Images.Nodes;

/// <summary>Shows a node in a line: its JSON without the names of types, cut where it is long or deep.</summary>
/// <param name="Text">The JSON, with an ellipsis where something is left out.</param>
/// <param name="IsCut">Something is left out, so the text is no JSON.</param>
public readonly record struct BriefValue(string Text, bool IsCut)
{
    /// <summary>The characters of a value in a line.</summary>
    public const int CharsMax = 80;

    /// <summary>The characters after which a key has no further parts, and the depth of what is shown.</summary>
    private const int KeyCharsMax = 1_000, DepthMax = 6;
    private const string Ellipsis = "…";

    /// <param name="withType">The type is named too.</param>
    public static BriefValue Of(ImageNode node, int charsMax = CharsMax, bool withType = false)
    {
        var to = new StringBuilder();
        bool isCut = !TryAppend(to, node, charsMax, DepthMax, withType);
        if (to.Length <= charsMax || node.Kind == NodeKind.Value) return new BriefValue(to.ToString(), isCut);
        int end = char.IsHighSurrogate(to[charsMax - 1]) ? charsMax - 1 : charsMax;
        return new BriefValue(to.ToString(0, end) + Ellipsis, true);
    }

    /// <summary>Names a key that is more than a text or number: its brackets and quotes are closed wherever it is cut.</summary>
    internal static string OfKey(ImageNode key)
    {
        var to = new StringBuilder();
        TryAppend(to, key, KeyCharsMax, DepthMax, withType: false);
        return to.ToString();
    }

    private static bool TryAppend(StringBuilder to, ImageNode node, int charsMax, int depth, bool withType)
    {
        if (node.Kind == NodeKind.Value)
        {
            to.Append(node.Text);
            return true;
        }
        (char open, char close) = node.Kind == NodeKind.Items ? ('[', ']') : ('{', '}');
        to.Append(open);
        bool isWhole = depth > 0, isFirst = true;
        if (withType && node.TypeName.Length > 0)
        {
            to.Append("\"$type\":").Append(PathParser.Quoted(node.TypeName));
            isFirst = false;
        }
        if (depth == 0) to.Append(Ellipsis);
        else
            foreach ((PathStep step, ImageNode member) in node.Members())
            {
                if (!isFirst) to.Append(',');
                isFirst = false;
                if (to.Length > charsMax)
                {
                    to.Append(Ellipsis);
                    isWhole = false;
                    break;
                }
                if (node.Kind != NodeKind.Items) to.Append(PathParser.Quoted(step.Text)).Append(':');
                isWhole &= TryAppend(to, member, charsMax, depth - 1, withType: false);
            }
        to.Append(close);
        return isWhole;
    }
}
