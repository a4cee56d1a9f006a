namespace Ambrosia.Protocol.Tests;

/// <summary>How decoders of growing input (varints, frames) say NeedMore to the walk.</summary>
internal sealed class NeedMoreException : Exception
{
    public const string Error = "NeedMore";
}
