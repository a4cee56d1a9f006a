using Ambrosia.Images.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Images.Json;

/// <summary>
/// Shows the state in an image as JSON, without the app (docs/tools.md). An object to which one place refers stands in that place. One to
/// which several refer, or which would stand too deep, is written once behind the state, under its number, and the places refer to it; so
/// sharing and cycles are kept.
/// </summary>
public static class StateJson
{
    /// <summary>Writes one JSON object for a whole image.</summary>
    /// <param name="origin">Where the image is from.</param>
    /// <param name="take">Takes the UTF-8 in pieces.</param>
    /// <exception cref="ImageException">The image is damaged, or of a format that is not known.</exception>
    public static void Write(LargeBuffer image, ImageOrigin origin, Action<ReadOnlySpan<byte>> take, bool isIndented)
    {
        try
        {
            var from = new CborReader(image.From(0));
            var front = ImageFront.Read(ref from);
            if (front.IsPortable && front.Items != 5) throw new ImageException("the image is damaged: other parts (I4.1)");
            CSharpImage? read = front.IsPortable ? null : CSharpImage.Read(image);
            using var to = new JsonOutput(take, isIndented);
            to.To.WriteStartObject();
            origin.Write(to);
            to.To.WriteString("format", front.Format);
            to.To.WriteNumber("version", front.Version);
            if (read is null) new PortableJson(to).WriteRest(ref from);
            else new ObjectJson(read, to).WriteRoot();
            to.To.WriteEndObject();
            to.Flush();
        }
        catch (Exception e) when (ImageException.Of(e) is { } damaged)
        {
            throw damaged;
        }
    }

    /// <summary>Writes the objects of a graph that stands alone, of which number 0 is the root.</summary>
    internal static void WriteGraph(LargeBuffer graph, Action<ReadOnlySpan<byte>> take)
    {
        using var to = new JsonOutput(take, isIndented: false);
        to.To.WriteStartObject();
        new ObjectJson(CSharpImage.ReadGraph(graph), to).WriteRoot();
        to.To.WriteEndObject();
        to.Flush();
    }
}
