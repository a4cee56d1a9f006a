using Ambrosia.Protocol;

namespace Ambrosia.Images.Reading;

/// <summary>Counts what is suspended in an image of the C# binding by what stands in its front (docs/image.md I3.1).</summary>
public static class SuspendedCalls
{
    /// <summary>Returns the number of suspended methods; null: more of the image is needed, or it is one of another format.</summary>
    /// <param name="front">The image's first bytes.</param>
    /// <param name="isEnough">False: it needs more.</param>
    public static long? CountIn(ReadOnlySpan<byte> front, out bool isEnough)
    {
        isEnough = true;
        try
        {
            var from = new CborReader(front);
            if (ImageFront.Read(ref from) is not { Format: ImageFront.CSharp, Version: ImageFront.CSharpRead }) return null;
            long count = 0;
            for (int left = from.ReadArrayHeader(); left > 0; left--) count += CountOf(ref from);
            return count;
        }
        catch (CborException e)
        {
            isEnough = e.Error != CborError.Truncated;
            return null;
        }
        catch (ImageException)
        {
            return null;
        }
    }

    /// <summary>
    /// Counts what is suspended in one method, whose last part says so: [[role, state, count, what the first waits for], …].
    /// </summary>
    private static long CountOf(ref CborReader from)
    {
        const int PartsBefore = 5;
        if (from.ReadArrayHeader() != PartsBefore + 1) throw new ImageException("a method is described in a form that is not known");
        for (int i = 0; i < PartsBefore; i++) from.Skip();
        long count = 0;
        for (int left = from.ReadArrayHeader(); left > 0; left--)
        {
            int parts = from.ReadArrayHeader();
            from.Skip();
            from.Skip();
            count += from.ReadInt64();
            for (int i = 3; i < parts; i++) from.Skip();
        }
        return count;
    }
}
