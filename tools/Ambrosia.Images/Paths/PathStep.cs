namespace Ambrosia.Images.Paths;

/// <summary>It says how a step is written: <c>.name</c>, <c>["text"]</c> or <c>[number]</c>.</summary>
public enum PathStepKind { Name, Key, Index }

/// <summary>
/// One step of a path: to a field by its name, to an entry of a map by its key, to an element by its number. What it leads to is decided by
/// the text alone, so <c>["Total"]</c> finds a field too.
/// </summary>
/// <param name="Text">The name, the key without quotes, or the number.</param>
public readonly record struct PathStep(PathStepKind Kind, string Text)
{
    /// <summary>A step to a field.</summary>
    public static PathStep Name(string name) => new(PathStepKind.Name, name);

    /// <summary>A step to the entry of a map whose key is a text.</summary>
    public static PathStep Key(string key) => new(PathStepKind.Key, key);

    /// <summary>A step to an element by its number, or to an entry whose key is written without quotes.</summary>
    public static PathStep Index(string index) => new(PathStepKind.Index, index);

    /// <summary>Returns the step as it stands behind another one.</summary>
    public override string ToString() => Kind switch
    {
        PathStepKind.Name when PathParser.IsName(Text) => $".{Text}",
        PathStepKind.Index => $"[{Text}]",
        _ => $"[{PathParser.Quoted(Text)}]",
    };
}
