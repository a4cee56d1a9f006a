namespace Ambrosia.Coordinator;

/// <summary>Why nothing came of a call to a peer: what an operator would do about it differs.</summary>
internal enum DialTrouble
{
    /// <summary>The catalog names no primary of it.</summary>
    NoAddress = 1,

    /// <summary>Nobody answers there, or not as a peer must.</summary>
    NoAnswer,
}
