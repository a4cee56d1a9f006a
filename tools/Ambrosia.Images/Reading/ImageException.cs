namespace Ambrosia.Images.Reading;

/// <summary>An image cannot be read: it is damaged, or of a format or version that this library does not know.</summary>
public sealed class ImageException(string message, Exception? cause = null) : Exception(message, cause);
