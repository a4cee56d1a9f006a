using System.Numerics;
using Ambrosia.Checkpoints;
using Ambrosia.Immortals;
using Ambrosia.Protocol.Frames;
using Ambrosia.Protocol.Payloads;

namespace Ambrosia.Session;

/// <summary>
/// Proves that images read back, before they count: an image is restored into a runtime beside the one that runs, each key of each map and
/// set is looked up there, and it is written again, byte for byte the same. The first image of a session is read back, and the 2nd, 4th,
/// 8th … that it takes. Meanwhile nothing is executed, and the memory holds the state twice and its image twice. Therefore a primary, for
/// which callers wait, reads only back what is small; a secondary takes the same images, and reads larger ones back. What runs of the app
/// is what a restore runs: its serializers, and equality, hashes and order of its keys. Thread: the scheduler's, between records.
/// </summary>
internal sealed class ImageReadBack(ImmortalDefinition definition, AppWelcome welcome, SessionOptions options)
{
    /// <summary>
    /// The bytes of an image that a primary reads back, of the first one, which a build that cannot restore its state fails, and of the
    /// later ones.
    /// </summary>
    internal const long FirstOfPrimaryBytesMax = 256L << 20, OfPrimaryBytesMax = 64L << 20;

    /// <summary>The memory that reading back takes for a byte of the image: two copies of it, and the objects.</summary>
    private const long MemoryPerByte = 8;

    /// <summary>The images that were taken.</summary>
    private ulong _taken;

    /// <summary>The last image was larger than may be read back here; the operator was told.</summary>
    private bool _isTold;

    /// <summary>The next image has to be read back.</summary>
    internal bool IsDue => _taken == 0 || BitOperations.IsPow2(_taken + 1);

    /// <summary>An image was taken, and goes out.</summary>
    internal void Taken() => _taken++;

    /// <summary>Returns the bytes of an image that may be read back now.</summary>
    internal long BytesMax(bool isPrimary)
    {
        GCMemoryInfo memory = GC.GetGCMemoryInfo();
        long room = Math.Max(0, memory.TotalAvailableMemoryBytes - memory.MemoryLoadBytes) / MemoryPerByte;
        return !isPrimary ? room : Math.Min(room, _taken == 0 ? FirstOfPrimaryBytesMax : OfPrimaryBytesMax);
    }

    /// <summary>The image is not read back, since it is larger than that.</summary>
    internal void TooLarge(long bytes, long bytesMax)
    {
        if (!_isTold)
            options.Log(
                $"The image of {bytes >> 20} MiB is not read back here, since no more than {bytesMax >> 20} MiB may be (docs/operating.md, Checkpoints that read back).");
        _isTold = true;
    }

    /// <summary>Reads an image back; says what is wrong, null: nothing.</summary>
    /// <param name="image">It stays as it is.</param>
    internal string? WhatDiffers(LargeBuffer image, ImageEnd end)
    {
        try
        {
            using var copy = new LargeBuffer(); // reading an image gives its memory back
            for (long at = 0; at < image.Length; at = copy.Length) copy.Append(image.From(at));
            ImmortalRuntime restored = StateConversion.NewSilentRuntime(definition, welcome, options);
            restored.Restore(copy, acceptSource: true); // this build has written it
            using (WrittenImage again = restored.WriteImage(looksAllKeysUp: true))
                if (again.Measure() == end) return null;
            using WrittenImage placed = restored.WriteImage(tellsPlaces: true);
            return $"the state does not come back from its image as it was: {placed.PlaceOfDifference(image) ?? "the number of objects"} differs";
        }
        catch (NotWritableException e)
        {
            return $"what comes back from the image of the state has lost a key: {e.Message}";
        }
        catch (Exception e) when (e is not OutOfMemoryException)
        {
            return $"the image of the state cannot be restored: {StateConversion.WhyNot(e)}";
        }
    }
}
