using Ambrosia.Images.Reading;
using Ambrosia.Protocol;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Images.Masking;

/// <summary>Masks an image where it stands, whichever its format is. One thread.</summary>
internal static class ImageMasking
{
    /// <summary>Masks the image of a whole state, or learns what is to be masked in it.</summary>
    /// <exception cref="ImageException">It is damaged, of an unknown format, or holds what cannot be masked.</exception>
    internal static void Run(LargeBuffer image, ValueMasker masker, IPayloadMasking payloads)
    {
        try
        {
            var from = new CborReader(image.From(0));
            var front = ImageFront.Read(ref from);
            if (front.IsPortable) new PortableMasking(image, masker, payloads).Run(from.Position, front.Items);
            else new ObjectMasking(CSharpImage.Read(image), masker, payloads).Run();
        }
        catch (Exception e) when (ImageException.Of(e) is { } damaged)
        {
            throw damaged;
        }
    }

    /// <summary>
    /// Masks the value of a task's body or its argument, where it is a graph of its own: its types, its objects, and itself
    /// (log-format L5.9).
    /// </summary>
    /// <returns>False: it is none.</returns>
    internal static bool TryGraph(PlaceName at, Span<byte> item, ValueMasker masker, IPayloadMasking payloads)
    {
        if (new CborReader(item).PeekKind() != CborKind.Array) return false;
        List<Range> parts = ValueMasker.Parts(item, CborKind.Array);
        if (parts.Count != 3 || new CborReader(item[parts[0]]).PeekKind() != CborKind.Array) return false;
        using var graph = new LargeBuffer();
        graph.Append(item[parts[0].Start.Value..parts[1].End.Value]);
        var objects = new ObjectMasking(CSharpImage.ReadGraph(graph), masker, payloads);
        CborReader root = new(item[parts[2]]);
        objects.RunGraph(at, root.PeekKind() == CborKind.Unsigned ? root.ReadUInt64() : null);
        graph.From(0).CopyTo(item[parts[0].Start.Value..]);
        masker.SparesNumbers = true; // in a struct nobody can tell them from those of objects
        masker.Item(at, item[parts[2]]);
        masker.SparesNumbers = false;
        return true;
    }
}
