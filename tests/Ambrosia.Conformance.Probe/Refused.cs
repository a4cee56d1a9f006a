namespace Conformance;

/// <summary>The failure that scripts ask for.</summary>
public sealed class Refused(string why) : Exception(why);
