using Ambrosia.Protocol;

namespace Ambrosia.Images.Reading;

/// <summary>Is what every image begins with (docs/image.md): the name and the version of its format.</summary>
/// <param name="Items">The number of items of the array that an image is, these two included.</param>
public readonly record struct ImageFront(int Items, string Format, ulong Version)
{
    /// <summary>The name of the format in which the C# binding writes images.</summary>
    public const string CSharp = "ambrosia-csharp";

    /// <summary>The version of that format that this library reads.</summary>
    public const uint CSharpRead = 8;

    /// <summary>The name of the portable format, and the version of it that this library reads.</summary>
    public const string Portable = "ambrosia";

    /// <inheritdoc cref="Portable"/>
    public const uint PortableRead = 1;

    /// <summary>True if it is an image in the portable format, in the version that this library reads.</summary>
    public bool IsPortable => Format == Portable && Version == PortableRead;

    /// <summary>Reads the front; the rest of the image follows.</summary>
    /// <exception cref="ImageException">The image does not begin with the name of a format.</exception>
    /// <exception cref="CborException">It is cut off.</exception>
    public static ImageFront Read(ref CborReader from)
    {
        int items = from.PeekKind() is CborKind.Array or CborKind.None ? from.ReadArrayHeader() : 0;
        if (items > 0 && from.PeekKind() == CborKind.Unsigned)
            throw new ImageException($"the image does not name its format, as those of C# before version 8 did not ({from.ReadUInt64()})");
        if (items < 2 || from.PeekKind() is not (CborKind.Text or CborKind.None))
            throw new ImageException("the image does not begin with the name of its format");
        return new ImageFront(items, from.ReadString(), from.ReadUInt64());
    }

    /// <summary>Refuses an image that is not one of the C# binding, in the version that this library reads.</summary>
    /// <exception cref="ImageException">It is another one, which the message names.</exception>
    public void ExpectCSharp()
    {
        if (Format != CSharp || Version != CSharpRead)
            throw new ImageException($"the image has the format {Format} of version {Version}; this tool reads {CSharp} of version {CSharpRead}");
    }
}
