using Ambrosia.Protocol;
using Ambrosia.Protocol.Runs;
using Ambrosia.State;

namespace Ambrosia;

/// <summary>
/// A fork or impulse whose handler threw, or may yet: it holds everything that is needed to run it again. It is part of the image.
/// </summary>
internal sealed class SetAsideMessage : IImagePart
{
    // Fields, so that their names in an image are ours and not the compiler's.
    internal MessagePlace Place;
    internal MessageKind Kind;
    internal uint Origin;
    internal InstanceId Caller;
    internal uint Method;
    internal byte[] Arguments = [];

    /// <summary>The number of times that its handler has thrown.</summary>
    internal uint Tries;

    /// <summary>The number of the decision that set it aside, counted from 1 through the instance's life; 0: it is not set aside.</summary>
    internal ulong Decision;

    /// <summary>The page time of the last try, in µs.</summary>
    internal long TimeUs;
    internal string Why = "";
}
