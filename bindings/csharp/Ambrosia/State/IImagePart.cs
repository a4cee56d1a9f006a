namespace Ambrosia.State;

/// <summary>
/// Marks a class of the binding whose objects can be in an image, by their fields like those of the app. Objects of its other classes are
/// remade at a restore.
/// </summary>
internal interface IImagePart;

/// <summary>
/// Marks a class of the binding that keeps the body of a task: its field may hold a delegate, as a local of a method may.
/// </summary>
internal interface ITaskBody : IImagePart;

/// <summary>Says that objects of a class, and of those that derive from it, stand in an image in a shape of their own.</summary>
/// <param name="shape">An <see cref="ObjectShape"/> with a constructor that takes the class of the objects.</param>
[AttributeUsage(AttributeTargets.Class)]
internal sealed class ImageShapeAttribute(Type shape) : Attribute
{
    internal ObjectShape ShapeOf(Type type) => (ObjectShape)Activator.CreateInstance(shape, type)!;
}

/// <summary>
/// Marks a base class of the app's classes whose own fields are the binding's: no image holds them, a restore remakes them.
/// </summary>
[AttributeUsage(AttributeTargets.Class, Inherited = false)]
internal sealed class RemadeAtRestoreAttribute : Attribute;
