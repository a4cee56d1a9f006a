using Ambrosia.Coordinator.Replica;
using Ambrosia.Images.Json;
using Ambrosia.Images.Nodes;
using Ambrosia.Images.Paths;
using Ambrosia.Images.Reading;
using Ambrosia.Inspection.Texts;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Inspection.States;

/// <summary>
/// Shows a state, or what stands at a path of it, for a person who has written that path: what is not there is answered by what is near.
/// </summary>
internal static class StatePaths
{
    private const string Forms = "write fields by their names, entries by their keys and elements by their numbers: accounts[\"alice\"].Balance, orders[3]";

    /// <summary>So many names are offered in place of one that is not there.</summary>
    private const int OffersMax = 3;

    /// <exception cref="MisuseException">It is no path.</exception>
    public static ImagePath Parse(string path)
    {
        try
        {
            return ImagePath.Parse(path);
        }
        catch (ImagePathException e)
        {
            throw new MisuseException(e.Message, "", Forms);
        }
    }

    /// <summary>Writes a state as JSON, or what stands at a path.</summary>
    /// <param name="path">Null: all of it.</param>
    /// <exception cref="MisuseException">Nothing stands there, or the image is none that can be shown.</exception>
    public static void Write(LargeBuffer image, ImageOrigin? origin, ImagePath? path, Action<ReadOnlySpan<byte>> take, bool isIndented) =>
        Explained(() =>
        {
            if (path is null) StateJson.Write(image, origin ?? default, take, isIndented);
            else ImageTree.Read(image).WriteJson(path, origin, take, isIndented);
            return 0;
        });

    /// <summary>Says for a person what is wrong with a path or an image.</summary>
    /// <exception cref="MisuseException">Something is.</exception>
    public static T Explained<T>(Func<T> read)
    {
        try
        {
            return read();
        }
        catch (ImagePathException e)
        {
            throw new MisuseException(e.Message, "", NearestNames.Of(e.Missing, e.Names, OffersMax) is { Count: > 0 } near
                ? $"near it there {(near.Count == 1 ? "is" : "are")} {string.Join(", ", near)}" : "");
        }
        catch (ImageException e)
        {
            throw new MisuseException("the state cannot be shown", e.Message, "use the tool of the version that wrote the image");
        }
    }
}
