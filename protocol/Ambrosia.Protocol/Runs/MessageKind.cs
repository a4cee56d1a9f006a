namespace Ambrosia.Protocol;

/// <summary>Kinds of messages (protocol P3.2). 64–127 are reserved for elasticity.</summary>
public enum MessageKind : byte
{
    Fork = 1, Call = 2, Result = 3, Failure = 4, Impulse = 5, ClientRequest = 6, ClientAnswer = 7,
    ClientFailure = 8,
}
