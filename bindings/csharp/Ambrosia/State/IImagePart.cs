namespace Ambrosia;

/// <summary>
/// A class of the binding whose objects can be in an image, by their fields like those of the app. Others of the binding
/// are remade at a restore.
/// </summary>
internal interface IImagePart;
