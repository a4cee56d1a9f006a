namespace Ambrosia.Suspension;

/// <summary>
/// Says as which methods of this build those of an image go on, where that is not the method of the same name but one that keeps the body
/// (<c>[Formerly]</c>). It does not change once the image was checked.
/// </summary>
internal sealed class KeptBodies
{
    private readonly Dictionary<(string Assembly, string Id), string> _idOf = [];

    /// <summary>None is kept.</summary>
    internal static KeptBodies None { get; } = new();

    internal void Add(string assembly, string id, string keptAs) => _idOf[(assembly, id)] = keptAs;

    /// <summary>Returns the id of the method of this build in which a method of the image goes on.</summary>
    internal string IdOf(string assembly, string id) => _idOf.GetValueOrDefault((assembly, id), id);
}
