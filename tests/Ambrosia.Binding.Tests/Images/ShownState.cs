using System.Globalization;
using System.Text.Json;
using Ambrosia.Images.Nodes;
using Ambrosia.Images.Paths;

namespace Ambrosia.Binding.Tests.Images;

/// <summary>Goes by steps of a path through a state that is shown as JSON, where its form has a place for the step.</summary>
internal sealed class ShownState(JsonElement whole)
{
    internal JsonElement Root => whole.GetProperty("root");

    /// <summary>Returns what stands one step below; null: the form does not tell it alone.</summary>
    internal JsonElement? Below(JsonElement above, PathStep step, int at)
    {
        if (Behind(above) is not { } element) return null;
        if (element.ValueKind == JsonValueKind.Array) return step.Text == at.ToString(CultureInfo.InvariantCulture) ? element[at] : null;
        if (element.ValueKind != JsonValueKind.Object) return null;
        string key = step.Text.StartsWith('$') && step.Kind == PathStepKind.Key ? $"${step.Text}" : step.Text;
        return element.TryGetProperty(key, out JsonElement below) ? below : null;
    }

    /// <summary>Says whether a node is what is shown.</summary>
    internal bool IsShown(JsonElement shown, ImageNode node)
    {
        if (Behind(shown) is not { } element) return false;
        return node.Kind switch
        {
            NodeKind.Value => IsText(element, node.Text),
            NodeKind.Fields => element.ValueKind == JsonValueKind.Object,
            _ => IsOfSize(element, node.Members().Count()),
        };
    }

    private static bool IsText(JsonElement element, string text)
    {
        // A box names its type too, and an escape may be written in two ways.
        if (element.ValueKind == JsonValueKind.Object && element.TryGetProperty("$value", out JsonElement value)) element = value;
        return element.GetRawText() == text || JsonElement.DeepEquals(element, JsonDocument.Parse(text).RootElement);
    }

    private static bool IsOfSize(JsonElement element, int count) => element.ValueKind switch
    {
        JsonValueKind.Array => element.GetArrayLength() == count,
        JsonValueKind.Object when element.TryGetProperty("$bytes", out JsonElement bytes) => bytes.GetString()!.Length == 2 * count,
        JsonValueKind.Object when element.TryGetProperty("$value", out JsonElement value) => IsOfSize(value, count),
        JsonValueKind.Object when element.TryGetProperty("$map", out JsonElement pairs) => pairs.GetArrayLength() == count,
        JsonValueKind.Object => element.EnumerateObject().Count() == count,
        _ => false,
    };

    private JsonElement? Behind(JsonElement element)
    {
        if (element.ValueKind != JsonValueKind.Object || !element.TryGetProperty("$ref", out JsonElement reference)) return element;
        if (reference.ValueKind == JsonValueKind.String) return Root;
        return whole.GetProperty("objects").TryGetProperty(reference.GetRawText(), out JsonElement behind) ? behind : null;
    }
}
