namespace Ambrosia.Tools;

/// <summary>What came of a command to one replica.</summary>
/// <param name="Done">In words.</param>
/// <param name="Epoch">The epoch in force then; null where the command has none.</param>
internal sealed record ReplicaAnswer(string Replica, string Done, ulong? Epoch = null) : IReport
{
    public void Draw(Screen screen) => screen.Line($"{Replica}: {Done}", Tone.Good);
}
