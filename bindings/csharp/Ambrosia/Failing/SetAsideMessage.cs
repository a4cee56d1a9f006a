using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>A fork or impulse whose handler threw, or may yet: everything that is needed to run it again. Part of the image.</summary>
internal sealed class SetAsideMessage : IImagePart
{
    // Fields, so that their names in an image are ours and not the compiler's.
    internal MessagePlace Place;
    internal MessageKind Kind;
    internal uint Origin;
    internal InstanceId Caller;
    internal uint Method;
    internal byte[] Arguments = [];

    /// <summary>How often its handler has thrown.</summary>
    internal uint Tries;

    /// <summary>Which setting aside of the instance's life this was, from 1; 0: it is not set aside.</summary>
    internal ulong Decision;

    /// <summary>Page time of the last try, µs.</summary>
    internal long TimeUs;
    internal string Why = "";
}
