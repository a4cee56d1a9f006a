using Ambrosia.Protocol;

namespace Ambrosia.Images.Reading;

/// <summary>An image cannot be read: it is damaged, or of a format or version that this library does not know.</summary>
public sealed class ImageException(string message, Exception? cause = null) : Exception(message, cause)
{
    /// <summary>Says that an image is damaged, if this is what a reader of a damaged one throws; null: it is not.</summary>
    internal static ImageException? Of(Exception e) =>
        e is CborException or ArgumentException or OverflowException or FormatException
            ? new ImageException($"the image is damaged: {e.Message}", e) : null;
}
