namespace Ambrosia.Tools;

/// <summary>What came of a command to one replica.</summary>
/// <param name="Done">In words.</param>
/// <param name="Epoch">The epoch in which it is primary; null where the command has none.</param>
/// <param name="HasEnded">Its process does not answer any more; null where it was not to end.</param>
/// <param name="Successors">Other replicas that run; null where the command does not ask for them.</param>
internal sealed record ReplicaAnswer(
    string Replica, string Done, ulong? Epoch = null, bool? HasEnded = null, IReadOnlyList<string>? Successors = null) : IReport
{
    public void Draw(Screen screen) => screen.Line($"{Replica}: {Done}", HasEnded == false ? Tone.Warning : Tone.Good);
}
