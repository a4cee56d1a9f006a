namespace Ambrosia.Generators;

/// <summary>How a handler gives its result.</summary>
internal enum Returning
{
    Nothing,
    Value,
    Call,
    CallOfValue,
}

/// <param name="Name">Ready to be written: with @ where it is a keyword.</param>
/// <param name="Default">The default value as C#; null: the parameter has none.</param>
internal sealed record ParameterModel(string Name, TypeModel Type, string? Default);

/// <param name="Interface">The interface that declares it, from <c>global::</c> on.</param>
/// <param name="IsQuery">For callers outside alone: it is in no log, so no immortal can call it.</param>
internal sealed record MethodModel(
    string Name, string Interface, uint Id, bool IsImpulse, bool IsQuery, Returning Returning, TypeModel? Result,
    EquatableArray<ParameterModel> Parameters)
{
    /// <summary>As part of a longer name: without the @ of keywords.</summary>
    internal string PlainName => Name.TrimStart('@');

    /// <summary>The only parameter is bytes: they travel raw.</summary>
    internal bool IsRaw => Parameters.Count == 1 && Parameters[0].Type.IsRawWhenAlone;
}
