using Ambrosia.Suspension;

namespace Ambrosia.State;

/// <summary>Holds what a graph that is being written knows of the classes of its objects. One thread.</summary>
internal sealed class WrittenTypes
{
    private readonly Dictionary<Type, WrittenType> _byClass = [];

    /// <summary>The class that was asked for last, as the next object often has it, too.</summary>
    private WrittenType? _last;

    /// <summary>Returns what is known of a class; null: its objects cannot be written.</summary>
    internal WrittenType? Of(Type type)
    {
        if (_last?.InImage == type) return _last;
        if (!_byClass.TryGetValue(type, out WrittenType? known))
        {
            if (ObjectShapes.Of(type) is not { } shape) return null;
            _byClass.Add(type, known = new WrittenType(type, shape));
        }
        return _last = known;
    }
}

/// <summary>Holds what the graph knows of one class of objects: its shape, and its place in the table of types.</summary>
internal sealed class WrittenType(Type inImage, ObjectShape shape)
{
    internal Type InImage => inImage;

    internal ObjectShape Shape => shape;

    internal bool IsDelegate { get; } = typeof(Delegate).IsAssignableFrom(inImage);

    /// <summary>True if objects of the class are frames of methods, which are written as their result when they have ended.</summary>
    internal bool MayBeFinished { get; } = typeof(ISuspended).IsAssignableFrom(inImage);

    /// <summary>True if keys of objects of the class may have changed since they were put in.</summary>
    internal bool HasChangeableKeys { get; } = shape.IsFilledLast && !KeyLooks.IsFixed(shape.KeyType!);

    /// <summary>The index in the table of types; -1 until the class is mentioned.</summary>
    internal int Id { get; set; } = -1;
}
