namespace Ambrosia;

/// <summary>The value of a <see cref="Call"/>, which has none: lets calls with and without a value share their machinery.</summary>
internal readonly struct Nothing;
