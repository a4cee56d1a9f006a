namespace Ambrosia.Tools;

/// <summary>What came of forgetting a peer.</summary>
/// <param name="Uuid">Which instance it was; it is not taken again.</param>
/// <param name="DroppedCalls">Calls that it is not known to have, and that nobody gets any more.</param>
internal sealed record ForgottenPeer(string Peer, string Uuid, ulong DroppedCalls) : IReport
{
    public void Draw(Screen screen) => screen.Line($"{Peer} ({Uuid}) is forgotten; {DroppedCalls} calls to it are dropped", Tone.Good);
}
